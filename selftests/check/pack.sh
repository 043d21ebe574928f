#!/bin/bash
# Tests `gotrace pack` and `gotrace unpack`: each trace is returned byte for byte and takes at most half
# the space of zstd -9; every command of --help prints the same for the packed trace as for the trace
# itself, also with an index, for a trace of Go's own tracer and for a recorded one with kernel events and
# CPU samples; truncated and changed archives are rejected in one line; the format does not change.
# parallel
# timeout: 900
# depends on: Makefile bpf include userspace selftests/deps-engine.sh selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

long=$CORPUS/runs/long-$ORACLE_GO.trace

same_sum() # FILE FILE
{
	[ "$(sha256sum <"$1")" = "$(sha256sum <"$2")" ]
}

returned() # TRACE: packed in a file and through pipes
{
	rm -f "$packed" "$tmp/again"
	$READER pack "$1" -o "$packed" && $READER unpack "$packed" -o "$tmp/again" && same_sum "$1" "$tmp/again" &&
		[ "$(stat -c %a "$packed" "$tmp/again" | sort -u)" = 600 ] || return 1
	$READER pack - <"$1" | cmp - "$packed" && $READER unpack <"$packed" | cmp - "$1"
}

returned_all() # TRACE...
{
	local trace

	[ $# -gt 0 ] || return 1
	for trace; do
		returned "$trace" || { echo "$trace"; return 1; }
	done
}

small() # TRACE: at most half of zstd -9
{
	$READER pack "$1" -o "$packed" && zstd -q -9 -f "$1" -o "$tmp/zst" &&
		stat -c '%n: %s bytes' "$1" "$packed" "$tmp/zst" &&
		[ $((2 * $(stat -c %s "$packed"))) -le "$(stat -c %s "$tmp/zst")" ]
}

# Commands that read one trace and print, with what they need in addition. The others are tested below;
# assemble reads text, and check/ship.sh tests what ship reads of a trace.
declare -A arguments=([check]='' [text]='' [events]='' [stat]='--json' [goroutines]='' [latency]=''
	[path]="--function . --summary" [waits]='' [histogram]='--of syscall' [profile]='sync' [export]='ndjson'
	[tasks]='' [regions]='' [requests]='' [metrics]='' [describe]='' [alloc]='' [top]='--json' [view]='--json'
	[index]='--json')
elsewhere='assemble report diff cut pack unpack convert anonymize align sql ship'

# A recorded trace: private batches, kernel events, CPU samples, several generations
recorded()
{
	record_target pingpong "$ORACLE_GO" "--events sched,syscall,gc,user,kernel --cpu-profile=1000" -rate 3000 -duration 1500ms &&
		$READER stat --json "$RECORDED" | jq -e '(.generations | length) > 1 and .kernel.items > 1000' &&
		[ "$($READER events --type CPUSample "$RECORDED" | wc -l)" -gt 0 ]
}

all_commands()
{
	verbs_of READER | sort | cmp - <(printf '%s\n' "${!arguments[@]}" $elsewhere | sort)
}

prints_the_same() # COMMAND: stdout, stderr and the exit status, except for the name and size of the file
{
	local file sizes status=()

	sizes="$(stat -c %s "$long")\|$(stat -c %s "$packed")"
	for file in "$long" "$packed"; do
		# shellcheck disable=SC2086 # several arguments
		timeout 120 $READER "$1" ${arguments[$1]} "$file" </dev/null >"$tmp/out.${#status[@]}" 2>"$tmp/err.${#status[@]}"
		status+=($?)
		sed -i "s,$file,FILE,g; s/\(bytes\": *\)\($sizes\)\b/\1SIZE/" \
			"$tmp/out.$((${#status[@]} - 1))" "$tmp/err.$((${#status[@]} - 1))"
		rm -f "$file.idx"
	done
	echo "exit ${status[*]}"
	[ "${status[0]}" -eq "${status[1]}" ] && cmp "$tmp/out.0" "$tmp/out.1" && cmp "$tmp/err.0" "$tmp/err.1"
}

# COMMAND [ARGUMENT...]: apart from the name and the size of the file
writes_the_same()
{
	rm -f "$tmp/plain.out" "$tmp/packed.out"
	$READER "$@" "$long" -o "$tmp/plain.out" && $READER "$@" "$packed" -o "$tmp/packed.out" &&
		sed -i "s,$long,FILE,g; s,\"bytes\":$(stat -c %s "$long"),SIZE," "$tmp/plain.out" &&
		sed -i "s,$packed,FILE,g; s,\"bytes\":$(stat -c %s "$packed"),SIZE," "$tmp/packed.out" && cmp "$tmp/plain.out" "$tmp/packed.out"
}

# All tables, and as Parquet files: each row but for the name of the file
same_rows()
{
	local table file n=0

	cp "$long" "$tmp/rows.1.trace" && cp "$packed" "$tmp/rows.2.trace" || return 1
	for file in "$tmp"/rows.[12].trace; do
		rm -rf "$tmp/parquet.$((++n))"
		$READER export parquet "$file" -o "$tmp/parquet.$n" >/dev/null && : >"$tmp/rows.$n" || return 1
		for table in $($READER sql --schema | sed -n 's/^\([a-z]*\): .*/\1/p'); do
			timeout 100 $READER sql --csv "SELECT COLUMNS(c -> c <> 'file') FROM $table ORDER BY ALL" "$file" >"$tmp/rows.csv" &&
				timeout 100 $READER sql --csv "SELECT COLUMNS(c -> c <> 'file') FROM $table ORDER BY ALL" "$tmp/parquet.$n" |
				cmp - "$tmp/rows.csv" || { echo "$table"; return 1; }
			cat "$tmp/rows.csv" >>"$tmp/rows.$n"
		done
	done
	wc -l "$tmp/rows.1"
	[ "$(wc -l <"$tmp/rows.1")" -gt 10000 ] && cmp "$tmp/rows.1" "$tmp/rows.2"
}

packs_once() # a packed trace is not packed again
{
	$READER pack "$packed" -o "$tmp/twice" && cmp "$tmp/twice" "$packed"
}

differs_in_nothing()
{
	$READER diff "$long" "$packed" >"$tmp/diff" 2>&1
	echo "exit $?"; cat "$tmp/diff"
	! grep -E 'worse|better' "$tmp/diff"
}

# With an index, a part is the same; test_archive.c shows that the events before it are not decoded.
starts_in_the_middle()
{
	local from

	$READER index "$packed" --json >"$tmp/json" && from=$(jq '(.generations[-1].first - .start)' "$tmp/json") &&
		[ "$from" -gt 0 ] && $READER events "$long" --from "${from}ns" >"$tmp/plain.txt" && [ -s "$tmp/plain.txt" ] &&
		$READER events "$packed" --from "${from}ns" 2>"$tmp/err" | cmp - "$tmp/plain.txt" && [ ! -s "$tmp/err" ] &&
		$READER cut --exact "$packed" --from "${from}ns" -o "$tmp/packed.cut" &&
		$READER cut --exact "$long" --from "${from}ns" -o "$tmp/plain.cut" && cmp "$tmp/packed.cut" "$tmp/plain.cut"
}

# The models are part of the format: if this fails, old archives cannot be read any more, and the magic
# number must change.
format_is_kept()
{
	$READER pack "$CORPUS/$ORACLE_GO/v2/go122-gc-stress.trace" -o "$packed.golden" && sha256sum "$packed.golden" &&
		[ "$(sha256sum <"$packed.golden")" = "1b37d2c1dcf596fe2f2c15175012057d37178e6fccd43a436a950a825485f31d  -" ]
}

rejected() # COMMAND...: exit status 1, one line, and no output file
{
	local status

	rm -f "$tmp/none"
	timeout 60 $READER "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	echo "exit $status: $(cat "$tmp/err")"
	[ $status -eq 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && ! ls "$tmp"/none* >/dev/null 2>&1
}

truncated()
{
	local size part

	size=$(stat -c %s "$packed")
	for part in 17 40 $((size / 3)) $((size - 60)) $((size - 1)); do
		head -c "$part" "$packed" >"$tmp/changed"
		rejected unpack "$tmp/changed" -o "$tmp/none" && rejected check "$tmp/changed" || return 1
	done
}

changed() # in 12 places, with bytes that depend on the place
{
	local size i

	size=$(stat -c %s "$packed")
	for ((i = 0; i < 12; i++)); do
		cp "$packed" "$tmp/changed"
		printf '%b' "\\x$(printf %x $((i + 33)))\\xff\\x00" | dd of="$tmp/changed" bs=1 seek=$((20 + i * (size - 40) / 12)) \
			conv=notrunc status=none
		cmp -s "$packed" "$tmp/changed" || rejected unpack "$tmp/changed" -o "$tmp/none" || return 1
	done
}

keeps_other_files()
{
	echo notes >"$tmp/notes"
	rejected pack "$long" -o "$tmp/notes" && rejected unpack "$packed" -o "$tmp/notes" && [ "$(cat "$tmp/notes")" = notes ]
}

ktap_start
packed=$tmp/packed
if try "the reader builds" build_reader && try "the engine of sql" selftests/deps-engine.sh &&
	try "the corpus is extracted" extract_corpus "$ORACLE_GO" go1.22.12 &&
	try "programs trace themselves" trace_long_runs && try "short runs" trace_short_runs; then
	try "golden traces are returned" returned_all "$CORPUS"/*/v2/*.trace
	in_all try "traces of Go 1.5 to 1.21 are returned" returned_all "$CORPUS"/go1.22.12/v1/*_good
	try "traces of programs are returned" returned_all "$CORPUS"/runs/{few,short,allocfree}*.trace
	for go in $READER_GOS; do
		try "$go: half of zstd -9" small "$CORPUS/runs/long-$go.trace"
	done
	try "a trace is packed" returned "$long"
	try "each command is tested" all_commands
	for verb in "${!arguments[@]}"; do
		try "$verb prints the same" prints_the_same "$verb"
	done
	try "cut writes the same" writes_the_same cut --exact --from 0.5s
	try "convert writes the same" writes_the_same convert --format-version 1.25
	try "anonymize writes the same" writes_the_same anonymize --key test
	try "report writes the same" writes_the_same report
	try "the export for Perfetto is the same" writes_the_same export perfetto
	try "diff finds no difference" differs_in_nothing
	in_all try "sql and Parquet have the same rows" same_rows
	try "a packed trace is not packed twice" packs_once
	try "with an index, a part is the same" starts_in_the_middle
	try "truncated archives are rejected" truncated
	try "changed archives are rejected" changed
	try "a trace that is not packed is rejected" rejected unpack "$long" -o "$tmp/none"
	try "what is not a trace is rejected" rejected pack Makefile -o "$tmp/none"
	try "other files are kept" keeps_other_files
	try "the format is that of earlier versions" format_is_kept
	if try "a trace with kernel events and CPU samples is recorded" recorded; then
		long=$RECORDED
		try "recorded: it is returned" returned "$long"
		try "recorded: half of zstd -9" small "$long"
		for verb in "${!arguments[@]}"; do
			in_all try "recorded: $verb prints the same" prints_the_same "$verb"
		done
		in_all try "recorded: cut writes the same" writes_the_same cut --exact --from 0.5s
		in_all try "recorded: report writes the same" writes_the_same report
		in_all try "recorded: sql and Parquet have the same rows" same_rows
	fi
fi
ktap_end
