#!/bin/bash
# Forced losses: rings that are too small, a recorder that is stopped for a while, both under a load
# that the rings cannot hold. The trace is valid and reports what was lost and when; after the gap
# it is correct again: the live goroutines, their states, later events and their stacks.
# timeout: 900
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/rawfile.py
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/losses.lib.sh

ring_sizes() # invalid sizes are rejected in one line
{
	local size status

	for size in 0 15K 1023 257M 4T 16k K -1 16KB; do
		timeout 20 $GOTRACE record -p $$ --ring-size="$size" -o "$tmp/x" 2>"$tmp/err"
		status=$?
		[ $status -eq 2 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] || return 1
	done
}

ktap_start
try "ring sizes" ring_sizes
for go in "$ORACLE_GO" $(in_all echo go1.21.13); do
	try "$go: small rings" lossy "$go" "--ring-size=64K"
	note "$(tail -n 1 "$tmp/try.out")"
done
in_all try "the smallest rings" lossy "$ORACLE_GO" "--ring-size=16K --events=sched"
in_all try "stopped for 3 s" lossy "$ORACLE_GO" "--format-version=1.22 --tick=64ns" 3
note "$(tail -n 1 "$tmp/try.out")"
in_all try "stopped again and again" lossy "$ORACLE_GO" "--ring-size=256K --format-version=1.26" 0.3 0.3 0.3
note "$(tail -n 1 "$tmp/try.out")"
ktap_end
