#!/bin/bash
# kill -9 of the recorder at any time: the target continues, and no probe is left in it.
# tier: all
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

leaves_no_probe_when_killed_after() # SECONDS
{
	sleep "$1"
	kill -KILL "$BACKGROUND_PID" 2>/dev/null
	wait "$BACKGROUND_PID" 2>/dev/null
	wait_until 20 text_is_clean "$TARGET_PID" && ! target_is_gone
}

killed_after() # SECONDS
{
	start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/kill.trace"
	leaves_no_probe_when_killed_after "$1"
}

# "OPTIONS" SECONDS: killed so long after the signal at which it takes its probes away
killed_at_the_end_after()
{
	start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/kill.trace" $1
	recorder_is_live || return 1
	kill -INT "$BACKGROUND_PID"
	leaves_no_probe_when_killed_after "$2"
}

writes_part() # 1: the first recorder, 2: the next one
{
	[ -s "$tmp/part.trace.partial" ] && { [ "$1" = 1 ] || [ -e "$tmp/part.trace.partial.1" ]; }
}

# The next recorder with the same file name keeps the file of the killed one, and reports that.
parts_are_kept()
{
	local i

	for i in 1 2; do
		start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/part.trace"
		wait_until 30 writes_part $i
		kill -KILL "$BACKGROUND_PID"
		wait "$BACKGROUND_PID" 2>/dev/null
		[ -s "$tmp/part.trace.partial" ] || return 1
		cp "$tmp/part.trace.partial" "$tmp/copy.$i"
	done
	$GOTRACE record -p "$TARGET_PID" -d 300ms -o "$tmp/part.trace" 2>"$tmp/err" && cat "$tmp/err" &&
		grep -c "part.trace.partial, left by a killed process, is kept as $tmp/part.trace.partial.2$" "$tmp/err" &&
		check_trace "$tmp/part.trace" && [ ! -e "$tmp/part.trace.partial" ] || return 1
	for i in 1 2; do
		cmp "$tmp/copy.$i" "$tmp/part.trace.partial.$i" &&
			build/gotrace check --lenient "$tmp/part.trace.partial.$i" || return 1
	done
}

ktap_start
start_target pingpong "$ORACLE_GO" -duration 30s -procs 2 -rate 20000
tell_target start
try "partial files of killed recorders are kept" parts_are_kept
for after in 0.01 0.04 0.08 0.12 0.16 0.2 0.3 0.5 1; do
	try "kill -9 after $after s" killed_after $after
done
for after in 0.005 0.01 0.02 0.05; do
	try "kill -9 $after s after SIGINT" killed_at_the_end_after "" $after
done
for after in 0.02 0.5; do
	try "perf uprobes: kill -9 $after s after SIGINT" killed_at_the_end_after --force-perf-uprobes $after
done
probes_are_seen()
{
	start_background $GOTRACE record -p "$TARGET_PID" -d 2s -o "$tmp/seen.trace"
	sleep 1
	! text_is_clean "$TARGET_PID" && wait "$BACKGROUND_PID"
}
try "probes are visible during a recording" probes_are_seen
try "a later recording works" check_trace "$tmp/seen.trace"
expect_target done 60
try "the target exits normally" stop_target
ktap_end
