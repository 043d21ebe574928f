#!/bin/bash
# Coexistence with other tools that use the same process: the program's own tracer, another
# recorder, a debugger, strace. Each works together with a recording or is rejected with a one-line
# message; the program is never harmed.
# tier: all
# parallel
# timeout: 600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/company
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

debugger=build/selftests/debugger
few="-min-goroutines 300 -min-transitions 2000 -min-reason 0 -reasons="

# --- the program's own tracer

own_tracer() # GO: starts and stops in the middle of the recording; both traces are complete
{
	record_target pingpong "$1" "$EVERY_EVENT" -trace "$tmp/own.trace" -duration 700ms -rate 5000 || return 1
	check_trace "$RECORDED" && build/gotrace check "$tmp/own.trace" &&
		[ "$(stat_of lost "$tmp/pingpong.json")" = 0 ] &&
		[ "$(stat_of dropped "$tmp/pingpong.json")" = 0 ] &&
		build/reference/truth "$RECORDED" "$tmp/pingpong.done"
}

attached_to_a_tracing_one() # GO: its tracer runs before the recording and after it
{
	start_target pingpong "$1" -trace "$tmp/own.trace" -duration 2s -rate 5000 || return 1
	tell_target start
	pause 500
	timeout 60 $GOTRACE record -p "$TARGET_PID" -d "$(stretched 700ms)" -o "$tmp/ours.trace" --stats "$tmp/ours.json" ||
		return 1
	expect_target done && stop_target && check_trace "$tmp/ours.trace" &&
		build/gotrace check "$tmp/own.trace" && [ "$(stat_of repairs "$tmp/ours.json")" = 0 ] || return 1
	[ "$1" = go1.21.13 ] || # its trace has the old format
		build/reference/compare $few -time-p99 "$(stretched 10us)" -min-goroutines 1 -identical 100 -p 100 \
			"$tmp/ours.trace" "$tmp/own.trace"
}

# --- two recorders

record_background() # NAME OPTION...: sets PID_OF_NAME
{
	local name=$1
	shift

	start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/$name.trace" "$@"
	printf -v "pid_$name" %s "$BACKGROUND_PID"
	recorder_is_live
}

end_recorder() # PID
{
	kill -INT "$1" && wait "$1"
}

# The second trace lies within the time of the first one, or the reverse.
same_history() # INNER OUTER
{
	check_trace "$tmp/$1.trace" && check_trace "$tmp/$2.trace" &&
		build/reference/compare $few -time-p99 "$(stretched 10us)" -identical 100 -p 100 "$tmp/$1.trace" "$tmp/$2.trace"
}

last_in_first_out()
{
	record_background one && record_background two && pause 1000 || return 1
	end_recorder "$pid_two" && pause 200 && end_recorder "$pid_one" &&
		text_is_clean "$TARGET_PID" && same_history two one
}

# Only a part is common to both; each trace is cut to it.
first_in_first_out()
{
	record_background one && pause 300 && record_background two && pause 1000 || return 1
	end_recorder "$pid_one" && pause 300 && end_recorder "$pid_two" &&
		text_is_clean "$TARGET_PID" && common_part
}

common_part()
{
	local from to

	check_trace "$tmp/one.trace" && check_trace "$tmp/two.trace" || return 1
	from=$(build/gotrace stat --json "$tmp/two.trace" | jq .start)
	to=$(build/gotrace stat --json "$tmp/one.trace" | jq .end)
	build/gotrace cut --exact "$tmp/one.trace" --from "@$((from + 20000000))" --to "@$((to - 20000000))" \
		-o "$tmp/inner.trace" && same_history inner two
}

killed() # kill -9 of one recorder does not harm the other
{
	record_background one && record_background two && pause 1500 || return 1
	kill -KILL "$pid_two"
	wait "$pid_two" 2>/dev/null
	record_background three && pause 700 && end_recorder "$pid_three" && end_recorder "$pid_one" &&
		wait_until 20 text_is_clean "$TARGET_PID" && same_history three one &&
		build/gotrace check --lenient "$tmp/two.trace.partial"
}

