#!/bin/bash
# Compares `gotrace text` and `gotrace assemble` with Go's own package raw: the same text for the
# same bytes and the same bytes for the same text, for golden and recorded traces, corrupt ones, all
# characters and unusual forms of text. Input that is not a trace, or not a trace in text form, is
# rejected in one line.
# tier: all
# parallel
# timeout: 900
# long: 3600
# depends on: Makefile include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

oracle=build/reference/rawtext
read -r text_mutants trace_mutants <<<"${MUTANTS:-$(by_tier "800 300" "800 300" "10000 5000")}"

# Go's package is internal and can be imported only within Go's tree: an overlay puts the program
# there.
build_oracle()
{
	local root file overlay

	root=$(GOTOOLCHAIN=$ORACLE_GO "${GO:-go}" env GOROOT) &&
		printf '{ "Replace": { "%s": "%s" } }\n' "$root/src/cmd/rawtext/main.go" \
			"$PWD/selftests/reference/_text/main.go" >"$tmp/overlay.json" || return 1
	file=$PWD/$oracle overlay=$PWD/$tmp/overlay.json
	(cd "$root/src/cmd" && GOTOOLCHAIN=$ORACLE_GO CGO_ENABLED=0 GOFLAGS='' \
		"${GO:-go}" build -overlay "$overlay" -o "$file" ./rawtext)
}

# OURS GO'S: Go omits the data of an empty string, so that its own reader cannot read it again
same_but_empty()
{
	sed '/^\tdata=""$/d' "$1" >"$tmp/bare.txt" && same_text "$tmp/bare.txt" "$2"
}

# TEXT, canonical: its trace equals Go's, and converts back to this text
golden()
{
	$READER assemble "$1" -o "$tmp/our.trace" && $oracle raw <"$1" >"$tmp/go.trace" &&
		cmp "$tmp/our.trace" "$tmp/go.trace" && $oracle text <"$tmp/go.trace" >"$tmp/go.txt" &&
		$READER text "$tmp/our.trace" -o "$tmp/our.txt" && same_but_empty "$tmp/our.txt" "$tmp/go.txt" &&
		$READER assemble "$tmp/our.txt" | cmp - "$tmp/go.trace"
}

# TRACE: the text equals that of go tool trace, which lacks the header; converting back and forth
# keeps it
recorded()
{
	{
		echo "Trace Go1.$(head -c 7 "$1" | tail -c 2)"
		go_trace "$ORACLE_GO" -d=wire "$1"
	} >"$tmp/go.txt"
	$READER text "$1" >"$tmp/our.txt" && same_but_empty "$tmp/our.txt" "$tmp/go.txt" && golden "$tmp/our.txt" &&
		$READER text - <"$1" | cmp - "$tmp/our.txt" &&
		gzip -c "$1" | $READER text - | cmp - "$tmp/our.txt"
}

has_events() # NAME...: each one is in the last text
{
	local name

	for name in "$@"; do
		grep -q "^$name " "$tmp/our.txt" || { echo "no $name"; return 1; }
	done
}

# Go 1.26's own tool does not show the allocator's events in a trace of 1.23 or 1.25; gotrace does.
older_experiment() # VERSION
{
	sed "1s/.*/Trace Go1.$1/; /^ClockSnapshot\|^Sync\|^EndOfGeneration/d" "$tmp/our.txt" >"$tmp/older.txt" &&
		$READER assemble "$tmp/older.txt" | $READER text - | cmp - "$tmp/older.txt"
}

characters()
{
	$oracle characters >"$tmp/go.trace" && $oracle text <"$tmp/go.trace" >"$tmp/go.txt" &&
		[ "$(wc -l <"$tmp/go.txt")" -gt 20000 ] &&
		$READER text "$tmp/go.trace" >"$tmp/our.txt" && same_but_empty "$tmp/our.txt" "$tmp/go.txt" &&
		$READER assemble "$tmp/our.txt" | cmp - "$tmp/go.trace"
}

one_line() # FILE
{
	[ "$(wc -l <"$1")" -eq 1 ] && grep -q '^gotrace: .' "$1"
}

# NAME: a mutated text, which Go assembles to NAME.trace, or rejects
text_mutant()
{
	local status

	$READER assemble "$1.txt" >"$tmp/out" 2>"$tmp/err"
	status=$?
	if [ -e "$1.trace" ]; then
		[ $status -eq 0 ] && cmp "$tmp/out" "$1.trace" && [ ! -s "$tmp/err" ]
	else
		[ $status -eq 1 ] && one_line "$tmp/err"
	fi
}

