#!/bin/bash
# Compares the event table with Go's: each event's number, name, versions, arguments and their
# types, and the limits, from `gotrace describe --json` and from the sources of the toolchain
# $ORACLE_GO. Also tests each output form of `gotrace describe`.
# parallel
# timeout: 120
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"

describe="timeout 20 build/gotrace describe"

gos_table()
{
	local root
	root=$(GOTOOLCHAIN=$ORACLE_GO "${GO:-go}" env GOROOT) && build/reference/spec "$root" >"$tmp/go"
}

# The same lines that build/reference/spec prints, from gotrace's table.
our_table()
{
	$describe --json >"$tmp/own.json" && jq -r '
		def go_type: {"goroutine": "g", "thread": "m", "P": "p", "counter": "seq",
			"string id": "string", "stack": "stack", "task": "task"}[.type] //
			(if .type == "status" then .name else "number" end);
		def places(type): "[\([.layout.arguments | to_entries[] |
			select(.value.type == type) | .key | tostring] | join(" "))]";
		"limit \(.limits.batch, .limits.string, .limits.stack, .limits.arguments)",
		(.events[] | "\(.type) \(.name) since=\(.layout.since) until=\(.layout.until)" +
			" timed=\(.layout.timed) data=\(.layout.data) frames=\(.layout.frames)" +
			" experiment=\(.layout.experiment // "") start=\(.layout.start // "")" +
			" args=\([.layout.arguments[] | "\(.name):\(go_type)"] | join(","))" +
			" stacks=\(places("stack")) strings=\(places("string id"))")' \
		"$tmp/own.json" >"$tmp/own"
}

same_table()
{
	[ "$(grep -c '^[0-9]' "$tmp/go")" -eq 61 ] && diff "$tmp/go" "$tmp/own"
}

text_form() # one paragraph per event, with its description
{
	$describe >"$tmp/text" && grep -qx ' 14  GoCreate (control; Go 1.22 to 1.26)' "$tmp/text" &&
		grep -qx '  *new_stack  *stack  *start of the new goroutine' "$tmp/text" &&
		[ "$(grep -c '^ *[0-9]*  [A-Z].*Go 1.2[2356] to 1.26' "$tmp/text")" -eq 61 ]
}

binary_form()
{
	$describe --binary -o "$tmp/table" && $describe --binary | cmp - "$tmp/table" &&
		[ "$(od -An -tu1 -N1 "$tmp/table" | tr -d ' ')" -eq 0 ] &&
		[ "$(od -An -tu4 -j1 -N4 "$tmp/table" | tr -d ' ')" -eq $(($(stat -c %s "$tmp/table") - 5)) ]
}

# gotrace's table with an additional, unknown event named Fancy.
longer_table()
{
	local row='\x3c\x21\x00\x00\x00\x05\x00Fancy\x0c\x00It is fancy.\x00\x01\x00\x00\x00\x01\x00\x01\x00n\x00\x00'
	local size

	size=$(($(stat -c %s "$tmp/table") - 5 + 38))
	printf %b "\\x00\\x$(printf %02x $((size % 256)))\\x$(printf %02x $((size / 256)))\\x00\\x00\\x3e"
	tail -c +7 "$tmp/table"
	printf %b "$row"
}

# TABLE: a trace that has TABLE as private data, in strings of at most 1024 bytes
trace_with()
{
	local size parts part n len=1

	size=$(stat -c %s "$1")
	parts=$(((size + 899) / 900))
	for ((part = 0; part < parts; part++)); do
		n=$((18 + (part + 1 < parts ? 900 : size - part * 900)))
		len=$((len + 2 + (n > 127 ? 2 : 1) + n))
	done
	{
		echo "Trace Go1.22"
		echo "EventBatch gen=1 m=1 time=0 size=6"
		echo "Frequency freq=1000000000"
		echo "EventBatch gen=1 m=1 time=0 size=4"
		echo "ProcStatus dt=0 p=0 pstatus=2"
		echo "EventBatch gen=1 m=1 time=0 size=$len"
		echo "Strings"
		for ((part = 0; part < parts; part++)); do
			printf 'String id=%d\n\tdata="\\x00gotrace-bpf/1 \\x04\\x%02x\\x%02x%s"\n' $((part + 1)) \
				$part $((part + 1 < parts)) "$(tail -c +$((part * 900 + 1)) "$1" |
					head -c 900 | od -An -v -tx1 | tr -d '\n' | sed 's/ /\\x/g')"
		done
	} | timeout 20 build/gotrace assemble -
}

of_a_file()
{
	trace_with "$tmp/table" >"$tmp/own.trace" && $describe "$tmp/own.trace" --binary | cmp - "$tmp/table" &&
		$describe "$tmp/own.trace" --json |
		jq -e --slurpfile own "$tmp/own.json" '. == ($own[0] | del(.limits, .events[].layout))'
}

unknown_event()
{
	longer_table >"$tmp/longer" && trace_with "$tmp/longer" >"$tmp/longer.trace" &&
		$describe "$tmp/longer.trace" >"$tmp/text" &&
		grep -qx ' 60  Fancy (instant, goroutine; not supported by this version of gotrace)' "$tmp/text" &&
		grep -qx ' *It is fancy.' "$tmp/text" &&
		[ "$($describe "$tmp/longer.trace" --json | jq -c '[.events[] | select(.known | not)]')" = \
			'[{"type":60,"name":"Fancy","description":"It is fancy.","known":false,"descriptive":true,"scope":"goroutine","class":"instant","arguments":[{"name":"n","type":"uint","description":""}]}]' ]
}

cut_table()
{
	head -c 3000 "$tmp/table" >"$tmp/cut" && trace_with "$tmp/cut" >"$tmp/cut.trace" &&
		refused 1 'truncated event table' "$tmp/cut.trace"
}

# STATUS PATTERN ARGUMENT...: one line on standard error, nothing on standard output
refused()
{
	local status=$1 pattern=$2
	shift 2

	$describe "$@" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq "$status" ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -q "$pattern" "$tmp/err"
}

ktap_start 13
try "Go's table" gos_table
try "our table, as JSON" our_table
try "they are the same" same_table
try "text form" text_form
try "binary form" binary_form
try "the table of a trace" of_a_file
try "the table of a trace with an unknown event" unknown_event
try "a truncated table" cut_table
try "two forms at once are refused" refused 2 'cannot be combined' --json --binary
try "two files are refused" refused 2 'only one file is accepted' /dev/null /dev/zero
try "a missing file" refused 1 'o such file' "$tmp/none"
try "not a trace" refused 1 'not a Go execution trace' /dev/null
printf 'go 1.22 trace\0\0\0\1\1\1\0\2\10\1\1\1\1\0\4\15\0\0\2' >"$tmp/bare.trace"
try "a trace without a table" refused 1 'contains no event descriptions' "$tmp/bare.trace"
ktap_end
