-- Noisy neighbours: which programs had the CPUs that threads of goroutines waited for, by host
SELECT host, service, reason, COUNT(*) AS waits, CAST(SUM(ns) AS BIGINT) AS total_ns, MAX(ns) AS max_ns
FROM slices
WHERE part = 'kernel-runnable' AND (reason LIKE 'CPU held by %' OR reason LIKE 'preempted by %')
GROUP BY host, service, reason
ORDER BY total_ns DESC, host NULLS LAST, service NULLS LAST, reason
LIMIT 50
