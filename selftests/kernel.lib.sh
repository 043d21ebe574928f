# Comparison of kernel events with perf; read after lib.sh and record.lib.sh.

kernel_events=sched,syscall,gc,kernel

# [PERF OPTION...]: records the scheduler events of all threads, or those of the options, with CLOCK_MONOTONIC, into
# $tmp/perf.data, until perf_stop.
perf_start()
{
	local record=(sched record)

	[ $# -eq 0 ] || record=(record -a "$@")
	rm -f "$tmp/perf.data"
	perf "${record[@]}" -k CLOCK_MONOTONIC -m 16M -o "$tmp/perf.data" -- sleep 600 >"$tmp/perf.out" 2>&1 &
	PERF_PID=$!
	background+=("$PERF_PID")
	# perf starts its sleep once it records.
	wait_until 20 pgrep -x -P "$PERF_PID" sleep && return
	note "perf did not start: $(tail -n 3 "$tmp/perf.out")"
	return 1
}

# Converts the recording to $tmp/perf.txt. 3: perf lost events.
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

# PERF.DATA: prints the two times of each interval in which perf lacks a switch of a CPU, in ns: the thread that leaves the
# CPU at its end is not the one that got it at its begin.
perf_lacks()
{
	perf script --ns -F cpu,time,event,trace -i "$1" 2>/dev/null | awk '/ sched:sched_switch:/ {
		cpu = $1
		time = $2
		gsub(/[.:]/, "", time)
		match($0, / prev_pid=[0-9]+/)
		if (cpu in on_cpu && on_cpu[cpu] != substr($0, RSTART + 10, RLENGTH - 10))
			print since[cpu], time
		match($0, / next_pid=[0-9]+/)
		on_cpu[cpu] = substr($0, RSTART + 10, RLENGTH - 10)
		since[cpu] = time
	} END { exit NR == 0 }'
}

# NAME GO "RECORD OPTIONS" [ARGUMENT...]: records a target with perf in parallel, and validates the
# trace. If either of the two loses events on a busy machine, it tries again. perf attaches second:
# less work lies between our timestamp and perf's than in the other order.
record_beside_perf()
{
	local status

	for _ in 1 2 3; do
		when_live=perf_start record_target "$@" && check_trace "$RECORDED" || return 1
		perf_stop
		status=$?
		[ $status -ne 0 ] || [ "$(stat_of lost "$tmp/$1.json")" = 0 ] || status=4
		[ $status -ge 3 ] || break
		echo "the machine is busy: $([ $status -eq 3 ] && echo perf || echo gotrace-bpf) lost events; trying again"
	done
	[ $status -eq 0 ] && build/gotrace events --kernel --json "$RECORDED" >"$tmp/items"
}

# GO CASE "OPTIONS OF reference/kernel" [ARGUMENT...]: the context switches and wake-ups equal those
# of perf
same_switches()
{
	local go=$1 name=$2 options=$3
	shift 3

	record_beside_perf latency "$go" "--events $kernel_events" -case "$name" "$@" || return 1
	build/reference/kernel switches $options "$tmp/items" "$tmp/latency.done" "$tmp/perf.txt" "$TARGET_PID"
}
