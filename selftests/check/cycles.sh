#!/bin/bash
# GC cycles that a trace has only a part of, and changes of GOMAXPROCS: compared with the program's own
# counts, and with the events of the whole trace.
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

traced()
{
	make --no-print-directory "build/targets/$ORACLE_GO/cycles" &&
		timeout 60 "build/targets/$ORACLE_GO/cycles" -n 5 -trace "$trace" </dev/null | sed -n 's/^done //p' >"$tmp/done" &&
		cat "$tmp/done" && jq -e '.cycles >= 5' "$tmp/done"
}

# TRACE COUNT NOT_COUNTED UNFINISHED
histogram()
{
	$READER histogram --of gc --json "$1" >"$tmp/gc" && jq -c '[.count, .not_counted, .unfinished]' "$tmp/gc" | grep -xF "[$2,$3,$4]" &&
		$READER top --json "$1" >"$tmp/top" &&
		jq -s -e "(map(.intervals.gc.count) | add) == $2 and (map(.gc_unknown) | add) == $3 and .[-1].gc_in_progress == ($4 == 1)" "$tmp/top"
}

# From the middle of the first cycle to the middle of the last.
parts_of_cycles()
{
	local n from to

	n=$(jq .cycles "$tmp/done") && $READER events --json "$trace" --type GCBegin,GCEnd | jq -s 'map(.time)' >"$tmp/times" &&
		from=$(jq '.[0] + (.[1] - .[0]) / 2 | floor' "$tmp/times") && to=$(jq '.[-2] + (.[-1] - .[-2]) / 2 | floor' "$tmp/times") &&
		histogram "$trace" "$n" 0 0 &&
		$READER cut --exact --from "@$from" --to "@$to" "$trace" -o "$tmp/cut.trace" && histogram "$tmp/cut.trace" $((n - 2)) 1 1 &&
		$READER histogram --of gc "$tmp/cut.trace" | grep -x 'not counted, because they have not ended: 1' &&
		$READER top "$tmp/cut.trace" | grep -E "^GC +$((n - 2)) cycles, mean .*, 1 of unknown duration, one in progress; mark assists"
}

values_of_gomaxprocs()
{
	$READER stat --json "$trace" >"$tmp/stat" &&
		$READER events --json "$trace" --type ProcsChange | jq -s -c '[.[] | {time, gomaxprocs: .value}] | [.[0]] +
			[range(1; length) as $i | select(.[$i].gomaxprocs != .[$i - 1].gomaxprocs) | .[$i]]' >"$tmp/changes" &&
		jq -c .gomaxprocs_changes "$tmp/stat" | diff - "$tmp/changes" &&
		jq -e --slurpfile done "$tmp/done" '([.gomaxprocs_changes[].gomaxprocs] == $done[0].gomaxprocs) and
			.gomaxprocs == $done[0].gomaxprocs[-1]' "$tmp/stat" &&
		$READER stat "$trace" | grep -E '^GOMAXPROCS   2, 1 from [0-9.]+m?s, 3 from [0-9.]+m?s, 2 from [0-9.]+m?s after the start$'
}

ktap_start
trace=$tmp/cycles.trace
try "the reader builds" build_reader
try "a program collects garbage and changes GOMAXPROCS" traced
try "cycles of which a part is in the trace" parts_of_cycles
try "each value of GOMAXPROCS" values_of_gomaxprocs
ktap_end
