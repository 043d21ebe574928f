-- Capacity by hour, host and service: CPUs that were used, and that goroutines waited for, in
-- thousandths of one CPU, while the service was recorded; and the share of GOMAXPROCS in use, in thousandths
WITH parts AS (
    SELECT date, hour, host, service, end_ns - start_ns AS recorded_ns, gomaxprocs, goroutines AS seen,
           (end_ns - start_ns) * gomaxprocs AS available_ns, 0 AS oncpu_ns, 0 AS go_runnable_ns,
           0 AS cpu_wait_ns, 0 AS throttled_ns
    FROM runs
    UNION ALL
    SELECT date, hour, host, service, 0, NULL, 0, 0, oncpu_ns, go_runnable_ns, kernel_runnable_ns, throttled_ns
    FROM goroutines
),
sums AS (
    SELECT date, hour, host, service, MAX(gomaxprocs) AS gomaxprocs, CAST(SUM(seen) AS BIGINT) AS goroutines,
           CAST(SUM(recorded_ns) AS BIGINT) AS recorded_ns,
           NULLIF(CAST(SUM(recorded_ns) AS DOUBLE), 0) AS recorded,
           NULLIF(CAST(SUM(available_ns) AS DOUBLE), 0) AS available,
           CAST(SUM(oncpu_ns) AS DOUBLE) AS oncpu, CAST(SUM(go_runnable_ns) AS DOUBLE) AS go_runnable,
           CAST(SUM(cpu_wait_ns) AS DOUBLE) AS cpu_wait, CAST(SUM(throttled_ns) AS DOUBLE) AS throttled
    FROM parts
    GROUP BY date, hour, host, service
)
SELECT date, hour, host, service, recorded_ns, goroutines, gomaxprocs,
       CAST(FLOOR(oncpu * 1000 / recorded) AS BIGINT) AS used_millicpus,
       CAST(FLOOR(oncpu * 1000 / available) AS BIGINT) AS gomaxprocs_permille,
       CAST(FLOOR(go_runnable * 1000 / recorded) AS BIGINT) AS waiting_for_p_milli,
       CAST(FLOOR(cpu_wait * 1000 / recorded) AS BIGINT) AS waiting_for_cpu_milli,
       CAST(FLOOR(throttled * 1000 / recorded) AS BIGINT) AS throttled_milli
FROM sums
ORDER BY date NULLS LAST, hour NULLS LAST, host NULLS LAST, service NULLS LAST
