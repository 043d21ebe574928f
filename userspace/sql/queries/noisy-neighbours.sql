-- Noisy neighbours: which programs took the CPUs that threads of goroutines then waited for, by host
SELECT host, service, reason, COUNT(*) AS waits, CAST(SUM(ns) AS BIGINT) AS total_ns, MAX(ns) AS max_ns
FROM slices
WHERE part = 'kernel-runnable' AND reason LIKE 'preempted%'
GROUP BY host, service, reason
ORDER BY total_ns DESC, host NULLS LAST, service NULLS LAST, reason
LIMIT 50