text_mutants()
{
	local i bad=0

	mkdir "$tmp/texts" && $oracle mutants $text_mutants "$tmp/texts" "$CORPUS/$ORACLE_GO"/text/go12?-[csf]*.txt || return 1
	[ "$(find "$tmp/texts" -name '*.trace' | wc -l)" -gt $((text_mutants / 10)) ] || return 1
	for ((i = 0; i < text_mutants; i++)); do
		text_mutant "$tmp/texts/$i" && continue
		echo "$tmp/texts/$i.txt: Go: $(cat "$tmp/texts/$i.refused" 2>&1); ours: $(cat "$tmp/err")"
		bad=1
	done
	return $bad
}

# gotrace showed it, and so did Go (except that Go omits the empty data of a string, which it then
# cannot read, and rejects the allocator's events in a trace of 1.23 or 1.25, which Go 1.24 and 1.25
# wrote).
same_as_go() # GO'S STATUS
{
	if [ "$1" -eq 0 ]; then
		grep -v "^	data=\"\"\$" "$tmp/our.txt" | cmp - "$tmp/go.txt"
	else
		grep -q 'invalid event type: 1[23]' "$tmp/go.err"
	fi
}

# gotrace rejected it, and so did Go (except that Go accepts the end of the file in the middle of an
# event as the end of the trace, and shows invalid events as an empty line).
refused_as_go() # GO'S STATUS
{
	[ "$1" -eq 1 ] || grep -q 'the trace ends within\|bytes of data; the limit' "$tmp/err" ||
		grep -q '^$' "$tmp/go.txt"
}

# TRACE, a corrupt one: the text shown for it assembles to the trace again
trace_mutant()
{
	local ours theirs

	$READER text "$1" >"$tmp/our.txt" 2>"$tmp/err"
	ours=$?
	$oracle text <"$1" >"$tmp/go.txt" 2>"$tmp/go.err"
	theirs=$?
	if [ $ours -eq 0 ]; then
		same_as_go $theirs && $READER assemble "$tmp/our.txt" >"$tmp/our.trace" &&
			$READER text "$tmp/our.trace" | cmp - "$tmp/our.txt"
	else
		[ $ours -eq 1 ] && one_line "$tmp/err" && refused_as_go $theirs
	fi
}

