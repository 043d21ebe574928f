#!/bin/bash
# tier: all
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
# Tests the kernel events of a trace: context switches and wake-ups equal those of perf in the same
# run, system calls and threads those that the target counts; readers accept the trace, even after
# losses; and no BPF program or link of the recorder stays when it is killed.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/losses.lib.sh
. selftests/kernel.lib.sh

# GO: the numbers of system calls by thread, their results, and the threads
known_calls()
{
	record_target calls "$1" "--events $kernel_events" && check_trace "$RECORDED" &&
		[ "$(stat_of lost "$tmp/calls.json")" = 0 ] &&
		build/gotrace events --kernel --json "$RECORDED" >"$tmp/items" && counted_by_stat &&
		build/reference/kernel calls "$tmp/items" "$tmp/calls.done" "$RECORDED"
}

# The numbers of `gotrace stat`, counted in the events: threads, and kernel events by kind
counted_by_stat()
{
	sed -n 's/.*"m":\([0-9a-z]*\),.*"event":"\([a-z_]*\)","kind":"Kernel".*/\1 \2/p' "$tmp/items" |
		awk '{ n[$2]++; threads += $2 != "occupant" && !seen[$1]++ } END { print "threads", threads; print "items", NR; for (kind in n) print kind, n[kind] }' |
		sort >"$tmp/counted"
	build/gotrace stat --json "$RECORDED" | jq -r '.kernel | "threads \(.threads)", "items \(.items)",
		(.kinds | to_entries[] | "\(.key) \(.value)")' | sort | diff - "$tmp/counted"
}

every_event=sched,syscall,gc,heap,user,kernel,sweep,cpu,fault

no_tool_refuses() # the trace that was recorded
{
	printf '%s\0' "$RECORDED" | refused_by_tools >"$tmp/refused" && [ ! -s "$tmp/refused" ]
}

# GO FORMAT: accepted by Go's own tools, including the oldest that supports the format
tools_accept()
{
	record_target latency "$1" "--events $every_event --format-version $2" -case gc -duration 500ms &&
		check_trace "$RECORDED" && no_tool_refuses && build/gotrace events --kernel "$RECORDED" | grep -q ' off_cpu '
}

# Rings that are too small: losses are reported, and the rest is accepted and adds up.
losses()
{
	record_target latency "$ORACLE_GO" "--events $kernel_events --ring-size 16K" -case raw -duration 1s &&
		check_trace "$RECORDED" && no_tool_refuses && build/reference/validate -strict "$RECORDED" &&
		[ "$(stat_of lost "$tmp/latency.json")" -gt 0 ] &&
		build/gotrace stat --json "$RECORDED" >"$tmp/stat" && jq -e '.private.lost > 0' "$tmp/stat" &&
		build/gotrace latency --json "$RECORDED" >"$tmp/latency.out" &&
		jq -e 'all(.functions[]; .oncpu_ns + .go_runnable_ns + .kernel_runnable_ns + .throttled_ns +
			.kernel_blocked_ns + .syscall_blocked_ns + .go_blocked_ns + .lost_ns == .total_ns)' "$tmp/latency.out"
}

# The IDs of the recorder's BPF programs or links.
of_recorder() # prog|link
{
	sed -n "s/^${1}_id:[[:space:]]*//p" /proc/"$BACKGROUND_PID"/fdinfo/* | sort -un
}

none_left() # prog|link NUMBERS
{
	bpftool -j "$1" list | jq -e --argjson ids "[$2]" 'all(.[]; .id as $id | $ids | index($id) | not)'
}

killed()
{
	local programs links

	start_target latency "$ORACLE_GO" -case go -duration 500ms || return 1
	start_background $GOTRACE record -p "$TARGET_PID" --events "$every_event" -o "$tmp/killed.trace"
	recorder_is_live || return 1
	programs=$(of_recorder prog | paste -sd,) links=$(of_recorder link | paste -sd,)
	echo "programs $programs, links $links"
	bpftool -j prog list | jq -e --argjson ids "[$programs]" \
		'[.[] | select(.id as $id | $ids | index($id)) | .name] | index("sched_switch") and index("sys_enter")' || return 1
	kill -KILL "$BACKGROUND_PID"
	wait "$BACKGROUND_PID"
	wait_until 10 none_left prog "$programs" && wait_until 10 none_left link "$links" &&
		wait_until 10 text_is_clean "$TARGET_PID" || return 1
	tell_target start
	expect_target "done" && stop_target
}

# By cgroup v2, as `docker pause` does: its threads are in an interruptible sleep, like any other.
frozen_by_cgroup()
{
	local group status=1 times

	group=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)/gotrace-frozen.$$
	mkdir "$group" || return 1
	if start_target pingpong "$ORACLE_GO" -duration 1500ms -rate 1000 && echo "$TARGET_PID" >"$group/cgroup.procs" &&
		start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/frozen.trace" && recorder_is_live && tell_target start; then
		sleep 0.3
		echo 1 >"$group/cgroup.freeze" && wait_until 20 grep -q '^frozen 1' "$group/cgroup.events" && times=$(awk '{ print $1 }' /proc/uptime) && sleep 0.5
		times="$times $(awk '{ print $1 }' /proc/uptime)"
		echo 0 >"$group/cgroup.freeze"
		expect_target "done" 60 && stop_recorder && status=0
	fi
	stop_target
	wait_until 20 rmdir "$group" && [ $status -eq 0 ] || return 1
	# When it is frozen each thread that has had a CPU is off it, stopped, and none gets one until it is thawed. Uptime has 10 ms.
	build/gotrace events --kernel --json "$tmp/frozen.trace" | jq -ne --argjson from "${times% *}" --argjson to "${times#* }" '
		reduce (inputs | select(.event == "off_cpu" or .event == "on_cpu")) as $e ({};
			if $e.time < ($from + 0.02) * 1e9 then .last[$e.m | tostring] = ([$e.why // $e.event, $e.sleep // empty] | join(", ")) elif $e.time < $to * 1e9 then .during += 1 else . end) |
		(.last | map_values(select(startswith("dead") | not))) as $last | "\($last) before, \(.during // 0) switches meanwhile",
		($last | length >= 3 and all(. == "stopped, frozen")) and (.during // 0) == 0'
}

ktap_start
try "perf is installed" selftests/deps.sh linux-perf
core=$(($(nproc) - 1))
for go in "$ORACLE_GO" go1.21.13; do
	for name in competitor convoy pipe child gc; do
		[ "$go" = "$ORACLE_GO" ] || [ $name = competitor ] || continue
		arguments=(-duration 1s)
		[ $name != competitor ] && [ $name != gc ] || arguments+=(-core $core)
		try "$go: switches and wake-ups match perf: $name" same_switches "$go" $name '' "${arguments[@]}" &&
			note "$(tail -n 1 "$tmp/try.out")"
	done
	try "$go: system calls, their results, threads match the target" known_calls "$go"
	try "$go: accepted by Go's tools, in format 1.22" tools_accept "$go" 1.22
	[ "$go" != "$ORACLE_GO" ] || try "$go: accepted by Go's tools, in format 1.25" tools_accept "$go" 1.25
done
try "a process that is frozen by cgroup v2" frozen_by_cgroup
try "losses" losses
try "nothing is left after kill -9" killed
ktap_end
