#!/bin/bash
# The same-run comparison: a program traces itself by runtime/trace while we record it from outside;
# goroutine by goroutine both must tell the same. And the judge proves itself on seeded faults.
# Times are compared only here, against the runtime's own stamps of the same run. One server that others
# wrote is judged by its own trace, too; `make fidelity` has more of them, and every release.
. "$(dirname "$0")/../lib.sh"
. selftests/fidelity.lib.sh

same_run() # GO
{
	# shellcheck disable=SC2046 # words
	record_target selftrace "$1" "" -trace "$tmp/own.trace" -duration 5s &&
		build/reference/compare -min-reason 12 $(tolerance) "$tmp/own.trace" "$RECORDED"
}

# A large heap and goroutines that allocate without pause: the machine has no time to spare, so what
# is judged are the events that the runtime makes of itself, to the last one and with their values. Not
# of 1.21, which works out a goal twice, for its tracer and then for itself: between, the heap goes on.
heap()
{
	# shellcheck disable=SC2086 # words
	record_target selftrace "$1" "--events=sched,syscall,gc,heap,sweep,user" -trace "$tmp/own.trace" \
		-duration 4s -heap 100 &&
		build/reference/compare -min-reason 0 -min-goroutines 100 -min-transitions 10000 \
			-time-p99 1s $(tolerance) "$tmp/own.trace" "$RECORDED"
}

HEAP_GOS=${HEAP_GOS:-$JUDGE_GO}

ktap_start
REPORTS=$tmp
for go in $TARGET_GOS; do
	try "$go: the same as runtime/trace of the same run" same_run "$go" &&
		note "$(head -n 16 "$tmp/try.out")"
	[ "$go" != "$JUDGE_GO" ] || cp "$tmp/own.trace" "$tmp/full.trace" # it has coroutines, too
	[[ " $HEAP_GOS " == *" $go "* ]] || continue
	try "$go: and with a busy heap" heap "$go" &&
		note "$(grep -A 99 '^begun or happened' "$tmp/try.out")"
done
try "the judge flags every seeded fault" build/reference/compare -selftest "$tmp/full.trace"
try "also when it looks as with a busy heap" build/reference/compare -selftest -edge 60ms -blur 5ms "$tmp/full.trace"
SERVER_SECONDS=3
try "mochi-mqtt by $JUDGE_GO: the same as its own trace" compared_server "${JUDGE_GO#go}" mochi-mqtt 1
ktap_end
