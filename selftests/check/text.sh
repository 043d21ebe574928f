#!/bin/bash
# `gotrace text` and `gotrace raw` against Go's own package raw: the same text of the same bytes and the same
# bytes of the same text, of golden and recorded traces, of broken ones, of all characters and of
# texts as nobody should write them. What is no trace, or no text, is refused in one line.
# beside others
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

judge=build/reference/rawtext
read -r text_mutants trace_mutants <<<"${MUTANTS:-800 300}"

# Go's package can be imported within Go's tree only: an overlay puts our program there.
build_judge()
{
	local root file overlay

	root=$(GOTOOLCHAIN=$JUDGE_GO "${GO:-go}" env GOROOT) &&
		printf '{ "Replace": { "%s": "%s" } }\n' "$root/src/cmd/rawtext/main.go" \
			"$PWD/selftests/reference/_text/main.go" >"$tmp/overlay.json" || return 1
	file=$PWD/$judge overlay=$PWD/$tmp/overlay.json
	(cd "$root/src/cmd" && GOTOOLCHAIN=$JUDGE_GO CGO_ENABLED=0 GOFLAGS='' \
		"${GO:-go}" build -overlay "$overlay" -o "$file" ./rawtext)
}

# OURS GO'S: Go leaves out the data of an empty string, so that its own reader can't read it again
same_but_empty()
{
	sed '/^\tdata=""$/d' "$1" >"$tmp/bare.txt" && same_text "$tmp/bare.txt" "$2"
}

# TEXT, canonical: its trace is Go's, and becomes this text again
golden()
{
	$READER raw "$1" -o "$tmp/our.trace" && $judge raw <"$1" >"$tmp/go.trace" &&
		cmp "$tmp/our.trace" "$tmp/go.trace" && $judge text <"$tmp/go.trace" >"$tmp/go.txt" &&
		$READER text "$tmp/our.trace" -o "$tmp/our.txt" && same_but_empty "$tmp/our.txt" "$tmp/go.txt" &&
		$READER raw "$tmp/our.txt" | cmp - "$tmp/go.trace"
}

# TRACE: the text is that of go tool trace, which begins without a header; back and forth it stays the same
recorded()
{
	{
		echo "Trace Go1.$(head -c 7 "$1" | tail -c 2)"
		GOTOOLCHAIN=$JUDGE_GO "${GO:-go}" tool trace -d=wire "$1"
	} >"$tmp/go.txt"
	$READER text "$1" >"$tmp/our.txt" && same_but_empty "$tmp/our.txt" "$tmp/go.txt" && golden "$tmp/our.txt" &&
		$READER text - <"$1" | cmp - "$tmp/our.txt" &&
		gzip -c "$1" | $READER text - | cmp - "$tmp/our.txt"
}

has_events() # NAME...: each of them is in the last text
{
	local name

	for name in "$@"; do
		grep -q "^$name " "$tmp/our.txt" || { echo "no $name"; return 1; }
	done
}

# Go's own Go 1.26 does not show the allocator's events in a trace of 1.23 or 1.25; ours does.
older_experiment() # VERSION
{
	sed "1s/.*/Trace Go1.$1/; /^ClockSnapshot\|^Sync\|^EndOfGeneration/d" "$tmp/our.txt" >"$tmp/older.txt" &&
		$READER raw "$tmp/older.txt" | $READER text - | cmp - "$tmp/older.txt"
}

characters()
{
	$judge characters >"$tmp/go.trace" && $judge text <"$tmp/go.trace" >"$tmp/go.txt" &&
		[ "$(wc -l <"$tmp/go.txt")" -gt 20000 ] &&
		$READER text "$tmp/go.trace" >"$tmp/our.txt" && same_but_empty "$tmp/our.txt" "$tmp/go.txt" &&
		$READER raw "$tmp/our.txt" | cmp - "$tmp/go.trace"
}

one_line() # FILE
{
	[ "$(wc -l <"$1")" -eq 1 ] && grep -q '^gotrace: .' "$1"
}

