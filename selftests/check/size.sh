#!/bin/bash
# What a trace costs on disk: of the same run it takes at most 1.2 times the bytes an event that the
# runtime's own tracer takes, whose unit of time is 64 ns, and at most as many with --tick 64ns. Without
# the kernel's side, of which that tracer tells nothing. Small traces take more: they hold the table that
# describes them, of 6 KB. check-long: more Gos.
# beside others
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
GOS=${GOS:-$JUDGE_GO}

same_run() # GO: both ticks from one recording
{
	record_target selftrace "$1" "--raw $tmp/raw --events=sched,syscall,gc,heap,user" -trace "$tmp/own.trace" -duration 10s &&
		$GOTRACE sequence "$tmp/raw" --tick 64ns -o "$tmp/ticks.trace" &&
		check_trace "$RECORDED" && check_trace "$tmp/ticks.trace"
}

ktap_start
for go in $GOS; do
	try "$go: a run that both trace" same_run "$go" || continue
	try "$go: 1.2 times Go's bytes an event" \
		build/reference/size -most 1.2 "$RECORDED" "$tmp/own.trace"
	note "$(tail -n 1 "$tmp/try.out")"
	try "$go: no more than Go's with --tick 64ns" \
		build/reference/size -most 1.0 "$tmp/ticks.trace" "$tmp/own.trace"
	note "$(tail -n 1 "$tmp/try.out")"
done
ktap_end
