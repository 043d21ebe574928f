#!/bin/bash
# long: 600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/fidelity selftests/servers
# The same-run comparison: a program traces itself with runtime/trace while gotrace-bpf records it,
# and both traces must agree for each goroutine. The comparison itself is tested with seeded faults.
# Times are compared only here, with the runtime's timestamps of the same run; on a slow machine they
# differ more. One third-party server is compared with its own trace, too; `make fidelity` covers more
# servers, and every release.
. "$(dirname "$0")/../lib.sh"
. selftests/fidelity.lib.sh

same_run() # GO
{
	record_target selftrace "$1" "$EVERY_EVENT" -trace "$tmp/own.trace" \
		-duration "$DURATION" &&
		build/reference/compare -min-reason 12 -time-p99 "$(stretched 10us)" $(tolerance) "$tmp/own.trace" "$RECORDED"
}

# A large heap and goroutines that allocate without pause: the machine has no CPU time to spare, so
# only the events that the runtime emits about itself are compared, each with its values. Not with
# 1.21, which computes a heap goal twice, once for its tracer and once for itself: the heap grows in
# between.
heap()
{
	record_target selftrace "$1" "--events=sched,syscall,gc,heap,sweep,user" -trace "$tmp/own.trace" \
		-duration 4s -heap 100 &&
		build/reference/compare -min-reason 0 -min-goroutines 100 -min-transitions 10000 \
			-time-p99 1s -edge "$(stretched 60ms)" -blur "$(stretched 5ms)" "$tmp/own.trace" "$RECORDED"
}

# A server that often loses its CPU: also between a system call's begin and the kernel, after its end, and after a park.
times_beside_others()
{
	local i status

	for ((i = 0; i < 2 * $(nproc); i++)); do
		(while :; do :; done) &
		background+=($!)
	done
	compared_server "${ORACLE_GO#go}" nats-server 1
	status=$?
	kill "${background[@]:0:2 * $(nproc)}"
	[ $status -eq 0 ] && build/gotrace events --kernel --json "$tmp/server.trace" >"$tmp/items" &&
		build/reference/statetimes -max 4 -kernel "$tmp/items" "$tmp/own.trace" "$tmp/server.trace"
}

HEAP_GOS=$(by_tier "" "$ORACLE_GO" "${TARGET_GOS/go1.21.13/}")

ktap_start
REPORTS=$tmp
for go in $TARGET_GOS $(newest_go_of selftrace); do
	try "$go: the trace matches runtime/trace of the same run" long_enough "$(by_tier '2s 10s' '5s 20s' '5s 20s')" same_run "$go" &&
		note "$(head -n 16 "$tmp/try.out")"
	[ "$go" != "$ORACLE_GO" ] || cp "$tmp/own.trace" "$tmp/full.trace" # it has coroutines, too
	[[ " $HEAP_GOS " == *" $go "* ]] || continue
	try "$go: the same with a busy heap" heap "$go" &&
		note "$(grep -A 99 '^begun or happened' "$tmp/try.out")"
done
in_all try "compare detects every seeded fault" build/reference/compare -selftest "$tmp/full.trace"
in_all try "the same with the tolerance for a busy heap" build/reference/compare -selftest -edge 60ms -blur 5ms "$tmp/full.trace"
SERVER_SECONDS=3
in_all try "nats-server with $ORACLE_GO, beside busy processes: the time in each state" times_beside_others && note "$(tail -n 5 "$tmp/try.out")"
in_all try "mochi-mqtt with $ORACLE_GO: the trace matches its own" compared_server "${ORACLE_GO#go}" mochi-mqtt 1
ktap_end
