#!/bin/bash
# tier: long
# timeout: 7200
# Programs of the releases that `make check` omits: known counts and the same-run comparison, with
# the first and the last patch release of most. RELEASES selects others.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/releases.lib.sh
# shellcheck disable=SC2086 # words
RELEASES=${RELEASES:-$(sorted_gos $FIRST_GOS $LAST_GOS | sed 's/[^ ]*/go&/g')}

built() # GO
{
	make --no-print-directory TARGET_GOS="$1" "build/targets/$1/truth" "build/targets/$1/selftrace"
}

known_counts() # GO
{
	record_target truth "$1" "" && check_trace "$RECORDED" &&
		build/reference/truth "$RECORDED" "$tmp/truth.done"
}

same_run() # GO
{
	# shellcheck disable=SC2046 # words
	record_target selftrace "$1" "$EVERY_EVENT" -trace "$tmp/own.trace" -duration 8s &&
		check_trace "$RECORDED" &&
		build/reference/compare -min-goroutines 1000 -min-reason 5 \
			-min-transitions 100000 $(tolerance) "$tmp/own.trace" "$RECORDED"
}

ktap_start
for go in $RELEASES; do
	try "$go: the targets build" built "$go" || continue
	try "$go: every count is exact" known_counts "$go"
	try "$go: the trace matches runtime/trace of the same run" same_run "$go" &&
		note "$(head -n 12 "$tmp/try.out")"
	# The unit tests use what is built there, and support only the releases of make check.
	[[ " $TARGET_GOS " == *" $go "* ]] || rm -rf "build/targets/$go"
done
ktap_end
