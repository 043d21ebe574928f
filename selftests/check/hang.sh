#!/bin/bash
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
# A process that does nothing: the trace, a snapshot and what a killed recorder leaves last as long as the
# recording did, also for Go's reader, in each version of the format.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh

N=20 # goroutines that wait

# TRACE NS: Go's reader and ours see that much time, and each goroutine has it in one of its states.
lasts()
{
	local want=$2

	build/reference/summary -json -n 0 "$1" >"$tmp/summary" && build/gotrace stat --json "$1" >"$tmp/stat" || return 1
	echo "$want ns; $(jq .duration_ns "$tmp/summary") by Go's reader, $(jq .duration "$tmp/stat") by ours"
	jq -e --argjson want "$want" '.duration - $want | fabs < 1000000' "$tmp/stat" >/dev/null || return 1
	jq -e --argjson want "$want" 'def near(a): (. - a | fabs) < 10000000;
		(.duration_ns - $want | fabs < 1000000) and (.functions | map(.goroutines) | add > '$N') and
		all(.functions[]; . as $f | .running_ns + .runnable_ns + .blocked_ns + .syscall_ns | near($f.goroutines * $want))' \
		"$tmp/summary" >/dev/null
}

# No thread, P or goroutine but those of the process.
adds_nothing() # TRACE
{
	local threads

	threads=$(ls "/proc/$TARGET_PID/task")
	build/gotrace events --json "$1" | jq -r '.m // empty' | sort -u | grep -vxF "$threads" && return 1
	[ "$(build/gotrace events --json "$1" | jq -r '.proc // empty' | sort -nu | tail -n 1)" -lt "$(nproc)" ]
}

recorded_as() # VERSION
{
	$GOTRACE record -p "$TARGET_PID" -d 1500ms -o "$tmp/$1.trace" --format-version "$1" --stats "$tmp/stats" &&
		check_trace "$tmp/$1.trace" && lasts "$tmp/$1.trace" "$(stat_of window_ns "$tmp/stats")" && adds_nothing "$tmp/$1.trace"
}

# A snapshot shows the time up to the request.
in_flight()
{
	local file

	start_background $GOTRACE flight -p "$TARGET_PID" -o "$tmp/flight" && recorder_is_live || return 1
	sleep 3
	$GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 compgen -G "$tmp/flight/*.trace" >/dev/null || return 1
	file=$(compgen -G "$tmp/flight/*.trace")
	stop_recorder && check_trace "$file" && build/reference/summary -json "$file" | jq -e '.duration_ns > 2900000000'
}

# What is lost of the time is at most the generation that was open, of 1 s, and what was not read yet.
killed()
{
	start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/killed.trace" && recorder_is_live || return 1
	sleep 3.5
	kill -KILL "$BACKGROUND_PID"
	wait "$BACKGROUND_PID" 2>/dev/null
	check_trace "$tmp/killed.trace.partial" &&
		build/reference/summary -json "$tmp/killed.trace.partial" | jq -e '.duration_ns >= 2000000000'
}

ktap_start
start_target parked "$ORACLE_GO" -n $N -duration 600s || exit 1
for version in 1.22 1.23 1.25 1.26; do
	try "a trace of version $version" recorded_as $version
done
try "a snapshot" in_flight
try "kill -9 of the recorder" killed
kill "$TARGET_PID"
ktap_end