# --- debuggers

address_of() # PROBE: its address in the process, which is no PIE
{
	$GOTRACE probes -p "$TARGET_PID" --json |
		jq -r --arg probe "$1" 'first(.probes[] | select(.probe == $probe)).address'
}

start_debugger() # ARGUMENT
{
	start_background $debugger "$TARGET_PID" "$1"
	debugger_pid=$BACKGROUND_PID
	wait_until 10 grep -q '^ready' "$tmp/background.out"
}

end_debugger()
{
	kill "$debugger_pid" && wait "$debugger_pid"
}

doctor_refuses() # with the same reason
{
	! $GOTRACE doctor -p "$TARGET_PID" --json >"$tmp/doctor.json" &&
		jq -e 'any(.checks[]; .result == "missing" and .what == "code")' "$tmp/doctor.json"
}

# A debugger's breakpoint on an instruction to be probed: the recording is rejected, and the
# breakpoint stays.
breakpoint_before()
{
	local status

	start_debugger "$(address_of procs)" || return 1
	timeout 20 $GOTRACE record -p "$TARGET_PID" -d 300ms -o "$tmp/bp.trace" 2>"$tmp/bp.err"
	status=$?
	cat "$tmp/bp.err"
	[ $status -eq 1 ] && [ "$(wc -l <"$tmp/bp.err")" -eq 1 ] && [ ! -e "$tmp/bp.trace" ] &&
		grep -q "process $debugger_pid (debugger) .* breakpoint in runtime.procresize" "$tmp/bp.err" &&
		! text_is_clean "$TARGET_PID" && doctor_refuses || return 1
	end_debugger && text_is_clean "$TARGET_PID" && is_recorded
}

breakpoint_elsewhere() # does not affect the recording
{
	start_debugger "$(($(address_of procs) + 1))" && is_recorded &&
		end_debugger && text_is_clean "$TARGET_PID"
}

is_recorded()
{
	timeout 60 $GOTRACE record -p "$TARGET_PID" -d "$(stretched 500ms)" -o "$tmp/is.trace" --stats "$tmp/is.json" &&
		check_trace "$tmp/is.trace" && [ "$(stat_of events "$tmp/is.json")" -gt 500 ] &&
		[ "$(stat_of lost "$tmp/is.json")" = 0 ]
}

traced_syscalls() # as with strace -f, from before the recording until after it
{
	start_debugger syscalls && is_recorded && end_debugger && is_recorded
}

tracer_comes_and_goes() # during a recording
{
	record_background one && start_debugger syscalls && pause 400 && end_debugger || return 1
	pause 200
	end_recorder "$pid_one" && check_trace "$tmp/one.trace" && text_is_clean "$TARGET_PID"
}

ktap_start
locked make --no-print-directory $debugger >/dev/null
for go in $TARGET_GOS; do
	try "$go: the program traces itself during the recording" own_tracer "$go"
	try "$go: attached while the program traces itself" attached_to_a_tracing_one "$go"
done
start_target many "$ORACLE_GO" -duration 0 -goroutines 500 -rate 10000
tell_target start
try "two recorders, one nested in the other" last_in_first_out
try "two recorders, the first stops first" first_in_first_out
try "two recorders, one is killed" killed
try "a debugger's breakpoint on a probed instruction" breakpoint_before
note "$(grep "is debugging" "$tmp/try.out")"
try "a debugger's breakpoint elsewhere" breakpoint_elsewhere
try "a system call tracer attached before the recording" traced_syscalls
try "a system call tracer attached during the recording" tracer_comes_and_goes
try "the target is still running" kill -0 "$TARGET_PID"
tell_target stop
expect_target "done" 120
try "the target exits normally" stop_target
ktap_end
