#!/bin/bash
# Tests the filters that the commands of gotrace share: on a recording of a program with all kinds
# of events, the output of each command with each filter equals the unfiltered JSON, reduced by jq.
# timeout: 600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

recorded()
{
	record_target selftrace "$ORACLE_GO" "--events sched,syscall,gc,heap,user,kernel" -duration 300ms &&
		trace=$RECORDED
}

# NAME VERB OPTION...: the unfiltered output, in $tmp/NAME.json
all_of()
{
	local name=$1
	shift

	timeout 120 $READER "$@" --json "$trace" >"$tmp/$name.json" && [ -s "$tmp/$name.json" ]
}

# NAME JQ VERB OPTION... FILTER: that output reduced by JQ is the filtered one; the filter omits
# something, but not everything.
same()
{
	local name=$1 program=$2
	shift 2

	jq "$program" "$tmp/$name.json" >"$tmp/want" && timeout 120 $READER "$@" --json "$trace" >"$tmp/have" &&
		jq . "$tmp/have" >"$tmp/have.json" && same_text "$tmp/have.json" "$tmp/want" || return 1
	if cmp -s "$tmp/want" <(jq . "$tmp/$name.json"); then
		echo "the filter omits nothing"
		return 1
	fi
	has_elements "$tmp/have.json" || { echo "the filter omits everything"; return 1; }
}

has_elements() # FILE: none of the lists that a filter reduces is empty
{
	jq -se 'length > 0 and all(.[]; [.groups, .functions, .goroutines | arrays | length > 0] | all)' "$1" >/dev/null
}

by_function() # LIST REGEX: jq
{
	echo ".$1 |= map(select(.name | test(\"$2\")))"
}

# The tasks are those of the goroutines that are shown.
with_tasks='(.goroutines | map({ key: "\(.id)", value: true }) | from_entries) as $shown |
	.tasks |= map(select(any(.goroutines[]; $shown["\(.)"])))'

goroutines_by_function()
{
	local regex

	for regex in 'main' '^main\\..*func[12]$' 'short|recurse|forcegc'; do
		same groups "$(by_function groups "$regex")" goroutines --function "${regex//\\\\/\\}" &&
			same all "$(by_function goroutines "$regex") | $with_tasks" goroutines --all \
				--function "${regex//\\\\/\\}" || return 1
	done
}

top_goroutines()
{
	same groups '.groups |= .[:3]' goroutines --top 3 && same by_count '.groups |= .[:4]' goroutines --sort count --top 4 &&
		same all ".goroutines |= .[:20] | $with_tasks" goroutines --all --top 20 &&
		same all "$(by_function goroutines func1) | .goroutines |= .[:5] | $with_tasks" \
			goroutines --all --top 5 --function func1
}

one_goroutine()
{
	local id

	for id in $(jq '.goroutines[0, 3, 70].id' "$tmp/all.json"); do
		same all ".goroutines |= map(select(.id == $id)) | $with_tasks" goroutines --goroutine "$id" &&
			same latencies ".goroutines |= map(select(.id == $id))" latency --goroutine "$id" || return 1
	done
}

latency_by_function()
{
	local regex

	for regex in 'main' 'short|recurse|forcegc'; do
		same functions "$(by_function functions "$regex")" latency --function "$regex" &&
			same latencies "$(by_function functions "$regex") | $(by_function goroutines "$regex")" \
				latency --all --function "$regex" || return 1
	done
}

top_latencies()
{
	same functions '.functions |= .[:3]' latency --top 3 &&
		same latencies '.functions |= .[:7] | .goroutines |= .[:7]' latency --all --top 7
}

# The table has a line per element of the list.
tables_are_cut()
{
	[ "$($READER goroutines --top 3 "$trace" | wc -l)" -eq 4 ] &&
		[ "$($READER goroutines --all --top 5 --function func1 "$trace" | grep -c func1)" -eq 5 ] &&
		[ "$($READER latency --all --top 5 --function func1 "$trace" | grep -c func1)" -eq 5 ]
}

none_matches()
{
	local verb

	for verb in goroutines latency; do
		refused 1 "no goroutine whose start function matches 'no such'" $READER $verb --function 'no such' "$trace" &&
			refused 1 "no goroutine 99999999" $READER $verb --goroutine 99999999 "$trace" &&
			refused 1 "no goroutine 1 whose start function matches 'no such'" \
				$READER $verb --goroutine 1 --function 'no such' "$trace" || return 1
	done
}

invalid_values()
{
	refused 2 'invalid regular expression .\(a. for --function: unmatched' $READER goroutines --function '(a' "$trace" &&
		refused 2 'back-references are not supported' $READER goroutines --function '(a)\1' "$trace" &&
		$READER goroutines --function '\\1|main' "$trace" >/dev/null &&
		refused 2 'longer than 256 bytes' $READER goroutines --function "$(printf '%0257d' 1)" "$trace" &&
		refused 2 "invalid number '0' for --top" $READER goroutines --top 0 "$trace" &&
		refused 2 "invalid goroutine ID 'x'" $READER latency --goroutine x "$trace" &&
		refused 2 'canonical cannot be combined' $READER goroutines --canonical --top 1 "$trace"
}

# A filter that has no meaning for a command is an unknown option.
not_everywhere()
{
	refused 2 "unrecognized option '--top'" $READER stat --top 1 "$trace" &&
		refused 2 "unrecognized option '--function'" $READER cut --function main "$trace" -o "$tmp/x" &&
		refused 2 "unrecognized option '--goroutine'" $READER check --goroutine 1 "$trace"
}

ktap_start
if try "the reader builds" build_reader && try "a program is recorded" recorded; then
	try "unfiltered: goroutines" all_of groups goroutines
	try "unfiltered: goroutines by count" all_of by_count goroutines --sort count
	try "unfiltered: each goroutine" all_of all goroutines --all
	try "unfiltered: latency" all_of functions latency
	try "unfiltered: latency of each goroutine" all_of latencies latency --all
	try "goroutines --function" goroutines_by_function
	try "goroutines --top" top_goroutines
	try "--goroutine" one_goroutine
	try "latency --function" latency_by_function
	try "latency --top" top_latencies
	try "--top of tables" tables_are_cut
	try "no goroutine matches" none_matches
	try "invalid values" invalid_values
	try "commands that do not have a filter" not_everywhere
fi
ktap_end
