#!/bin/bash
# Tests very large numbers of goroutines and threads: the recording starts, is complete, and its
# memory grows by little more than a hundred bytes per goroutine. The target continues meanwhile;
# its longest pauses and the attach time are shown. check-long has a million goroutines and ten thousand
# threads, for which it needs 3 GB.
# tier: all
# parallel
# timeout: 600
# long: 1200
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/releases.lib.sh
GOS=$(by_tier "$ORACLE_GO go1.21.13" "$ORACLE_GO go1.21.13" "$ORACLE_GO go1.22.12 go1.21.13")
GOROUTINES=$(by_tier 100000 100000 1000000) THREADS=$(by_tier 1000 1000 10000) CHURN=$(by_tier 5000 5000 20000)
MEMORY_MAX=$(by_tier $((64 << 20)) $((64 << 20)) $((400 << 20)))

# Without the program file's own share of RSS, which may be large; everything else counts, the rings
# too.
figures()
{
	jq -r '"attached in \(.attach_ms) ms (checks \(.attach_checks_ms)), snapshots \(.snapshot1_ms) and \(.snapshot2_ms) ms, " +
		"initial state after \(.initial_state_ms) ms; \(.goroutines_at_start) goroutines then; " +
		"\(.peak_memory_bytes / 1048576 | round) MiB; \(.bytes) bytes"' "$tmp/parked.json"
	echo "the target's longest pauses, in us: $(jq -c 'with_entries(select(.key | test("pause")))' "$tmp/parked.done")"
}

is_whole() # nothing lost, no repair, in bounded memory
{
	jq -e --argjson max "$MEMORY_MAX" '.lost == 0 and .repairs == 0 and .dropped == 0 and
		.holes == 0 and .peak_memory_bytes < $max' "$tmp/parked.json" >/dev/null && return
	jq -c . "$tmp/parked.json"
	return 1
}

figures_agree() # the parts of attach_ms add up, and the thread and goroutine counts match
{
	jq -e --argjson n "$GOROUTINES" '.goroutines_at_start >= $n and .initial_state_ms >= .snapshot1_ms + .snapshot2_ms and
		(.attach_analysis_ms + .attach_checks_ms + .attach_load_ms + .attach_probes_ms - .attach_ms | fabs) < 1' \
		"$tmp/parked.json"
}

goroutines_of() # FUNCTION: the number of goroutines that started with it
{
	build/gotrace goroutines --json "$RECORDED" |
		jq --arg name "main.$1" '[.groups[] | select(.name == $name).count] | add // 0'
}

parked() # GO ARGUMENT...: and the goroutines of each kind are complete
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

# Only the first generation lists all goroutines: later ones are no larger than the events of a
# second.
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
	# Half of them are in a call: the trace has their thread IDs.
	[ "$(build/gotrace stat --json "$RECORDED" | jq .threads)" -ge $((THREADS / 2)) ]
}

ktap_start
targets_of "$GOS" parked
limits="ulimit -u $(ulimit -u), threads-max $(cat /proc/sys/kernel/threads-max), pid_max $(cat /proc/sys/kernel/pid_max)"
note "limits on threads: $limits, cgroup $(cat /sys/fs/cgroup/pids.max 2>/dev/null || echo unlimited)"
for go in $GOS; do
	try "$go: $GOROUTINES parked goroutines" parked "$go" && note "$(figures)"
	try "$go: later generations are small" later_generations_are_small
	try "$go: and $CHURN more are created and exit each second" parked "$go" -churn "$CHURN" && note "$(figures)"
	try "$go: $THREADS threads" threads "$go" && note "$(figures)"
done
ktap_end
