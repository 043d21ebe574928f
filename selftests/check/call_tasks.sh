#!/bin/bash
# Calls of functions as tasks (record --task): each call that the program counts is recorded, with its end
# and the region inside, even when a panic or Goexit leaves it; parents are right next to the program's
# own tasks; the tasks are those of the program's own trace; a replay gives the same trace.
# check-long has more calls and releases.
# tier: all
# parallel
# long: 3000
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/releases.lib.sh

FUNCTIONS='/^main\.(serve|step|dig|catch|throw|leave|within|around|spawn|detach)$/'
TASKS="--task $FUNCTIONS --region main.compute"
OWN_GOS=$(by_tier "$NEW_FORMAT_GOS" "$NEW_FORMAT_GOS" "$(every_go_since 22)")
OWN_ROUNDS=$(by_tier 20 20 7000)

nothing_lost()
{
	jq -e '[.dropped, .lost, .repairs, .text_misses] | add == 0' "$tmp/tasked.json"
}

counted() # GO OPTIONS
{
	record_target tasked "$1" "$TASKS $2" && check_trace "$RECORDED" &&
		build/reference/truth "$RECORDED" "$tmp/tasked.done" && nothing_lost
}

# The parent of each task, by names: nested calls; the program's own task around a call; and its
# own task within one, which has none.
parents()
{
	counted "$ORACLE_GO" "" || return 1
	build/gotrace events --json "$RECORDED" | jq -n '
		reduce inputs as $e ({}; if $e.event == "UserTaskBegin" then
			.name["\($e.task)"] = $e.type |
			.pairs["\(.name["\($e.parent)"]) > \($e.type)"] += 1 else . end) | .pairs' >"$tmp/parents"
	jq -e '. == {"null > main.serve": 100, "main.serve > main.step": 300, "main.serve > main.dig": 100,
		"main.dig > main.dig": 1900, "main.serve > main.catch": 100, "main.catch > main.throw": 100,
		"main.throw > main.throw": 100, "null > main.leave": 100, "main.leave > main.leave": 200,
		"null > own": 200, "own > main.within": 100, "null > main.around": 100,
		"null > main.spawn": 100, "null > main.detach": 100}' "$tmp/parents" && return
	cat "$tmp/parents"
	return 1
}

# Regions inside of a task belong to it.
regions_inside()
{
	build/gotrace events --json "$RECORDED" | jq -n '
		reduce inputs as $e ({}; if $e.event == "UserTaskBegin" then .name["\($e.task)"] = $e.type
			elif $e.event == "UserRegionBegin" then
				.pairs["\(.name["\($e.task)"]) > \($e.type)"] += 1 else . end) | .pairs' >"$tmp/regions"
	jq -e '."main.step > main.compute" == 300 and ."own > own" == 200 and ."main.within > main.within" == 100 and
		."main.dig > main.dig" == 2000' "$tmp/regions" && return
	cat "$tmp/regions"
	return 1
}

replayed()
{
	counted "$ORACLE_GO" "--save-input $tmp/raw" &&
		$GOTRACE replay "$tmp/raw" -o "$tmp/again.trace" && cmp "$RECORDED" "$tmp/again.trace"
}

# --inherit: the goroutines that are created in a task, those that they create in it, and no others.
inherited() # GO OPTIONS
{
	record_target tasked "$1" "$TASKS --inherit $2" && check_trace "$RECORDED" && nothing_lost &&
		build/reference/truth "$RECORDED" "$tmp/tasked.done" >/dev/null &&
		build/reference/tasked -members "$RECORDED" >"$tmp/members" || return 1
	cat "$tmp/members"
	grep -qE '^members map\[main.child:200 main.grandchild:400 (main.later:[0-9]+ )?main.remain:100\], late ' "$tmp/members"
}

inherited_replayed()
{
	inherited "$ORACLE_GO" "--save-input $tmp/raw" &&
		$GOTRACE replay "$tmp/raw" -o "$tmp/again.trace" && cmp "$RECORDED" "$tmp/again.trace"
}

