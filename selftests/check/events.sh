#!/bin/bash
# Tests that `gotrace events` delivers the same as Go's reader: the same events in the same order,
# with the same times, contexts, arguments, names and stacks, byte for byte in the canonical text
# (CANONICAL.md). Input: traces of real programs of each Go release with a trace format of its own,
# Go's golden traces, recordings of gotrace-bpf, and v1 traces.
# tier: all
# parallel
# timeout: 1200
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

# TRACE: also a rejected one, up to the error
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

# TRACE: each member of the JSON, printed as canonical text by another program
same_json()
{
	$READER events --json --stacks "$1" | python3 selftests/canonical.py events >"$tmp/ours.txt" &&
		$REFERENCE/events "$1" | sed 's/ transition_stack=\[-\]//' >"$tmp/theirs.txt" && [ -s "$tmp/theirs.txt" ] &&
		same_text "$tmp/ours.txt" "$tmp/theirs.txt" && same_types "$1"
}

# TRACE: as many of each type as in the file, and the generations. The two events behind a switch are derived.
same_types()
{
	go_trace "$ORACLE_GO" -d=wire "$1" >"$tmp/wire" || return 1
	$READER events --json "$1" | jq -r '.event' | awk 'skip { skip--; next } /^GoSwitch/ { skip = 2 } $1 != "Sync"' |
		sort | uniq -c >"$tmp/ours.txt"
	sed -n 's/^\([A-Z][A-Za-z]*\).*/\1/p' "$tmp/wire" | grep -vxE \
		'Trace|EventBatch|Stacks?|Strings?|CPUSamples|Frequency|Sync|ClockSnapshot|ExperimentalBatch|EndOfGeneration' |
		sort | uniq -c >"$tmp/theirs.txt"
	same_text "$tmp/ours.txt" "$tmp/theirs.txt" || return 1
	$READER events --json "$1" | jq '.generation // empty' >"$tmp/ours.txt"
	sed -n 's/^EventBatch gen=\([0-9]*\).*/\1/p' "$tmp/wire" | uniq >"$tmp/theirs.txt"
	same_text "$tmp/ours.txt" "$tmp/theirs.txt"
}

# The traces have the features that they are meant to cover.
worth_comparing()
{
	local go

	for go in $READER_GOS; do
		[ "$($REFERENCE/events "$CORPUS/runs/long-$go.trace" | grep -c '	Sync	')" -ge 3 ] ||
			{ echo "long-$go: one generation"; return 1; }
	done
	$REFERENCE/events "$CORPUS/runs/allocfree-$ORACLE_GO.trace" | grep -q '	Experimental	'
}

# GO OPTION...: a recording of a real program by gotrace-bpf
same_of_recording()
{
	local go=$1
	shift

	record_target selftrace "$go" "$*" -duration 1200ms $FEW_SYSCALLS && same_events "$RECORDED"
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$ORACLE_GO" &&
	try "programs trace themselves" trace_long_runs && try "programs trace short runs" trace_short_runs; then
	try "traces have several generations and experiments" worth_comparing
	for trace in "$CORPUS"/runs/*.trace "$CORPUS/$ORACLE_GO"/v2/*.trace "$CORPUS/$ORACLE_GO"/v1/*; do
		try "$(basename "$trace" .trace)" same_events "$trace"
	done
	for trace in "$CORPUS"/runs/{short-*,allocfree-*}.trace "$CORPUS/$ORACLE_GO"/v2/go122-annotations*.trace; do
		try "$(basename "$trace" .trace): JSON" same_json "$trace"
	done
	for version in 1.22 1.23 1.25 1.26; do
		try "recorded as $version" same_of_recording "$ORACLE_GO" --format-version $version
	done
	try "recorded in 64 ns ticks" same_of_recording "$ORACLE_GO" --tick 64ns
fi
ktap_end
