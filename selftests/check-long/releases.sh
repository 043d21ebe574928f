#!/bin/bash
# timeout: 7200
# Programs of the releases that `make check` leaves out: known truth, and the same-run comparison, for
# the first and the last patch release of most. RELEASES chooses others.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
RELEASES=${RELEASES:-go1.19.13 go1.20.14 go1.21.0 go1.22.0 go1.22.12 go1.23.0 go1.23.12 go1.24.0
	go1.25.0 go1.25.14 go1.26.0 go1.26.11 go1.27.4}

built() # GO
{
	make --no-print-directory TARGET_GOS="$1" "build/targets/$1/truth" "build/targets/$1/selftrace"
}

known_truth() # GO
{
	record_target truth "$1" "" && check_trace "$RECORDED" &&
		build/reference/truth "$RECORDED" "$tmp/truth.done"
}

same_run() # GO
{
	record_target selftrace "$1" "" -trace "$tmp/own.trace" -duration 8s &&
		check_trace "$RECORDED" &&
		build/reference/compare -min-goroutines 1000 -min-reason 5 \
			-min-transitions 100000 $(tolerance) "$tmp/own.trace" "$RECORDED"
}

ktap_start
for go in $RELEASES; do
	try "$go: builds the targets" built "$go" || continue
	try "$go: every count is exact" known_truth "$go"
	try "$go: the same as runtime/trace of the same run" same_run "$go" &&
		note "$(head -n 12 "$tmp/try.out")"
	# The unit tests read what stands there, and know the releases of make check.
	[[ " $TARGET_GOS " == *" $go "* ]] || rm -rf "build/targets/$go"
done
ktap_end
