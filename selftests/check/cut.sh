#!/bin/bash
# `gotrace cut`: parts of real traces, at random moments, are traces of their own that Go's reader accepts, and what
# happens in them is what happened then: to the byte of the text that CANONICAL.md describes, but for what a part
# cannot know (below, certain()).
# beside others
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

RANDOM=20260917

# FROM TO <EVENTS: those of the part, without what the prologue has said instead (Active), or cannot say: that the
# world was stopped already, which P was not there before, how a task began that ends here.
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
	timeout 60 $READER cut "$trace" --from "@$from" --to "@$to" -o "$tmp/part" "$@" 2>"$tmp/part.err" ||
		{ cat "$tmp/part.err"; return 1; }
	! grep -q 'fit nowhere' "$tmp/part.err" || { cat "$tmp/part.err"; return 1; }
	$REFERENCE/validate "$tmp/part" && $READER check "$tmp/part" || return 1
	certain "$from" "$to" <"$tmp/all" >"$tmp/want"
	$READER events --canonical "$tmp/part" | certain "$from" "$to" >"$tmp/have"
	same_text "$tmp/have" "$tmp/want"
}

# TRACE COUNT: half of them short
good_cuts()
{
	local trace=$1 count=$2 i from to

	$READER events --canonical "$trace" >"$tmp/all" || return 1
	# not within the three events that one switch of a coroutine stands for
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

# Every goroutine that is there has its name, though the part does not have its creation.
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
		grep -q 'broken trace' "$tmp/err" && [ ! -e "$tmp/part" ] &&
		$READER cut "$tmp/broken" --from 100ms -o "$tmp/part" --lenient 2>"$tmp/err" &&
		grep -q 'left out the rest' "$tmp/err" && $REFERENCE/validate "$tmp/part"
}

outside() # TRACE
{
	rm -f "$tmp/part"
	! $READER cut "$1" --from 1h -o "$tmp/part" 2>"$tmp/err" && grep -q 'ends before that' "$tmp/err" &&
		! $READER cut "$1" --to @1 -o "$tmp/part" 2>"$tmp/err" && grep -q 'begins after that' "$tmp/err" &&
		[ ! -e "$tmp/part" ]
}

through_pipes() # TRACE
{
	$READER cut - --from 100ms --to 200ms -o - <"$1" >"$tmp/piped" 2>/dev/null &&
		$READER cut "$1" --from 100ms --to 200ms -o "$tmp/part" && cmp "$tmp/piped" "$tmp/part"
}

ktap_start
if try "the reader builds" build_reader && try "programs trace themselves" trace_long_runs &&
	try "the corpus is extracted" extract_corpus "$JUDGE_GO"; then
	rm -f "$CORPUS"/runs/*.idx
	for trace in "$CORPUS"/runs/long-*.trace; do
		try "$(basename "$trace" .trace): cuts" good_cuts "$trace" 12
	done
	for name in go122-gc-stress go122-annotations-stress tool-go122; do
		try "$name: cuts" good_cuts "$CORPUS/$JUDGE_GO/v2/$name.trace" 20
	done
	long=$CORPUS/runs/long-$JUDGE_GO.trace
	try "names stay" names_stay "$long"
	try "a broken tail" broken_tail "$long"
	try "times outside of the trace" outside "$long"
	try "from stdin to stdout" through_pipes "$long"
fi
ktap_end
