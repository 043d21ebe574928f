#!/bin/bash
# tier: all
# timeout: 300
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/inline
# Hazards for inline probes, each provoked: a frozen process, one with little CPU time, fork without
# exec, exec during the attachment, core dumps, 10,000 threads, seccomp filters that are set later, forged
# areas of an earlier recording, missing privileges, other recorders. The recorder refuses with a
# reason, or its trace is valid; the program survives, and its code is restored.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

soak=build/selftests/inline
go=$ORACLE_GO
clock_source=/sys/devices/system/clocksource/clocksource0/current_clocksource

code_is_clean() { $soak "$TARGET_PID" 0; }

inline_background() # [OPTION...]
{
	start_background "${with[@]}" $GOTRACE record -p "$TARGET_PID" -o "$tmp/inline.trace" --probes=inline --force "$@"
	recorder_is_live
}
with=() # a command that runs it

# The trace is valid and has the exact numbers of the program, which is alive, with its own code.
all_is_well() # [TRACE]
{
	local trace=${1-$tmp/inline.trace}

	target_result >"$tmp/done"
	code_is_clean && check_trace "$trace" && build/reference/truth "$trace" "$tmp/done" && ! target_is_gone
}

refused_inline() # PATTERN [COMMAND THAT RUNS IT...]
{
	local pattern=$1
	shift

	refused 1 "$pattern" "$@" $GOTRACE record -p "$TARGET_PID" -d 100ms -o "$tmp/refused.trace" --probes=inline --force &&
		code_is_clean && ! target_is_gone
}

hazard() # NAME [MILLISECONDS]: starts the target
{
	start_target hazards "$go" -duration "${2-500}ms" "$1"
}

leave_target() # lets it do its work and exit
{
	tell_target start
	expect_target done && stop_target
}

recorded() # NAME [MILLISECONDS]: from before the hazard until after it
{
	hazard "$@" && inline_background || return 1
	tell_target start
	expect_target done && stop_recorder && all_is_well && stop_target
}

# --- what a process may be like

# A thread that cannot be used for system calls waits in one where it is not chosen.
dispatching()
{
	hazard dispatch || return 1
	tell_target start
	sleep 0.3
	$GOTRACE record -p "$TARGET_PID" -d 200ms -o "$tmp/dispatch.trace" --probes=inline && code_is_clean &&
		check_trace "$tmp/dispatch.trace" && expect_target done && stop_target
}

# It is the only one that sleeps in nanosleep(), so that it is the first to be chosen.
dispatching_asleep()
{
	hazard asleep || return 1
	tell_target start
	sleep 0.3
	refused_inline 'uses syscall user dispatch, which inline probes do not support' && expect_target done && stop_target
}

