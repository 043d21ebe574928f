#!/bin/bash
# kill -9 of the recorder at any time: the target goes on, no probe stays behind.
# beside others
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

killed_after() # SECONDS
{
	start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/kill.trace"
	sleep "$1"
	kill -KILL "$BACKGROUND_PID" 2>/dev/null
	wait "$BACKGROUND_PID" 2>/dev/null
	wait_until 20 text_is_clean "$TARGET_PID" && ! target_is_gone
}

ktap_start
start_target pingpong "$JUDGE_GO" -duration 20s -procs 2 -rate 20000
tell_target start
for after in 0.01 0.04 0.08 0.12 0.16 0.2 0.3 0.5 1; do
	try "kill -9 after $after s" killed_after $after
done
probes_are_seen()
{
	start_background $GOTRACE record -p "$TARGET_PID" -d 2s -o "$tmp/seen.trace"
	sleep 1
	! text_is_clean "$TARGET_PID" && wait "$BACKGROUND_PID"
}
try "probes are seen while recording" probes_are_seen
try "recording works after that" check_trace "$tmp/seen.trace"
expect_target done 60
try "the target ends well" stop_target
ktap_end
