-- Stop-the-world pauses that took at least ten times the median of their kind, longest first
WITH ranked AS (
    SELECT name, ns, start_ns, g, host, service, file,
           ROW_NUMBER() OVER (PARTITION BY name ORDER BY ns, file, start_ns, g) AS place,
           COUNT(*) OVER (PARTITION BY name) AS n
    FROM gc
    WHERE kind = 'stw' AND ns IS NOT NULL
),
medians AS (
    SELECT name, MAX(ns) AS median_ns
    FROM ranked
    WHERE place = CAST(FLOOR((n + 1) / 2) AS BIGINT)
    GROUP BY name
)
SELECT ranked.name, ranked.ns, medians.median_ns, ranked.start_ns, ranked.g, ranked.host, ranked.service,
       ranked.file
FROM ranked
JOIN medians ON ranked.name = medians.name
WHERE ranked.ns >= medians.median_ns * 10
ORDER BY ranked.ns DESC, ranked.name, ranked.file, ranked.start_ns
LIMIT 50
