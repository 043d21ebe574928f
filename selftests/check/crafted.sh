#!/bin/bash
# Traces crafted to be expensive for a reader: time is linear in the size rather than quadratic, and
# memory stays within --max-memory, or a one-line error gives the memory that is needed.
# tier: all
# parallel
# timeout: 200
# depends on: Makefile include userspace selftests/reference selftests/targets selftests/fuzz
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

# CPU seconds of `gotrace check`, the minimum of five runs; the process is the same but for the
# trace.
cpu_seconds() # TRACE
{
	for _ in 1 2 3 4 5; do
		timeout 100 /usr/bin/time -f %U -o "$tmp/time" $READER check "$1" >"$tmp/out" || return 1
		tail -n 1 "$tmp/time"
	done | sort -n | head -n 1
}

# Eight times the size takes less than 20 times as long; quadratic time would take 64 times.
grows_with_size() # KIND N
{
	local small large

	selftests/fuzz/crafted "$1" "$2" >"$tmp/small" && selftests/fuzz/crafted "$1" $(($2 * 8)) >"$tmp/large" &&
		small=$(cpu_seconds "$tmp/small") && large=$(cpu_seconds "$tmp/large") || return 1
	echo "$2: $small s, $(($2 * 8)): $large s"
	awk -v small="$small" -v large="$large" 'BEGIN { exit large > 20 * (small + 0.02) }'
}

# The causes of each wait are in the same long history: they are found for some of the waits only.
# All waits are listed, the longest first.
many_waits()
{
	selftests/fuzz/crafted waits 100000 >"$tmp/waits" &&
		timeout 60 $READER waits --runtime --longest 10000 --json "$tmp/waits" >"$tmp/out" 2>"$tmp/err" || return 1
	cat "$tmp/err"
	grep -q 'the causes of [0-9]* waits would take too long to find' "$tmp/err" && jq -e '
		(.waits | length) == 10000 and (.waits | all(.goes_on)) and .waits[0].holders == [1] and
		.waits[9999].causes == null and ([.waits[] | .from_ns] | . == sort)' "$tmp/out"
}

bomb() # 200 MB of strings in a few hundred kB of compressed data
{
	selftests/fuzz/crafted strings 200000 >"$tmp/plain" && gzip -9 <"$tmp/plain" >"$tmp/bomb.gz" || return 1
	stat -c '%n %s' "$tmp/plain" "$tmp/bomb.gz"
}

needs_more() # VERB [OPTION...]: fails with one line and exit status 1
{
	local verb=$1
	shift

	timeout 60 /usr/bin/time -f %M -o "$tmp/time" $READER "$verb" "$@" --max-memory=100M "$tmp/bomb.gz" \
		>"$tmp/out" 2>"$tmp/err"
	[ $? -eq 1 ] && cat "$tmp/err" && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -qx "gotrace: $tmp/bomb.gz: memory limit of 100M exceeded; raise it with --max-memory" "$tmp/err" &&
		[ "$(tail -n 1 "$tmp/time")" -lt 130000 ]
}

enough()
{
	timeout 60 $READER check --max-memory 1G "$tmp/bomb.gz"
}

# 512 MiB, and 64 bytes per byte of the file.
by_default()
{
	selftests/fuzz/crafted strings 1000000 | gzip -9 >"$tmp/large.gz" || return 1
	! timeout 100 $READER check "$tmp/large.gz" 2>"$tmp/err" || return 1
	cat "$tmp/err" && grep -q 'memory limit of [5-9][0-9][0-9]M exceeded; raise it with --max-memory$' "$tmp/err"
}

ktap_start
if try "the reader builds" locked make --no-print-directory all; then
	try "many open stop-the-world ranges" grows_with_size stw 10000
	try "the holder of a P that is to be stolen" grows_with_size abandoned 5000
	try "many waits in a long history" many_waits
	try "a compression bomb is made" bomb
	for verb in check stat events goroutines latency tasks regions requests "path --goroutine=1" waits alloc "profile sync" "export perfetto" "histogram --of=sched" "cut -o $tmp/part" "convert -o $tmp/part"; do
		try "$verb: exceeds --max-memory" needs_more $verb
	done
	try "a sufficient --max-memory" enough
	try "the default --max-memory" by_default
fi
ktap_end
