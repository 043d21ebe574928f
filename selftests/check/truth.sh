#!/bin/bash
# Known truth: a target that runs without runtime/trace counts what it does; our trace must have
# exactly those numbers of channel operations, creates, blocking system calls and collections.
# beside others
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

known_truth() # GO
{
	record_target truth "$1" "" && build/reference/truth "$RECORDED" "$tmp/truth.done"
}

ktap_start
for go in $TARGET_GOS; do
	try "$go: every count is exact" known_truth "$go"
done
ktap_end
