#!/bin/bash
# Regions that end with their goroutine, and tasks that are ended twice: compared with the program's
# own clock, with the events, and with Go's reader.
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/deps-engine.sh
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

traced()
{
	make --no-print-directory "build/targets/$ORACLE_GO/endings" &&
		timeout 30 "build/targets/$ORACLE_GO/endings" -n 20 -trace "$trace" </dev/null | sed -n 's/^done //p' >"$tmp/done" &&
		$READER check "$trace"
}

# KEY: jq's condition that a number is that of the program to within 5 ms for each of the 20
near()
{
	echo "(. - ($(jq ".$1" "$tmp/done")) | fabs) < 20 * 5e6"
}

# From each begin of a region to the end of its goroutine, by the events
by_events()
{
	$READER events --json "$trace" | jq -n -S -c 'reduce inputs as $e ({open: {}, rows: {}};
		if $e.event == "UserRegionBegin" then .open["\($e.g)"] += [$e]
		elif $e.to == "NotExist" and .open["\($e.goroutine)"] then
			reduce .open["\($e.goroutine)"][] as $b (.; .rows[$b.type] |= {count: (.count + 1), ns: (.ns + $e.time - $b.time)}) |
			.open["\($e.goroutine)"] = null
		else . end) | .rows'
}

regions()
{
	by_events >"$tmp/events" && jq -e '.leaves.count == 20 and .inner.count == 20' "$tmp/events" &&
		$READER regions --json "$trace" >"$tmp/regions" &&
		jq -S -c '.regions | map({(.name): {count, ns: .total_ns}}) | add' "$tmp/regions" | diff - "$tmp/events" &&
		jq -e ".regions | all(.unfinished == 0) and (map(select(.name == \"leaves\"))[0].total_ns | $(near regions_ns))" "$tmp/regions"
}

profiled()
{
	$READER profile region "$trace" -o "$tmp/region.pb.gz" &&
		$REFERENCE/profiles -kind region "$tmp/region.pb.gz" "$trace" && $READER profile region --text "$trace" >"$tmp/text" || return 1
	cat "$tmp/text"
	grep -q ' in 40 intervals$' "$tmp/text" && grep -q '\[region: leaves\]$' "$tmp/text"
}

queried()
{
	selftests/deps-engine.sh >/dev/null && $READER sql --json "SELECT name, COUNT(*) AS count, SUM(ns) AS ns, COUNT(end_g) AS ended FROM requests
		WHERE kind = 'region' GROUP BY name" "$trace" >"$tmp/sql" || return 1
	cat "$tmp/sql"
	jq -S -c '.rows | map({(.name): {count, ns, ended}}) | add' "$tmp/sql" |
		diff - <(jq -S -c 'map_values(. + {ended: .count})' "$tmp/events")
}

# No task began before the trace; each lasts until its first end.
tasks()
{
	local verb

	for verb in tasks requests; do
		$READER $verb --json "$trace" >"$tmp/$verb" && ! $READER $verb "$trace" | grep 'begin' &&
			jq -e ".unbegun == 0 and (.$verb | length == 1 and (.[0] | .name == \"handle\" and .count == 20 and
				(.total_ns | $(near first_ns) and . < $(jq .second_ns "$tmp/done") - 20 * 4e6)))" "$tmp/$verb" || return 1
	done
}

# The tasks of a goroutine keep their names and first ends; the canonical output has those of Go's reader.
summarized()
{
	$READER goroutines "$trace" --goroutine 1 >"$tmp/table" && cat "$tmp/table" &&
		[ "$(grep -cE '^ +[0-9]+  handle$' "$tmp/table")" = 20 ] && $REFERENCE/tasks $READER "$trace" &&
		$REFERENCE/goroutines "$trace" >"$tmp/theirs" && $READER goroutines --canonical "$trace" | diff - "$tmp/theirs"
}

# The message has the number of tasks that the program has, rather than that there are none.
without_matches()
{
	local verb

	for verb in tasks requests; do
		$READER $verb --name nomatch "$trace" 2>&1 >/dev/null | grep -x "gotrace: .*: none of the 20 tasks has a name that matches 'nomatch'" &&
			$READER $verb --goroutine 9999 "$trace" 2>&1 >/dev/null | grep -x 'gotrace: .*: none of the 20 tasks matches the filters' &&
			$READER $verb --to 1ns "$trace" 2>&1 >/dev/null | grep -x 'gotrace: .*: no tasks found in the requested time' || return 1
	done
	$READER regions --name nomatch "$trace" 2>&1 >/dev/null | grep -x "gotrace: .*: none of the 40 regions has a name that matches 'nomatch'"
}

ktap_start
trace=$tmp/endings.trace
try "the reader builds" build_reader
try "goroutines end within regions, and tasks are ended twice" traced
try "regions end with their goroutines" regions
try "the profile has them" profiled
try "the table of requests has them" queried
try "the first end of a task counts" tasks
try "filters that nothing matches" without_matches
try "goroutines with their tasks, and Go's reader" summarized
ktap_end
