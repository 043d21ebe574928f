# Inputs and builds for the tests of `gotrace`; read after lib.sh.

READER=build/gotrace
SANITIZED=build/san/gotrace
REFERENCE=build/reference
CORPUS=build/corpus

# One Go release per kind of trace: each writes something that the one before does not.
between=$(in_all echo go1.23.12 go1.24.9 go1.25.3)
READER_GOS="go1.22.12 $between $ORACLE_GO"

# Parallel scripts build and extract one at a time.
build_reader() { locked once reader build_reader_now; }
# The reader; a sanitizer's report must not look like a rejected trace.
build_sanitized()
{
	export ASAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=exitcode=99
	locked once sanitized make --no-print-directory "-j$(nproc)" SAN=1 $SANITIZED
}

extract_corpus() { locked extract_corpus_now "$@"; }
trace_long_runs() { locked trace_long_runs_now; }
trace_short_runs() { locked trace_short_runs_now; }

build_reader_now() # the reader, the Go oracles, and the program that traces itself with each Go
{
	local go programs=()

	for go in $READER_GOS; do
		programs+=("build/targets/$go/selftrace" "build/targets/$go/pingpong")
	done
	make --no-print-directory "-j$(nproc)" TARGET_GOS="$READER_GOS" all reference "${programs[@]}"
}

# GO...: extracts the traces of these toolchains' own tests: $CORPUS/GO/{v2,text,fuzz,v1}
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

# NAME GO PROGRAM [ARGUMENT...]: a program's trace of itself, $CORPUS/runs/NAME.trace, is created
# once and then kept, so that results derived from it are reproducible
trace_run()
{
	local file=$CORPUS/runs/$1.trace program=build/targets/$2/$3
	shift 3

	[ -s "$file" ] && return
	mkdir -p "$CORPUS/runs"
	timeout 60 "$program" -trace "$file.partial" "$@" </dev/null >/dev/null && mv "$file.partial" "$file"
}

# Traces of a few generations, with each Go: $CORPUS/runs/long-GO.trace; and with the allocator's
# experimental events. With fewer system calls than by default, which were three of four events.
trace_long_runs_now()
{
	local go

	for go in $READER_GOS; do
		trace_run "long-$go" "$go" selftrace -duration 1500ms -least 250 $FEW_SYSCALLS || return 1
	done
	GODEBUG=traceallocfree=1 trace_run "allocfree-$ORACLE_GO" "$ORACLE_GO" selftrace -duration 100ms
}

# Small ones as bases of mutants: of one generation with every kind of event, of three with few
trace_short_runs_now()
{
	local go

	for go in $READER_GOS; do
		trace_run "short-$go" "$go" selftrace -duration 20ms &&
			trace_run "few-$go" "$go" pingpong -rate 100 -duration 2200ms || return 1
	done
}

# Bases of mutants: small traces, so that thousands of mutants are read in seconds
mutation_bases()
{
	local file

	for file in "$CORPUS/$ORACLE_GO"/{v2/*.trace,fuzz/*,v1/*} "$CORPUS"/runs/{short,few}-*.trace; do
		[[ $file == *.expect ]] || [ "$(stat -c %s "$file")" -gt 100000 ] || echo "$file"
	done
}

is_v1() # TRACE
{
	head -c 8 "$1" | grep -q '^go 1\.\([579]\|1[0-9]\|2[01]\) \?'
}

# OURS THEIRS: the same text; else prints the first lines that differ
same_text()
{
	local line

	cmp -s "$1" "$2" && return
	line=$(cmp "$1" "$2" 2>&1 | sed -n 's/.* line \([0-9]*\).*/\1/p')
	echo "first difference in line ${line:-after the end of one}"
	echo "ours:   $(sed -n "${line:-\$}p" "$1" | head -c 1500)"
	echo "theirs: $(sed -n "${line:-\$}p" "$2" | head -c 1500)"
	return 1
}

# TRACE OUTPUT: the trace as an older recorder wrote it, without the rate of CPU samples: the record has a kind that
# is unknown
without_rate()
{
	$READER text "$1" >"$tmp/rate.text" && grep -q 'gotrace-bpf/1 \\x10' "$tmp/rate.text" &&
		sed -i 's:\(gotrace-bpf/1 \)\\x10:\1\\x7f:' "$tmp/rate.text" && $READER assemble "$tmp/rate.text" -o "$2" && $READER check "$2"
}
