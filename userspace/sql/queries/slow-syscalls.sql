-- System calls that took longest in sum, by name: Go's have no names, the kernel's need kernel events
SELECT source, host, name, COUNT(*) AS calls, CAST(SUM(ns) AS BIGINT) AS total_ns, MAX(ns) AS max_ns,
       COUNT(CASE WHEN ns >= 1000000 THEN 1 END) AS over_1ms,
       COUNT(CASE WHEN ns >= 10000000 THEN 1 END) AS over_10ms,
       COUNT(CASE WHEN ns >= 100000000 THEN 1 END) AS over_100ms,
       COUNT(CASE WHEN result < 0 THEN 1 END) AS errors
FROM syscalls
GROUP BY source, host, name
ORDER BY total_ns DESC NULLS LAST, source, host NULLS LAST, name NULLS LAST
LIMIT 50
