#!/bin/bash
# Tests CPU samples: their number matches the CPU time of the target, they are in the functions and
# goroutines that used it, in each way of recording. The recorder leaves nothing attached, and
# rejects unavailable settings with the reason.
# tier: all
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# FILE: writes a summary of its samples to $tmp/samples
samples_of()
{
	check_trace "$1" && build/reference/samples "$1" >"$tmp/samples" && cat "$tmp/samples"
}

# Nearly all samples in package main are where the CPU time goes; other processes run on the
# machine, too. Those without a goroutine are of the scheduler, and root in mstart: it has more to do where
# each hit of a probe takes longer.
in_the_right_places()
{
	jq -ce --argjson hz "$1" --argjson done "$(cat "$tmp/spin.done")" '
		($done.cpu_ns * $hz / 1e9) as $want | {
			samples: (.samples > 0.6 * $want and .samples < 1.4 * $want + 10),
			burn: ((.of["main.spinner main.burn"] // 0) >= 0.9 * .goroutine["main.spinner"] - 2),
			inner: ((.of["main.caller main.inner"] // 0) >= 0.9 * .goroutine["main.caller"] - 2),
			leaf: (.leaf["main.burn"] == .of["main.spinner main.burn"]),
			spinner: (.any["main.spinner"] >= 0.95 * .leaf["main.burn"]),
			middle: (.any["main.middle"] >= 0.95 * .leaf["main.inner"]),
			outer: (.any["main.outer"] >= 0.95 * .leaf["main.inner"]),
			caller: (.any["main.caller"] >= 0.95 * .leaf["main.inner"]),
			root: (.root["runtime.goexit"] >= 0.95 * (.samples - (.goroutine.none // 0)) - 2),
			none: ((.goroutine.none // 0) <= 0.25 * .samples + 5),
			read: (.any["syscall.Read"] >= 0.8 * .goroutine["main.reader"] - 2),
			reader: (.goroutine["main.reader"] > 0.02 * .samples),
			stacks: (.no_stack <= 0.02 * .samples + 1),
			p: (.no_p < 0.5 * .samples)
		} | map_values(select(. | not)) | if . == {} then true else ({ wrong: ., $want }, false) end' "$tmp/samples"
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
	record_target spin "$ORACLE_GO" "--cpu-profile 1000 --no-stacks" -duration 1s && samples_of "$RECORDED" &&
		jq -e '.samples > 50 and .no_stack == .samples and .goroutine["main.spinner"] > 20' "$tmp/samples"
}

two_frames()
{
	record_target spin "$ORACLE_GO" "--cpu-profile 1000 --stack-depth 2" -duration 1s &&
		samples_of "$RECORDED" && jq -e '.samples > 50 and .leaf["main.burn"] > 20 and
			(.root | has("runtime.goexit") | not) and .any["main.spinner"] > 20' "$tmp/samples"
}

# C code with or without frame pointers, and threads created by C: samples show as much as is known.
with_c()
{
	record_target cgo "$ORACLE_GO" "--cpu-profile 2000" -rounds 40 && samples_of "$RECORDED" &&
		jq -e '.samples > 50 and .threads > 3 and .any["runtime.cgocallback"] > 0 and
			.goroutine["none"] > 0 and .no_stack < 0.2 * .samples' "$tmp/samples"
}

# A program started by record, and its children
launched()
{
	timeout 60 $GOTRACE record --cpu-profile 100 --follow -o "$tmp/started.trace" \
		-- bash -c "build/targets/$ORACLE_GO/spin -duration 2s </dev/null" &&
		samples_of "$tmp/started.trace" &&
		jq -e '.samples > 20 and .leaf["main.burn"] > 5' "$tmp/samples"
}

replayed()
{
	record_target spin "$ORACLE_GO" "--cpu-profile 1000 --save-input $tmp/spin.raw" -duration 500ms &&
		timeout 60 $GOTRACE replay "$tmp/spin.raw" -o "$tmp/again.trace" &&
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

# No perf event and no BPF program of the recorder is left.
nothing_left()
{
	start_target spin "$ORACLE_GO" -duration 500ms || return 1
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
	try "$go: 100 samples per second" recorded "$go" 100 --cpu-profile 100
done
try "with --events alone" recorded "$ORACLE_GO" 100 --events cpu
try "1000 samples per second, with all other events" recorded "$ORACLE_GO" 1000 --events sched,syscall,gc --cpu-profile=1000 --tick 64ns
try "with perf uprobes, in format 1.22" recorded "$ORACLE_GO" 100 --cpu-profile 100 --force-perf-uprobes --format-version 1.22
try "without stacks" no_stacks
try "stacks of two frames" two_frames
try "a program with C code" with_c
try "a started program and its children" launched
try "replayed from the raw file" replayed
try "nothing is left after kill -9" nothing_left
for hz in 0 10001 -1 many ''; do
	try "rate '$hz' is rejected" refused 2 'must be 1 to 10000' $GOTRACE record -p 1 "--cpu-profile=$hz"
done
try "doctor reports that CPU samples are available" grep -q '^ok *cpu ' <($GOTRACE doctor)
ktap_end
