#!/bin/bash
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
# Tests that each option of record does what the manual describes, and that every form of output is
# a trace that Go's reader accepts: format versions, ticks, stdout, perf uprobes, no stacks, event
# sets, a started program, a replay.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# OPTIONS: records the running target briefly
recorded()
{
	rm -f "$tmp/o.trace"
	timeout 60 $GOTRACE record -p "$TARGET_PID" -d 300ms -o "$tmp/o.trace" --stats "$tmp/o.json" "$@" &&
		build/gotrace check "$tmp/o.trace" && build/reference/validate -strict "$tmp/o.trace" &&
		[ "$(stat_of lost "$tmp/o.json")" = 0 ] && [ "$(stat_of events "$tmp/o.json")" -gt 1000 ]
}

format() # VERSION: the header has this version
{
	recorded --format-version "$1" && head -c 13 "$tmp/o.trace" | grep -q "go $1 trace"
}

smaller_tick() # than one of the same records, since two recordings have different events
{
	recorded --tick 64ns --save-input "$tmp/o.raw" &&
		$GOTRACE replay "$tmp/o.raw" --tick 1ns -o "$tmp/full.trace" && check_trace "$tmp/full.trace" &&
		[ "$(build/gotrace stat --json "$tmp/full.trace" | jq .events)" = "$(build/gotrace stat --json "$tmp/o.trace" | jq .events)" ] &&
		[ "$(stat -c %s "$tmp/o.trace")" -lt "$(stat -c %s "$tmp/full.trace")" ]
}

to_stdout()
{
	timeout 60 $GOTRACE record -p "$TARGET_PID" -d 200ms -o - >"$tmp/stdout.trace" &&
		build/gotrace check "$tmp/stdout.trace" && build/reference/validate "$tmp/stdout.trace"
}

deepest_stack() # in frames, according to Go's reader
{
	build/reference/validate "$tmp/o.trace" | sed -n 's/.*, deepest stack //p'
}

perf_uprobes()
{
	recorded && jq -e .uprobe_multi "$tmp/o.json" &&
		recorded --force-perf-uprobes && jq -e '.uprobe_multi == false' "$tmp/o.json"
}

# What remains are the stacks of one frame by which Go's tools name goroutines.
without_stacks()
{
	recorded --no-stacks && [ "$(jq '.records_by_kind.stack // 0' "$tmp/o.json")" = 0 ] &&
		[ "$(deepest_stack)" -le 1 ]
}

# The target has deeper stacks, and none of pingpong's outermost functions is inlined.
shallow_stacks()
{
	recorded && [ "$(deepest_stack)" -gt 1 ] &&
		recorded --stack-depth 1 && [ "$(deepest_stack)" -eq 1 ]
}

kinds() # CONDITION: on the records of the last recording by kind
{
	jq -e ".records_by_kind | $1" "$tmp/o.json"
}

only_sched()
{
	recorded && kinds '.syscall_enter + .go_sys_enter > 0 and .gc_begin > 0 and .execute > 0' &&
		kinds '.heap_alloc > 0 and .heap_goal > 0' &&
		kinds '.cpu_on > 0 and .cpu_off > 0 and .sys_enter > 0 and .thread > 0' &&
		kinds 'keys | any(startswith("sweep_") or startswith("fault_")) | not' &&
		recorded --events sched && kinds '.execute > 0' &&
		kinds 'keys | any(test("^(syscall|gc|heap|cpu|sys|go_sys|thread)_?")) | not'
}

sweeping()
{
	recorded --events sched,sweep &&
		kinds '.sweep_begin > 0 and .sweep_span > 0 and .sweep_left > 0 and .sweep_end > 0' &&
		kinds 'keys | any(startswith("heap_")) | not'
}

has_kernel_events() # check/kernel.sh tests the rest
{
	local threads

	threads=$(find "/proc/$TARGET_PID/task" -mindepth 1 -maxdepth 1 | wc -l)
	recorded --events kernel && kinds ".thread >= $threads and .cpu_on > 0 and .cpu_off > 0" &&
		kinds '.sys_enter > 0 and .sys_exit > 0 and .waking > 0' &&
		kinds 'keys | any(startswith("fault_") or startswith("gc_")) | not' &&
		recorded --events fault && kinds '.fault_begin > 0 and .fault_end > 0' &&
		kinds 'keys | any(startswith("cpu_") or . == "thread") | not'
}

# A kernel built without BTF: the default events omit the set kernel, with a message.
without_btf()
{
	local hidden="mount -t tmpfs none /sys/kernel/btf && exec"

	unshare --mount sh -c "$hidden $GOTRACE record -p $TARGET_PID -d 200ms -o $tmp/o.trace" 2>"$tmp/err" &&
		cat "$tmp/err" && grep -q 'without event set kernel: .*CONFIG_DEBUG_INFO_BTF' "$tmp/err" &&
		check_trace "$tmp/o.trace" || return 1
	unshare --mount sh -c "$hidden $GOTRACE record -p $TARGET_PID -d 200ms --events kernel \
		-o $tmp/none.trace" 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q 'CONFIG_DEBUG_INFO_BTF' "$tmp/err" && [ ! -e "$tmp/none.trace" ] || return 1
	unshare --mount sh -c "$hidden $GOTRACE doctor" >"$tmp/doctor"
	cat "$tmp/doctor" && grep -q '^note  *kernel  *.*CONFIG_DEBUG_INFO_BTF' <(tr -s '\n ' ' ' <"$tmp/doctor" |
		sed 's/ note /\nnote /g; s/ ok /\nok /g')
}

