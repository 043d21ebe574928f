#!/bin/bash
# User annotations of programs that use them heavily: each one is recorded, memory is bounded, and
# lost or excessive data still gives a valid trace. Their contents are compared with those of the
# runtime in truth.sh and fidelity.sh.
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

annotated() # GO "OPTIONS" ARGUMENT...
{
	record_target annotate "$@" && check_trace "$RECORDED" &&
		build/reference/truth "$RECORDED" "$tmp/annotate.done"
}

# 100 MB of messages; the recorder holds at most one generation and the records in flight.
endless_messages()
{
	record_target annotate "$ORACLE_GO" "--ring-size 32M" -messages 100000 && check_trace "$RECORDED" &&
		cat "$tmp/annotate.json" && [ "$(stat_of 'records_by_kind.log' "$tmp/annotate.json")" -gt 50000 ] &&
		[ "$(stat_of 'peak_memory_bytes - .ring_bytes' "$tmp/annotate.json")" -lt 120000000 ]
}

# The program uses more names than the probes remember; each one is recorded.
endless_names()
{
	annotated "$ORACLE_GO" "--ring-size 32M" -names 70000 && cat "$tmp/annotate.json" &&
		[ "$(stat_of text_misses "$tmp/annotate.json")" = 2 ] # a nil pointer, and an unmapped page
}

under_loss()
{
	record_target annotate "$ORACLE_GO" "--ring-size 16K" -messages 20000 -names 3000 -deep 3000 &&
		check_trace "$RECORDED" && [ "$(stat_of 'lost > 0' "$tmp/annotate.json")" = true ]
}

only_on_request()
{
	record_target annotate "$ORACLE_GO" "--events sched,syscall" && check_trace "$RECORDED" &&
		jq -e '.records_by_kind | keys | any(. == "log" or . == "region" or . == "text") | not' \
			"$tmp/annotate.json"
}

no_stacks()
{
	record_target annotate "$ORACLE_GO" --no-stacks && check_trace "$RECORDED" &&
		jq -e '.records_by_kind.log == 1002' "$tmp/annotate.json"
}

ktap_start
for go in $TARGET_GOS; do
	try "$go: each annotation is recorded" annotated "$go" ""
done
try "with perf uprobes" annotated "$ORACLE_GO" --force-perf-uprobes
try "regions nested deeper than readers accept" annotated "$ORACLE_GO" "" -deep 3000
in_all try "100 MB of messages" endless_messages
in_all try "more names than the probes remember" endless_names
try "rings that are too small" under_loss
try "without the event set user" only_on_request
try "without stacks" no_stacks
ktap_end