# SOURCE FILE...: sets the array MOUNTED, a command that runs another one with SOURCE in place of these
mounted_over()
{
	local source=$1 commands=true
	shift

	[ $# -gt 0 ] || return 1
	commands+=$(printf " && mount --bind '$source' %s" "$@")
	MOUNTED=(unshare -m bash -c "$commands && exec \"\$@\"" bash)
}

other_clock()
{
	hazard idle && echo hpet >"$tmp/hpet" && mounted_over "$tmp/hpet" $clock_source &&
		refused_inline "inline probes require the clock source 'tsc', but this machine uses 'hpet'" "${MOUNTED[@]}" &&
		leave_target
}

# No CPU of these tests has shadow stacks: the recorder is shown another status of the process.
shadow_stack()
{
	hazard idle || return 1
	{ cat "/proc/$TARGET_PID/status" && printf 'x86_Thread_features:\tshstk wrss \n'; } >"$tmp/status" || return 1
	mounted_over "$tmp/status" "/proc/$TARGET_PID/status" && refused_inline 'has a shadow stack' "${MOUNTED[@]}" &&
		leave_target
}

in_no_proc() # starts the target without /proc
{
	mkdir -p "$tmp/bin" && cat >"$tmp/bin/hazards" <<-END && chmod +x "$tmp/bin/hazards"
		#!/bin/bash
		exec unshare -m sh -c 'mount -t tmpfs none /proc && exec "\$0" "\$@"' "$PWD/build/targets/$go/hazards" "\$@"
	END
	start_target hazards "$PWD/$tmp/bin" -duration 500ms idle
}

no_proc()
{
	in_no_proc && refused_inline 'has no /proc, which inline probes need' && leave_target
}

# --- a frozen cgroup

make_group() # sets GROUP to a new cgroup, which contains the target
{
	GROUP=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/gotrace-hazards.$$
	mkdir "$GROUP" && echo "$TARGET_PID" >"$GROUP/cgroup.procs"
}

freeze() { echo 1 >"$GROUP/cgroup.freeze" && wait_until 10 grep -q 'frozen 1' "$GROUP/cgroup.events"; }
thaw() { echo 0 >"$GROUP/cgroup.freeze" && wait_until 10 grep -q 'frozen 0' "$GROUP/cgroup.events"; }
group_is_removed() { [ ! -e "$GROUP" ] || rmdir "$GROUP"; }

frozen_before()
{
	hazard idle && make_group && freeze || return 1
	refused_inline "the cgroup of process $TARGET_PID is frozen" && thaw && code_is_clean || return 1
	leave_target && wait_until 10 group_is_removed
}

# The target gets little CPU time, because a process that needs all of it shares the limit of its group:
# it remains runnable in the middle of what the guardian makes it do. Sets BUSY_PID.
throttle()
{
	local cpu

	cpu=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ { print $2; exit }' /proc/mounts)
	sh -c 'while :; do :; done' &
	BUSY_PID=$!
	if [ -n "$cpu" ]; then
		CPU_GROUP=$cpu/gotrace-hazards.$$
		mkdir "$CPU_GROUP" && echo 2000 >"$CPU_GROUP/cpu.cfs_quota_us" || return 1
	else
		CPU_GROUP=$GROUP
		echo +cpu >"${GROUP%/*}/cgroup.subtree_control" && echo 2000 >"$GROUP/cpu.max" || return 1
	fi
	echo "$TARGET_PID" >"$CPU_GROUP/cgroup.procs" && echo "$BUSY_PID" >"$CPU_GROUP/cgroup.procs"
}

unthrottle()
{
	kill "$BUSY_PID" && wait_until 10 is_gone "$BUSY_PID" || return 1
	if [ "$CPU_GROUP" = "$GROUP" ]; then
		echo max >"$GROUP/cpu.max"
	else
		echo "$TARGET_PID" >"${CPU_GROUP%/*}/cgroup.procs" && rmdir "$CPU_GROUP"
	fi
}

# The recorder ends; its guardian restores the code when the process is thawed.
frozen_meanwhile() # [BEFORE_THAW AFTER_REMOVAL]: commands
{
	local guardian

	hazard idle && make_group && inline_background || return 1
	tell_target start
	sleep 0.2
	freeze && stop_recorder || return 1
	guardian=$(sed -n 's/.*are still in its code, but off: .*; process \([0-9]*\) removes them.*/\1/p' \
		"$tmp/background.out")
	[ -n "$guardian" ] && [ "$(cat "/proc/$guardian/comm")" = gotrace-guard ] && check_trace "$tmp/inline.trace" &&
		! code_is_clean && ${1-true} && thaw && wait_until 60 is_gone "$guardian" && ${2-true} &&
		code_is_clean || return 1
	expect_target done && stop_target && wait_until 10 group_is_removed
}

# --- fork and exec

# The child runs the same code with the same rings, and writes nothing; it outlives the recording.
forked()
{
	local child

	hazard fork && inline_background || return 1
	tell_target start
	expect_target done && child=$(target_result | jq -e .child) && ! is_gone "$child" && stop_recorder &&
		all_is_well && ! is_gone "$child" && stop_target && is_gone "$child"
}

# Each attachment ends with a valid trace, or with one line that says why not.
executed_again()
{
	local recorded=0 refused=0
	local over=' ended|executed another program|No such (process|file or directory)'
	over+='|not at the expected offsets|cannot read the process' # of a runtime that has not started yet
	over+='|has ended' # a zombie: another thread has called execve()
	over+='|has not mapped its program' # execve() has replaced the old one a moment ago

	hazard exec 3000 || return 1
	tell_target start
	until grep -q ^done "$TARGET_OUT"; do
		kill -0 "$TARGET_PID" || return 1
		if timeout 20 $GOTRACE record -p "$TARGET_PID" -o "$tmp/exec.trace" -d 30ms --probes=inline --force \
				2>"$tmp/err"; then
			recorded=$((recorded + 1))
			build/gotrace check "$tmp/exec.trace" || return 1
		else
			refused=$((refused + 1))
			[ "$(wc -l <"$tmp/err")" -eq 1 ] &&
				grep -qE "$over" "$tmp/err" || {
				cat "$tmp/err"
				return 1
			}
		fi
	done
	echo "$recorded recordings, $refused refused"
	code_is_clean && stop_target
}

# --- core dumps

dumped() # LIMIT SIGNAL: of the core, in KiB; the rings (514 MiB) are not in it
{
	mkdir -p "$tmp/bin" "$tmp/cores" && cat >"$tmp/bin/hazards" <<-END && chmod +x "$tmp/bin/hazards"
		#!/bin/bash
		cd "$PWD/$tmp/cores" && ulimit -c $1 && GOTRACEBACK=crash exec "$PWD/build/targets/$go/hazards" "\$@"
	END
	start_target hazards "$PWD/$tmp/bin" -duration 60s idle && inline_background || return 1
	tell_target start
	sleep 0.3
	kill "-$2" "$TARGET_PID"
	wait "$BACKGROUND_PID" || { cat "$tmp/background.out"; return 1; }
	wait "$TARGET_PID"
	[ $? -eq 134 ] && check_trace "$tmp/inline.trace" || return 1
	du -k --apparent-size "$tmp/cores"
	[ "$(du -k --apparent-size "$tmp/cores" | cut -f1)" -lt 300000 ] || return 1
	rm -rf "$tmp/cores"
}

# --- many threads

threads_possible() # 10,000, or as many as this machine permits
{
	local limit

	for limit in /proc/sys/kernel/pid_max /proc/sys/kernel/threads-max /proc/sys/vm/max_map_count; do
		[ "$(cat $limit)" -ge 25000 ] || { echo 2000; return; }
	done
	echo 10000
}

many_threads()
{
	local n

	n=$(threads_possible)
	start_target parked "$go" -n 10 -threads "$n" -duration 60s || return 1
	[ "$(sed -n 's/^Threads:[[:space:]]*//p' "/proc/$TARGET_PID/status")" -ge "$n" ] || return 1
	tell_target start
	timeout 30 $GOTRACE record -p "$TARGET_PID" -o "$tmp/threads.trace" -d 100ms --probes=inline \
		--stats "$tmp/threads.json" && code_is_clean && check_trace "$tmp/threads.trace" && ! target_is_gone || return 1
	echo "$n threads: attached in $(stat_of attach_ms "$tmp/threads.json") ms"
	kill -KILL "$TARGET_PID"
}

# --- privileges

least=+bpf,+perfmon,+sys_ptrace

no_privilege()
{
	hazard idle && refused_inline 'require CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE' \
		setpriv --inh-caps=-all --bounding-set="-all,$least" && leave_target
}

# Without CAP_SYS_ADMIN the recorder cannot suspend the filter that the program has set meanwhile: the
# jumps stay, until a recorder with more privileges attaches.
no_privilege_later()
{
	local guardian status

	hazard filter || return 1
	with=(setpriv --inh-caps=-all "--bounding-set=-all,$least,+checkpoint_restore")
	inline_background
	status=$?
	with=()
	[ $status -eq 0 ] || return 1
	tell_target start
	expect_target done && stop_recorder || return 1
	guardian=$(sed -n 's/.*cannot suspend the seccomp filter of .*; process \([0-9]*\) removes them.*/\1/p' \
		"$tmp/background.out")
	[ -n "$guardian" ] && check_trace "$tmp/inline.trace" && ! code_is_clean && ! target_is_gone || return 1
	refused 1 'cannot suspend the seccomp filter' \
		setpriv --inh-caps=-all --bounding-set="-all,$least,+checkpoint_restore" \
		$GOTRACE record -p "$TARGET_PID" -d 100ms -o "$tmp/refused.trace" --probes=inline || return 1
	$GOTRACE record -p "$TARGET_PID" -d 100ms -o "$tmp/root.trace" --probes=inline && code_is_clean &&
		check_trace "$tmp/root.trace" && stop_target && wait_until 20 is_gone "$guardian"
}

# --- other recorders

# A recorder with uprobes begins during the recording. The first one may end early, because there are
# uprobes where its inline probes are.
with_uprobes() # "first" or "second": which one ends first [OPTION...]
{
	local first second order=$1
	shift

	hazard idle && inline_background || return 1
	first=$BACKGROUND_PID
	rm -f "$tmp/uprobes.trace"
	: >"$tmp/second.out" # here, not in the child, so that no old line is found
	$GOTRACE record -p "$TARGET_PID" -o "$tmp/uprobes.trace" "$@" >"$tmp/second.out" 2>&1 </dev/null &
	second=$!
	background+=("$second")
	wait_until 20 grep -q ': recording' "$tmp/second.out" || { cat "$tmp/second.out"; return 1; }
	tell_target start
	expect_target done || return 1
	if [ "$order" = second ]; then
		kill -INT $second && wait $second || return 1
	fi
	kill -INT $first 2>/dev/null
	wait $first || { cat "$tmp/background.out"; return 1; }
	if [ "$order" = first ]; then
		kill -INT $second && wait $second || return 1
	fi
	check_trace "$tmp/inline.trace" && all_is_well "$tmp/uprobes.trace" && stop_target
}

# The first recording is not disturbed.
with_inline()
{
	hazard idle 1000 && inline_background || return 1
	tell_target start
	sleep 0.2
	refused 1 "another gotrace-bpf has inline probes in process $TARGET_PID" \
		$GOTRACE record -p "$TARGET_PID" -d 100ms -o "$tmp/second.trace" --probes=inline &&
		kill -0 "$BACKGROUND_PID" && expect_target done && stop_recorder && all_is_well && stop_target
}

ktap_start
try "a thread has syscall user dispatch" dispatching
try "refused: the first thread to be chosen has syscall user dispatch" dispatching_asleep
try "refused: another clock source than the TSC" other_clock
try "refused: a shadow stack" shadow_stack
try "refused: a process without /proc" no_proc
try "refused: a frozen process" frozen_before
try "a process that is frozen during the recording" frozen_meanwhile
try "the same, and it gets little CPU time afterwards" frozen_meanwhile throttle unthrottle
try "a forked child does not record" forked
try "attachments to a program that executes itself" executed_again && note "$(tail -n 1 "$tmp/try.out")"
try "a core dump" dumped unlimited SEGV && note "$(tail -n 1 "$tmp/try.out")"
try "a crash without core dump" dumped 0 QUIT
try "a program with very many threads" many_threads && note "$(tail -n 1 "$tmp/try.out")"
try "a seccomp filter that kills, set during the recording" recorded filter
try "what the program claims that an earlier recording has left" recorded leftover
try "refused: privileges are missing" no_privilege
try "a filter set during the recording, and privileges are missing" no_privilege_later
try "a recorder with uprobes begins later and ends earlier" with_uprobes second
try "a recorder with uprobes begins later and ends later" with_uprobes first --force
try "refused: another recorder with inline probes" with_inline
ktap_end
