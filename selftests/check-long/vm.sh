#!/bin/bash
# timeout: 14400
# All tests of the kernel's own kind, in virtual machines and in user-mode Linux, RUNS times: what happens at
# the same time there is another thing in each.
. "$(dirname "$0")/../lib.sh"
RUNS=${RUNS:-10}

all_passed() # COMMAND...: its raw results are shown only if one is bad
{
	"$@" >"$tmp/results" 2>"$tmp/errors" && ! grep '^not ok' "$tmp/results" && return
	cat "$tmp/results" "$tmp/errors"
	return 1
}

ktap_start $((2 * RUNS))
for ((run = 1; run <= RUNS; run++)); do
	try "run $run: in virtual machines" all_passed selftests/vm/run
	note "$(grep '^# VM:' "$tmp/results")"
	try "run $run: in user-mode Linux" all_passed selftests/kunit
done
ktap_end
