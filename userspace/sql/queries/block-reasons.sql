-- Block reasons whose share of goroutine time changed most between the two newest versions of a service
-- A version is a build ID, else the version of Go; the newest is that whose last trace began last.
-- Shares are millionths of the time of all goroutines.
WITH files AS (
    SELECT file, host, service, COALESCE(build, go_version, format) AS version,
           COALESCE(wall_ns, start_ns) AS began
    FROM runs
),
versions AS (
    SELECT service, version,
           ROW_NUMBER() OVER (PARTITION BY service ORDER BY MAX(began) DESC, version) AS age
    FROM files
    GROUP BY service, version
),
sums AS (
    SELECT file, host, service, CASE WHEN part = 'go-blocked' THEN COALESCE(reason, '(none)') END AS reason,
           CAST(SUM(ns) AS BIGINT) AS ns
    FROM slices
    GROUP BY file, host, service, CASE WHEN part = 'go-blocked' THEN COALESCE(reason, '(none)') END
),
aged AS (
    SELECT sums.service AS service, versions.age AS age, sums.reason AS reason,
           CAST(SUM(sums.ns) AS BIGINT) AS ns
    FROM sums
    JOIN files ON sums.file = files.file AND sums.host IS NOT DISTINCT FROM files.host
              AND sums.service IS NOT DISTINCT FROM files.service
    JOIN versions ON files.version = versions.version
                 AND files.service IS NOT DISTINCT FROM versions.service
    WHERE versions.age <= 2
    GROUP BY sums.service, versions.age, sums.reason
),
shares AS (
    SELECT service, age, reason,
           CAST(FLOOR(CAST(ns AS DOUBLE) * 1000000
                      / NULLIF(CAST(SUM(ns) OVER (PARTITION BY service, age) AS DOUBLE), 0)) AS BIGINT) AS ppm
    FROM aged
),
both_versions AS (
    SELECT service, reason, SUM(CASE WHEN age = 2 THEN ppm ELSE 0 END) AS old_ppm,
           SUM(CASE WHEN age = 1 THEN ppm ELSE 0 END) AS new_ppm, MAX(age) AS oldest
    FROM shares
    WHERE reason IS NOT NULL
    GROUP BY service, reason
)
SELECT b.service, o.version AS old_version, n.version AS new_version, b.reason,
       CAST(b.old_ppm AS BIGINT) AS old_ppm, CAST(b.new_ppm AS BIGINT) AS new_ppm,
       CAST(b.new_ppm - b.old_ppm AS BIGINT) AS change_ppm
FROM both_versions b
JOIN versions n ON n.service IS NOT DISTINCT FROM b.service AND n.age = 1
JOIN versions o ON o.service IS NOT DISTINCT FROM b.service AND o.age = 2
ORDER BY ABS(b.new_ppm - b.old_ppm) DESC, b.service NULLS LAST, b.reason
LIMIT 50
