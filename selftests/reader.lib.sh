# What the scripts that judge `gotrace` share: the traces it must read; read after lib.sh.

READER=build/gotrace
SANITIZED=build/san/gotrace
REFERENCE=build/reference
CORPUS=build/corpus

# One Go of each kind of trace that there is: each wrote something that the one before did not.
READER_GOS="go1.22.12 go1.23.12 go1.24.9 go1.25.3 $JUDGE_GO"

# Scripts that run beside each other build and extract one after the other.
build_reader() { locked build_reader_now; }
build_sanitized() { locked build_sanitized_now; }
extract_corpus() { locked extract_corpus_now "$@"; }
trace_long_runs() { locked trace_long_runs_now; }
trace_short_runs() { locked trace_short_runs_now; }

build_reader_now() # the reader, the judges, and the program that traces itself with each Go
{
	local go programs=()

	for go in $READER_GOS; do
		programs+=("build/targets/$go/selftrace" "build/targets/$go/pingpong")
	done
	make --no-print-directory "-j$(nproc)" TARGET_GOS="$READER_GOS" all reference "${programs[@]}"
}

build_sanitized_now() # the reader; what a sanitizer finds is not to look like a refusal
{
	export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99
	make --no-print-directory "-j$(nproc)" SAN=1 $SANITIZED
}

# GO...: takes the traces of these toolchains' own tests out of them: $CORPUS/GO/{v2,text,fuzz,v1}
extract_corpus_now()
{
	local go root

	for go in "$@"; do
		[ "$CORPUS/$go/extracted" -nt $REFERENCE/corpus ] && continue
		root=$(GOTOOLCHAIN=$go "${GO:-go}" env GOROOT) &&
			rm -rf "${CORPUS:?}/$go" && $REFERENCE/corpus -goroot "$root" -o "$CORPUS/$go" &&
			touch "$CORPUS/$go/extracted" || return 1
	done
}

# NAME GO PROGRAM [ARGUMENT...]: a program's trace of itself, $CORPUS/runs/NAME.trace, is made once and then kept,
# so that what is made of it stays the same from run to run
trace_run()
{
	local file=$CORPUS/runs/$1.trace program=build/targets/$2/$3
	shift 3

	[ -s "$file" ] && return
	mkdir -p "$CORPUS/runs"
	timeout 60 "$program" -trace "$file.partial" "$@" </dev/null >/dev/null && mv "$file.partial" "$file"
}

# Traces of a few generations, by each Go: $CORPUS/runs/long-GO.trace; and with the events of the
# allocator, which are experimental
trace_long_runs_now()
{
	local go

	for go in $READER_GOS; do
		trace_run "long-$go" "$go" selftrace -duration 1500ms || return 1
	done
	GODEBUG=traceallocfree=1 trace_run "allocfree-$JUDGE_GO" "$JUDGE_GO" selftrace -duration 100ms
}

# Small ones, to make mutants of: of one generation with every kind of event, of three with few
trace_short_runs_now()
{
	local go

	for go in $READER_GOS; do
		trace_run "short-$go" "$go" selftrace -duration 20ms &&
			trace_run "few-$go" "$go" pingpong -rate 100 -duration 2200ms || return 1
	done
}

# What mutants are made of: small traces, so that thousands of mutants are read in seconds
mutation_bases()
{
	local file

	for file in "$CORPUS/$JUDGE_GO"/{v2/*.trace,fuzz/*,v1/*} "$CORPUS"/runs/{short,few}-*.trace; do
		[[ $file == *.expect ]] || [ "$(stat -c %s "$file")" -gt 100000 ] || echo "$file"
	done
}

is_v1() # TRACE
{
	head -c 8 "$1" | grep -q '^go 1\.\([579]\|1[0-9]\|2[01]\) \?'
}

# OURS THEIRS: the same text; else the first lines that differ
same_text()
{
	local line

	cmp -s "$1" "$2" && return
	line=$(cmp "$1" "$2" 2>&1 | sed -n 's/.* line \([0-9]*\).*/\1/p')
	echo "first difference in line ${line:-behind the end of one}"
	echo "ours:   $(sed -n "${line:-\$}p" "$1" | head -c 1500)"
	echo "theirs: $(sed -n "${line:-\$}p" "$2" | head -c 1500)"
	return 1
}
