#!/bin/bash
# Compares the times of context switches with perf's of the same run: at most 2 us apart in 99 of
# 100. Both take their timestamps one after the other; other tracers and cache misses add to the
# difference.
# tier: long
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/kernel.lib.sh

close_to_perf() # GO CASE [ARGUMENT...]
{
	local go=$1 name=$2
	shift 2

	for _ in 1 2 3; do
		same_switches "$go" "$name" '-p99 2000' -duration 5s "$@" && return
		grep -q 'the 99th percentile is over' "$tmp/try.out" || return 1
	done
	return 1
}

ktap_start
try "perf is installed" selftests/deps.sh linux-perf
core=$(($(nproc) - 1))
for go in $TARGET_GOS; do
	for name in convoy pipe child raw gc competitor; do
		arguments=()
		[ $name != competitor ] && [ $name != gc ] || arguments+=(-core $core)
		try "$go: within 2 us of perf: $name" close_to_perf "$go" $name "${arguments[@]}"
		note "$(grep 'ns apart' "$tmp/try.out")"
	done
done
ktap_end
