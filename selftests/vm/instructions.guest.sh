#!/bin/bash
# Runs in the guest of selftests/vm/instructions.sh, whose clock counts instructions: the CPU time
# of a program, in ns, is the number of its instructions, including those of the kernel on its
# behalf. Prints a line "NAME INSTRUCTIONS ROUNDS JSON" for each way to record it.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
arguments=(-duration "$1" -deeper 16)

untraced()
{
	start_target pingpong "$ORACLE_GO" "${arguments[@]}" && tell_target start && expect_target done 300 || return 1
	target_result >"$tmp/pingpong.done"
	stop_target
}

measured() # NAME COMMAND...
{
	local name=$1
	shift

	"$@" >&2 || { echo "$name failed" >&2; return; }
	echo "$name $(jq -r '"\(.cpu_ns) \(.round_trips)"' "$tmp/pingpong.done") $(jq -c . "$tmp/pingpong.json" 2>/dev/null)"
}

ktap_start >&2
measured untraced untraced
measured no-stacks record_target pingpong "$ORACLE_GO" "--events sched --no-stacks" "${arguments[@]}"
measured bpf record_target pingpong "$ORACLE_GO" "--events sched" "${arguments[@]}"
cp "$RECORDED" "$VM_SHARE/bpf.trace"
if [ -n "$VM_MODULE" ]; then
	insmod "$VM_MODULE"
	measured module record_target pingpong "$ORACLE_GO" "--events sched" "${arguments[@]}"
	cp "$RECORDED" "$VM_SHARE/module.trace"
fi
