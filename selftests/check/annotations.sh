#!/bin/bash
# Annotations of programs that do with them what they like: every one is recorded, memory is bounded, and what
# is lost or too much leaves a valid trace. (What they say is held against the runtime's in truth and fidelity.)
# beside others
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

annotated() # GO "OPTIONS" ARGUMENT...
{
	record_target annotate "$@" && check_trace "$RECORDED" &&
		build/reference/truth "$RECORDED" "$tmp/annotate.done"
}

# 100 MB of messages; a generation and what is on its way is all that is held.
endless_messages()
{
	record_target annotate "$JUDGE_GO" "--ring-size 32M" -messages 100000 && check_trace "$RECORDED" &&
		cat "$tmp/annotate.json" && [ "$(stat_of 'records_by_kind.log' "$tmp/annotate.json")" -gt 50000 ] &&
		[ "$(stat_of 'peak_memory_bytes - .ring_bytes' "$tmp/annotate.json")" -lt 120000000 ]
}

# Of more names than the probes remember each is there.
endless_names()
{
	annotated "$JUDGE_GO" "--ring-size 32M" -names 70000 && cat "$tmp/annotate.json" &&
		[ "$(stat_of text_misses "$tmp/annotate.json")" = 2 ] # no address, and a page that is not there
}

under_loss()
{
	record_target annotate "$JUDGE_GO" "--ring-size 16K" -messages 20000 -names 3000 -deep 3000 &&
		check_trace "$RECORDED" && [ "$(stat_of 'lost > 0' "$tmp/annotate.json")" = true ]
}

only_on_request()
{
	record_target annotate "$JUDGE_GO" "--events sched,syscall" && check_trace "$RECORDED" &&
		jq -e '.records_by_kind | keys | any(. == "log" or . == "region" or . == "text") | not' \
			"$tmp/annotate.json"
}

no_stacks()
{
	record_target annotate "$JUDGE_GO" --no-stacks && check_trace "$RECORDED" &&
		jq -e '.records_by_kind.log == 1002' "$tmp/annotate.json"
}

ktap_start
for go in $TARGET_GOS; do
	try "$go: each is there" annotated "$go" ""
done
try "by perf uprobes" annotated "$JUDGE_GO" --force-perf-uprobes
try "regions deeper than any reader wants" annotated "$JUDGE_GO" "" -deep 3000
try "messages without end" endless_messages
try "names without end" endless_names
try "rings that are too small" under_loss
try "without set user" only_on_request
try "without stacks" no_stacks
ktap_end
