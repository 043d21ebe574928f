#!/bin/bash
# A short form of `make bench`: each table has all of its rows, and each figure is there and plausible.
# No figure is compared with a limit: the machine may be busy.
# tier: all
# timeout: 900
# depends on: Makefile bpf include userspace selftests/bench selftests/reference selftests/targets selftests/servers
. "$(dirname "$0")/../lib.sh"

short=(RUNS=1 DURATION=200ms ROUNDS=2 IDLE_RUNS=1 CALLS=2000 BENCH_SERVERS=pair MEASURE_SECONDS=1
	READER_MB=2 LONG_GENERATIONS=10 LONG_BYTES=100000)
number='[0-9]+(\.[0-9]+)?' positive='[0-9.]*[1-9][0-9.]*' signed='-?[0-9]+'
three="\| $positive \| $positive \| $positive \|"

rows_of() # TITLE: of the table whose title or heading matches
{
	awk -v title="$1" '
		$0 ~ title { found = 1; next }
		found && /^\|---/ { inside = 1; next }
		inside && !/^\|/ { exit }
		inside { print }' "$tmp/bench"
}

# TITLE COUNT PATTERN: so many rows, and after its name each matches the pattern
table()
{
	rows_of "$1" >"$tmp/rows"
	cat "$tmp/rows"
	[ "$(wc -l <"$tmp/rows")" -eq "$2" ] && ! grep -vE "^\| [^|]+ $3\$" "$tmp/rows"
}

# Columns 2 to 4 are a minimum, a median and a maximum.
in_order() { awk -F '|' '$3 > $4 + 0 || $4 > $5 + 0 { bad = 1 } END { exit bad }' "$tmp/rows"; }

ordered_table() { table "$@" && in_order; }

# TITLE FROM TO: in these rows, the last column is positive: a probe costs time
traced_costs()
{
	rows_of "$1" | sed -n "$2,$3p" | awk -F '|' '{ n++; print } $(NF - 1) <= 0 { bad = 1 } END { exit bad || !n }'
}

calls_cost() # more than calls that are not recorded
{
	table '^CPU time of the target for a call' 2 "\| $number \| $positive \| $positive \|" &&
		awk -F '|' '$4 <= $3 + 0 || $5 <= $3 + 0 { bad = 1 } END { exit bad }' "$tmp/rows"
}

kernel_events() # only in the second row
{
	table '^Size of the trace' 2 "\| $positive \| $number \| $positive \| $positive, (-|$positive) \|" &&
		awk -F '|' '(NR == 1) != ($4 == 0) { bad = 1 } END { exit bad }' "$tmp/rows"
}

servers()
{
	local us="$positive $positive $positive"

	table '^pair, ' 11 "\| $us \| $number \| $us \| $number \| $number \| $number \|" &&
		grep -qE '^\| untraced \|.*\| 1\.00 \|.*\| 1\.00 \| 1\.00 \| 1\.00 \|$' "$tmp/rows" &&
		jq -e 'length == 11 and all(.[]; .rounds == 1)' "$tmp/servers.json" && grep -q '</svg>' "$tmp/servers.svg"
}

closing_line()
{
	grep -E "^check: $positive times x/exp/trace; text: $positive times -d=wire\. Largest generation $number MiB; peak memory of check -j 1 $positive MiB, of -j 2 $positive MiB, of goroutines $positive MiB\.$" "$tmp/bench"
}

short_bench()
{
	make --no-print-directory bench "${short[@]}" SERVERS_OUT="$PWD/$tmp/servers" >"$tmp/bench" 2>"$tmp/err"
	local status=$?

	cat "$tmp/bench" "$tmp/err"
	return $status
}

ktap_start
trip='^CPU time of the target for a channel round trip'
if try "a short make bench" short_bench; then
	try "a channel round trip" ordered_table "$trip" 10 "$three $signed \|"
	try "a round trip of a program with uprobes takes longer" traced_costs "$trip" 3 7
	try "a process that is not traced" table '^CPU time of a process that is not traced' 4 \
		"\| $positive \| $positive \| $signed \| $signed \|"
	try "the size of a trace" kernel_events
	try "attaching" ordered_table '^Time to attach' 2 "$three"
	try "merging" table '^CPU time for merging' 4 "\| $positive \|"
	try "analysing a program" ordered_table '^Time to analyse' 2 "$three"
	try "a call of a function" calls_cost
	try "a server and its client" servers
	try "events per CPU second" ordered_table 'millions of events per CPU second' 6 "$three"
	try "events per second" ordered_table 'millions of events per second of wall time' 2 "$three"
	try "text per CPU second" ordered_table 'MB of text per CPU second' 2 "$three"
	try "one second of a long trace" ordered_table 'ms of wall time' 2 "$three"
	try "the ratios and the memory" closing_line
fi
ktap_end
