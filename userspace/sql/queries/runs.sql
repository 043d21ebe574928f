-- What was recorded: one line per trace
SELECT file, date, hour, host, service, events, goroutines, lost FROM runs ORDER BY file
