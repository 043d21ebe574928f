#!/bin/bash
# The flight recorder compared with that of the Go runtime (runtime/trace.FlightRecorder, Go 1.25): both write a
# snapshot of one run. Where the windows overlap, they hold the same events for each goroutine, by the
# rules of fidelity.sh.
# tier: all
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/fidelity selftests/servers
. "$(dirname "$0")/../lib.sh"
. selftests/fidelity.lib.sh
. selftests/files.lib.sh

# VERSION AGE WINDOW: the runtime keeps AGE, ours the longer WINDOW; both are shorter than the run
beside()
{
	local own=$tmp/$1.own.trace
	DIR=$tmp/$1.flight
	build_programs "$1" plain selftrace truth && start_target selftrace "$PROGRAMS" -trace "$own" -flight "$2" -duration 10s &&
		start_background $GOTRACE flight -p "$TARGET_PID" -o "$DIR" --window "$3" --max-size 512M "$EVERY_EVENT,sweep" &&
		recorder_is_live && tell_target start && expect_target done 120 && $GOTRACE snapshot -p "$TARGET_PID" && wait_until 30 snapshots_are 1 &&
		stop_recorder && stop_target || return 1
	OURS=$(find "$DIR" -name '*-signal.trace')
	check_trace "$own" >/dev/null && check_trace "$OURS" >/dev/null &&
		build/reference/compare -min-reason 0 -min-goroutines 200 -min-transitions 5000 -time-p99 1s $(tolerance) "$own" "$OURS"
}

ktap_start
for version in $(last_gos_since 25); do
	try "$version: both flight recorders have the same events" beside "$version" 2s "$(stretched 8s)" && note "$(head -n 16 "$tmp/try.out")"
done
try "compare detects every seeded fault" build/reference/compare -selftest "$tmp/$version.own.trace"
ktap_end
