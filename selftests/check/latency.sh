#!/bin/bash
# Tests `gotrace latency` on targets that spend their time in known ways and measure themselves:
# each component matches the thread clocks, schedstat, the cgroup's statistics or the runtime's
# figures within 3 %, and the components of each function add up, exact to the nanosecond.
# tier: all
# timeout: 900
# long: 900
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/cgroup.lib.sh

# CASE GO [ARGUMENT...]: records the case and checks it. The kernel's own accounting has gaps, so
# only a comparison that fails three times is a failure.
split_of()
{
	local status

	for _ in 1 2 3; do
		split_once "$@"
		status=$?
		[ $status -eq 3 ] || return $status
		echo "a comparison failed; repeating it"
	done
	return 1
}

# One run for split_of(); the table of figures goes to $tmp/table. 3: comparisons failed.
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

throttled() # GO
{
	local status

	quota_group 10000 || return 1
	split_of burn "$1" -core "$core" -cgroup "$quota_group"
	status=$?
	rmdir "$quota_group"
	return $status
}

# NAME COMMAND...: one test, with its table of figures
table()
{
	try "$@" && note "$(cat "$tmp/table")"
}

ktap_start
core=$(($(nproc) - 1))
for go in "$ORACLE_GO" go1.21.13; do
	table "$go: on a CPU" split_of burn "$go"
	table "$go: waiting for Go" split_of go "$go"
	table "$go: raw system calls" split_of raw "$go"
	table "$go: a slow pipe" split_of pipe "$go"
	# what depends on the kernel only
	[ "$go" = "$ORACLE_GO" ] || [ -n "$(by_tier "" "" every)" ] || continue
	table "$go: with a competitor on the same CPU" split_of competitor "$go" -core $core
	table "$go: throttled by its cgroup" throttled "$go"
	table "$go: a futex convoy" split_of convoy "$go"
	table "$go: uninterruptible sleep" split_of child "$go"
	table "$go: a slow disk" split_of disk "$go"
	table "$go: page faults of a slow disk" split_of fault "$go"
	table "$go: the collector, two Ps on a core" split_of gc "$go" -core $core
done
ktap_end
