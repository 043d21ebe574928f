#!/bin/bash
# Tests `gotrace cut`: windows of real traces, at random times, are complete traces that Go's reader
# accepts. Their events equal those of the original in the canonical text (CANONICAL.md), except for
# what a cut trace cannot contain (see certain() below). CUTS=N tries N windows of
# each trace.
# parallel
# timeout: 900
# long: 3600
# depends on: Makefile include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

RANDOM=20260917

# FROM TO <EVENTS: those of the window, without what the prologue states instead (Active) and what a
# cut trace cannot know: that the world had been stopped, which P was absent before, how a task
# began that ends here.
certain()
{
	awk -F '\t' -v from="$1" -v to="$2" '$1 >= from && $1 < to && $2 != "Sync" && $2 != "RangeActive"' |
		grep -v 'name="stop-the-world' |
		sed -E 's/(\tproc=[0-9]+ )[A-Za-z]*->/\1->/; s/(\tTaskEnd\t.*)\tid=([0-9]+) .*\t/\1\tid=\2\t/'
}

random_time() # of an event of $tmp/all.times
{
	local lines

	lines=$(wc -l <"$tmp/all.times")
	sed -n "$(((RANDOM * 32768 + RANDOM) % lines + 1))p" "$tmp/all.times"
}

# TRACE FROM TO [OPTION...]
good_cut()
{
	local trace=$1 from=$2 to=$3
	shift 3

	echo "$trace --from @$from --to @$to $*"
	timeout 60 $READER cut --exact "$trace" --from "@$from" --to "@$to" -o "$tmp/part" "$@" 2>"$tmp/part.err" ||
		{ cat "$tmp/part.err"; return 1; }
	! grep -q 'cannot express' "$tmp/part.err" || { cat "$tmp/part.err"; return 1; }
	$REFERENCE/validate "$tmp/part" && $READER check "$tmp/part" || return 1
	certain "$from" "$to" <"$tmp/all" >"$tmp/want"
	$READER events --canonical "$tmp/part" | certain "$from" "$to" >"$tmp/have"
	same_text "$tmp/have" "$tmp/want"
}

# TRACE COUNT: half of the windows are short
good_cuts()
{
	local trace=$1 count=$2 i from to

	$READER events --canonical "$trace" >"$tmp/all" || return 1
	# not within the three events that represent one coroutine switch
	awk '$1 > last + 1 { print $1 } { last = $1 }' "$tmp/all" >"$tmp/all.times"
	for ((i = 0; i < count; i++)); do
		from=$(random_time)
		to=$(random_time)
		[ $((i % 2)) -eq 0 ] || to=$((from + RANDOM * 20))
		if [ "$to" -lt "$from" ]; then
			good_cut "$trace" "$to" "$((from + 1))" || return 1
		else
			good_cut "$trace" "$from" "$((to + 1))" || return 1
		fi
	done
}

# Every goroutine in the window has its name, even if the window does not contain its creation.
names_stay()
{
	local trace=$1 from

	$READER events --canonical "$trace" >"$tmp/all" || return 1
	from=$(($(tail -n 1 "$tmp/all" | cut -f 1) - 50000000))
	$READER cut "$trace" --from "@$from" -o "$tmp/part" &&
		$REFERENCE/goroutines "$tmp/part" | grep -c '"main\.' >"$tmp/named" || return 1
	echo "$(cat "$tmp/named") goroutines of package main"
	[ "$(cat "$tmp/named")" -ge 5 ]
}

broken_tail()
{
	local size

	rm -f "$tmp/part"
	size=$(stat -c %s "$1")
	head -c $((size - 1000)) "$1" >"$tmp/broken"
	! $READER cut "$tmp/broken" --from 100ms -o "$tmp/part" 2>"$tmp/err" &&
		grep -q 'invalid trace' "$tmp/err" && [ ! -e "$tmp/part" ] &&
		$READER cut "$tmp/broken" --from 100ms -o "$tmp/part" --lenient 2>"$tmp/err" &&
		grep -q 'the rest was left out' "$tmp/err" && $REFERENCE/validate "$tmp/part"
}

