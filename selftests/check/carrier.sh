#!/bin/bash
# Tests kernel events stored inside a trace, for a real recording, in each format version and with
# both ticks: Go's reader accepts the file, `gotrace events --kernel` shows the same kernel events
# each time, and none is missing. A cut trace has the kernel events of its window, and a converted
# trace has all of them.
# tier: all
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

RANDOM=20261121
VERSIONS="1.22 1.23 1.25 1.26"

build()
{
	locked make --no-print-directory "-j$(nproc)" all reference "build/targets/$ORACLE_GO/pingpong"
}

record() # makes $tmp/pingpong.raw, $tmp/pingpong.trace
{
	record_target pingpong "$ORACLE_GO" "--events kernel,fault --save-input $tmp/pingpong.raw" -procs 4 -rate 4000 -duration 2s || return 1
	sed -n 's/^gotrace-bpf: recorded.* \([0-9]* lost\)$/\1/p' "$tmp/background.out" | grep -x '0 lost' || return 1
	$READER events --kernel --json "$RECORDED" >"$tmp/all" && items <"$tmp/all" >"$tmp/items" &&
		[ "$(wc -l <"$tmp/items")" -ge 2000 ]
}

items() # from events --kernel --json
{
	grep '"kind":"Kernel"'
}

# Without goroutines, which a cut trace and an older version may lack
bare()
{
	sed 's/"g":[^,]*,//; s/,"g":[0-9]*//'
}

valid() # TRACE
{
	$REFERENCE/validate "$1" && $READER check "$1"
}

has_all()
{
	$READER stat --json "$RECORDED" >"$tmp/stat" || return 1
	python3 - "$tmp/stat" "$tmp/items" <<-'END'
		import collections, json, sys
		stat = json.load(open(sys.argv[1]))
		kinds = stat["kernel"]["kinds"]
		lines = collections.Counter(json.loads(line)["event"] for line in open(sys.argv[2]))
		if kinds != lines or stat["kernel"]["items"] != sum(kinds.values()):
		    sys.exit("what stat counts is not what events shows")
		if stat["private"]["bad"] or stat["private"]["lost"]:
		    sys.exit("broken or lost")
		each = stat["kernel"]["bytes"] / stat["kernel"]["items"]
		print("%.1f bytes an item" % each)
		sys.exit(each > 8)
	END
}

# Kernel events are ordered by time (the final sync has the time of the last event).
is_in_order()
{
	python3 - "$tmp/all" <<-'END'
		import json, sys
		last, threads = 0, set()
		for line in open(sys.argv[1]):
		    item = json.loads(line)
		    if item["event"] == "Sync":
		        continue
		    if item["time"] < last:
		        sys.exit("before %d: %s" % (last, line))
		    last = item["time"]
		    if item["event"] == "on_cpu":
		        threads.add(item["m"])
		if len(threads) < 3:
		    sys.exit("only %d threads" % len(threads))
	END
}

same_in() # VERSION TICK: replays the records
{
	$GOTRACE replay "$tmp/pingpong.raw" --format-version "$1" --tick "$2" -o "$tmp/again.trace" &&
		valid "$tmp/again.trace" &&
		$READER events --kernel --json "$tmp/again.trace" | items >"$tmp/again" &&
		same_text "$tmp/again" "$tmp/items"
}

converted() # VERSION
{
	$READER convert "$RECORDED" --format-version "$1" -o "$tmp/other.trace" && valid "$tmp/other.trace" &&
		$READER events --kernel --json "$tmp/other.trace" | items | bare >"$tmp/other" &&
		bare <"$tmp/items" >"$tmp/want" && same_text "$tmp/other" "$tmp/want"
}

# FROM TO: the complete trace and the cut trace have the same kernel events there
part()
{
	$READER cut --exact "$RECORDED" --from "@$1" --to "@$2" -o "$tmp/part.trace" && valid "$tmp/part.trace" || return 1
	awk -F '[:,]' -v from="$1" -v to="$2" '$2 >= from && $2 < to' "$tmp/items" | bare >"$tmp/want"
	$READER events --kernel --json "$tmp/part.trace" | items | bare >"$tmp/have"
	same_text "$tmp/have" "$tmp/want"
}

parts()
{
	local i from to n

	grep -v '"kind":"Kernel"\|"kind":"Sync"' "$tmp/all" | sed 's/{"time":\([0-9]*\),.*/\1/' >"$tmp/times"
	n=$(wc -l <"$tmp/times")
	for ((i = 0; i < 12; i++)); do
		from=$(sed -n "$(((RANDOM * 32768 + RANDOM) % n + 1))p" "$tmp/times")
		to=$((from + RANDOM * (i % 2 ? 300 : 60000)))
		echo "--from @$from --to @$to"
		part "$from" "$to" || return 1
	done
}

same_replay()
{
	$GOTRACE replay "$tmp/pingpong.raw" -o "$tmp/same.trace" && cmp "$tmp/same.trace" "$RECORDED"
}

ktap_start
if try "the recorder, the reader and the target build" build && try "a recording" record; then
	try "Go's reader accepts it" valid "$RECORDED"
	try "all kernel events that stat counts are present, and compact" has_all
	try "kernel events are ordered by time" is_in_order
	try "a replay produces the same file" same_replay
	for version in $VERSIONS; do
		try "$version" same_in "$version" 1ns
		try "$version, ticks of 64 ns" same_in "$version" 64ns
		try "converted to $version" converted "$version"
	done
	try "cut traces have the kernel events of their windows" parts
fi
ktap_end
