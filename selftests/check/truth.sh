#!/bin/bash
# Known counts: a target that runs without runtime/trace counts what it does; the trace must have
# exactly the same numbers of channel operations, created goroutines, blocking system calls and
# garbage collections.
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

known_counts() # GO
{
	record_target truth "$1" "" && build/reference/truth "$RECORDED" "$tmp/truth.done"
}

ktap_start
for go in $TARGET_GOS; do
	try "$go: every count is exact" known_counts "$go"
done
ktap_end
