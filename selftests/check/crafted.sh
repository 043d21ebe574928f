#!/bin/bash
# Traces that were made to cost a reader more than their size: time grows with the size, not with its square,
# and memory stays within --max-memory, or one line says what was needed.
# beside others
# timeout: 200
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

# CPU seconds of `gotrace check`, the least of five; the process is the same but for the trace.
cpu_seconds() # TRACE
{
	local i

	for i in 1 2 3 4 5; do
		timeout 100 /usr/bin/time -f %U -o "$tmp/time" $READER check "$1" >"$tmp/out" || return 1
		tail -n 1 "$tmp/time"
	done | sort -n | head -n 1
}

# Eight times the size takes less than 20 times as long, where the square would take 64 times.
grows_with_size() # KIND N
{
	local small large

	selftests/fuzz/crafted "$1" "$2" >"$tmp/small" && selftests/fuzz/crafted "$1" $(($2 * 8)) >"$tmp/large" &&
		small=$(cpu_seconds "$tmp/small") && large=$(cpu_seconds "$tmp/large") || return 1
	echo "$2: $small s, $(($2 * 8)): $large s"
	awk -v small="$small" -v large="$large" 'BEGIN { exit large > 20 * (small + 0.02) }'
}

bomb() # 200 MB of strings in a few hundred kB
{
	selftests/fuzz/crafted strings 200000 >"$tmp/plain" && gzip -9 <"$tmp/plain" >"$tmp/bomb.gz" || return 1
	stat -c '%n %s' "$tmp/plain" "$tmp/bomb.gz"
}

needs_more() # VERB [OPTION...]: one line, and exit 1
{
	local verb=$1
	shift

	timeout 60 /usr/bin/time -f %M -o "$tmp/time" $READER "$verb" --max-memory=100M "$tmp/bomb.gz" "$@" \
		>"$tmp/out" 2>"$tmp/err"
	[ $? -eq 1 ] && cat "$tmp/err" && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -qx "gotrace: $tmp/bomb.gz: needs more than 100M of memory; raise --max-memory" "$tmp/err" &&
		[ "$(tail -n 1 "$tmp/time")" -lt 130000 ]
}

enough()
{
	timeout 60 $READER check --max-memory 1G "$tmp/bomb.gz"
}

# 512 MiB and 64 bytes a byte of the file.
by_default()
{
	selftests/fuzz/crafted strings 1000000 | gzip -9 >"$tmp/large.gz" || return 1
	! timeout 100 $READER check "$tmp/large.gz" 2>"$tmp/err" || return 1
	cat "$tmp/err" && grep -q 'needs more than [5-9][0-9][0-9]M of memory; raise --max-memory$' "$tmp/err"
}

ktap_start
if try "the reader builds" locked make --no-print-directory all; then
	try "many open stop-the-world ranges" grows_with_size stw 10000
	try "who holds a P that is to be stolen" grows_with_size abandoned 5000
	try "a bomb is made" bomb
	for verb in check stat events goroutines latency "path --goroutine=1" "cut -o $tmp/part" "convert -o $tmp/part"; do
		# shellcheck disable=SC2086
		try "$verb" needs_more $verb
	done
	try "enough memory" enough
	try "the default" by_default
fi
ktap_end
