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

	timeout 120 $READER "$@" --json "$trace" >"$tmp/$name.json" && jq . "$tmp/$name.json" >"$tmp/$name.all" &&
		[ -s "$tmp/$name.all" ]
}

# NAME JQ VERB OPTION... FILTER: that output reduced by JQ is the filtered one; the filter omits
# something, but not everything.
same()
{
	local name=$1 program=$2
	shift 2

	jq "$program" "$tmp/$name.json" >"$tmp/want" && timeout 120 $READER "$@" --json "$trace" >"$tmp/have" &&
		jq . "$tmp/have" >"$tmp/have.json" && same_text "$tmp/have.json" "$tmp/want" || return 1
	if cmp -s "$tmp/want" "$tmp/$name.all"; then
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

events_by_type()
{
	same events 'select(.event == "GoBlock")' events --type GoBlock &&
		same kernel 'select(.event | IN("GoStart", "waking", "sys_exit"))' events --kernel \
			--type GoStart,waking,sys_exit
}

events_by_reason()
{
	same events 'select(.reason == "chan receive")' events --reason 'chan receive' &&
		same kernel 'select(.reason == "chan receive" or .reason == "sleep" or .why == "sleeping")' \
			events --kernel --reason 'chan receive,sleep,sleeping'
}

events_by_thread()
{
	local thread

	thread=$(jq -rs 'map(.m | values) | group_by(.) | max_by(length)[0]' "$tmp/events.json") &&
		same events "select(.m == $thread)" events --thread "$thread" &&
		same kernel "select(.m == $thread)" events --kernel --thread "$thread"
}

events_by_goroutine()
{
	local id

	for id in 1 $(jq '.goroutines[0, 3].id' "$tmp/all.json"); do
		same events "select(.g == $id or .goroutine == $id)" events --goroutine "$id" &&
			same kernel "select(.g == $id or .goroutine == $id or .by.g == $id)" events --kernel \
				--goroutine "$id" || return 1
	done
}

# The functions are those of `gotrace goroutines`, also for events before the first stack of the
# goroutine.
events_by_function()
{
	local regex ids

	for regex in 'func1$' 'short|recurse|runtime[.]main'; do
		ids=$(jq -c "[.goroutines[] | select(.name | test(\"$regex\")) | { key: \"\\(.id)\", value: true }] |
			from_entries" "$tmp/all.json") || return 1
		same kernel "$ids as \$ids | select(\$ids[\"\\(.g)\"] or \$ids[\"\\(.goroutine)\"] or \$ids[\"\\(.by.g)\"])" \
			events --kernel --function "$regex" || return 1
	done
}

events_by_all()
{
	local from

	from=$(jq -s '.[length / 3 | floor].time' "$tmp/events.json") &&
		same events "select(.event == \"GoStart\" and .time >= $from)" events --type GoStart --from "@$from" &&
		same events 'select(.event == "GoBlock" and .reason == "select")' events --type GoBlock,GoStart \
			--reason select
}

# A pipe is read twice, too.
events_of_pipes()
{
	$READER events --function func1 "$trace" >"$tmp/want" && [ -s "$tmp/want" ] &&
		cat "$trace" | $READER events --function func1 >"$tmp/have" && cmp "$tmp/have" "$tmp/want" &&
		$READER events --function func1 - <"$trace" | cmp - "$tmp/want" &&
		$READER events --function func1 <(cat "$trace") | cmp - "$tmp/want"
}

# The events before an error are those of the unfiltered output.
events_of_broken_traces()
{
	head -c -5000 "$trace" >"$tmp/broken.trace" || return 1
	! $READER events --json "$tmp/broken.trace" >"$tmp/all.broken" 2>"$tmp/err" && grep -q 'invalid trace' "$tmp/err" &&
		! $READER events --json --function . "$tmp/broken.trace" >"$tmp/have" 2>"$tmp/err.filtered" &&
		cmp "$tmp/err" "$tmp/err.filtered" &&
		$READER events --lenient --json --function . "$tmp/broken.trace" | cmp - "$tmp/have"
}

# OPTION VALUE MESSAGE: no event matches; one line reports it
no_event()
{
	timeout 60 $READER events "$1" "$2" "$trace" >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/out" ] || return 1
	cat "$tmp/err"
	[ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q "$3" "$tmp/err"
}

no_events()
{
	no_event --thread 1 'no event matches the filters' && no_event --goroutine 99999999 'no event matches' &&
		no_event --function 'no such' 'no event matches' &&
		refused 2 "unknown event type 'GoBlok'; the most similar type is 'GoBlock'" $READER events --type GoBlok "$trace" &&
		refused 2 "unknown event type 'waitng'; the most similar type is 'waking'" $READER events --type waitng "$trace" &&
		refused 2 "unknown event type ''" $READER events --type GoBlock, "$trace" &&
		refused 2 'type waking requires --kernel' $READER events --type waking "$trace" &&
		no_event --reason 'chan receve' "no event has the reason 'chan receve'; the most similar reason is 'chan receive'"
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
	try "unfiltered: events" all_of events events
	try "unfiltered: events and kernel events" all_of kernel events --kernel
	try "events --type" events_by_type
	try "events --reason" events_by_reason
	try "events --thread" events_by_thread
	try "events --goroutine" events_by_goroutine
	try "events --function" events_by_function
	try "events: several filters" events_by_all
	try "events of a pipe" events_of_pipes
	try "events of a truncated trace" events_of_broken_traces
	try "no event matches" no_events
	try "--top of tables" tables_are_cut
	try "no goroutine matches" none_matches
	try "invalid values" invalid_values
	try "commands that do not have a filter" not_everywhere
fi
ktap_end