# NAME: a changed text, which Go makes NAME.trace of, or refuses
text_mutant()
{
	local status

	$READER raw "$1.txt" >"$tmp/out" 2>"$tmp/err"
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

	mkdir "$tmp/texts" && $judge mutants $text_mutants "$tmp/texts" "$CORPUS/$JUDGE_GO"/text/go12?-[csf]*.txt || return 1
	[ "$(find "$tmp/texts" -name '*.trace' | wc -l)" -gt $((text_mutants / 10)) ] || return 1
	for ((i = 0; i < text_mutants; i++)); do
		text_mutant "$tmp/texts/$i" && continue
		echo "$tmp/texts/$i.txt: Go: $(cat "$tmp/texts/$i.refused" 2>&1); ours: $(cat "$tmp/err")"
		bad=1
	done
	return $bad
}

# We showed it, and so did Go (but it leaves out the empty data of a string, which it then cannot read, and
# refuses the allocator's events in a trace of 1.23 or 1.25, which Go 1.24 and 1.25 wrote).
same_as_go() # GO'S STATUS
{
	if [ "$1" -eq 0 ]; then
		grep -v "^	data=\"\"\$" "$tmp/our.txt" | cmp - "$tmp/go.txt"
	else
		grep -q 'invalid event type: 1[23]' "$tmp/go.err"
	fi
}

# We refused it, and so did Go (but it takes the end of the file for that of the trace even in the midst of
# an event, and shows events that are none as an empty line).
refused_as_go() # GO'S STATUS
{
	[ "$1" -eq 1 ] || grep -q 'the trace ends within\|bytes of data; at most' "$tmp/err" ||
		grep -q '^$' "$tmp/go.txt"
}

# TRACE, a broken one: what we show becomes the trace again
trace_mutant()
{
	local ours theirs

	$READER text "$1" >"$tmp/our.txt" 2>"$tmp/err"
	ours=$?
	$judge text <"$1" >"$tmp/go.txt" 2>"$tmp/go.err"
	theirs=$?
	if [ $ours -eq 0 ]; then
		same_as_go $theirs && $READER raw "$tmp/our.txt" >"$tmp/our.trace" &&
			$READER text "$tmp/our.trace" | cmp - "$tmp/our.txt"
	else
		[ $ours -eq 1 ] && one_line "$tmp/err" && refused_as_go $theirs
	fi
}

