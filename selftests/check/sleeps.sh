#!/bin/bash
# Tests why a thread sleeps that is in no system call, or is stopped, which the kernel's task shows when it leaves its CPU:
# page faults of a slow file, by the events of page faults; stops by a debugger and by a signal. `gotrace latency` and
# `path` name them, and "unknown" is no reason. check/kernel has the freezer of cgroups.
# tier: check
# timeout: 200
# depends on: Makefile bpf include userspace selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

# TRACE: why its threads slept or were stopped, each with a number
sleeps()
{
	$READER events --kernel --json "$1" | jq -c -n 'reduce (inputs | select(.event == "off_cpu" and .sleep)) as $e ({}; .["\($e.why): \($e.sleep)"] += 1)'
}

# TRACE: no reason of `latency` is "unknown"
named()
{
	$READER latency --all --json "$1" | jq -c '[.functions[].by_reason | .kernel_blocked[], .syscall_blocked[]] | group_by(.name) |
		map({name: .[0].name, ns: map(.ns) | add})' >"$tmp/reasons" && cat "$tmp/reasons" &&
		jq -e 'length > 0 and all(.name != "unknown")' "$tmp/reasons"
}

# A sleep outside of system calls is in a page fault of the program if it waits for a page, and is called one whenever it
# is in one.
faults()
{
	record_target latency "$ORACLE_GO" "--events sched,syscall,kernel,fault" -case fault -duration 1s || return 1
	[ "$(stat_of lost "$tmp/latency.json")" = 0 ] && sleeps "$RECORDED" && named "$RECORDED" || return 1
	$READER events --kernel --json "$RECORDED" | jq -c -n 'reduce (inputs | select(.kind == "Kernel" and .m)) as $e ({thread: {}, right: 0, wrong: []};
		"\($e.m)" as $m | if $e.event == "fault_begin" then .thread[$m].fault = true elif $e.event == "fault_end" then .thread[$m].fault = false
		elif $e.event == "sys_enter" then .thread[$m].call = true elif $e.event == "sys_exit" then .thread[$m].call = false
		elif $e.event == "off_cpu" and ($e.why | IN("sleeping", "disk")) and (.thread[$m].call | not) and .thread[$m].fault != null then
			if (.thread[$m].fault and ($e.sleep | IN("page fault", "page fault or signal (see --events fault)"))) or (.thread[$m].fault | not) and $e.sleep != "page fault" then
				.right += 1 else .wrong += [$e] end
		else . end) | {right, wrong: .wrong[:3]}' | tee "$tmp/faults" && jq -e '.right >= 20 and .wrong == []' "$tmp/faults"
}

# Without the events of page faults: what the target's thread has slept by its own clocks, within 3 %
faults_unseen()
{
	record_target latency "$ORACLE_GO" "--events sched,syscall,kernel" -case fault -duration 1s && named "$RECORDED" || return 1
	sed 's/"page fault"/""/' "$tmp/latency.done" >"$tmp/done"
	build/reference/latency build/gotrace "$tmp/done" "$RECORDED" | grep -F kernel_blocked >"$tmp/table" # check/latency has the other parts
	cat "$tmp/table"
	[ "$(grep -c '^ok ' "$tmp/table")" -eq 2 ] &&
		$READER latency --json "$RECORDED" | jq -c '[.functions[] | select(.name == "main.toucher").by_reason.kernel_blocked[].name]' | tee "$tmp/names" &&
		jq -e 'length > 0 and all(startswith("page fault"))' "$tmp/names" && sleeps "$RECORDED" &&
		$READER path --function main.toucher --worst 1 --json "$RECORDED" >"$tmp/path" &&
		jq -e '[.paths[].segments[] | select(.kind == "kernel-blocked")] | length > 0 and all(.reason | startswith("page fault"))' "$tmp/path"
}

debugged()
{
	local before

	start_target spin "$ORACLE_GO" -duration 2500ms &&
		start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/debugged.trace" --events sched,syscall,kernel && recorder_is_live && tell_target start || return 1
	sleep 0.3
	kill -STOP "$TARGET_PID" && sleep 0.3 && kill -CONT "$TARGET_PID"
	before=$(awk '{ print $1 }' /proc/uptime)
	sleep 0.1
	timeout 1 strace -f -qq -p "$TARGET_PID" 2>/dev/null >"$tmp/calls"
	expect_target "done" 60 && stop_recorder && stop_target && sleeps "$tmp/debugged.trace" >"$tmp/sleeps" && cat "$tmp/sleeps" && named "$tmp/debugged.trace" || return 1
	jq -e 'any(.name == "stopped" and .ns >= 250000000) and any(.name == "stopped by a debugger" and .ns > 0)' "$tmp/reasons" &&
		jq -e '.["stopped: stopped by a debugger"] >= 20' "$tmp/sleeps" &&
		$READER events --kernel --json "$tmp/debugged.trace" | jq -n -e --argjson before "$before" '
			[inputs | select(.why == "stopped")] | any(.sleep == null) and all(.[]; .sleep == if .time < $before * 1e9 then null else "stopped by a debugger" end)'
}

ktap_start
try "page faults, with their events" faults
note "$(cat "$tmp/try.out")"
try "page faults, without their events" faults_unseen
note "$(cat "$tmp/try.out")"
try "a signal, and a debugger" debugged
note "$(cat "$tmp/try.out")"
ktap_end
