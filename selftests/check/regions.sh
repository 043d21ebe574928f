#!/bin/bash
# Calls of functions as regions (record --region): each call that the program counts is recorded,
# with its end, on its goroutine; a replay gives the same trace; what cannot be a region is refused.
# parallel
# long: 900
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

REGIONS='--region main.work=Work --region main.gro[vw] --region main.leave --region main.both --region /^main\.(catch|throw)$/'

counted() # GO "OPTIONS"
{
	record_target regions "$1" "$REGIONS $2" && check_trace "$RECORDED" &&
		build/reference/truth "$RECORDED" "$tmp/regions.done" &&
		grep -qx 'gotrace-bpf: not recorded: 1 copy of main.both that the compiler inlined, in main.work' "$tmp/background.out" &&
		[ "$(stat_of 'dropped + .lost + .text_misses' "$tmp/regions.json")" = 0 ]
}

# Each call has an entry, which is emulated, and those that return have a single-stepped exit: per round 1
# of work, 60 of grow, 1 of catch, 1 of both. 4 of throw and 3 of leave do not return; catch recovers, which is one more.
steps_are_counted()
{
	counted "$ORACLE_GO" "" &&
		jq -e '{stepped_hits, calls: .records_by_kind.func_call} | . == {stepped_hits: (200 * 63), calls: (200 * 134)}' \
			"$tmp/regions.json" &&
		grep -qE '^gotrace-bpf: cost: [0-9]+ hits of probes \(12600 of them single-stepped, [0-9.]+ us each\) and ' \
			"$tmp/background.out"
}

# Of calls in each other, 1,024 are recorded, and those that follow. One more record is of a recovered panic.
deep()
{
	record_target regions "$ORACLE_GO" "--region main.dive --events sched,syscall" -n 1 -deep "$1" && check_trace "$RECORDED" &&
		jq '.expect |= map(select(.functions == ["main.diver"]))' "$tmp/regions.done" >"$tmp/dive" &&
		build/reference/truth "$RECORDED" "$tmp/dive" &&
		jq -e --argjson deep "$1" '{dropped, lost, calls: .records_by_kind.func_call, peak_memory_bytes} | .,
			.dropped == $deep - 1024 and .lost == 0 and .calls == 2 * ($deep + 1) + 1 and .peak_memory_bytes < 64e6' \
			"$tmp/regions.json"
}

replayed()
{
	counted "$ORACLE_GO" "--save-input $tmp/raw" &&
		$GOTRACE replay "$tmp/raw" -o "$tmp/again.trace" && cmp "$RECORDED" "$tmp/again.trace"
}

# REASON OPTION...: one line on standard error contains the reason; there is no file
refused()
{
	local reason=$1
	shift
	! timeout 30 $GOTRACE record -o "$tmp/no.trace" "$@" -- "$PROGRAM" </dev/null >/dev/null 2>"$tmp/err" &&
		[ ! -e "$tmp/no.trace" ] && grep -qF -- "$reason" "$tmp/err" && return
	note "$(cat "$tmp/err")"
	return 1
}

listed()
{
	$GOTRACE probes --exe "$PROGRAM" --functions 'main.w*' --json >"$tmp/functions" &&
		jq -e '[.functions[].name] == ["main.worker", "main.work"] or
			[.functions[].name] == ["main.work", "main.worker"]' "$tmp/functions" &&
		jq -e '.functions[] | select(.name == "main.work") | .probes |
			(.[0].why == "a call begins") and (.[0].cost == "emulated") and length >= 3 and
			all(.[1:][]; .why == "a call ends" and .instruction == "ret" and .cost == "stepped")' "$tmp/functions" &&
		$GOTRACE probes --exe "$PROGRAM" --functions main.both --json >"$tmp/both" &&
		jq -e '.functions[0] | .inlined_copies == 1 and .inlined_into == ["main.work"]' "$tmp/both" &&
		$GOTRACE probes --exe "$PROGRAM" --functions main.both |
			grep -qx 'main.both: 1 copy that the compiler inlined, in main.work: not recorded' &&
		$GOTRACE probes --exe "$PROGRAM" --functions main.work | grep -q '^main.work+0x.* ret .*a call ends'
}

# A pattern leaves out what cannot be probed; without it, nothing is left of that pattern.
left_out()
{
	local awkward='runtime.(*gcControllerState).memoryLimitHeapGoal' regex='\(\*gcControllerState\)\.memoryLimitHeapGoal'

	$GOTRACE probes --exe "$PROGRAM" --functions "/^runtime\.(main|$regex)\$/" --json >"$tmp/functions" 2>"$tmp/err" &&
		jq -e '[.functions[].name] == ["runtime.main"]' "$tmp/functions" &&
		grep -qF "left out 1 function that the pattern names: $awkward cannot be a region" "$tmp/err" || return 1
	refused "$awkward cannot be a region" --region "/^runtime\.$regex\$/" && refused "$awkward cannot be a region" --region "$awkward"
}

ktap_start
PROGRAM=build/targets/$ORACLE_GO/regions
for go in $TARGET_GOS; do
	try "$go: each call is a region" counted "$go" ""
done
try "with perf uprobes" counted "$ORACLE_GO" --force-perf-uprobes
try "without stacks" counted "$ORACLE_GO" --no-stacks
try "without the event set user" counted "$ORACLE_GO" "--events sched"
try "recursion" deep "$(by_tier 20000 20000 1000000)" && note "$(cat "$tmp/try.out")"
try "single-stepped hits" steps_are_counted
try "a replay" replayed
try "the functions of a pattern" listed
try "functions that cannot be regions" left_out
try "assembly" refused "runtime.memmove cannot be a region: it is written in assembly" --region runtime.memmove
try "no such function" refused "the program has no function main.nothing" --region main.nothing
try "inlined everywhere" refused "inlined all of its calls, among others into main.work" --region main.inlined
try "too many functions" refused "more than 64 functions" --region 'runtime.*'
try "an invalid pattern" refused "invalid pattern /(/" --region '/(/'
try "an empty name" refused "expected FUNC or FUNC=NAME" --region main.work=
try "inline probes" refused "cannot be combined" --region main.work --probes=inline
ktap_end
