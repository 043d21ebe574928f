-- Slowest requests (tasks) by host and hour: the five longest of each, and where their time went
-- The parts are of all goroutines that worked for a request, so their sum may exceed its duration.
WITH ranked AS (
    SELECT date, hour, host, service, file, name, task, start_ns, ns, failed, oncpu_ns, go_runnable_ns,
           kernel_runnable_ns, syscall_blocked_ns, go_blocked_ns,
           ROW_NUMBER() OVER (PARTITION BY date, hour, host
                              ORDER BY ns DESC, file, start_ns, task, end_ns, g) AS place
    FROM requests
    WHERE kind = 'task' AND ns IS NOT NULL
)
SELECT date, hour, host, place, service, name, ns, failed, oncpu_ns, go_runnable_ns, kernel_runnable_ns,
       syscall_blocked_ns, go_blocked_ns, file, task, start_ns
FROM ranked
WHERE place <= 5
ORDER BY date NULLS LAST, hour NULLS LAST, host NULLS LAST, place
