#!/bin/bash
# timeout: 240
# The wall clock is set back and forward during recordings: each file is valid and complete, files of
# continuous recording and snapshots have names of their own, and windows that are aligned by the wall
# clock neither stop nor pile up. Timestamps are those of CLOCK_MONOTONIC, which no step changes.
. "$(dirname "$0")/../../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh

step() { date -s "@$(($(date +%s) + $1))" >/dev/null; } # SECONDS
# The last one ends where the first began: a limit of the time of all groups depends on this clock.
steps() { step -7200 && sleep 1.5 && step 86400 && sleep 1.5 && step -79200; }

counted() # a recording with every event, across three steps
{
	start_target pingpong "$ORACLE_GO" -duration 8s -rate 200 &&
		start_background $GOTRACE record -p "$TARGET_PID" -o "$VM_SHARE/clock.trace" && recorder_is_live && tell_target start &&
		steps && expect_target done 120 && target_result >"$VM_SHARE/clock.done" && stop_recorder && stop_target &&
		build/gotrace check "$VM_SHARE/clock.trace"
}

start_work()
{
	start_target pingpong "$ORACLE_GO" -duration 600s -rate 200 && tell_target start
}

are_whole() # all files are listed, valid, and nothing is missing between two of them
{
	local name bytes events start from to before=''

	nothing_left && [ "$(find "$DIR" -name '*.trace' | wc -l)" -eq "$(index | wc -l)" ] &&
		traces | xargs build/gotrace check && index >"$tmp/index" || return 1
	while IFS=$'\t' read -r name bytes events start from to; do
		echo "$name: $from to $to"
		[ "${1-}" != joined ] || [ "${before:-$from}" = "$from" ] || return 1
		before=$to
	done <"$tmp/index"
}

rotated()
{
	DIR=$tmp/rotate
	start_background $GOTRACE record --rotate 1s -p "$TARGET_PID" -o "$DIR" && recorder_is_live && wait_until 60 listed 1 &&
		steps && wait_until 60 listed 4 && stop_recorder && are_whole joined
}

snapshots()
{
	DIR=$tmp/flight
	start_background $GOTRACE flight -p "$TARGET_PID" --tail 100ms -o "$DIR" && recorder_is_live && sleep 1 &&
		$GOTRACE snapshot && wait_until 60 snapshots_are 1 && step -7200 && $GOTRACE snapshot &&
		wait_until 60 snapshots_are 2 && step 7200 && $GOTRACE snapshot && wait_until 60 snapshots_are 3 && stop_recorder &&
		are_whole
}

# The next window does not wait for the time before the step to come again. A step may be in a window, in
# which the recorder does not wait for its timer: so it is stopped at four times of the period.
aligned()
{
	local n=1 seconds

	DIR=$tmp/sample
	start_background $GOTRACE record -v --sample 500ms/2s --align-start -p "$TARGET_PID" -o "$DIR" && recorder_is_live || return 1
	for seconds in -7200 86400 -86400 7200; do
		wait_until 20 listed $n && sleep 0.$((n * 2 % 10)) && kill -STOP "$BACKGROUND_PID" && step $seconds &&
			kill -CONT "$BACKGROUND_PID" || { cat "$tmp/background.out"; return 1; }
		n=$(($(index | wc -l) + 2))
	done
	wait_until 60 listed $n && stop_recorder && are_whole && [ "$(index | wc -l)" -lt 60 ] ||
		{ cat "$tmp/background.out"; index; return 1; }
}

ktap_start
try "a recording across steps of the wall clock" counted
try "a target" start_work
try "continuous recording" rotated
try "snapshots" snapshots
try "windows aligned by the wall clock" aligned
try "the target goes on" kill -0 "$TARGET_PID"
ktap_end
