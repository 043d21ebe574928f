-- What was recorded: one line per trace, oldest first
SELECT file, host, service, go_version, wall_ns, end_ns - start_ns AS duration_ns, events, goroutines,
       kernel_events, lost
FROM runs
ORDER BY wall_ns NULLS LAST, file, host NULLS LAST
