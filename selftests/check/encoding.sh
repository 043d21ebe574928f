#!/bin/bash
# Tests the program that compares encodings of events (selftests/encoding): it decodes all events of
# traces from each encoding as they were, in the number that `gotrace check` reports, for the traces
# of Go's own tests and a recorded one; and it rejects what is not a whole trace in one line.
# tier: all
# parallel
# timeout: 300
# depends on: Makefile include userspace selftests/encoding selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh
trial=build/selftests/encoding

# TRACE: its row has as many events as `gotrace stat` counts, CPU samples excepted
round_trip()
{
	local events

	events=$($READER stat --json "$1" | jq '.events - .samples') || return 1
	$trial -rounds 1 "$1" >"$tmp/table" || return 1
	echo "expected $events events:"
	cat "$tmp/table"
	[ "$(grep -cF "| $(basename "$1") |" "$tmp/table")" -eq 2 ] &&
		grep -qF "| $(basename "$1") | $events |" "$tmp/table"
}

corpus_round_trips() # all valid traces in the tests of Go's own reader
{
	local trace n=0

	for trace in "$CORPUS/$ORACLE_GO"/v2/*.trace; do
		$READER check "$trace" >/dev/null 2>&1 || continue
		round_trip "$trace" || { echo "$trace"; return 1; }
		n=$((n + 1))
	done
	echo "$n traces"
	[ $n -ge 20 ]
}

short_run() # of a program that traces itself; $short is the trace
{
	short=$tmp/short.trace
	start_target selftrace "$ORACLE_GO" -duration 500ms -trace "$short" && tell_target start &&
		expect_target done && stop_target
}

truncated() # within a batch
{
	head -c "$(($(stat -c %s "$short") - 100))" "$short" >"$tmp/truncated.trace" &&
		refused 1 '^trial: .*truncated\.trace: invalid trace.*ends' $trial "$tmp/truncated.trace"
}

unknown_event() # the last byte of the data of a batch with one event: its type is 200
{
	printf 'go 1.22 trace\0\0\0\1\1\1\1\2\10\1\1\1\1\1\1\310' >"$tmp/unknown.trace" &&
		refused 1 '^trial: .*unknown\.trace: event type 200 is unknown or truncated$' $trial "$tmp/unknown.trace"
}

old_trace()
{
	local trace

	trace=$(find "$CORPUS/$ORACLE_GO/v1" -type f | sort | head -n 1)
	refused 1 '^trial: .*: a trace of Go 1\.21 or older$' $trial "$trace"
}

wrong_usage()
{
	refused 2 '^usage: ' $trial && refused 2 '^usage: ' $trial -rounds 0 "$short" &&
		refused 2 '^usage: ' $trial -rounds 1000 "$short"
}

ktap_start
try "the reader builds" build_reader && try "Go's tests contain traces" extract_corpus "$ORACLE_GO" || ktap_end
try "a program traces itself" short_run
try "each event of it is the same in each encoding" round_trip "$short"
try "and of the traces in Go's tests" corpus_round_trips
try "a truncated trace is rejected" truncated
try "an unknown event is rejected" unknown_event
try "a trace of Go 1.21 is rejected" old_trace
try "a missing file is rejected" refused 1 '^trial: .*nothing: No such file or directory$' $trial "$tmp/nothing"
try "a wrong command line is rejected" wrong_usage
ktap_end
