#!/bin/bash
# `gotrace latency` of targets that spend their time in known ways, and measure themselves: each part is that of
# the thread clocks, of schedstat, of the cgroup's statistics or of the runtime's, within 3 %; the parts
# of each function add up to the nanosecond.
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# CASE GO [ARGUMENT...]: records the case and judges it. The kernel has its own moments of not counting: what does not
# hold three times is wrong.
split_of()
{
	local status

	for _ in 1 2 3; do
		split_once "$@"
		status=$?
		[ $status -eq 3 ] || return $status
		echo "a claim that does not hold; once more"
	done
	return 1
}

# So does this, once; the table of figures goes to $tmp/table. 3: claims did not hold.
split_once()
{
	local name=$1 go=$2 events=sched,syscall,gc,kernel status
	shift 2

	[ "$name" != fault ] || events+=,fault
	record_target latency "$go" "--events $events" -case "$name" -duration 2s "$@" &&
		check_trace "$RECORDED" && [ "$(stat_of lost "$tmp/latency.json")" = 0 ] || return 1
	build/reference/latency build/gotrace "$tmp/latency.done" "$RECORDED" >"$tmp/table"
	status=$?
	cat "$tmp/table"
	return $status
}

# The cgroup of $quota_group, by either version: a process in it has QUOTA microseconds in each 100 ms; when it
# may go on, it is before others, so that all its wait is the quota's.
quota_group() # QUOTA
{
	local root

	if [ -e /sys/fs/cgroup/cpu/cpu.cfs_quota_us ]; then
		quota_group=/sys/fs/cgroup/cpu/gotrace-latency.$$
		mkdir "$quota_group" && echo 100000 >"$quota_group/cpu.cfs_period_us" &&
			echo "$1" >"$quota_group/cpu.cfs_quota_us" && echo 262144 >"$quota_group/cpu.shares"
		return
	fi
	root=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	if ! grep -qw cpu "${root:-/nowhere}/cgroup.controllers" 2>/dev/null; then
		echo "no cgroup with a CPU controller, of version 1 or 2, to set a quota in"
		return 1
	fi
	quota_group=$root/gotrace-latency.$$
	grep -qw cpu "$root/cgroup.subtree_control" || echo +cpu >"$root/cgroup.subtree_control" || return 1
	mkdir "$quota_group" && echo "$1 100000" >"$quota_group/cpu.max" && echo 10000 >"$quota_group/cpu.weight"
}

throttled() # GO
{
	local status

	quota_group 10000 || return 1
	split_of burn "$1" -core "$core" -cgroup "$quota_group"
	status=$?
	rmdir "$quota_group"
	return $status
}

# NAME COMMAND...: one test, with its table
table()
{
	try "$@" && note "$(cat "$tmp/table")"
}

ktap_start
core=$(($(nproc) - 1))
for go in "$JUDGE_GO" go1.21.13; do
	table "$go: on a core" split_of burn "$go"
	table "$go: waiting for Go" split_of go "$go"
	table "$go: raw system calls" split_of raw "$go"
	table "$go: a slow pipe" split_of pipe "$go"
	# what the kernel alone decides
	[ "$go" = "$JUDGE_GO" ] || [ -n "${EVERY_CASE-}" ] || continue
	table "$go: beside a hog on the same core" split_of hog "$go" -core $core
	table "$go: throttled by its cgroup" throttled "$go"
	table "$go: a futex convoy" split_of convoy "$go"
	table "$go: uninterruptible sleep" split_of child "$go"
	table "$go: a slow disk" split_of disk "$go"
	table "$go: page faults of a slow disk" split_of fault "$go"
	table "$go: the collector, two Ps on a core" split_of gc "$go" -core $core
done
ktap_end
