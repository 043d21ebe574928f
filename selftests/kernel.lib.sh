# What the scripts share that compare the kernel's side with what perf says; read after lib.sh and record.lib.sh.

kernel_events=sched,syscall,gc,kernel

# The scheduler's events of all threads, on our clock, into $tmp/perf.data, until perf_stop.
perf_start()
{
	rm -f "$tmp/perf.data"
	perf sched record -k CLOCK_MONOTONIC -m 16M -o "$tmp/perf.data" -- sleep 600 >"$tmp/perf.out" 2>&1 &
	PERF_PID=$!
	background+=("$PERF_PID")
	# Its sleep runs once all is being recorded.
	wait_until 20 pgrep -x -P "$PERF_PID" sleep && return
	note "perf did not start: $(tail -n 3 "$tmp/perf.out")"
	return 1
}

# And its text into $tmp/perf.txt. 3: it has lost some itself.
perf_stop()
{
	kill -INT "$PERF_PID"
	wait "$PERF_PID"
	perf script -i "$tmp/perf.data" --ns -F pid,tid,cpu,time,event,trace >"$tmp/perf.txt" 2>"$tmp/perf.err" || {
		cat "$tmp/perf.err"
		return 1
	}
	! grep -i 'lost' "$tmp/perf.out" "$tmp/perf.err" || return 3
}

# NAME GO "RECORD OPTIONS" [ARGUMENT...]: records a target with perf beside, and judges the trace. What perf itself
# loses on a busy machine is no reason to fail. It comes second: from our stamp to its is less work than
# the other way round.
record_beside_perf()
{
	local status

	for _ in 1 2 3; do
		when_live=perf_start record_target "$@" && check_trace "$RECORDED" || return 1
		perf_stop
		status=$?
		[ $status -eq 3 ] || break
		echo "a busy machine: perf lost some; once more"
	done
	[ $status -eq 0 ] && build/gotrace events --kernel --json "$RECORDED" >"$tmp/items"
}

# GO CASE "JUDGE OPTIONS" [ARGUMENT...]: the context switches and wake-ups are those that perf saw
same_switches()
{
	local go=$1 name=$2 options=$3
	shift 3

	record_beside_perf latency "$go" "--events $kernel_events" -case "$name" "$@" || return 1
	# shellcheck disable=SC2086 # options are words
	build/reference/kernel switches $options "$tmp/items" "$tmp/latency.done" "$tmp/perf.txt" "$TARGET_PID"
}