trace_mutants()
{
	local trace bad=0 shown=0

	mkdir "$tmp/traces" && $REFERENCE/mutate -n $trace_mutants -o "$tmp/traces" "$CORPUS/$ORACLE_GO"/v2/go12?-[csf]*.trace \
		"$CORPUS/$ORACLE_GO"/v2/go122-annotations.trace || return 1
	for trace in "$tmp"/traces/*.trace; do
		trace_mutant "$trace" || { echo "$trace: $(cat "$tmp/err")"; bad=1; }
		[ ! -s "$tmp/err" ] && shown=$((shown + 1))
	done
	echo "$shown of $trace_mutants shown whole"
	[ $bad -eq 0 ] && [ $shown -gt $((trace_mutants / 10)) ]
}

cut_anywhere() # a short trace, each of its prefixes
{
	local trace=$CORPUS/$ORACLE_GO/v2/go122-syscall-steal-proc-simple.trace size

	for ((size = $(stat -c %s "$trace"); size >= 0; size--)); do
		head -c $size "$trace" >"$tmp/cut.trace"
		$READER text "$tmp/cut.trace" >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/err" ] ||
			one_line "$tmp/err" || { echo "$size bytes"; return 1; }
	done
}

# STATUS PATTERN VERB ARGUMENT...: one line that matches PATTERN, in little memory
refused()
{
	local status=$1 pattern=$2 got
	shift 2

	(ulimit -v 100000; timeout 60 $READER "$@" >"$tmp/out" 2>"$tmp/err")
	got=$?
	cat "$tmp/err"
	[ $got -eq "$status" ] && one_line "$tmp/err" && grep -q -- "$pattern" "$tmp/err"
}

refused_from() # PATTERN VERB COMMAND...: on the output of the command
{
	local pattern=$1 verb=$2
	shift 2

	refused 1 "$pattern" "$verb" - < <("$@" 2>/dev/null)
}

long_line()
{
	printf 'Trace Go1.22\nGoStop '
	head -c 1000000000 /dev/zero | tr '\0' ' '
}

endless_stack()
{
	printf 'go 1.22 trace\0\0\0\3\1\377\377\377\377\377\377\377\377\177'
	head -c 3000000 /dev/zero
}

leaves_nothing()
{
	echo "precious" >"$tmp/kept"
	refused 1 'line 2' assemble "$tmp/broken.txt" -o "$tmp/kept" --force && [ "$(cat "$tmp/kept")" = precious ] &&
		[ ! -e "$tmp/kept.partial" ]
}

# An existing file of another kind is replaced with --force only; the new file is private to its
# owner.
guards_other_files()
{
	local trace=$CORPUS/runs/long-$ORACLE_GO.trace

	$READER text "$trace" -o "$tmp/ours.txt" && $READER assemble "$tmp/ours.txt" >"$tmp/made" &&
		echo "precious" >"$tmp/notes" || return 1
	refused 1 'notes: it exists and is not a trace; use --force to replace it$' \
		assemble "$tmp/ours.txt" -o "$tmp/notes" && [ "$(cat "$tmp/notes")" = precious ] || return 1
	cp "$trace" "$tmp/copy" && refused 1 'not a trace in text form' text "$trace" -o "$tmp/copy" &&
		cmp "$trace" "$tmp/copy" && refused 1 'is not a description' describe -o "$tmp/copy" &&
		$READER assemble "$tmp/ours.txt" -o "$tmp/notes" --force && cmp "$tmp/notes" "$tmp/made" &&
		chmod 644 "$tmp/notes" && $READER assemble "$tmp/ours.txt" -o "$tmp/notes" &&
		[ "$(stat -c %a "$tmp/notes" "$tmp/ours.txt" | sort -u)" = 600 ]
}

shows_before_error()
{
	refused 1 'byte 18: a trace of Go 1.22 has no event of type 45' text "$tmp/broken.trace" &&
		[ "$(cat "$tmp/out")" = $'Trace Go1.22\nStrings\nStrings' ]
}

refusals()
{
	local v1

	printf 'Trace Go1.22\nNoEvent\n' >"$tmp/broken.txt"
	printf 'go 1.22 trace\0\0\0\4\4\55' >"$tmp/broken.trace"
	try "an empty file is not a trace" refused 1 'not a Go execution trace' text /dev/null
	try "an empty file is not a text" refused 1 'line 1: not a trace in text form' assemble /dev/null
	try "a text is not a trace" refused 1 'not a Go execution trace' text "$tmp/broken.txt"
	try "a trace is not a text" refused 1 'not a trace in text form' assemble "$tmp/broken.trace"
	for v1 in "$CORPUS/go1.22.12"/v1/*_1_{5,10,21}_good; do
		try "$(basename "$v1") has no text form" refused 1 'Go 1.21 and older have no text form' text "$v1"
	done
	try "a trace without a version has no text form" refused_from 'Go 1.21 and older have no text form' text printf 'gotrace\0\1\2\3'
	try "a nonexistent version" refused_from 'unknown trace version Go 1.24' text printf 'go 1.24 trace\0\0\0'
	try "a directory" refused 1 'is a directory' text "$tmp"
	try "a missing file" refused 1 'No such file' assemble "$tmp/none"
	try "a line without end" refused_from 'line 2: a line of more than' assemble long_line
	try "a stack without end" refused_from 'byte 16: the trace ends within this Stack' text endless_stack
	try "data without end" refused_from 'bytes of data' text printf 'go 1.22 trace\0\0\0\5\1\377\377\377\377\377\177'
	try "a full disk" refused 1 'cannot write' text "$1" -o /dev/full
	try "text printed before an error" shows_before_error
	try "a corrupt text leaves no file" leaves_nothing
	try "other files are replaced with --force only, and outputs are private" guards_other_files
	try "no file argument" refused 2 'missing argument FILE' text
	try "two file arguments" refused 2 'only one file is accepted' text "$1" "$1"
	try "the same file twice" refused 2 'the same file' assemble "$tmp/broken.txt" -o "$tmp/broken.txt"
}

ktap_start
if try "the reader builds" build_reader && try "Go's package raw builds" build_oracle &&
	try "the corpus is extracted" extract_corpus "$ORACLE_GO" go1.22.12 &&
	try "programs trace themselves" trace_long_runs; then
	for text in "$CORPUS/$ORACLE_GO"/text/*.txt "$CORPUS/go1.22.12"/text/*.txt; do
		try "golden: $(basename "$text" .txt)" golden "$text"
	done
	for trace in "$CORPUS"/runs/long-*.trace; do
		try "recorded: $(basename "$trace" .trace)" recorded "$trace"
	done
	try "recorded: experimental events" recorded "$CORPUS/runs/allocfree-$ORACLE_GO.trace"
	try "all experimental events" has_events Span SpanAlloc HeapObject HeapObjectFree GoroutineStackAlloc ExperimentalBatch
	try "experimental events of Go 1.25" older_experiment 25
	try "every character" characters
	try "$text_mutants mutated texts" text_mutants
	try "$trace_mutants mutated traces" trace_mutants
	try "a trace truncated anywhere" cut_anywhere
	refusals "$CORPUS/runs/long-$ORACLE_GO.trace"
fi
ktap_end
