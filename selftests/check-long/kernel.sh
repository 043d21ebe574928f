#!/bin/bash
# The times of context switches against perf's of the same run: at most 2 us apart in 99 of 100. Both
# stamp the same moments one after the other; who else looks at them, or has the caches, stands between.
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
try "perf is there" selftests/deps.sh linux-perf
core=$(($(nproc) - 1))
for go in $TARGET_GOS; do
	for name in convoy pipe child raw gc hog; do
		arguments=()
		[ $name != hog ] && [ $name != gc ] || arguments+=(-core $core)
		try "$go: within 2 us of perf's: $name" close_to_perf "$go" $name "${arguments[@]}"
		note "$(grep 'ns apart' "$tmp/try.out")"
	done
done
ktap_end