outside() # TRACE
{
	local first

	rm -f "$tmp/part"
	! $READER cut "$1" --from 1h -o "$tmp/part" 2>"$tmp/err" && grep -q 'no events after --from: the trace ends at @[0-9]*, [0-9.]* s after its start' "$tmp/err" &&
		! $READER cut "$1" --to @1 -o "$tmp/part" 2>"$tmp/err" && grep -q 'no events before --to: the trace begins at @' "$tmp/err" &&
		first=$($READER events --json "$1" | jq -r 'select(.event != "Sync") | .time' | head -n 1) &&
		! $READER cut "$1" --to "@$first" -o "$tmp/part" 2>"$tmp/err" && grep -q 'no events in the requested time' "$tmp/err" &&
		[ ! -e "$tmp/part" ]
}

through_pipes() # TRACE
{
	$READER cut - --from 100ms --to 200ms -o - <"$1" >"$tmp/piped" 2>/dev/null &&
		$READER cut "$1" --from 100ms --to 200ms -o "$tmp/part" && cmp "$tmp/piped" "$tmp/part"
}

# TRACE: by default a part does not begin within a garbage collection, and with --exact it does
outside_gc()
{
	local trace=$1 at n=0 i

	$READER events --json "$trace" >"$tmp/events.json" || return 1
	for i in 1 $(in_all echo 3 5 7); do
		# 1 us after the begin of a garbage collection
		at=$(jq -r 'select(.event == "GCBegin") | .time' "$tmp/events.json" | sed -n "${i}p")
		[ -n "$at" ] || continue
		n=$((n + 1))
		$READER cut --exact "$trace" --from "@$((at + 1000))" -o "$tmp/part" && active | grep -q GCActive &&
			$READER cut "$trace" --from "@$((at + 1000))" -o "$tmp/part" --force 2>"$tmp/err" || return 1
		grep -q 'begins .* ms after --from' "$tmp/err" && ! active | grep . &&
			$REFERENCE/validate "$tmp/part" && same_rest || return 1
	done
	[ $n -ge "$(by_tier 1 2 2)" ] || return 1
	rm -f "$tmp/part"
	! $READER cut "$trace" --from "@$((at + 1000))" --to "@$((at + 2000))" -o "$tmp/part" 2>"$tmp/err" &&
		grep -q 'a garbage collection lasts for the whole time range; --exact' "$tmp/err" && [ ! -e "$tmp/part" ] &&
		$READER cut --exact "$trace" --from "@$((at + 1000))" --to "@$((at + 2000))" -o "$tmp/part"
}

active() # the ranges that are active when $tmp/part begins, in its first generation
{
	$READER events --json "$tmp/part" | jq -r '"\(.event) \(.n)"' | awk '$1 == "Sync" && $2 > 1 { exit } /Active/ { print $1 }'
}

same_rest() # $tmp/part has all events of the trace from its begin on, except what the prologue states
{
	local from

	from=$($READER events --json "$tmp/part" | jq -r 'select(.event | test("Sync|Status|Active") | not) | .time' | head -n 1)
	jq -c "select(.time >= $from and (.event | test(\"Sync|Status|Active\") | not)) | [.time, .event, .g]" "$tmp/events.json" >"$tmp/want"
	$READER events --json "$tmp/part" | jq -c 'select(.event | test("Sync|Status|Active") | not) | [.time, .event, .g]' >"$tmp/have"
	[ -s "$tmp/have" ] && cmp "$tmp/have" "$tmp/want"
}

ktap_start
if try "the reader builds" build_reader && try "programs trace themselves" trace_long_runs &&
	try "the corpus is extracted" extract_corpus "$ORACLE_GO"; then
	rm -f "$CORPUS"/runs/*.idx
	for trace in "$CORPUS"/runs/long-*.trace; do
		try "$(basename "$trace" .trace): random windows" good_cuts "$trace" "${CUTS:-$(by_tier 4 4 40)}"
	done
	for name in go122-gc-stress go122-annotations-stress tool-go122; do
		try "$name: random windows" good_cuts "$CORPUS/$ORACLE_GO/v2/$name.trace" "${CUTS:-$(by_tier 6 6 40)}"
	done
	long=$CORPUS/runs/long-$ORACLE_GO.trace
	try "not within a garbage collection" outside_gc "$long"
	try "goroutines keep their names" names_stay "$long"
	try "a corrupt tail" broken_tail "$long"
	try "times outside of the trace" outside "$long"
	try "from stdin to stdout" through_pipes "$long"
fi
ktap_end