trace_mutants()
{
	local trace bad=0 shown=0

	mkdir "$tmp/traces" && $REFERENCE/mutate -n $trace_mutants -o "$tmp/traces" "$CORPUS/$JUDGE_GO"/v2/go12?-[csf]*.trace \
		"$CORPUS/$JUDGE_GO"/v2/go122-annotations.trace || return 1
	for trace in "$tmp"/traces/*.trace; do
		trace_mutant "$trace" || { echo "$trace: $(cat "$tmp/err")"; bad=1; }
		[ ! -s "$tmp/err" ] && shown=$((shown + 1))
	done
	echo "$shown of $trace_mutants shown whole"
	[ $bad -eq 0 ] && [ $shown -gt $((trace_mutants / 10)) ]
}

cut_anywhere() # a short trace, each of its beginnings
{
	local trace=$CORPUS/$JUDGE_GO/v2/go122-syscall-steal-proc-simple.trace size

	for ((size = $(stat -c %s "$trace"); size >= 0; size--)); do
		head -c $size "$trace" >"$tmp/cut.trace"
		$READER text "$tmp/cut.trace" >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/err" ] ||
			one_line "$tmp/err" || { echo "$size bytes"; return 1; }
	done
}

# STATUS PATTERN VERB ARGUMENT...: one line that says this, in little memory
refused()
{
	local status=$1 pattern=$2 got
	shift 2

	(ulimit -v 100000; timeout 60 $READER "$@" >"$tmp/out" 2>"$tmp/err")
	got=$?
	cat "$tmp/err"
	[ $got -eq "$status" ] && one_line "$tmp/err" && grep -q -- "$pattern" "$tmp/err"
}

refused_from() # PATTERN VERB COMMAND...: what the command prints
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
	refused 1 'line 2' raw "$tmp/broken.txt" -o "$tmp/kept" --force && [ "$(cat "$tmp/kept")" = precious ] &&
		[ ! -e "$tmp/kept.partial" ]
}

# An existing file of another kind is replaced with --force only; what replaces it is for its owner only.
guards_other_files()
{
	local trace=$CORPUS/runs/long-$JUDGE_GO.trace

	$READER text "$trace" -o "$tmp/ours.txt" && $READER raw "$tmp/ours.txt" >"$tmp/made" &&
		echo "precious" >"$tmp/notes" || return 1
	refused 1 'notes: it exists and is no trace; --force replaces it$' \
		raw "$tmp/ours.txt" -o "$tmp/notes" && [ "$(cat "$tmp/notes")" = precious ] || return 1
	cp "$trace" "$tmp/copy" && refused 1 'no trace as text' text "$trace" -o "$tmp/copy" &&
		cmp "$trace" "$tmp/copy" && refused 1 'no description' describe -o "$tmp/copy" &&
		$READER raw "$tmp/ours.txt" -o "$tmp/notes" --force && cmp "$tmp/notes" "$tmp/made" &&
		chmod 644 "$tmp/notes" && $READER raw "$tmp/ours.txt" -o "$tmp/notes" &&
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
	try "an empty file is no trace" refused 1 'not a Go execution trace' text /dev/null
	try "an empty file is no text" refused 1 'line 1: no trace as text' raw /dev/null
	try "a text is no trace" refused 1 'not a Go execution trace' text "$tmp/broken.txt"
	try "a trace is no text" refused 1 'no trace as text' raw "$tmp/broken.trace"
	for v1 in "$CORPUS/go1.22.12"/v1/*_1_{5,10,21}_good; do
		try "$(basename "$v1") has no text" refused 1 'Go 1.21 or older has no text form' text "$v1"
	done
	try "nor has one of before" refused_from 'Go 1.21 or older has no text form' text printf 'gotrace\0\1\2\3'
	try "a version that there is not" refused_from 'says Go 1.24' text printf 'go 1.24 trace\0\0\0'
	try "a directory" refused 1 'is a directory' text "$tmp"
	try "no file" refused 1 'No such file' raw "$tmp/none"
	try "a line without end" refused_from 'line 2: a line of more than' raw long_line
	try "a stack without end" refused_from 'byte 16: the trace ends within this Stack' text endless_stack
	try "data without end" refused_from 'bytes of data' text printf 'go 1.22 trace\0\0\0\5\1\377\377\377\377\377\177'
	try "a full disk" refused 1 'cannot write' text "$1" -o /dev/full
	try "what is shown before an error" shows_before_error
	try "a broken text leaves nothing" leaves_nothing
	try "other files are replaced with --force only, and outputs are private" guards_other_files
	try "no file named" refused 2 'no FILE given' text
	try "two files named" refused 2 'one file at a time' text "$1" "$1"
	try "the same file twice" refused 2 'the same file' raw "$tmp/broken.txt" -o "$tmp/broken.txt"
}

ktap_start
if try "the reader builds" build_reader && try "the judge builds" build_judge &&
	try "the corpus is extracted" extract_corpus "$JUDGE_GO" go1.22.12 &&
	try "programs trace themselves" trace_long_runs; then
	for text in "$CORPUS/$JUDGE_GO"/text/*.txt "$CORPUS/go1.22.12"/text/*.txt; do
		try "golden: $(basename "$text" .txt)" golden "$text"
	done
	for trace in "$CORPUS"/runs/long-*.trace; do
		try "recorded: $(basename "$trace" .trace)" recorded "$trace"
	done
	try "recorded: experimental events" recorded "$CORPUS/runs/allocfree-$JUDGE_GO.trace"
	try "all of them" has_events Span SpanAlloc HeapObject HeapObjectFree GoroutineStackAlloc ExperimentalBatch
	try "experimental events of Go 1.25" older_experiment 25
	try "every character" characters
	try "$text_mutants changed texts" text_mutants
	try "$trace_mutants changed traces" trace_mutants
	try "a trace cut anywhere" cut_anywhere
	refusals "$CORPUS/runs/long-$JUDGE_GO.trace"
fi
ktap_end
