#!/bin/bash
# tier: all
# parallel
# Tests that a starved recorder reports the problem and a remedy: it shares its CPU with a CPU-bound
# competitor.
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/rawfile.py
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/cgroup.lib.sh

recorder_starves()
{
	local competitor status=0

	start_target pingpong "$ORACLE_GO" -duration 4s || return 1
	start_background taskset -c 0 chrt --idle 0 $GOTRACE record -p "$TARGET_PID" -o "$tmp/starved.trace" \
		--stats "$tmp/starved.json" --save-input "$tmp/starved.raw" --ring-size 64K
	recorder_is_live || return 1
	taskset -c 0 bash -c 'while :; do :; done' &
	competitor=$!
	background+=("$competitor")
	tell_target start
	expect_target done 60 || status=1
	kill -KILL "$competitor"
	wait "$competitor"
	stop_recorder || status=1
	stop_target || status=1
	cat "$tmp/background.out" "$tmp/starved.json"
	check_trace "$tmp/starved.trace" || status=1
	return $status
}

# The time without a CPU is a part of the time between two reads of the rings, and the losses are counted after it.
times_are_those_of_the_input()
{
	python3 -B selftests/rawfile.py starved "$tmp/starved.raw" "$tmp/starved.json" &&
		python3 -B selftests/rawfile.py stats "$tmp/starved.raw" "$tmp/starved.json"
}

says_so()
{
	cat "$tmp/background.out" "$tmp/starved.json"
	jq -e '.lost > 0 and .starved > 0 and .starved_lost > 0 and .starved_lost <= .lost and
		.starved_longest_ms >= 20 and .starved_total_ms >= .starved_longest_ms' "$tmp/starved.json" &&
		grep -E 'starved: [0-9]+ were lost because it got no CPU for up to [0-9]+ ms.*--ring-size=4M.*nice' \
			"$tmp/background.out"
}

# SIGNAL: a recorder that has a hundredth of a CPU from the attachment on reads only what it can until its
# deadline (or, if it has none, the signal), and the trace ends earlier, unless the target had so little CPU
# time on a busy machine that it has read everything.
ends_in_time()
{
	local status

	start_target pingpong "$ORACLE_GO" -duration 120s -rate 30000 && tell_target start &&
		start_background taskset -c 0 $GOTRACE record -p "$TARGET_PID" -o "$tmp/late.trace" $([ -n "$1" ] || echo -d 3s) &&
		recorder_is_live && echo "$BACKGROUND_PID" >"$quota_group/cgroup.procs" || return 1
	[ -z "$1" ] || { sleep 3 && kill "-$1" "$BACKGROUND_PID"; }
	wait "$BACKGROUND_PID"
	status=$?
	kill "$TARGET_PID"
	cat "$tmp/background.out"
	[ $status -eq 0 ] && check_trace "$tmp/late.trace" || return 1
	grep -q 'the last [0-9.]* s are missing: ' "$tmp/background.out" ||
		build/gotrace goroutines --json "$tmp/late.trace" | jq -e '.end - .start >= 2900000000'
}

policies() # PID: of its threads
{
	local task

	for task in "/proc/$1/task/"*; do
		chrt -p "${task##*/}" | sed -n 's/.*policy: //p'
	done | sort -u
}

# Where the kernel permits it, which it does for root without taskset, unless other recorders have all
# the bandwidth of the CPUs just then.
has_guaranteed_time()
{
	start_target pingpong "$ORACLE_GO" -duration 1s || return 1
	start_background $GOTRACE record -v -p "$TARGET_PID" -o "$tmp/deadline.trace"
	recorder_is_live || return 1
	policies "$BACKGROUND_PID" >"$tmp/recorder"
	policies "$TARGET_PID" >"$tmp/target"
	stop_recorder && stop_target
	head "$tmp/recorder" "$tmp/target"
	[ "$(cat "$tmp/target")" = SCHED_OTHER ] || return 1
	if chrt -d -T 20000000 -D 25000000 -P 25000000 0 true; then
		grep -q '^SCHED_DEADLINE|SCHED_RESET_ON_FORK$' "$tmp/recorder" ||
			grep 'no guaranteed CPU time for the recorder: Device or resource busy' "$tmp/background.out"
	else
		[ "$(cat "$tmp/recorder")" = SCHED_OTHER ]
	fi
}

# A command that the recorder starts does not have its priority.
command_is_normal()
{
	$GOTRACE record -o "$tmp/command.trace" -- bash -c 'chrt -p $$; nice; exec "$0" -duration 200ms' \
		"build/targets/$ORACLE_GO/tiny" >"$tmp/command" || return 1
	cat "$tmp/command"
	grep -q 'policy: SCHED_OTHER$' "$tmp/command" && grep -qx "$(nice)" "$tmp/command"
}

ktap_start
try "a recorder without CPU time" recorder_starves
try "it reports starvation and the remedy" says_so
try "the times are those of the raw input" times_are_those_of_the_input
note "$(tail -n 5 "$tmp/try.out")"
if try "a cgroup with a quota" quota_group 1000; then
	try "a recording ends in time, with what was read until then" ends_in_time ""
	try "a signal ends it in time, too" ends_in_time INT
	rmdir "$quota_group"
fi
try "a recorder has guaranteed CPU time" has_guaranteed_time
try "a command that it starts does not" command_is_normal
ktap_end
