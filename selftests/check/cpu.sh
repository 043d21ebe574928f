#!/bin/bash
# CPU samples: as many as the target used CPU time, in the functions and for the goroutines that used it, in
# any way to record; nothing is left of them, and what can't be had is refused with a reason.
# beside others
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# FILE: what its samples say, into $tmp/samples
samples_of()
{
	check_trace "$1" && build/reference/samples "$1" >"$tmp/samples" && cat "$tmp/samples"
}

# Of the samples in package main, nearly all are where the CPU time goes; on this machine others run, too.
in_the_right_places()
{
	jq -e --argjson hz "$1" --argjson done "$(cat "$tmp/spin.done")" '
		($done.cpu_ns * $hz / 1e9) as $want |
		.samples > 0.6 * $want and .samples < 1.4 * $want + 10 and
		(.of["main.spinner main.burn"] // 0) >= 0.9 * .goroutine["main.spinner"] - 2 and
		(.of["main.caller main.inner"] // 0) >= 0.9 * .goroutine["main.caller"] - 2 and
		.leaf["main.burn"] == .of["main.spinner main.burn"] and
		.any["main.spinner"] >= 0.95 * .leaf["main.burn"] and
		.any["main.middle"] >= 0.95 * .leaf["main.inner"] and
		.any["main.outer"] >= 0.95 * .leaf["main.inner"] and
		.any["main.caller"] >= 0.95 * .leaf["main.inner"] and
		.root["runtime.goexit"] >= 0.9 * .samples and
		.any["syscall.Read"] >= 0.8 * .goroutine["main.reader"] - 2 and
		.goroutine["main.reader"] > 0.02 * .samples and
		.no_stack <= 0.02 * .samples + 1 and .no_p < 0.5 * .samples' "$tmp/samples"
}

recorded() # GO HZ OPTION...
{
	local go=$1 hz=$2
	shift 2

	record_target spin "$go" "$*" && samples_of "$RECORDED" && in_the_right_places "$hz" &&
		[ "$(stat_of lost "$tmp/spin.json")" = 0 ]
}

no_stacks()
{
	record_target spin "$JUDGE_GO" "--cpu-profile 1000 --no-stacks" -duration 1s && samples_of "$RECORDED" &&
		jq -e '.samples > 50 and .no_stack == .samples and .goroutine["main.spinner"] > 20' "$tmp/samples"
}

two_frames()
{
	record_target spin "$JUDGE_GO" "--cpu-profile 1000 --stack-depth 2" -duration 1s &&
		samples_of "$RECORDED" && jq -e '.samples > 50 and .leaf["main.burn"] > 20 and
			(.root | has("runtime.goexit") | not) and .any["main.spinner"] > 20' "$tmp/samples"
}

# C keeps no frame pointers, or does, and threads come from there: what is known of them is said.
with_c()
{
	record_target cgo "$JUDGE_GO" "--cpu-profile 2000" -rounds 40 && samples_of "$RECORDED" &&
		jq -e '.samples > 50 and .threads > 3 and .any["runtime.cgocallback"] > 0 and
			.goroutine["none"] > 0 and .no_stack < 0.2 * .samples' "$tmp/samples"
}

# A program that is started, and its children
launched()
{
	timeout 60 $GOTRACE record --cpu-profile 100 --follow -o "$tmp/started.trace" \
		-- bash -c "build/targets/$JUDGE_GO/spin -duration 2s </dev/null" &&
		samples_of "$tmp/started.trace" &&
		jq -e '.samples > 20 and .leaf["main.burn"] > 5' "$tmp/samples"
}

replayed()
{
	record_target spin "$JUDGE_GO" "--cpu-profile 1000 --raw $tmp/spin.raw" -duration 500ms &&
		timeout 60 $GOTRACE sequence "$tmp/spin.raw" -o "$tmp/again.trace" &&
		cmp "$RECORDED" "$tmp/again.trace"
}

refused() # STATUS TEXT COMMAND...
{
	local status=$1 text=$2
	shift 2

	timeout 20 "$@" >"$tmp/out" 2>&1
	[ $? -eq "$status" ] && [ "$(wc -l <"$tmp/out")" -eq 1 ] && grep -q "$text" "$tmp/out" || {
		cat "$tmp/out"
		return 1
	}
}

# No perf event and no program of ours is there any more.
nothing_left()
{
	start_target spin "$JUDGE_GO" -duration 500ms || return 1
	start_background $GOTRACE record -p "$TARGET_PID" --cpu-profile 1000 -o "$tmp/killed.trace"
	recorder_is_live && program_is_there || return 1
	ls -l "/proc/$BACKGROUND_PID/fd" >"$tmp/fds"
	grep -q 'perf_event' "$tmp/fds" || { cat "$tmp/fds"; return 1; }
	kill -KILL "$BACKGROUND_PID"
	wait "$BACKGROUND_PID"
	wait_until 10 text_is_clean "$TARGET_PID" && wait_until 10 no_program || return 1
	tell_target start
	expect_target done && stop_target
}

program_is_there()
{
	bpftool prog show | grep -q 'perf_event  *name sample '
}

no_program()
{
	! program_is_there
}

ktap_start
for go in $TARGET_GOS; do
	try "$go: 100 samples a second" recorded "$go" 100 --cpu-profile 100
done
try "by --events alone" recorded "$JUDGE_GO" 100 --events cpu
try "a thousand, with all else" recorded "$JUDGE_GO" 1000 --events sched,syscall,gc --cpu-profile=1000 --tick 64ns
try "by perf uprobes, in format 1.22" recorded "$JUDGE_GO" 100 --cpu-profile 100 --force-perf-uprobes --format-version 1.22
try "without stacks" no_stacks
try "two frames" two_frames
try "of a program with C" with_c
try "of a started program, with its children" launched
try "and from the raw file" replayed
try "nothing is left after kill -9" nothing_left
for hz in 0 10001 -1 many ''; do
	try "a rate of \"$hz\" is refused" refused 2 'must be 1 to 10000' $GOTRACE record -p 1 "--cpu-profile=$hz"
done
try "doctor says that they can be had" grep -q '^ok *cpu ' <($GOTRACE doctor)
ktap_end
