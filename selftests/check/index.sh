#!/bin/bash
# `gotrace index`: by it events and cut find their moment, and show and write what they would without it; an index
# that is stale or broken is said to be so in one line, and not used.
# beside others
# timeout: 600
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

makes_it()
{
	cp "$CORPUS/runs/long-$JUDGE_GO.trace" "$trace" && $READER index "$trace" && [ -s "$trace.idx" ]
}

is_small()
{
	[ "$(stat -c %s "$trace.idx")" -le $((4096 + $(stat -c %s "$trace") / 16)) ]
}

# What it says of the trace is what the trace says.
tells_the_truth()
{
	local events

	$READER index "$trace" --json >"$tmp/json" || return 1
	events=$($REFERENCE/validate -counts "$trace" | sed -n 's/.*: ok, \([0-9]*\) events.*/\1/p')
	echo "Go's reader: $events events with syncs; ours: $(jq '.events' "$tmp/json")"
	[ "$(jq '.generations | length' "$tmp/json")" -ge 2 ] &&
		[ "$(jq '.events' "$tmp/json")" -eq "$(jq '[.generations[].events] | add' "$tmp/json")" ] &&
		[ "$(jq '.events' "$tmp/json")" -eq "$(jq '[.generations[].counts[]] | add' "$tmp/json")" ] &&
		[ "$(jq '.events' "$tmp/json")" -le "$events" ] &&
		[ "$(jq '.generations[0].offset' "$tmp/json")" -eq 16 ] &&
		[ "$(jq '.start' "$tmp/json")" -eq "$($READER events --canonical "$trace" | sed -n '1s/\t.*//p')" ]
}

# FROM TO: the same by the index and without it; each verb says nothing of the index
same_part()
{
	$READER events "$trace" --from "$1" --to "$2" >"$tmp/with.txt" 2>"$tmp/with.err" &&
		$READER cut "$trace" --from "$1" --to "$2" -o "$tmp/with" 2>>"$tmp/with.err" || return 1
	mv "$trace.idx" "$tmp/away"
	$READER events "$trace" --from "$1" --to "$2" >"$tmp/without.txt" &&
		$READER cut "$trace" --from "$1" --to "$2" -o "$tmp/without"
	mv "$tmp/away" "$trace.idx"
	[ ! -s "$tmp/with.err" ] && [ -s "$tmp/with.txt" ] && cmp "$tmp/with.txt" "$tmp/without.txt" &&
		cmp "$tmp/with" "$tmp/without"
}

# It is used: the part before is not read, and so may be broken.
is_used()
{
	local offset

	offset=$(jq '.generations[1].offset' "$tmp/json")
	cp "$trace" "$tmp/y" && printf '\xff\xff\xff\xff\xff\xff' |
		dd of="$tmp/y" bs=1 seek=$((offset / 2)) conv=notrunc 2>/dev/null && touch -r "$trace" "$tmp/y" &&
		cp "$trace.idx" "$tmp/y.idx" || return 1
	$READER events "$tmp/y" --from 1400ms >"$tmp/have" && [ -s "$tmp/have" ] &&
		$READER events "$trace" --from 1400ms | cmp - "$tmp/have" &&
		rm "$tmp/y.idx" && ! $READER events "$tmp/y" --from 1400ms >/dev/null 2>&1
}

# PATTERN: said in a line of stderr, and the result is right all the same
not_used()
{
	$READER events "$trace" --from 900ms --to 950ms >"$tmp/have" 2>"$tmp/err"
	cat "$tmp/err"
	cmp "$tmp/have" "$tmp/want" && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q "idx is not used: .*$1" "$tmp/err"
}

touched() { touch "$trace" && not_used changed; }
grown() { $READER index "$trace" >/dev/null && printf '\x34' >>"$trace" && not_used changed; }
empty() { : >"$trace.idx" && not_used short; }
foreign()
{
	head -c 5000 /dev/urandom >"$trace.idx" && not_used 'none, or of another' || return 1
	$READER index "$trace" 2>"$tmp/err" && return 1
	grep -q 'it exists and is no index; --force replaces it' "$tmp/err" &&
		$READER index --force "$trace" >/dev/null && [ "$(stat -c %a "$trace.idx")" = 600 ]
}

broken() # a byte of the state that is asked for, the first one
{
	$READER index "$trace" >/dev/null || return 1
	printf '\xa5' | dd of="$trace.idx" bs=1 seek=17 conv=notrunc 2>/dev/null
	not_used 'sum is wrong'
}

shortened()
{
	$READER index "$trace" >/dev/null && truncate -s -7 "$trace.idx" && not_used 'sum is wrong'
}

a_directory()
{
	rm -f "$trace.idx" && mkdir "$trace.idx" && not_used 'no regular file'
	rmdir "$trace.idx"
}

# PATTERN TRACE: there is none of such a trace, and none is left half-written
none_of()
{
	! $READER index "$2" >"$tmp/out" 2>"$tmp/err" && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -q "$1" "$tmp/err" && ! ls "$2".idx* >/dev/null 2>&1
}

none_of_these()
{
	cp "$CORPUS/$JUDGE_GO/v1/user_task_region_1_21_good" "$tmp/v1" && none_of 'no generations' "$tmp/v1" &&
		gzip -k "$tmp/v1" && none_of 'compressed' "$tmp/v1.gz" &&
		head -c 100000 "$CORPUS/runs/long-$JUDGE_GO.trace" >"$tmp/cut" && none_of 'broken trace' "$tmp/cut"
}

ktap_start
trace=$tmp/x # a copy, so that its index is ours
if try "the reader builds" build_reader && try "programs trace themselves" trace_long_runs &&
	try "the corpus is extracted" extract_corpus "$JUDGE_GO" && try "it is made" makes_it; then
	try "it is small" is_small
	try "it tells the truth" tells_the_truth
	for part in "0s 50ms" "50ms 60ms" "990ms 1010ms" "1s 1.2s" "1300ms 1h" "@1 1h"; do
		# shellcheck disable=SC2086 # two words
		try "events and cut, ${part/ / to }" same_part $part
	done
	try "it is used" is_used
	rm -f "$trace.idx"
	try "without it" eval '$READER events "$trace" --from 900ms --to 950ms >"$tmp/want" && [ -s "$tmp/want" ]'
	$READER index "$trace" >/dev/null
	try "the trace was touched" touched
	try "a broken one" broken
	try "a shortened one" shortened
	try "an empty one" empty
	try "no index at all" foreign
	try "a directory" a_directory
	try "the trace has grown" grown
	try "traces that can have none" none_of_these
fi
ktap_end
