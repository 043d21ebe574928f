#!/bin/bash
# Tests the size of traces: for the same run at most 1.2 times the bytes per event of the runtime's
# own tracer, whose time unit is 64 ns, and no more than its bytes with --tick 64ns. Without kernel
# events, which that tracer does not have. Small traces need more: they contain the event table of 6
# KB. check-long covers more Go releases. It runs alone: on a busy machine goroutines change threads more
# often, and the ratio with --tick 64ns, 0.98 to 0.99 otherwise, was 1.002.
# tier: all
# timeout: 300
# long: 600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/releases.lib.sh
GOS=$(by_tier "$ORACLE_GO" "$ORACLE_GO" "$(every_go_since 22)")

same_run() # GO: both ticks from one recording
{
	record_target selftrace "$1" "--save-input $tmp/raw --events=sched,syscall,gc,heap,user" -trace "$tmp/own.trace" -duration 10s &&
		$GOTRACE replay "$tmp/raw" --tick 64ns -o "$tmp/ticks.trace" &&
		check_trace "$RECORDED" && check_trace "$tmp/ticks.trace"
}

ktap_start
targets_of "$GOS" selftrace
for go in $GOS; do
	try "$go: a run that both trace" same_run "$go" || continue
	try "$go: at most 1.2 times Go's bytes per event" \
		build/reference/size -most 1.2 "$RECORDED" "$tmp/own.trace"
	note "$(tail -n 1 "$tmp/try.out")"
	try "$go: no more than Go's bytes with --tick 64ns" \
		build/reference/size -most 1.0 "$tmp/ticks.trace" "$tmp/own.trace"
	note "$(tail -n 1 "$tmp/try.out")"
done
ktap_end
