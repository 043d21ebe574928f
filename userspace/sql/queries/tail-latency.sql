-- Tail latency of goroutines by start function: how long those that have ended lived, by nearest rank
-- The last columns are sums over the slowest 1 % (at least one) of each function.
WITH ranked AS (
    SELECT function, total_ns, oncpu_ns, go_runnable_ns, kernel_runnable_ns + throttled_ns AS cpu_wait_ns,
           syscall_blocked_ns, go_blocked_ns,
           ROW_NUMBER() OVER (PARTITION BY function
                              ORDER BY total_ns, file, created_ns, g) AS place,
           COUNT(*) OVER (PARTITION BY function) AS n
    FROM goroutines
    WHERE ended_ns IS NOT NULL
)
SELECT function, MAX(n) AS goroutines,
       MAX(CASE WHEN place = CAST(FLOOR((n + 1) / 2) AS BIGINT) THEN total_ns END) AS p50_ns,
       MAX(CASE WHEN place = CAST(FLOOR((n * 9 + 9) / 10) AS BIGINT) THEN total_ns END) AS p90_ns,
       MAX(CASE WHEN place = CAST(FLOOR((n * 99 + 99) / 100) AS BIGINT) THEN total_ns END) AS p99_ns,
       MAX(total_ns) AS max_ns,
       CAST(SUM(CASE WHEN place * 100 > n * 99 THEN oncpu_ns END) AS BIGINT) AS tail_oncpu_ns,
       CAST(SUM(CASE WHEN place * 100 > n * 99 THEN go_runnable_ns END) AS BIGINT) AS tail_go_runnable_ns,
       CAST(SUM(CASE WHEN place * 100 > n * 99 THEN cpu_wait_ns END) AS BIGINT) AS tail_cpu_wait_ns,
       CAST(SUM(CASE WHEN place * 100 > n * 99 THEN syscall_blocked_ns END) AS BIGINT)
           AS tail_syscall_blocked_ns,
       CAST(SUM(CASE WHEN place * 100 > n * 99 THEN go_blocked_ns END) AS BIGINT) AS tail_go_blocked_ns
FROM ranked
GROUP BY function
ORDER BY p99_ns DESC, function NULLS LAST
LIMIT 50
