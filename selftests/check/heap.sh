#!/bin/bash
# tier: all
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
# Sizes of the heap: when they change too often their probe is taken away, and they are sampled. Each
# sample must be one of the sizes in the program's own trace of the same time.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/releases.lib.sh

heap_sizes() # TRACE
{
	build/gotrace events --json "$1" | jq -r 'select(.event == "HeapAlloc") | "\(.time) \(.value)"'
}

# OPTIONS: records a program with a busy heap that traces itself
busy_heap()
{
	record_target selftrace "$GO" "$1" -trace "$tmp/own.trace" -duration 2s $FEW_SYSCALLS -heap 20 &&
		heap_sizes "$RECORDED" >"$tmp/ours" && heap_sizes "$tmp/own.trace" | cut -d' ' -f2 | sort -u >"$tmp/own" &&
		build/gotrace stat --json "$RECORDED" >"$tmp/stat"
}

# A sample before the program's own trace begins, or after it has ended, may be no size of it. A wrong
# number would be one by chance in a tenth of the cases.
sampled()
{
	local since

	busy_heap "" && since=$(jq -e .private.heap_sampled_from "$tmp/stat") || return 1
	awk -v since="$since" '
		FILENAME != last { last = FILENAME; files++ }
		files == 1 { own[$1] = 1; next }
		$1 >= since { known += $2 in own; n++ }
		END { print n + 0, known + 0 }' "$tmp/own" "$tmp/ours" >"$tmp/counts"
	read -r SAMPLES KNOWN <"$tmp/counts"
	SUMMARY="$KNOWN of $SAMPLES samples are among the $(wc -l <"$tmp/own") sizes of the program's own trace"
	echo "$SUMMARY"
	[ "$SAMPLES" -ge 50 ] && [ "$KNOWN" -ge $((SAMPLES * 85 / 100)) ] &&
		[ "$(stat_of records_by_kind.heap_alloc "$tmp/selftrace.json")" -gt 0 ] &&
		build/gotrace stat "$RECORDED" | grep '^heap sizes  *sampled, from ' &&
		grep 'sampling it from now on' "$tmp/background.out"
}

whole()
{
	busy_heap --events=sched,heap && jq -e '.private.heap_sampled_from == null' "$tmp/stat" &&
		[ "$(stat_of records_by_kind.heap_sample "$tmp/selftrace.json")" = null ]
}

ktap_start
newest=$(newest_go_of selftrace)
for GO in $TARGET_GOS $newest; do
	try "$GO: a busy heap is sampled" sampled && note "$SUMMARY"
done
for GO in $ORACLE_GO $newest; do
	try "$GO: every change, with --events=sched,heap" whole
done
ktap_end
