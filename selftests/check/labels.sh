#!/bin/bash
# Labels of goroutines (runtime/pprof.Do): each change that the program makes is recorded, on its
# goroutine, with the labels that the program itself logs; a replay gives the same trace; and labels
# are left out if that is asked for.
# parallel
# depends on: Makefile bpf include userspace selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# CATEGORY: goroutine and message of each log, in the order of each goroutine
messages()
{
	build/gotrace events --json "$RECORDED" |
		jq -r --arg category "$1" 'select(.category == $category) | [.g, .message] | @json' | sort -s -t, -k1,1
}

recorded() # GO "OPTIONS"
{
	record_target labels "$1" "$2" && check_trace "$RECORDED" && messages expected >"$tmp/expected" &&
		messages "goroutine labels" >"$tmp/labels" && cmp "$tmp/expected" "$tmp/labels" &&
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
	record_target labels "$ORACLE_GO" "$1" && [ -z "$(messages "goroutine labels")" ] &&
		[ "$(messages expected | wc -l)" = "${2-$(jq .changes "$tmp/labels.done")}" ]
}

ktap_start
for go in $TARGET_GOS; do
	try "$go: each change of labels" recorded "$go" ""
done
try "with perf uprobes" recorded "$ORACLE_GO" --force-perf-uprobes
try "without stacks" recorded "$ORACLE_GO" --no-stacks
try "a replay" replayed
try "--no-labels" left_out --no-labels
try "without the event set user" left_out "--events sched" 0
ktap_end
