#!/bin/bash
# Our event table against Go's: each event's number, name, versions, arguments and their types, and the
# limits, as `gotrace describe --json` shows ours and the sources of the judge's toolchain have theirs. And
# each form of `gotrace describe`.
# beside others
# timeout: 120
. "$(dirname "$0")/../lib.sh"

describe="timeout 20 build/gotrace describe"

gos_table()
{
	local root
	root=$(GOTOOLCHAIN=$JUDGE_GO "${GO:-go}" env GOROOT) && build/reference/spec "$root" >"$tmp/go"
}

# The lines that build/reference/spec prints, of our table.
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

text_form() # a paragraph an event, each with its sentence
{
	$describe >"$tmp/text" && grep -qx ' 14  GoCreate (control; Go 1.22 to 1.26)' "$tmp/text" &&
		grep -qx '  *new_stack  *stack  *where the new goroutine begins' "$tmp/text" &&
		[ "$(grep -c '^ *[0-9]*  [A-Z].*Go 1.2[2356] to 1.26' "$tmp/text")" -eq 61 ]
}

binary_form()
{
	$describe --binary -o "$tmp/table" && $describe --binary | cmp - "$tmp/table" &&
		[ "$(od -An -tu1 -N1 "$tmp/table" | tr -d ' ')" -eq 0 ] &&
		[ "$(od -An -tu4 -j1 -N4 "$tmp/table" | tr -d ' ')" -eq $(($(stat -c %s "$tmp/table") - 5)) ]
}

# Our table with one event more than we know: its name is Fancy.
longer_table()
{
	local row='\x3c\x21\x00\x00\x00\x05\x00Fancy\x0c\x00It is fancy.\x00\x01\x00\x00\x00\x01\x00\x01\x00n\x00\x00'
	local size

	size=$(($(stat -c %s "$tmp/table") - 5 + 38))
	printf "\\x00\\x$(printf %02x $((size % 256)))\\x$(printf %02x $((size / 256)))\\x00\\x00\\x3e"
	tail -c +7 "$tmp/table"
	printf "$row"
}

# TABLE: a trace that has it as private data, in strings of at most 1024 bytes
trace_with()
{
	local size=$(stat -c %s "$1") parts part n len=1

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
	} | timeout 20 build/gotrace raw -
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
		grep -qx ' 60  Fancy (instant, goroutine; not known to this gotrace)' "$tmp/text" &&
		grep -qx ' *It is fancy.' "$tmp/text" &&
		[ "$($describe "$tmp/longer.trace" --json | jq -c '[.events[] | select(.known | not)]')" = \
			'[{"type":60,"name":"Fancy","description":"It is fancy.","known":false,"descriptive":true,"scope":"goroutine","class":"instant","arguments":[{"name":"n","type":"uint","description":""}]}]' ]
}

cut_table()
{
	head -c 3000 "$tmp/table" >"$tmp/cut" && trace_with "$tmp/cut" >"$tmp/cut.trace" &&
		refused 1 'event table is cut off' "$tmp/cut.trace"
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
try "as text" text_form
try "as binary" binary_form
try "of a trace" of_a_file
try "of a trace with an event that we do not know" unknown_event
try "a broken table" cut_table
try "two forms at once are refused" refused 2 'not both' --json --binary
try "two files are refused" refused 2 'one trace at a time' /dev/null /dev/zero
try "no file" refused 1 'o such file' "$tmp/none"
try "a file that is no trace" refused 1 'no Go execution trace' /dev/null
printf 'go 1.22 trace\0\0\0\1\1\1\0\2\10\1\1\1\1\0\4\15\0\0\2' >"$tmp/bare.trace"
try "a trace without a table" refused 1 'does not describe its events' "$tmp/bare.trace"
ktap_end
