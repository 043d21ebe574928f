#!/bin/bash
# Go's own tests of its reader: of each golden trace and each fuzz seed in the toolchains `gotrace check` must
# say what Go's reader must say. The traces are taken from the toolchains now; golden ones come with their
# verdict, the seeds get that of golang.org/x/exp/trace.
# beside others
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

# TRACE EXPECT: exit 0 and no word, or exit 1 and one line that says why; of a golden trace it must say
# what Go's own tests look for
verdict_is()
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

count_is() # NUMBER FILE...
{
	local number=$1
	shift

	[ $# -eq "$number" ] || { echo "there are $#: $*"; return 1; }
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$JUDGE_GO" go1.22.12; then
	try "22 golden traces" count_is 22 "$CORPUS/$JUDGE_GO"/v2/go*.trace
	try "17 fuzz seeds" count_is 17 "$CORPUS/$JUDGE_GO"/fuzz/*.expect
	for go in "$JUDGE_GO" go1.22.12; do
		for trace in "$CORPUS/$go"/v2/*.trace; do
			try "$go: $(basename "$trace" .trace)" verdict_is "$trace" "${trace%.trace}.expect"
		done
		for expect in "$CORPUS/$go"/fuzz/*.expect; do
			try "$go: seed $(basename "$expect" .expect)" verdict_is "${expect%.expect}" "$expect"
		done
	done
fi
ktap_end
