#!/bin/bash
# Many tasks of calls (record --task), deep recursion within one task, and many goroutines that are created
# within one (--inherit): the trace is valid and contains what the limits permit, and the recorder's memory
# does not grow with their number. check-long has a million of each.
# tier: all
# timeout: 600
# long: 1800
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

CALLS=${CALLS:-$(by_tier 100000 100000 1000000)}
MEMORY_MAX=${MEMORY_MAX:-$(by_tier $((96 << 20)) $((96 << 20)) $((400 << 20)))} # bytes; the rings take 16 MiB, the open generation 16 MiB
OPEN_MAX=1024                          # tasks of a goroutine
MEMBERS_MAX=131072                     # goroutines in tasks

storm() # KIND TASK
{
	record_target storm "$ORACLE_GO" "--task main.$2 --inherit --ring-size 8M" -kind "$1" -n "$CALLS" &&
		check_trace "$RECORDED" &&
		jq -ce '{lost, dropped, repairs, peak_memory_bytes}' "$tmp/storm.json" &&
		jq -e --argjson max "$MEMORY_MAX" '.lost == 0 and .repairs == 0 and .peak_memory_bytes < $max' "$tmp/storm.json"
}

dropped() # N
{
	[ "$(stat_of dropped "$tmp/storm.json")" = "$1" ]
}

# COUNT: so many tasks are in the trace, all with an end
tasks_are()
{
	build/gotrace tasks --json "$RECORDED" >"$tmp/tasks" && jq -c '.tasks[] | {name, count, unfinished}' "$tmp/tasks" &&
		jq -e --argjson n "$1" '.tasks | length == 1 and .[0].count == $n and .[0].unfinished == 0' "$tmp/tasks"
}

members_are() # FUNCTION N
{
	build/reference/tasked -members "$RECORDED" >"$tmp/members"
	cat "$tmp/members"
	grep -q "^members map\[main.$1:$2\]," "$tmp/members"
}

short() { storm short one && tasks_are "$CALLS" && dropped 0; }
deep() { storm deep descend && tasks_are $OPEN_MAX && dropped $((CALLS - OPEN_MAX)); }
passing() { storm passing passing && tasks_are 1 && members_are passer "$CALLS" && dropped 0; }

together()
{
	local members=$((CALLS < MEMBERS_MAX ? CALLS : MEMBERS_MAX))

	storm together together && tasks_are 1 && members_are waiter $members && dropped $((CALLS - members))
}

ktap_start
for kind in short deep passing together; do
	try "$CALLS calls or goroutines, $kind" $kind && note "$(grep -E '^{|^members' "$tmp/try.out")"
done
ktap_end