sched_and_gc()
{
	recorded --events sched,gc && kinds '.gc_begin > 0 and .execute > 0' &&
		kinds 'keys | any(startswith("syscall_")) | not'
}

probes_of_a_process()
{
	$GOTRACE probes -p "$TARGET_PID" >"$tmp/probes" && grep -q '^runtime\.park_m+0x' "$tmp/probes"
}

doctor_of_a_process()
{
	$GOTRACE doctor -p "$TARGET_PID" >"$tmp/doctor" && grep -q 'verified in its memory' "$tmp/doctor"
}

# A replay of the records produces the same file, byte for byte.
replayed() # OPTION VERB
{
	recorded "$1" "$tmp/o.raw" && $GOTRACE "$2" "$tmp/o.raw" -o "$tmp/again.trace" &&
		cmp "$tmp/o.trace" "$tmp/again.trace"
}

# --raw and sequence, the former names, are accepted but not listed in --help.
former_names()
{
	replayed --raw sequence && $GOTRACE sequence --help | cmp - <($GOTRACE replay --help) &&
		$GOTRACE record --help | grep -q -- --save-input && $GOTRACE --help | grep -q '^  replay ' &&
		! { $GOTRACE record --help; $GOTRACE --help; } | grep -e '--raw' -e sequence
}

# Recorded from the start: the goroutine of main.main is created in the trace, and nothing is lost.
started() # ARGUMENTS
{
	rm -f "$tmp/o.trace"
	timeout 60 $GOTRACE record -o "$tmp/o.trace" --stats "$tmp/o.json" "$@" \
		-- build/targets/"$ORACLE_GO"/tiny -duration 300ms &&
		check_trace "$tmp/o.trace" && [ "$(stat_of repairs "$tmp/o.json")" = 0 ] &&
		build/reference/summary "$tmp/o.trace" | grep -q main.main
}

started_and_gone() # exits before the first snapshot
{
	timeout 60 $GOTRACE record -o "$tmp/o.trace" -- build/targets/"$ORACLE_GO"/tiny -duration 1ms &&
		check_trace "$tmp/o.trace"
}

no_program()
{
	timeout 60 $GOTRACE record -o "$tmp/none.trace" -- no-such-program-here
	[ $? -eq 127 ] && [ ! -e "$tmp/none.trace" ]
}

by_default_name()
{
	(cd "$tmp" && rm -f gotrace-*.trace &&
		timeout 60 "$OLDPWD/$GOTRACE" -p "$TARGET_PID" -d 200ms && ls gotrace-"$TARGET_PID".trace)
}

two_recorders()
{
	start_background $GOTRACE record -p "$TARGET_PID" -d 1s -o "$tmp/first.trace"
	recorder_is_live && recorded && wait "$BACKGROUND_PID" && check_trace "$tmp/first.trace"
}

by_sigterm()
{
	start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/term.trace"
	recorder_is_live && sleep 0.3 && kill -TERM "$BACKGROUND_PID" && wait "$BACKGROUND_PID" &&
		check_trace "$tmp/term.trace"
}

# Also for a process of another user: no more than the three capabilities that README.md lists.
three_capabilities()
{
	local caps=-all,+bpf,+perfmon,+sys_ptrace

	install -d -m 777 "$tmp/nobody" && install -m 755 $GOTRACE "$tmp/nobody/gotrace-bpf" || return 1
	(cd "$tmp/nobody" && timeout 60 setpriv --reuid=65534 --regid=65534 --clear-groups \
		--inh-caps=$caps --ambient-caps=$caps \
		./gotrace-bpf record -p "$TARGET_PID" -d 200ms -o caps.trace) &&
		build/gotrace check "$tmp/nobody/caps.trace" && build/reference/validate "$tmp/nobody/caps.trace"
}

ktap_start
start_target pingpong "$ORACLE_GO" -duration 60s -rate 5000 -procs 2 || exit 1
tell_target start
for version in 1.22 $(in_all echo 1.23 1.25) 1.26; do
	try "format $version" format $version
done
try "a tick of 64 ns makes a smaller file" smaller_tick
try "to stdout" to_stdout
try "a default file name, and -p without a verb" by_default_name
try "perf uprobes" perf_uprobes
try "no stacks" without_stacks
try "stacks of one frame" shallow_stacks
try "a replay produces the same file" replayed --save-input replay
try "the former names of the option and the verb" former_names
try "two recorders at once" two_recorders
try "SIGTERM ends a recording normally" by_sigterm
try "probes of a process" probes_of_a_process
try "three capabilities are enough" three_capabilities
try "doctor of a process" doctor_of_a_process
kill "$TARGET_PID"
start_target selftrace "$ORACLE_GO" -duration 60s $FEW_SYSCALLS || exit 1 # it makes system calls and collects garbage
tell_target start && sleep 0.3
try "goroutines and Ps only" only_sched
try "no system calls" sched_and_gc
try "sweeping only on request" sweeping
try "kernel events and page faults" has_kernel_events
try "a kernel without BTF" without_btf
kill "$TARGET_PID"
try "a started program" started
try "a started program, old format" started --format-version 1.22
try "a started program that exits immediately" started_and_gone
try "no such program" no_program
ktap_end
