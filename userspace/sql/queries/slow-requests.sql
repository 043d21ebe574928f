-- Slowest requests (tasks) by host and hour: the five longest of each, and where their time went
-- The parts are of all goroutines that worked for a request, so their sum may exceed its duration.
WITH steps AS ( -- how many requests have about the same duration: a step is 10 %
    SELECT date, hour, host, CAST(FLOOR(LN(ns + 1) * 10) AS BIGINT) AS step, COUNT(*) AS n
    FROM requests
    WHERE kind = 'task' AND ns IS NOT NULL
    GROUP BY date, hour, host, CAST(FLOOR(LN(ns + 1) * 10) AS BIGINT)
),
sums AS (
    SELECT date, hour, host, step,
           SUM(n) OVER (PARTITION BY date, hour, host ORDER BY step DESC) - n AS longer
    FROM steps
),
lowest AS ( -- only requests of these steps and longer ones have to be sorted
    SELECT date, hour, host, MIN(step) AS step
    FROM sums
    WHERE longer < 5
    GROUP BY date, hour, host
),
ranked AS (
    SELECT requests.*,
           ROW_NUMBER() OVER (PARTITION BY requests.date, requests.hour, requests.host
                              ORDER BY ns DESC, file, start_ns, task, end_ns, g) AS place
    FROM requests
    JOIN lowest ON requests.date IS NOT DISTINCT FROM lowest.date
        AND requests.hour IS NOT DISTINCT FROM lowest.hour
        AND requests.host IS NOT DISTINCT FROM lowest.host
        AND CAST(FLOOR(LN(ns + 1) * 10) AS BIGINT) >= lowest.step
    WHERE kind = 'task' AND ns IS NOT NULL
)
SELECT date, hour, host, place, service, name, ns, failed, oncpu_ns, go_runnable_ns, kernel_runnable_ns,
       syscall_blocked_ns, go_blocked_ns, file, task, start_ns
FROM ranked
WHERE place <= 5
ORDER BY date NULLS LAST, hour NULLS LAST, host NULLS LAST, place
