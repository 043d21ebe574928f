#!/bin/bash
# Tests that `gotrace requests --worst 5`, `path --summary` and the first finding of `gotrace report` name the right top cause, on programs whose requests are slow
# for one known reason: an fsync in a slow file system, the CPU quota of a cgroup, a lock that
# each request holds for long, mark assists next to a large heap. Also what a pool of workers did that mostly wait.
# tier: all
# timeout: 300
# depends on: Makefile bpf include userspace selftests/calls.py selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/cgroup.lib.sh

# CASE KIND REASON FUNCTION QUOTA: records the case in a cgroup of high weight, so that other processes are no
# cause, and expects this top cause of the slowest 1 % and of most of the worst requests: one of them may be
# slow for another reason.
cause_of()
{
	local status

	for _ in 1 2 3; do
		cause_once "$@"
		status=$?
		[ $status -eq 3 ] || return $status
		echo "another cause came in between; repeating it"
	done
	return 1
}

cause_once()
{
	local name=$1 kind=$2 reason=$3 function=$4 status

	quota_group "$5" || return 1
	record_target provoked "$ORACLE_GO" "" -case "$name" -cgroup "$quota_group"
	status=$?
	rmdir "$quota_group"
	[ $status -eq 0 ] || return 1
	build/gotrace requests --worst 5 "$RECORDED" >"$tmp/text" &&
		build/gotrace requests --worst 5 --json "$RECORDED" >"$tmp/requests.json" || return 1
	grep '^top cause' "$tmp/text"
	counts_match && parts_are_causes || return 1
	is_in_source '.requests[0].slowest.top_cause' || [[ $function != '^main'* ]] || return 1
	[ "$kind" != syscall ] || { python3 selftests/calls.py build/gotrace "$RECORDED" tasks >"$tmp/calls" && splits_match "$reason" && paths_match "$reason"; } || return 3
	finds "$RECORDED" "$kind" || return 3
	jq -e --arg kind "$kind" --arg reason "$reason" --arg function "$function" \
		'def right: .kind == $kind and (.reason | test($reason)) and (.function | test($function));
		(.requests[0].slowest.top_cause | right) and (.worst | length == 5) and
		([.worst[] | select(.top_cause | right)] | length >= 4)' "$tmp/requests.json" >/dev/null || return 3
}

# CAUSE: the file and the line of its function, if it has one, are in the source, in that function.
is_in_source()
{
	local function file line

	IFS=$'\t' read -r function file line < <(jq -r "$1"' | [.function, .file, .line] | @tsv' "$tmp/requests.json")
	[ -n "$function" ] || return 0
	echo "$function at $file:$line"
	[[ $file == */targets/provoked/main.go ]] && awk -v name="func ${function#main.}(" -v line="$line" '
		index($0, name) == 1 { inside = 1 } inside && NR == line { found = 1 } /^}/ { inside = 0 } END { exit !found }' \
		selftests/targets/provoked/main.go
}

