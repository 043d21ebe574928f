#!/bin/bash
# The same-run comparison: a program traces itself by runtime/trace while we record it from outside;
# goroutine by goroutine both must tell the same. And the judge proves itself on seeded faults.
# Times are compared only here, against the runtime's own stamps of the same run.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

same_run() # GO
{
	record_target selftrace "$1" "" -trace "$tmp/own.trace" -duration 8s &&
		build/reference/compare -min-reason 20 "$tmp/own.trace" "$RECORDED"
}

ktap_start
for go in $TARGET_GOS; do
	try "$go: the same as runtime/trace of the same run" same_run "$go" &&
		note "$(head -n 12 "$tmp/try.out")"
done
try "the judge flags every seeded fault" build/reference/compare -selftest "$tmp/own.trace"
ktap_end
