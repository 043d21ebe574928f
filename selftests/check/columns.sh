#!/bin/bash
# The columns of `gotrace latency` on a terminal of 80 columns: those with the largest causes are shown,
# of a program that a CPU quota throttles, next to goroutines that do nothing.
# parallel
# depends on: Makefile bpf include userspace selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/cgroup.lib.sh
. selftests/terminal.lib.sh
READER=build/gotrace

recorded()
{
	local status

	quota_group 60000 || return 1
	record_target throttled "$ORACLE_GO" "" -cgroup "$quota_group"
	status=$?
	rmdir "$quota_group"
	return $status
}

# What is summed up: functions that were on a CPU, or waited for one, for a part of their time.
largest()
{
	$READER latency --json "$RECORDED" | jq -r '
		[.functions[] | (.total_ns - .go_blocked_ns - .syscall_blocked_ns) as $active |
			select($active > (if .name | test("^runtime\\.") then .total_ns / 100 | floor else 0 end))] as $f |
		def sum(key): [$f[][key]] | add;
		{"GO RUN": sum("go_runnable_ns"), "KERN RUN": sum("kernel_runnable_ns"), "THROTTLED": sum("throttled_ns"),
			"KERN BLK": sum("kernel_blocked_ns"), "SYSC BLK": sum("syscall_blocked_ns"), "GO BLK": sum("go_blocked_ns")} as $sums |
		(sum("oncpu_ns") + $sums["GO RUN"] + $sums["KERN RUN"] + $sums["THROTTLED"]) as $work |
		($sums | to_entries | max_by(.value).key),
		($sums | with_entries(select(.key | IN("GO RUN", "KERN RUN", "THROTTLED"))) | to_entries | max_by(.value).key),
		(if $sums["THROTTLED"] >= $work / 10 then "THROTTLED" else empty end)' | sort -u
}

shown() # VERB...
{
	local title

	on_terminal 80 40 $READER "$@" "$RECORDED" || return 1
	cat "$tmp/screen"
	while read -r title; do
		grep -E 'START FUNCTION$' "$tmp/screen" | grep -qF " $title " || { echo "$title is not shown"; return 1; }
	done <"$tmp/largest"
}

ktap_start
if try "a program that is throttled" recorded; then
	largest >"$tmp/largest"
	note "$(tr '\n' ' ' <"$tmp/largest")"
	try "throttling is one of the largest causes" grep -qx THROTTLED "$tmp/largest"
	try "functions" shown latency
	try "all functions" shown latency --details
	try "goroutines" shown latency --all
	try "another order" shown latency --sort go-blocked
fi
ktap_end
