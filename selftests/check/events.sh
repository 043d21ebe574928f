#!/bin/bash
# `gotrace events` delivers what Go's reader delivers: the same events in the same order, with the same times,
# contexts, arguments, names and stacks, to the byte of the text that CANONICAL.md describes. Of real programs with
# each Go that writes a kind of trace of its own, of Go's golden traces, of our own recordings, and of v1.
# beside others
# timeout: 1200
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

# TRACE: also of a refused one, up to where it is
same_events()
{
	local ours theirs filter=cat

	! is_v1 "$1" || filter="$REFERENCE/events -sort"
	$REFERENCE/events "$1" 2>"$tmp/theirs.err" >"$tmp/theirs"
	theirs=$?
	timeout 300 $READER events --canonical "$1" 2>"$tmp/ours.err" >"$tmp/ours"
	ours=$?
	$filter <"$tmp/theirs" >"$tmp/theirs.txt" && $filter <"$tmp/ours" >"$tmp/ours.txt" || return 1
	rm -f "$tmp/theirs" "$tmp/ours"
	echo "ours: exit $ours $(cat "$tmp/ours.err"); theirs: exit $theirs $(head -c 300 "$tmp/theirs.err")"
	[ $ours -ne 0 ] || [ -s "$tmp/ours.txt" ] || return 1
	[ $ours -eq $theirs ] && same_text "$tmp/ours.txt" "$tmp/theirs.txt"
}

# The traces that are compared have what they are there for.
worth_comparing()
{
	local go

	for go in $READER_GOS; do
		[ "$($REFERENCE/events "$CORPUS/runs/long-$go.trace" | grep -c '	Sync	')" -ge 3 ] ||
			{ echo "long-$go: one generation"; return 1; }
	done
	$REFERENCE/events "$CORPUS/runs/allocfree-$JUDGE_GO.trace" | grep -q '	Experimental	'
}

# GO OPTION...: our own recording of a real program
same_of_recording()
{
	local go=$1
	shift

	record_target selftrace "$go" "$*" -duration 1200ms && same_events "$RECORDED"
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$JUDGE_GO" &&
	try "programs trace themselves" trace_long_runs && try "and shortly" trace_short_runs; then
	try "generations and experiments" worth_comparing
	for trace in "$CORPUS"/runs/*.trace "$CORPUS/$JUDGE_GO"/v2/*.trace "$CORPUS/$JUDGE_GO"/v1/*; do
		try "$(basename "$trace" .trace)" same_events "$trace"
	done
	for version in 1.22 1.23 1.25 1.26; do
		try "recorded as $version" same_of_recording "$JUDGE_GO" --format-version $version
	done
	try "recorded in 64 ns ticks" same_of_recording "$JUDGE_GO" --tick 64ns
fi
ktap_end
