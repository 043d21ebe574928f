-- Cost of the garbage collector by hour, host and service: cycles, pauses, and what goroutines paid
-- assist_ppm: mark assists, in millionths of the time that goroutines were on a CPU.
WITH parts AS (
    SELECT date, hour, host, service,
           CASE WHEN kind = 'gc' THEN 1 ELSE 0 END AS cycles, CASE WHEN kind = 'gc' THEN ns ELSE 0 END AS mark_ns,
           CASE WHEN kind = 'stw' THEN 1 ELSE 0 END AS pauses, CASE WHEN kind = 'stw' THEN ns ELSE 0 END AS stw_ns,
           CASE WHEN kind = 'sweep' THEN ns ELSE 0 END AS sweep_ns,
           CASE WHEN kind = 'assist' THEN 1 ELSE 0 END AS assists, 0 AS assist_ns, 0 AS oncpu_ns, 0 AS recorded_ns
    FROM gc
    UNION ALL
    SELECT date, hour, host, service, 0, 0, 0, 0, 0, 0, gc_assist_ns, oncpu_ns, 0
    FROM goroutines
    UNION ALL
    SELECT date, hour, host, service, 0, 0, 0, 0, 0, 0, 0, 0, end_ns - start_ns
    FROM runs
)
SELECT date, hour, host, service, CAST(SUM(recorded_ns) AS BIGINT) AS recorded_ns,
       CAST(SUM(cycles) AS BIGINT) AS cycles, CAST(SUM(mark_ns) AS BIGINT) AS mark_ns,
       CAST(SUM(pauses) AS BIGINT) AS pauses, CAST(SUM(stw_ns) AS BIGINT) AS stw_ns,
       CAST(MAX(stw_ns) AS BIGINT) AS max_stw_ns, CAST(SUM(sweep_ns) AS BIGINT) AS sweep_ns,
       CAST(SUM(assists) AS BIGINT) AS assists, CAST(SUM(assist_ns) AS BIGINT) AS assist_ns,
       CAST(FLOOR(CAST(SUM(assist_ns) AS DOUBLE) * 1000000 / NULLIF(CAST(SUM(oncpu_ns) AS DOUBLE), 0)) AS BIGINT)
           AS assist_ppm
FROM parts
GROUP BY date, hour, host, service
ORDER BY date NULLS LAST, hour NULLS LAST, host NULLS LAST, service NULLS LAST
