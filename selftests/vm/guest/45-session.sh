#!/bin/bash
# timeout: 240
# module: loaded
# Records all event sets of a kernel flight recorder into a session of the module: known-count
# targets are recorded, the recorder is killed, and the recovered trace is complete.
. "$(dirname "$0")/../../lib.sh"
. selftests/record.lib.sh
SETS=sched,syscall,gc,heap,user,kernel,sweep,fault

counted() # NAME
{
	local recovered=$tmp/$1.trace

	start_target "$1" "$ORACLE_GO" &&
		start_background $GOTRACE record -p "$TARGET_PID" --blackbox "$1" --events $SETS && recorder_is_live &&
		tell_target start && expect_target done 120 || { cat "$tmp/background.out"; return 1; }
	target_result >"$tmp/$1.done"
	kill -KILL "$BACKGROUND_PID"
	wait "$BACKGROUND_PID"
	stop_target && $GOTRACE recover "$1" -o "$recovered" && cp "$recovered" "$VM_SHARE/session-$1.trace" &&
		build/gotrace check "$recovered" && build/gotrace stat "$recovered" | grep '^lost *nothing' &&
		build/reference/truth "$recovered" "$tmp/$1.done"
}

# Each kind of kernel event is present, and each time on a CPU that begins also ends.
has_kernel_events()
{
	build/gotrace stat --json "$tmp/truth.trace" >"$tmp/stat" &&
		jq -e '.kernel' "$tmp/stat" &&
		build/gotrace stat "$tmp/truth.trace" | awk '$1 ~ /^(on_cpu|off_cpu|waking|sys_enter|sys_exit|fault_begin)$/ {
			count[$1] = $2 }
			END { exit !(length(count) == 6 && count["on_cpu"] - count["off_cpu"] <= 8 &&
				count["off_cpu"] - count["on_cpu"] <= 8) }'
}

ktap_start
try "every count of a target is exact" counted truth
try "it has threads, CPUs, system calls and page faults" has_kernel_events
try "it has annotations with all their texts" counted annotate
ktap_end
