#!/bin/bash
# parallel
# timeout: 900
# long: 900
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/inline selftests/company selftests/rawfile.py selftests/recorder_calls.py
# Inline probes: the trace is the program's own, its code is restored to the byte after each of many
# attachments and after kill -9 of the recorder and of its guardian at any time, and each reason to
# refuse is provoked. check-long has more attachments and kills.
. "$(dirname "$0")/../lib.sh"
. selftests/fidelity.lib.sh

soak=build/selftests/inline
debugger=build/selftests/debugger

code_is_clean() { $soak "$TARGET_PID" 0; }

inline_background() # [OPTION...]
{
	start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/inline.trace" --probes=inline "$@"
}

same_run() # GO
{
	record_target selftrace "$1" "$EVERY_EVENT --probes=inline" -trace "$tmp/own.trace" -duration "$DURATION" &&
		[ "$(stat_of lost "$tmp/selftrace.json")" = 0 ] &&
		build/reference/compare -min-reason 12 -time-p99 "$(stretched 20us)" $(tolerance) \
			"$tmp/own.trace" "$RECORDED"
}

known_counts() # GO PROGRAM
{
	record_target "$2" "$1" "$EVERY_EVENT --probes=inline" &&
		build/reference/truth "$RECORDED" "$tmp/$2.done"
}

