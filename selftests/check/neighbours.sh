#!/bin/bash
# Tests which tasks `gotrace latency` shows as holding the CPUs while threads waited for them, in the recording alone:
# for each task within 2 % or 100 us of what follows from perf's events of all CPUs. The one that preempts a
# thread is often gone after microseconds, and another has the CPU for the rest of the wait. No record contradicts the
# switches of the target.
# tier: check
# timeout: 300
# depends on: Makefile bpf include userspace selftests/targets selftests/neighbours.py
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh
. selftests/kernel.lib.sh

busy() { taskset -c "$1" "$tmp/busy" -c 'while :; do :; done' & background+=($!); NEIGHBOURS+=($!); }
# 200 short wakes a second.
wakes() { taskset -c "$1" "$tmp/waker" -c "while :; do $tmp/nap 0.005; done" & background+=($!); NEIGHBOURS+=($!); }
# A real-time task: 10 ms of each 30 ms.
urgent()
{
	taskset -c "$1" chrt -f 10 "$tmp/urgent" -c 'while :; do end=$((${EPOCHREALTIME/./} + 10000))
		while ((${EPOCHREALTIME/./} < end)); do :; done; read -rt 0.02 <> <(:); done' &
	background+=($!)
	NEIGHBOURS+=($!)
}

pinned()
{
	taskset -acp "$1" "$TARGET_PID" >/dev/null &&
		perf_start -e sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_migrate_task
}

# No other thread, and not an unknown one, has a CPU that a thread of the target got and has not left.
agrees_with_switches() # TRACE
{
	build/gotrace events --kernel --json "$1" | jq -n -c 'reduce inputs as $e ({on: {}, wrong: []}; "\($e.cpu)" as $cpu |
		if $e.event == "on_cpu" then .on[$cpu] = $e.m elif $e.event == "off_cpu" then del(.on[$cpu])
		elif $e.event == "occupant" and .on[$cpu] and .on[$cpu] != $e.m then .wrong += [$e] else . end) | .wrong' >"$tmp/wrong"
	[ "$(cat "$tmp/wrong")" = '[]' ] || { head -c 1000 "$tmp/wrong"; return 1; }
}

# "NEIGHBOUR CPU..." CPUS ARGUMENT...: the program on CPUS beside the neighbours.
compared()
{
	local neighbours=$1 cpus=$2 status
	shift 2

	NEIGHBOURS=()
	eval "$neighbours"
	when_live="pinned $cpus" record_target locked "$ORACLE_GO" "--events $kernel_events" -duration 1s "$@" && perf_stop
	status=$?
	kill "${NEIGHBOURS[@]}" 2>/dev/null
	wait "${NEIGHBOURS[@]}" 2>/dev/null
	[ $status -eq 0 ] || return 1
	[ "$(stat_of lost "$tmp/locked.json")" -eq 0 ] && agrees_with_switches "$RECORDED" || return 1
	build/gotrace latency --all --json --from "@$(jq .from "$tmp/locked.done")" --to "@$(jq .to "$tmp/locked.done")" \
		"$RECORDED" >"$tmp/latency.json" &&
		selftests/neighbours.py "$tmp/perf.txt" "$tmp/locked.done" "$tmp/latency.json" main.compute
}

ktap_start
export GODEBUG=asyncpreemptoff=1
# Programs whose names are in the traces.
for name in busy waker urgent; do
	cp "$(command -v bash)" "$tmp/$name"
done
cp "$(command -v sleep)" "$tmp/nap"
try "a neighbour that never sleeps, and one that wakes 200 times a second" compared 'busy 0; wakes 0' 0
try "a real-time task" compared 'urgent 0' 0
try "a real-time task and one that never sleeps, and a program that sleeps" compared 'busy 0; urgent 0' 0 -nap 1ms
try "four threads of the program on one CPU" compared : 0 -n 4
try "four threads that may change their CPU, two neighbours" compared 'busy 0; busy 1; wakes 0; wakes 1' 0,1 -n 4 -nap 500us
ktap_end
