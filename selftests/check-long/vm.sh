#!/bin/bash
# timeout: 14400
# All tests in virtual machines and in user-mode Linux, RUNS times: concurrent events interleave
# differently in each run. VM_LONG adds what check/vm.sh leaves out.
. "$(dirname "$0")/../lib.sh"
RUNS=${RUNS:-10}
export VM_LONG=1

all_passed() # COMMAND...: its raw results are shown only if one failed
{
	"$@" >"$tmp/results" 2>"$tmp/errors" && ! grep '^not ok' "$tmp/results" && return
	cat "$tmp/results" "$tmp/errors"
	return 1
}

ktap_start $((2 * RUNS))
for ((run = 1; run <= RUNS; run++)); do
	try "run $run: virtual machines" all_passed selftests/vm/run
	note "$(grep '^# VM:' "$tmp/results")"
	try "run $run: user-mode Linux" all_passed selftests/kunit
done
ktap_end