# Records are those of the raw input, and lost ones the missing numbers of their rings, which are too small while the
# recorder is stopped. The rings are the memory that the program shares; strace shows how long its thread was held.
statistics()
{
	local recorder rings

	start_target lossy "$1" -load "$(stretched 1s)" -quiet 1s || return 1
	start_background strace -f -T --absolute-timestamps=format:unix,precision:ns -e trace=ptrace -o "$tmp/calls" \
		$GOTRACE record -p "$TARGET_PID" -o "$tmp/inline.trace" --stats "$tmp/inline.json" --save-input "$tmp/inline.raw" --probes=inline
	recorder_is_live && recorder=$(pgrep -P "$BACKGROUND_PID") && tell_target start || return 1
	rings=$(awk '$2 == "rw-s" && $6 == "/dev/zero" { split($1, range, "-"); print "0x" range[1], "0x" range[2] }' "/proc/$TARGET_PID/maps")
	kill -STOP "$recorder" && pause 1000 && kill -CONT "$recorder" && expect_target done 120 && kill -INT "$recorder" || return 1
	wait "$BACKGROUND_PID" && stop_target && build/gotrace check "$tmp/inline.trace" || return 1
	echo "rings at $rings"
	jq -e --argjson bytes $((${rings#* } - ${rings% *})) '.inline_ring_bytes == $bytes and .inline_records > 1000' "$tmp/inline.json" &&
		python3 -B selftests/rawfile.py stats "$tmp/inline.raw" "$tmp/inline.json" &&
		python3 -B selftests/recorder_calls.py held "$tmp/calls" "$tmp/inline.json"
}

# Under garbage collections, preemption, and goroutines and threads that come and go.
many_cycles() # GO CYCLES
{
	start_target selftrace "$1" -trace "$tmp/own.trace" -duration "$(($2 / 50))s" || return 1
	tell_target start
	$soak "$TARGET_PID" "$2" 1 || return 1
	expect_target done 120 && stop_target && build/gotrace check "$tmp/own.trace"
}

# --- kill -9

guardian_of() { pgrep -P "$1" gotrace-guard; }

recorder_killed_after() # SECONDS
{
	inline_background
	sleep "$1"
	kill -KILL "$BACKGROUND_PID"
	wait "$BACKGROUND_PID" 2>/dev/null
	wait_until 20 no_guardian && code_is_clean && ! target_is_gone
}

# Other scripts may have guardians of their own programs; each holds a pidfd of its program.
no_guardian()
{
	local pid

	for pid in $(pgrep gotrace-guard); do
		! grep -qsx "Pid:[[:space:]]*$TARGET_PID" "/proc/$pid/fdinfo/"* || return 1
	done
}

guardian_killed()
{
	local first second

	inline_background
	recorder_is_live || return 1
	first=$(guardian_of "$BACKGROUND_PID")
	kill -KILL "$first"
	sleep 0.3
	second=$(guardian_of "$BACKGROUND_PID")
	[ -n "$second" ] && [ "$second" != "$first" ] || { echo "guardians: $first, $second"; return 1; }
	stop_recorder && code_is_clean && check_trace "$tmp/inline.trace"
}

# Without the process that traces, the guardian can do nothing: the recorder starts both again.
tracer_killed()
{
	local first second

	inline_background
	recorder_is_live || return 1
	first=$(guardian_of "$BACKGROUND_PID")
	kill -KILL "$(pgrep -P "$first" gotrace-tracer)" || return 1
	sleep 0.3
	second=$(guardian_of "$BACKGROUND_PID")
	[ -n "$second" ] && [ "$second" != "$first" ] || { echo "guardians: $first, $second"; return 1; }
	stop_recorder && code_is_clean && check_trace "$tmp/inline.trace"
}

# The program runs on with the jumps in its code; the next recording finds them.
both_killed()
{
	inline_background
	recorder_is_live || return 1
	kill -STOP "$BACKGROUND_PID"
	kill -KILL "$(guardian_of "$BACKGROUND_PID")" "$BACKGROUND_PID"
	wait "$BACKGROUND_PID" 2>/dev/null
	sleep 0.2
	! code_is_clean 2>/dev/null && ! target_is_gone || return 1
	inline_background
	recorder_is_live || return 1
	stop_recorder && code_is_clean && check_trace "$tmp/inline.trace"
}

# At 90 random points of an attachment, recording and removal
killed_anywhere()
{
	start_target stress "$1" -duration 600s || return 1
	tell_target start
	$soak "$TARGET_PID" kill $kills || { cat "$tmp/target.err"; return 1; }
	kill -TERM "$TARGET_PID"
	expect_target done 60 && stop_target
}

# --- reasons to refuse

refused_inline() # PATTERN
{
	refused 1 "$1" $GOTRACE record -p "$TARGET_PID" -d 100ms -o "$tmp/refused.trace" --probes=inline &&
		! grep -q ' r-xp 00000000 00:00 0 $' "/proc/$TARGET_PID/maps" || return 1
}

with_target() # GO PATTERN [COMMAND BEFORE IT...]
{
	start_target pingpong "$1" -duration 60s -rate 1000 || return 1
	tell_target start
	refused_inline "$2" && ! target_is_gone
}

# PROGRAM...: a process that has called prctl() as python's CODE does, and then executes the program
in_python() # CODE GO
{
	cat >"$tmp/first.py" <<-END
		import ctypes, os, sys
		libc = ctypes.CDLL(None, use_errno=True)
		$1
		os.execv(sys.argv[1], sys.argv[1:])
	END
	python3 "$tmp/first.py" "$PWD/build/targets/$2/pingpong" -duration 60s -rate 1000 \
		<"$tmp/python.in" >"$tmp/python.out" 2>&1 &
	TARGET_PID=$!
	background+=("$TARGET_PID")
}

python_target() # CODE GO
{
	rm -f "$tmp/python.in" && mkfifo "$tmp/python.in" || return 1
	: >"$tmp/python.out" # here, not in the child, so that no old line is found
	in_python "$1" "$2"
	exec 9>"$tmp/python.in"
	wait_until 20 grep -q ready "$tmp/python.out" && echo start >&9
}

no_new_code() # PR_SET_MDWE
{
	python_target 'assert libc.prctl(65, 1, 0, 0, 0) == 0' "$1" || return 1
	refused_inline 'forbids itself new executable memory'
}

# A filter that denies prctl(), which we call: it must be suspended, and the call succeed.
with_a_filter()
{
	python_target 'import struct
filter = struct.pack("HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, 157, 6, 0, 0, 0x80000000, 6, 0, 0, 0x7fff0000)
program = struct.pack("HxxxxxxQ", 4, ctypes.cast(ctypes.create_string_buffer(filter), ctypes.c_void_p).value)
keep = ctypes.create_string_buffer(filter)
program = struct.pack("HxxxxxxQ", 4, ctypes.addressof(keep))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.syscall(317, 1, 0, program) == 0' "$1" || return 1
	$GOTRACE record -p "$TARGET_PID" -d 300ms -o "$tmp/filter.trace" --probes=inline && code_is_clean &&
		check_trace "$tmp/filter.trace" && ! target_is_gone
}

stopped()
{
	start_target pingpong "$1" -duration 60s -rate 1000 || return 1
	kill -STOP "$TARGET_PID"
	sleep 0.1
	refused_inline 'stopped' || return 1
	kill -CONT "$TARGET_PID"
}

another_recorder() # its uprobes are in the pages
{
	start_target pingpong "$1" -duration 60s -rate 1000 || return 1
	tell_target start
	start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/uprobes.trace"
	recorder_is_live || return 1
	refused_inline 'differs from its file' || return 1
	stop_recorder && check_trace "$tmp/uprobes.trace"
}

traced()
{
	start_target pingpong "$1" -duration 60s -rate 1000 || return 1
	tell_target start
	timeout 20 strace -f -qq -e trace=none -p "$TARGET_PID" 2>/dev/null &
	background+=($!)
	wait_until 10 grep -q 'TracerPid:[[:space:]]*[1-9]' "/proc/$TARGET_PID/status" &&
		refused_inline 'is traced by process' || return 1
	pkill -P $! 2>/dev/null # strace; its parent then ends
	! target_is_gone
}

# A uprobe on an instruction that has an inline probe, during the recording: when it is removed, the
# kernel restores a byte of the original instruction.
foreign_uprobe()
{
	local program=$PWD/build/targets/$1/pingpong tracing=/sys/kernel/tracing offset status

	[ -e $tracing/uprobe_events ] || mount -t tracefs nodev $tracing || return 1
	offset=$($GOTRACE probes --json --exe "$program" |
		jq -e '[.probes[] | select(.probe == "execute") | .file_offset][0] - 6') || return 1
	start_target pingpong "$1" -duration 60s -rate 1000 || return 1
	tell_target start
	inline_background -d 20s
	recorder_is_live || return 1
	echo '-:gotrace/foreign' 2>/dev/null >>$tracing/uprobe_events # of a run that was killed
	printf 'p:gotrace/foreign %s:%#x\n' "$program" "$offset" >>$tracing/uprobe_events || return 1
	echo 1 >$tracing/events/gotrace/foreign/enable
	wait "$BACKGROUND_PID"
	status=$?
	echo 0 >$tracing/events/gotrace/foreign/enable
	echo '-:gotrace/foreign' >>$tracing/uprobe_events
	[ $status -eq 0 ] && grep -q 'another tracer or a debugger has changed the code' "$tmp/background.out" || return 1
	code_is_clean && check_trace "$tmp/inline.trace" && ! target_is_gone
}

usage() # PATTERN OPTION...
{
	local pattern=$1
	shift
	refused 2 "$pattern" $GOTRACE record "$@"
}

cycles=$(by_tier 50 200 1000) kills=$(by_tier 10 30 90)
ktap_start
in_all build_programs 1.22.12 plain selftrace truth pingpong && go22=${PROGRAMS-}
for go in "$ORACLE_GO" $(in_all echo go1.24.9 "$go22") $(newest_go_of selftrace truth); do
	try "${go##*/}: the trace matches runtime/trace of the same run" long_enough "$(by_tier '1500ms 10s' '4s 20s' '4s 20s')" same_run "$go"
	try "${go##*/}: known counts" known_counts "$go" truth
done
try "the statistics are those of other sources" statistics "$ORACLE_GO"
note "$(tail -n 2 "$tmp/try.out")"
try "known counts: threads of C" known_counts "$ORACLE_GO" cgo
try "known counts: children in its memory" record_spawn "$ORACLE_GO" "$EVERY_EVENT --probes=inline"
try "$cycles attachments" many_cycles "$ORACLE_GO" $cycles && note "$(cat "$tmp/try.out")"
start_target pingpong "$ORACLE_GO" -duration 20s -procs 2 -rate 20000
tell_target start
for after in 0.1 0.5; do
	try "kill -9 of the recorder after $after s" recorder_killed_after $after
done
try "kill -9 of the guardian" guardian_killed
try "kill -9 of the process that traces" tracer_killed
try "kill -9 of both" both_killed
expect_target done 120
try "the target exits normally" stop_target
try "kill -9 of the recorder, the guardian, or both, $kills times" killed_anywhere "$ORACLE_GO" && note "$(cat "$tmp/try.out")"
try "refused: a Go release before 1.22" with_target go1.21.13 'inline probes are for Go 1.22 to 1.27'
try "refused: PR_SET_MDWE" no_new_code "$ORACLE_GO"
try "refused: a stopped process" stopped "$ORACLE_GO"
try "refused: uprobes of another recorder" another_recorder "$ORACLE_GO"
try "a uprobe on the same instruction ends the recording" foreign_uprobe "$ORACLE_GO"
try "refused: another tracer" traced "$ORACLE_GO"
try "refused: a command" usage 'requires a running process' --probes=inline -- true
try "refused: --follow" usage 'cannot be combined with --follow' --probes=inline --follow -p 1
try "refused: --blackbox" usage 'cannot be combined with --blackbox' --probes=inline --blackbox=x -p 1
try "refused: an unknown kind of probes" usage 'expected uprobe or inline' --probes=x -p 1
try "a seccomp filter is suspended" with_a_filter "$ORACLE_GO"
ktap_end