# FILE KIND: of all requests, the first finding of the report has the longest time of a cause
# other than being on a CPU, and names it
finds()
{
	local said

	case $2 in
	syscall) said="in system call fsync, from entry to exit .*, most of it in main\\.save" ;;
	throttled) said="CPU quota" ;;
	go_blocked) said="locks or wait groups \\(sync\\), most of it in main\\.update" ;;
	gc_assist) said="mark assists\\), most of it in main\\.allocate" ;;
	esac
	build/gotrace report --json "$1" >"$tmp/report.json" && jq -r '.findings[].text' "$tmp/report.json" &&
		jq -e --arg said "$said" --slurpfile all "$tmp/requests.json" '$all[0].requests[0].critical_path as $time |
		(.findings[0].text | test($said)) and (.findings[0].ns as $ns | if $said | startswith("in system call") then $ns == $all[0].requests[0].top_cause.ns else [$time.go_runnable_ns, $time.kernel_runnable_ns, $time.throttled_ns, ($time.by_reason |
			.go_blocked[], .syscall_blocked[], .kernel_blocked[] | select(.name != "GC mark assist wait for work").ns),
			$time.of_which.gc_assist_ns + ([$time.by_reason.go_blocked[] |
			select(.name == "GC mark assist wait for work").ns] | add // 0)] | max == $ns end) and
		(.findings[0].share - .findings[0].ns / $time.total_ns | fabs < 1e-9)' "$tmp/report.json" >/dev/null
}

# The program counts and measures its requests, too: within its own overhead of the annotations.
counts_match()
{
	jq -e --slurpfile own "$tmp/provoked.done" '.requests[0] | .count == $own[0].requests and
		.max_ns >= $own[0].longest_ns' "$tmp/requests.json" >/dev/null
}

# The top cause is the largest of what the parts and reasons give, without what is on a CPU in system calls, or a system call
# that has more: its parts, with its blocked time, add up.
parts_are_causes()
{
	jq -e '[.requests[], .requests[].slowest, .worst[]] | all(.top_cause as $top | .critical_path | .by_reason as $by |
		(.of_which.gc_assist_ns + ([$by.go_blocked[] | select(.name == "GC mark assist wait for work").ns] | add // 0)) as $assist |
		([$assist, .go_runnable_ns, .kernel_runnable_ns, .throttled_ns, ($by | .go_blocked[], .syscall_blocked[], .kernel_blocked[] |
			select(.name != "GC mark assist wait for work").ns)] | max) as $most |
		$top.ns >= $most and $top.ns >= .oncpu_ns - .of_which.gc_assist_ns - .of_which.syscall_oncpu_ns and
		if $top.kind == "syscall" then $top.ns == ([$top.split[]] | add) and
			$top.split.syscall_blocked_ns == ([$by.syscall_blocked[] | select(.name == $top.reason).ns] | add // 0)
		elif $top.kind == "oncpu" then $top.ns <= .oncpu_ns - .of_which.gc_assist_ns
		else $top.ns == $most end)' "$tmp/requests.json" >/dev/null
}

# Watchdogs wait as long as the request, and together longer than what it waits for; they are not on its critical
# path. The program measures its sleeps: they contain the waits for a P and a CPU, too.
watched()
{
	record_target provoked "$ORACLE_GO" "--task main.watched --inherit" -case watched || return 1
	build/gotrace requests "$RECORDED" | grep '^top cause'
	build/gotrace requests --json --name main.watched "$RECORDED" >"$tmp/requests.json" &&
		jq -e --slurpfile own "$tmp/provoked.done" '.without_path == 0 and (.requests[0] |
			.count == $own[0].requests and .top_cause.kind == "go_blocked" and .top_cause.reason == "sleep" and
			.top_cause.function == "main.fetch" and .top_cause.ns >= .count * 2e7 and .top_cause.ns <= $own[0].slept_ns and
			.critical_path.total_ns >= .top_cause.ns and .critical_path.total_ns <= .total_ns and
			([.time.by_reason.go_blocked[] | select(.name == "select").ns][0] > 2 * .top_cause.ns))' "$tmp/requests.json" &&
		is_in_source '.requests[0].top_cause'
}

# CALL: the top cause is this call, with its parts
splits_match()
{
	jq -e --arg call "$1" --slurpfile calls "$tmp/calls" '$calls[0][$call] as $own | def near(ns): (. - ns | fabs) <= $own.total / 100;
		.requests[0].top_cause | .kind == "syscall" and .reason == $call and (.ns | near($own.total)) and
		(.split | (.oncpu_ns | near($own.oncpu)) and (.kernel_runnable_ns | near($own.runnable)) and
			(.throttled_ns | near($own.throttled)) and (.kernel_blocked_ns + .syscall_blocked_ns | near($own.blocked)))' "$tmp/requests.json"
}

# CALL: the paths of the clients contain what their calls took, and each kind of it
paths_match()
{
	python3 selftests/calls.py build/gotrace "$RECORDED" goroutines >"$tmp/all_calls" &&
		build/gotrace path --summary --function 'serveAll[.]func1$' --json "$RECORDED" >"$tmp/path.json" || return 1
	build/gotrace path --summary --function 'serveAll[.]func1$' "$RECORDED" | sed -n '/^system calls as a whole:$/,/^$/p' >"$tmp/whole"
	cat "$tmp/whole"
	sed -n 2p "$tmp/whole" | grep -q "%  $1 (" || return 1
	jq -e --arg call "$1" --slurpfile calls "$tmp/all_calls" '$calls[0][$call] as $own | def near(ns): (. - ns | fabs) <= $own.total / 100;
		.calls[0] | .syscall == $call and (.ns | near($own.total)) and .ns == ([.split[].ns] | add) and
		((.split | map({ key: .kind, value: .ns }) | from_entries) as $kinds | ($kinds["on-CPU"] // 0 | near($own.oncpu)) and
			($kinds["kernel-runnable"] // 0 | near($own.runnable)) and ($kinds["throttled"] // 0 | near($own.throttled)) and
			(($kinds["syscall-blocked"] // 0) + ($kinds["kernel-blocked"] // 0) | near($own.blocked)))' "$tmp/path.json"
}

# QUOTA [OPTION...]: requests in a system call that computes, waits for a CPU and is throttled. What `requests` and `report`
# say of it is what it took from entry to exit by the kernel's events; so does what held it up, if that is a quota.
# Without tasks, findings are about goroutines.
within_call()
{
	local events=tasks group

	quota_group "$1" || return 1
	record_target provoked "$ORACLE_GO" "${*:2}" -case random -cgroup "$quota_group"
	group=$?
	rmdir "$quota_group"
	[ $group -eq 0 ] || return 1
	[ $# -eq 1 ] || events=goroutines
	python3 selftests/calls.py build/gotrace "$RECORDED" $events >"$tmp/calls" && build/gotrace requests --json "$RECORDED" >"$tmp/requests.json" &&
		build/gotrace report --json "$RECORDED" >"$tmp/report.json" || return 1
	cat "$tmp/calls"
	build/gotrace requests "$RECORDED" | grep '^top cause'
	jq -r '.findings[] | "\(.text) \(.detail)"' "$tmp/report.json"
	jq -e --argjson quota "$1" --slurpfile calls "$tmp/calls" 'def near(ns): (. - ns | fabs) <= ns / 100;
		[.findings[] | select(.text | contains(" was in system call getrandom, from entry to exit"))] as $own | ($own | length) == 1 and
		($own[0].ns | near($calls[0].getrandom.total)) and
		if $quota < 0 then .findings[0] == $own[0] else any(.findings[]; .text | contains("CPU quota")) end' "$tmp/report.json" || return 1
	[ $# -gt 1 ] || [ "$1" -ge 0 ] || { splits_match getrandom && paths_match getrandom; }
}

# Each worker computes for a thousandth of the time and waits for the rest: what is said to be on a CPU is what threads
# computed by their own clocks, and at most what the process had. Also if C threads had entered them.
worked()
{
	record_target provoked "$ORACLE_GO" "" -case pool -duration 3s && build/gotrace report --json "$RECORDED" >"$tmp/report.json" || return 1
	jq -r '.findings[] | "\(.text) \(.detail)"' "$tmp/report.json"
	cat "$tmp/provoked.done"
	jq -e --slurpfile own "$tmp/provoked.done" '[.findings[] | select(.text | endswith(" was on a CPU.")).ns] as $ns | $own[0] |
		.worked_ns > 2e8 and ($ns | length) == 1 and $ns[0] >= .worked_ns * 0.99 and $ns[0] <= .cpu_ns * 1.01' "$tmp/report.json" &&
		entered_by_c
}

# `latency` only leaves out functions of the runtime that are blocked for more than 99 % of their time.
entered_by_c()
{
	local function

	build/gotrace text "$RECORDED" >"$tmp/text" || return 1
	for function in runtime.cgocallback runtime.bgscavenger; do
		sed "s/\"main[.]computesRarely\"/\"$function\"/" "$tmp/text" | build/gotrace assemble --force -o "$tmp/$function.trace" - &&
			build/gotrace latency "$tmp/$function.trace" >"$tmp/$function" || return 1
	done
	head -n 5 "$tmp/runtime.cgocallback" && grep -q '^ *100 .* runtime.cgocallback$' "$tmp/runtime.cgocallback" &&
		! grep -q '^ *100 .*runtime.bgscavenger$' "$tmp/runtime.bgscavenger"
}

ktap_start
try "a pool of workers that mostly wait" worked
try "a system call that waits for CPUs" within_call -1
try "a system call that is throttled" within_call 20000
try "a system call without requests" within_call -1 --events=sched,syscall,kernel
try "a slow fsync" cause_of fsync syscall fsync '^main\.save$' -1
# A request computes for 4 ms and has 1 ms in 100: each is throttled, also where the hypervisor takes half of the CPU.
try "a CPU quota" cause_of throttle throttled '^$' '^$' 1000
try "a lock convoy" cause_of convoy go_blocked '^sync$' '^main\.update$' -1
try "a storm of mark assists" cause_of assist gc_assist '^$' '^main\.allocate$' -1
try "a watchdog that waits in parallel" watched
ktap_end
