#!/bin/bash
# beside others
# timeout: 600
# Every fuzz target, a fixed number of executions from its seeds: `make fuzz` in small, to see that
# no parser has a finding that is near.
. "$(dirname "$0")/../lib.sh"

fuzzers_are_built()
{
	selftests/deps.sh libclang-rt-19-dev && locked make --no-print-directory "-j$(nproc)" fuzzers
}

ktap_start
if try "the fuzz targets are built" fuzzers_are_built; then
	selftests/fuzz/run all 10000x >"$tmp/all" 2>&1
	for source in selftests/fuzz/fuzz_*.c; do
		name=$(basename "$source" .c)
		try "$name" grep -E "^$name: [1-9][0-9]* executions$" "$tmp/all"
	done
	note "$(tail -n 1 "$tmp/all")"
fi
ktap_end
