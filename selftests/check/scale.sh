#!/bin/bash
# Very many goroutines, threads: the recording begins, is whole, and what it takes grows with them by
# little more than a hundred bytes each. The target's work goes on meanwhile; its longest pauses are
# shown, and so is what attaching took. Here with sizes that take seconds; check-long: all of them.
# beside others
# timeout: 600
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
GOS=${GOS:-$JUDGE_GO go1.21.13}
GOROUTINES=${GOROUTINES:-100000} THREADS=${THREADS:-1000} CHURN=${CHURN:-5000}
MEMORY_MAX=${MEMORY_MAX:-$((64 << 20))}

# The program's own share of RSS is not in it, which may be large; all else is, the rings too.
figures()
{
	jq -r '"attached in \(.attach_ms) ms (checks \(.attach_checks_ms)), snapshots \(.snapshot1_ms) and \(.snapshot2_ms) ms, " +
		"initial state after \(.initial_state_ms) ms; \(.goroutines_at_start) goroutines then; " +
		"\(.peak_memory_bytes / 1048576 | round) MiB; \(.bytes) bytes"' "$tmp/parked.json"
	echo "the target's longest pauses, in us: $(jq -c 'with_entries(select(.key | test("pause")))' "$tmp/parked.done")"
}

is_whole() # nothing lost, nothing repaired, in bounded memory
{
	jq -e --argjson max "$MEMORY_MAX" '.lost == 0 and .repairs == 0 and .dropped == 0 and
		.holes == 0 and .peak_memory_bytes < $max' "$tmp/parked.json" >/dev/null && return
	jq -c . "$tmp/parked.json"
	return 1
}

figures_agree() # the parts of attach_ms, and who was there
{
	jq -e --argjson n "$GOROUTINES" '.goroutines_at_start >= $n and .initial_state_ms >= .snapshot1_ms + .snapshot2_ms and
		(.attach_analysis_ms + .attach_checks_ms + .attach_load_ms + .attach_probes_ms - .attach_ms | fabs) < 1' \
		"$tmp/parked.json"
}

goroutines_of() # FUNCTION: how many began with it
{
	build/gotrace goroutines --json "$RECORDED" |
		jq --arg name "main.$1" '[.groups[] | select(.name == $name).count] | add // 0'
}

parked() # GO ARGUMENT...: and each kind is there, to the last one
{
	local go=$1 kind n
	shift

	record_target parked "$go" "" -n "$GOROUTINES" -live -duration 2500ms "$@" &&
		check_trace "$RECORDED" && build/reference/validate -strict "$RECORDED" && is_whole &&
		figures_agree || return 1
	for kind in parkedReceive parkedMutex parkedSleep parkedForEver parkedSelect; do
		n=$(goroutines_of $kind)
		[ "$n" = $((GOROUTINES / 5)) ] || { echo "$n goroutines of $kind"; return 1; }
	done
}

# Only the first generation names all: of the others none is larger than what happens in a second.
later_generations_are_small()
{
	build/gotrace stat --json "$RECORDED" >"$tmp/stat.json" &&
		jq -e --argjson n "$GOROUTINES" '.generations | length > 2 and (.[0].events > $n) and
			([.[1:][] | .bytes] | max) < 500000' "$tmp/stat.json"
}

threads() # GO
{
	local held

	record_target parked "$1" "" -n 1000 -threads "$THREADS" -live -duration 1500ms &&
		check_trace "$RECORDED" && build/reference/validate -strict "$RECORDED" && is_whole || return 1
	held=$(($(goroutines_of threadInRead) + $(goroutines_of threadLocked)))
	[ $held -eq "$THREADS" ] || { echo "$held goroutines with a thread"; return 1; }
	# Half of them are in a call: the file names their threads.
	[ "$(build/gotrace stat --json "$RECORDED" | jq .threads)" -ge $((THREADS / 2)) ]
}

ktap_start
limits="ulimit -u $(ulimit -u), threads-max $(cat /proc/sys/kernel/threads-max), pid_max $(cat /proc/sys/kernel/pid_max)"
note "limits on threads: $limits, cgroup $(cat /sys/fs/cgroup/pids.max 2>/dev/null || echo unlimited)"
for go in $GOS; do
	try "$go: $GOROUTINES parked goroutines" parked "$go" && note "$(figures)"
	try "$go: later generations are small" later_generations_are_small
	try "$go: and $CHURN more come and go each second" parked "$go" -churn "$CHURN" && note "$(figures)"
	try "$go: $THREADS threads" threads "$go" && note "$(figures)"
done
ktap_end
