#!/bin/bash
# tier: check
# parallel
# long: 1800
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
# Goroutines that are parked when a recording begins, and stay so, have in the trace the stack that the program's own
# tracer gives them; programs of releases whose tracer has none, that of the goroutine profile; and the reason that the
# profile shows; and those in system calls, which the runtime has since Go 1.23. In 46 kinds of waits, while nothing
# happens, and while the garbage collector shrinks and moves stacks; in the last file of a continuous recording, too,
# together with the time since when they wait. The reasons that are inferred in the runtime's own trace are those of the
# profile, too.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/releases.lib.sh
GOS=$(by_tier "$ORACLE_GO go1.21.13" "$(every_go_since 19) go${LAST_GOS##* }" "$(every_go_since 19) go${LAST_GOS##* }")
N=$(by_tier 4600 20000 100000)

# TRACE RUNTIME: the reasons are those of the goroutine profile
agrees()
{
	local status

	build/gotrace events --json "$1" | grep '"Undetermined"' >"$tmp/events.json"
	check_trace "$1" && build/reference/parked "$1" "$2" >"$tmp/parked.out" &&
		build/reference/parked -reasons "$tmp/events.json" "$1" "$tmp/own.profile" >>"$tmp/parked.out"
	status=$?
	cut -c 1-1000 "$tmp/parked.out"
	return $status
}

# The runtime's own trace has no reasons: each is inferred from the stack.
inferred()
{
	build/gotrace events --json "$tmp/own.trace" | grep '"Undetermined"' >"$tmp/inferred.json"
	build/reference/parked -reasons "$tmp/inferred.json" -inferred "$tmp/own.trace" "$tmp/own.profile" >"$tmp/inferred.out" && return
	cut -c 1-1000 "$tmp/inferred.out"
	return 1
}

# GO [ARGUMENT...]: the recording begins before the program's own trace, and ends after it
parked()
{
	local go=$1 options='' theirs=$tmp/own.trace
	shift

	rm -f "$tmp"/own.*
	[ "$(minor_of "$go")" -ge 23 ] || { options='--format-version 1.23' theirs=$tmp/own.profile; }
	record_target waiting "$go" "$options" -n "$N" -threads 100 -duration 1s -trace "$tmp/own.trace" -profile "$tmp/own.profile" "$@" &&
		build/reference/validate -strict "$RECORDED" && jq -e --argjson n "$N" '.parked >= $n and
			.parked <= .goroutines_at_start and .parked_left_out == 0' "$tmp/waiting.json" >/dev/null || return 1
	agrees "$RECORDED" "$theirs"
}

# FILE...: waits in the last file that the earlier ones contain began at their events
began()
{
	local id last=${*: -1}

	build/gotrace events --json --type GoBlock "$1" | jq -r 'select(.to == "Waiting") | "\(.goroutine) \(.time)"' >"$tmp/blocks"
	shuf -n 12 --random-source=<(yes) <(awk '{ n[$1]++; line[$1] = $0 } END { for (g in n) if (n[g] == 1) print line[g] }' "$tmp/blocks") |
		while read -r id time; do
			build/gotrace waits --json --kind block --goroutine "$id" "$last" | jq -r --arg time "$time" '.waits[] |
				select(.began_before) | "\(.goroutine) \(.from_ns - .before_ns - ($time | tonumber))"'
		done >"$tmp/began"
	cat "$tmp/began"
	awk '$2 < -1000 || $2 > 1000 { exit 1 } END { exit NR < 10 }' "$tmp/began"
}

# GO: the last of some files has the stacks and reasons of goroutines that were parked before and in the recording
rotated()
{
	local files

	rm -rf "$tmp"/own.* "$tmp/files"
	start_target waiting "$1" -n "$N" -late "$N" -duration 4s -profile "$tmp/own.profile" || return 1
	start_background $GOTRACE record -p "$TARGET_PID" --rotate 1s --format-version 1.23 -o "$tmp/files"
	recorder_is_live || return 1
	tell_target start
	expect_target done 120 && stop_recorder || return 1
	stop_target
	files=("$tmp"/files/*.trace)
	[ ${#files[@]} -ge 3 ] && agrees "${files[-1]}" "$tmp/own.profile" && began "${files[@]}" &&
		build/gotrace anonymize "${files[-1]}" -o "$tmp/files/anonymous" && began "${files[0]}" "$tmp/files/anonymous"
}

ktap_start
targets_of "$GOS" waiting
for go in $GOS; do
	try "$go: the stacks of parked goroutines" parked "$go" && note "$(head -n 1 "$tmp/parked.out")"
	[ "$(minor_of "$go")" -lt 23 ] || { try "$go: the reasons in the runtime's own trace" inferred && note "$(tail -n 1 "$tmp/inferred.out")"; }
	try "$go: in each file of a continuous recording" rotated "$go" && note "$(head -n 1 "$tmp/parked.out")"
	try "$go: and of those that move" parked "$go" -restless && note "$(head -n 1 "$tmp/parked.out")"
done
ktap_end
