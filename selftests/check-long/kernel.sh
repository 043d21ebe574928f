#!/bin/bash
# The times of context switches and wake-ups against perf's of the same run: at most 2 us apart in 99 of 100.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/kernel.lib.sh

ktap_start
try "perf is there" selftests/deps.sh linux-perf
core=$(($(nproc) - 1))
for go in $TARGET_GOS; do
	for name in convoy pipe child raw gc hog; do
		arguments=(-duration 5s)
		[ $name != hog ] && [ $name != gc ] || arguments+=(-core $core)
		try "$go: within 2 us of perf's: $name" same_switches "$go" $name '-p99 2000' "${arguments[@]}"
		note "$(grep 'ns apart' "$tmp/try.out")"
	done
done
ktap_end
