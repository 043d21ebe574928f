-- Worst waits in run queues: for a P (go-runnable), and of the thread for a CPU (kernel-runnable)
SELECT part, ns, reason, function, g, thread, start_ns, host, service, file
FROM slices
WHERE part = 'go-runnable' OR part = 'kernel-runnable' OR part = 'throttled'
ORDER BY ns DESC, file, start_ns, g
LIMIT 50
