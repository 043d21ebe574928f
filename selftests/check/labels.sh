#!/bin/bash
# Labels of goroutines (runtime/pprof.Do): each change that the program makes is recorded, on its
# goroutine, with the labels that the program itself logs; a replay gives the same trace; and
# --no-labels leaves them out. Some goroutines have labels before the recording begins. Then the figures
# that gotrace computes by labels.
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# CATEGORY: goroutine and message of each log, in the order of each goroutine
messages()
{
	build/gotrace events --json "$RECORDED" |
		jq -r --arg category "$1" 'select(.category == $category) | [.g, .message] | @json' | sort -s -t, -k1,1
}

# Goroutine and set of each change of labels; those of GC workers are not the program's
sets()
{
	build/gotrace events --json "$RECORDED" |
		jq -r 'select(.kind == "Label" and (.label | startswith("GC (") | not)) | [.g, .label] | @json' | sort -s -t, -k1,1
}

recorded() # GO "OPTIONS"
{
	when_live="pause 200" record_target labels "$1" "$2" && check_trace "$RECORDED" && messages expected >"$tmp/expected" &&
		sets >"$tmp/labels" && cmp "$tmp/expected" "$tmp/labels" &&
		[ "$(wc -l <"$tmp/labels")" = "$(jq .changes "$tmp/labels.done")" ] &&
		[ "$(stat_of 'dropped + .lost + .text_misses' "$tmp/labels.json")" = 0 ]
}

replayed()
{
	recorded "$ORACLE_GO" "--save-input $tmp/raw" &&
		$GOTRACE replay "$tmp/raw" -o "$tmp/again.trace" && cmp "$RECORDED" "$tmp/again.trace"
}

left_out() # "OPTIONS" LOGS: how many logs the program's own tracing leaves
{
	record_target labels "$ORACLE_GO" "$1" && [ -z "$(sets)" ] &&
		[ "$(messages expected | wc -l)" = "${2-$(jq .changes "$tmp/labels.done")}" ]
}

# The figures by labels are those of a second implementation; the periods are those of the program.
grouped()
{
	local key

	for key in endpoint 'odd key=' $(in_all echo worker child small missing); do
		build/reference/labels build/gotrace "$RECORDED" "$key" || return 1
	done
	build/gotrace goroutines --by label:endpoint --json "$RECORDED" >"$tmp/by.json" &&
		jq -e --slurpfile done "$tmp/labels.done" '$done[0].periods as $periods |
			(.groups | map(select(.value) | { key: .value, value: .count }) | from_entries) == $periods' "$tmp/by.json"
}

# REASON ARGUMENT...: a usage error of gotrace
rejected()
{
	refused 2 "$1" build/gotrace "${@:2}" "$RECORDED"
}

options()
{
	rejected 'expected KEY=VALUE' events --label endpoint && rejected 'expected KEY=VALUE' events --label =x &&
		rejected 'expected label:KEY' goroutines --by endpoint && rejected 'expected label:KEY' latency --by label: &&
		rejected 'too many --label' events $(printf -- '--label %s ' a={1..17}) &&
		rejected 'longer than 256 bytes' events --label "a=$(printf '%0300d' 0)" &&
		rejected 'cannot be combined' goroutines --label a=b --goroutine 1 &&
		rejected 'cannot be combined' goroutines --all --by label:a &&
		rejected 'cannot be combined' latency --label a=b --goroutine 1 &&
		refused 1 'no goroutine with the label endpoint=/missing' build/gotrace goroutines --label endpoint=/missing "$RECORDED"
}

# With * and ?, and two labels
patterns()
{
	local all one

	all=$(build/gotrace events --label 'endpoint=*' "$RECORDED" | wc -l)
	one=$(build/gotrace events --label 'endpoint=/?n*r' --label 'worker=1' "$RECORDED" | wc -l)
	[ "$one" -gt 0 ] && [ "$all" -gt "$one" ] &&
		cmp <(build/gotrace events --label 'endpoint=/?n*r' "$RECORDED") <(build/gotrace events --label endpoint=/inner "$RECORDED") &&
		cmp <(build/gotrace goroutines --all --label 'endpoint=/inner' "$RECORDED" | tail -n +2 | wc -l) \
			<(jq '.periods."/inner"' "$tmp/labels.done")
}

# Pointers to nothing, endless lengths and cycles: a log for each change, without a label that was not
# read whole.
forged() # GO
{
	when_live="pause 200" record_target labels "$1" "" -forged -n 20 && check_trace "$RECORDED" &&
		sets | jq -s --slurpfile done "$tmp/labels.done" -e \
			'length >= $done[0].changes and all(.[]; .[1] == "" or (.[1] | endswith("...")))' &&
		[ "$(stat_of 'dropped + .lost' "$tmp/labels.json")" = 0 ]
}

ktap_start
for go in $TARGET_GOS; do
	try "$go: each change of labels" recorded "$go" ""
	[ "$go" = "$ORACLE_GO" ] || [ $TIER != check ] || continue
	try "$go: goroutines, latency, waits and events by label" grouped
done
try "patterns" patterns
try "invalid options" options
try "with perf uprobes" recorded "$ORACLE_GO" --force-perf-uprobes
try "without stacks" recorded "$ORACLE_GO" --no-stacks
try "a replay" replayed
for go in $TARGET_GOS; do
	try "$go: forged labels" forged "$go"
done
try "--no-labels" left_out --no-labels
try "without the event set user" left_out "--events sched" 0
ktap_end
