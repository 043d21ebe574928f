#!/bin/bash
# tier: check
# parallel
# long: 1800
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
# Goroutines that are parked when a recording begins, and stay so, have in the trace the stack that the program's own
# tracer gives them; programs of releases whose tracer has none, that of the goroutine profile. In 46 kinds of waits,
# while nothing happens, and while the garbage collector shrinks and moves stacks.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/releases.lib.sh
GOS=$(by_tier "$ORACLE_GO go1.21.13" "$(every_go_since 19) go${LAST_GOS##* }" "$(every_go_since 19) go${LAST_GOS##* }")
N=$(by_tier 4600 20000 100000)

# GO [ARGUMENT...]: the recording begins before the program's own trace, and ends after it
parked()
{
	local go=$1 options='' theirs=$tmp/own.trace
	shift

	rm -f "$tmp"/own.*
	[ "$(minor_of "$go")" -ge 23 ] || { options='--format-version 1.23' theirs=$tmp/own.profile; }
	record_target waiting "$go" "$options" -n "$N" -duration 1s -trace "$tmp/own.trace" -profile "$tmp/own.profile" "$@" &&
		check_trace "$RECORDED" && build/reference/validate -strict "$RECORDED" &&
		jq -e --argjson n "$N" '.parked >= $n and .parked <= .goroutines_at_start and .parked_left_out == 0' "$tmp/waiting.json" >/dev/null &&
		build/reference/parked "$RECORDED" "$theirs" >"$tmp/parked.out"
	local status=$?
	cut -c 1-1000 "$tmp/parked.out"
	return $status
}

ktap_start
targets_of "$GOS" waiting
for go in $GOS; do
	try "$go: the stacks of parked goroutines" parked "$go" && note "$(head -n 1 "$tmp/parked.out")"
	try "$go: and of those that move" parked "$go" -restless && note "$(head -n 1 "$tmp/parked.out")"
done
ktap_end
