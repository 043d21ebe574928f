#!/bin/bash
# tier: all
# parallel
# long: 1800
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
# Compares the output of `gotrace path`, `gotrace latency`, `gotrace waits` and `gotrace histogram`,
# member by member, with that of a second implementation which reads `gotrace events --kernel --json`:
# selftests/reference/internal/waits shares no code with them. check/path.sh and check/latency.sh
# compare with measurements of the targets.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# TRACE [OPTION...]
agrees()
{
	local trace=$1 status
	shift

	timeout 300 build/reference/waits "$@" build/gotrace "$trace" >"$tmp/result"
	status=$?
	cut -c 1-1000 "$tmp/result"
	return $status
}

# An HTTP server and its clients, in one process
http_pair()
{
	local status

	"build/targets/$ORACLE_GO/server" -duration 20s >"$tmp/server.out" 2>&1 </dev/null &
	background+=("$!")
	wait_until 20 grep -q '^ready' "$tmp/server.out" &&
		$GOTRACE record -p $! -d "$(by_tier 700ms 700ms 4s)" -o "$tmp/server.trace" --stats "$tmp/server.json"
	status=$?
	kill -TERM "${background[-1]}"
	[ $status -eq 0 ] && [ "$(stat_of lost "$tmp/server.json")" = 0 ] && agrees "$tmp/server.trace" -n "$(by_tier 25 25 200)"
}

# NAME [ARGUMENT...]
target()
{
	record_target "$1" "$ORACLE_GO" "" "${@:2}" && [ "$(stat_of lost "$tmp/$1.json")" = 0 ] && agrees "$RECORDED" -n 15
}

# NAME COMMAND...: one test, with its counts
counted()
{
	try "$@"
	note "$(grep -h '^path: \|^latency, \|^waits: \|^histogram: ' "$tmp/result" 2>/dev/null)"
}

ktap_start
counted "an HTTP server and its clients" http_pair
counted "a chain of waits" target chain -rounds 4
counted "system calls" target calls
counted "calls of C, with threads of its own" target cgo
counted "every kind of transition" target selftrace -duration 300ms
for case in go raw pipe gc; do
	counted "latency's target: $case" target latency -case $case -duration 200ms
done
ktap_end
