#!/bin/bash
# Go's own tests of its reader: for each golden trace and each fuzz seed in the toolchains, `gotrace
# check` must give the expected result. The traces are extracted from the toolchains; golden traces
# come with their expected result, the seeds use that of golang.org/x/exp/trace.
# tier: all
# parallel
# timeout: 900
# depends on: Makefile include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

# TRACE EXPECT: exit status 0 and no output, or exit status 1 and a one-line reason; for a golden
# trace it must contain the text that Go's own tests look for
result_is()
{
	local status expected pattern

	read -r expected pattern <"$2"
	timeout 10 $READER check "$1" >/dev/null 2>"$tmp/reason"
	status=$?
	echo "exit $status, expected $(cat "$2"), reason: $(cat "$tmp/reason")"
	case $expected in
	SUCCESS) [ $status -eq 0 ] && [ ! -s "$tmp/reason" ] ;;
	FAILURE)
		[ $status -eq 1 ] && [ "$(wc -l <"$tmp/reason")" -eq 1 ] || return 1
		[[ $1 == */fuzz/* ]] || grep -qE "$(jq -r . <<<"$pattern")" "$tmp/reason" ;;
	*) return 1 ;;
	esac
}

count_is() # NUMBER FILE...: so many files exist
{
	local number=$1
	shift

	[ $# -eq "$number" ] || { echo "found $#: $*"; return 1; }
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$ORACLE_GO" go1.22.12; then
	try "22 golden traces" count_is 22 "$CORPUS/$ORACLE_GO"/v2/go*.trace
	try "17 fuzz seeds" count_is 17 "$CORPUS/$ORACLE_GO"/fuzz/*.expect
	for go in "$ORACLE_GO" go1.22.12; do
		for trace in "$CORPUS/$go"/v2/*.trace; do
			try "$go: $(basename "$trace" .trace)" result_is "$trace" "${trace%.trace}.expect"
		done
		for expect in "$CORPUS/$go"/fuzz/*.expect; do
			try "$go: seed $(basename "$expect" .expect)" result_is "${expect%.expect}" "$expect"
		done
	done
fi
ktap_end
