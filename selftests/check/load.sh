#!/bin/bash
# tier: all
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
# 200,000 scheduler events per second for 10 s on two CPUs, once as one channel pair, once as 50
# threads with 10,000 goroutines: no record is lost, in bounded memory.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

under_load() # NAME ARGUMENTS
{
	local name=$1 stats=$tmp/$1.json

	record_target "$1" "$ORACLE_GO" "" "${@:2}" && check_trace "$RECORDED" || return 1
	echo "events $(stat_of events "$stats"), lost $(stat_of lost "$stats")," \
		"memory $(stat_of peak_memory_bytes "$stats")"
	build/reference/truth "$RECORDED" "$tmp/$name.done" || return 1
	[ "$(stat_of lost "$stats")" = 0 ] &&
		[ "$(stat_of events "$stats")" -ge 1800000 ] &&
		[ "$(stat_of peak_memory_bytes "$stats")" -lt $((96 << 20)) ]
}

ktap_start 2
try "a channel pair, 10 s" under_load pingpong -duration 10s -rate 33400 -procs 2
note "$(cat "$tmp/try.out")"
try "50 threads and 10,000 goroutines, 10 s" under_load many -duration 10s
note "$(cat "$tmp/try.out")"
ktap_end
