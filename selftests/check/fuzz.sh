#!/bin/bash
# tier: all
# parallel: first
# timeout: 600
# long: 14400
# Runs each fuzz target for a fixed number of executions from its seeds: a short form of `make fuzz`
# that shows findings close to the seeds. check-long has ten times as many (FUZZ_RUNS), and 10^7 of
# each target whose input the memory of a traced process supplies.
# depends on: Makefile include userspace selftests/reference selftests/targets selftests/fuzz selftests/blackbox selftests/perfdata
. "$(dirname "$0")/../lib.sh"

memory='clocks labels leftover parked rings snapshot texts'

# Objects are built before the lock is taken: nothing else writes them, and other scripts need the lock meanwhile.
fuzzers_are_built()
{
	local make=(make --no-print-directory "-j$(nproc)") objects

	objects=$(printf 'build/fuzz/obj/%s.o ' $(basename -s .c -a selftests/fuzz/fuzz_*.c | sed 's,^,selftests/fuzz/,'))
	selftests/deps.sh libclang-rt-19-dev && { make -q build/libgotrace.a || locked "${make[@]}" build/libgotrace.a; } &&
		"${make[@]}" build/fuzz/libgotrace.a $objects && locked "${make[@]}" fuzzers
}

ran() # NAME: without a finding; otherwise prints its line and the end of its log
{
	grep -E "^$1: [1-9][0-9]* executions$" "$tmp/all" && return
	grep "^$1: " "$tmp/all"
	tail -n 30 "build/fuzz/log/${1#fuzz_}"
	return 1
}

ktap_start
if try "the fuzz targets build" fuzzers_are_built; then
	selftests/fuzz/run all "${FUZZ_RUNS:-$(by_tier 10000x 10000x 100000x)}" >"$tmp/all" 2>&1
	for source in selftests/fuzz/fuzz_*.c; do
		name=$(basename "$source" .c)
		try "$name" ran "$name"
	done
	note "$(tail -n 1 "$tmp/all")"
	runs=$(by_tier '' '' 10000000x)
	if [ -n "$runs" ]; then
		selftests/fuzz/run "${memory// /,}" "$runs" >"$tmp/all" 2>&1
		for name in $memory; do
			try "fuzz_$name with memory of a process, $runs" ran "fuzz_$name"
		done
		note "$(tail -n 1 "$tmp/all")"
	fi
fi
ktap_end