# The goroutines of a task count in `gotrace requests` of it, as a second computation finds.
in_requests()
{
	inherited "$ORACLE_GO" "" && build/reference/tasks build/gotrace "$RECORDED"
}

# Without --inherit no goroutine has a region of another one's task: the check itself detects it.
not_inherited()
{
	counted "$ORACLE_GO" "" || return 1
	! build/reference/tasked -members "$RECORDED" >"$tmp/members" &&
		grep -q 'its region in task' "$tmp/members"
}

# Without the event set user, whose probes would record and delay the program's own annotations; with that
# of system calls, because the program writes its trace: without it, Ps change hands unseen.
compared() # GO
{
	record_target tasked "$1" "$TASKS --events sched,syscall" -trace "$tmp/own.trace" -n "$OWN_ROUNDS" &&
		nothing_lost >/dev/null && check_trace "$RECORDED" >/dev/null &&
		build/reference/truth "$RECORDED" "$tmp/tasked.done" >/dev/null &&
		build/reference/tasked -unwound main.throw,main.leave "$tmp/own.trace" "$RECORDED"
}

# The comparison itself: without one function, its calls are missing, and others have no parent.
detects_missing()
{
	record_target tasked "$ORACLE_GO" "--task main.step --task main.catch --events sched,syscall" \
		-trace "$tmp/own.trace" -n 1 || return 1
	! build/reference/tasked "$tmp/own.trace" "$RECORDED" >"$tmp/differences" &&
		grep -q '^goroutine .* has 4 tasks, in its own trace 27' "$tmp/differences"
}

# A function that both options name is a task, in either order, and has the name that --task gives.
both()
{
	local first='--task main.serve=Task' second='--region main.serve=Region'
	[ "$1" = task ] || { local swap=$first; first=$second second=$swap; }

	record_target tasked "$ORACLE_GO" "$first $second" -n 5 && check_trace "$RECORDED" &&
		build/gotrace tasks --json "$RECORDED" >"$tmp/names" && jq -e '[.tasks[] | select(.name != "own") |
			[.name, .count]] == [["Task", 5]]' "$tmp/names" &&
		build/gotrace regions --json "$RECORDED" >"$tmp/names" && jq -e '[.regions[] | select(.name != "own") |
			[.name, .count]] == [["Task", 5]]' "$tmp/names" && return
	cat "$tmp/names"
	return 1
}

# REASON OPTION...: one line on standard error contains the reason; there is no file
not_recorded()
{
	local reason=$1
	shift
	refused 2 "$reason" $GOTRACE record -o "$tmp/no.trace" "$@" -p $$ && [ ! -e "$tmp/no.trace" ]
}

ktap_start
for go in $TARGET_GOS; do
	try "$go: each call is a task" counted "$go" ""
done
try "with perf uprobes" counted "$ORACLE_GO" --force-perf-uprobes
try "without stacks" counted "$ORACLE_GO" --no-stacks
try "parents" parents
try "regions inside" regions_inside
try "a replay" replayed
for go in $TARGET_GOS; do
	try "$go: goroutines inherit their task" inherited "$go" ""
done
try "--inherit in the old format" inherited "$ORACLE_GO" "--format-version 1.22"
try "a replay with --inherit" inherited_replayed
try "requests of inherited tasks" in_requests
try "without --inherit" not_inherited
try "--inherit without --task" not_recorded "-inherit requires --task" --region main.compute --inherit
for go in $OWN_GOS; do
	try "$go: tasks are those of the program's own trace" compared "$go" && note "$(cat "$tmp/try.out")"
done
try "a missing function is detected" detects_missing
try "--task, then --region" both task
try "--region, then --task" both region
try "an empty name" not_recorded "invalid task 'main.serve=': expected FUNC or FUNC=NAME" --task main.serve=
try "inline probes" not_recorded "-region and --task cannot be combined with --probes=inline" --task main.serve --probes=inline
ktap_end
