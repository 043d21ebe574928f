#!/bin/bash
# parallel: first
# tier: all
# timeout: 1200
# long: 14400
# depends on: Kbuild Makefile bpf include kmod userspace selftests
# Tests the kernel module and the recorder on several kernels in virtual machines: `make check-vm`,
# which always runs. The time limit is enough to report a machine that hangs: each one has 780 s. Other
# scripts run at the same time, at a lower priority: only the machines have deadlines.
#
# In check-long they run RUNS times, and so do the tests in user-mode Linux: concurrent events interleave
# differently in each run.
. "$(dirname "$0")/../lib.sh"

[ $TIER = long ] || exec nice -n -10 selftests/vm/run "$@"

all_passed() # COMMAND...: its raw results are shown only if one failed
{
	"$@" >"$tmp/results" 2>"$tmp/errors" && ! grep '^not ok' "$tmp/results" && return
	cat "$tmp/results" "$tmp/errors"
	return 1
}

runs=${RUNS:-10}
ktap_start $((2 * runs))
for ((run = 1; run <= runs; run++)); do
	try "run $run: virtual machines" all_passed selftests/vm/run
	note "$(grep '^# VM:' "$tmp/results")"
	try "run $run: user-mode Linux" all_passed selftests/kunit
done
ktap_end
