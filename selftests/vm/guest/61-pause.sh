#!/bin/bash
# timeout: 180
# module: loaded
# The machine is paused for seconds, with everything in it, and continues: a recording, a flight recorder and a
# flight recorder buffer in the kernel of one program go on, and each has every event. The host pauses it on
# request (pause_on_request() of selftests/vm/run).
. "$(dirname "$0")/../../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh

pauses() # the machine: 3 s of the host's time
{
	echo 3 >"$VM_SHARE/pause" && wait_until 60 test -s "$VM_SHARE/paused" && cat "$VM_SHARE/paused" &&
		grep -q '"status": "paused"' "$VM_SHARE/paused"
}

start_recorders()
{
	start_background $GOTRACE record --blackbox paused -p "$TARGET_PID" && recorder_is_live && blackbox=$BACKGROUND_PID || return 1
	DIR=$tmp/flight
	start_background $GOTRACE flight -p "$TARGET_PID" --window 10m -o "$DIR" && recorder_is_live && flight=$BACKGROUND_PID &&
		start_background $GOTRACE record -p "$TARGET_PID" -o "$VM_SHARE/paused.trace" && recorder_is_live
}

# The host checks the traces and their counts.
continues()
{
	start_target pingpong "$ORACLE_GO" -duration 4s -rate 200 && start_recorders && tell_target start && sleep 1 && pauses &&
		expect_target done 120 && target_result >"$VM_SHARE/paused.done" && stop_recorder &&
		build/gotrace check "$VM_SHARE/paused.trace"
}

in_flight()
{
	stop_target && wait "$flight" && snapshots_are 1 && cp "$(traces)" "$VM_SHARE/paused-flight.trace" &&
		cp "$VM_SHARE/paused.done" "$VM_SHARE/paused-flight.done" && build/gotrace check "$VM_SHARE/paused-flight.trace"
}

in_kernel()
{
	wait "$blackbox"
	$GOTRACE recover paused -o "$VM_SHARE/paused-kernel.trace" && cp "$VM_SHARE/paused.done" "$VM_SHARE/paused-kernel.done" &&
		build/gotrace check "$VM_SHARE/paused-kernel.trace"
}

ktap_start
try "a recording of a paused machine" continues
try "the flight recorder" in_flight
try "the flight recorder buffer in the kernel" in_kernel
ktap_end
