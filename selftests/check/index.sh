#!/bin/bash
# Tests `gotrace index`: with an index, events and cut seek to their time and produce the same
# output as without it; a stale or corrupt index is reported in one line and not used.
# tier: all
# parallel
# timeout: 600
# depends on: Makefile include userspace selftests/reference selftests/targets selftests/index.py
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

makes_it()
{
	cp "$CORPUS/runs/long-$ORACLE_GO.trace" "$trace" && $READER index "$trace" && [ -s "$trace.idx" ]
}

is_small()
{
	[ "$(stat -c %s "$trace.idx")" -le $((4096 + $(stat -c %s "$trace") / 16)) ]
}

# The index describes the trace correctly.
matches_the_trace()
{
	local events

	$READER index "$trace" --json >"$tmp/json" || return 1
	events=$($REFERENCE/validate -counts "$trace" | sed -n 's/.*: ok, \([0-9]*\) events.*/\1/p')
	echo "Go's reader: $events events including syncs; ours: $(jq '.events' "$tmp/json")"
	[ "$(jq '.generations | length' "$tmp/json")" -ge 2 ] &&
		[ "$(jq '.events' "$tmp/json")" -eq "$(jq '[.generations[].events] | add' "$tmp/json")" ] &&
		[ "$(jq '.events' "$tmp/json")" -eq "$(jq '[.generations[].counts[]] | add' "$tmp/json")" ] &&
		[ "$(jq '.events' "$tmp/json")" -le "$events" ] &&
		[ "$(jq '.generations[0].offset' "$tmp/json")" -eq 16 ] &&
		[ "$(jq '.start' "$tmp/json")" -eq "$($READER events --canonical "$trace" | sed -n '1s/\t.*//p')" ] &&
		generations_match
}

# What is printed is what the file has. Sizes are those of the files, the times of each generation those of the events
# of Go's reader, and its place and number those of `gotrace stat`.
generations_match()
{
	$REFERENCE/events "$trace" | awk -F '\t' '
		$2 == "Sync" && sync != "" { print sync, first, last }
		$2 == "Sync" { sync = $1; first = "" }
		$2 != "Sync" { first = first == "" ? $1 : first; last = $1 }' >"$tmp/theirs.txt"
	jq -r '.generations[] | "\(.sync) \(.first) \(.last)"' "$tmp/json" >"$tmp/ours.txt"
	[ -s "$tmp/theirs.txt" ] && same_text "$tmp/ours.txt" "$tmp/theirs.txt" && python3 -B selftests/index.py "$trace.idx" "$tmp/json" &&
		[ "$(jq .bytes "$tmp/json")" -eq "$(stat -c %s "$trace.idx")" ] &&
		[ "$(jq .trace_bytes "$tmp/json")" -eq "$(stat -c %s "$trace")" ] &&
		$READER stat --json "$trace" | jq -e --slurpfile index "$tmp/json" \
			'[.generations[] | [.number, .offset, .events]] == [$index[0].generations[] | [.generation, .offset, .events]]'
}

# The counts of each generation are those of its batches, as `go tool trace -d=wire` shows them.
counts_match()
{
	local change

	go_trace "$ORACLE_GO" -d=wire "$trace" | awk '
		$1 == "EventBatch" || $1 == "ExperimentalBatch" { sub(/.*gen=/, ""); generation = $1 }
		/^[A-Z]/ && $1 !~ /^(Trace|EventBatch|Stacks|Stack|Strings|String|CPUSamples|Frequency|Sync|ClockSnapshot|ExperimentalBatch|EndOfGeneration)$/ && generation {
			n[generation " " $1]++
		}
		END { for (key in n) print key, n[key] }' | grep -v 'gen=' | sort >"$tmp/theirs.txt"
	[ "$(wc -l <"$tmp/theirs.txt")" -gt 20 ] || return 1
	counted . && same_text "$tmp/ours.txt" "$tmp/theirs.txt" || return 1
	for change in '.generations[1].counts |= map_values(. + 1)' '.generations[0].counts |= (to_entries[1:] | from_entries)' '.generations[0].generation += 100'; do
		counted "$change" && same_text "$tmp/ours.txt" "$tmp/theirs.txt" >"$tmp/out" && { echo "accepts $change"; return 1; }
	done
	return 0
}

counted() # FILTER: of the index
{
	jq -r "$1"' | .generations[] | .generation as $n | .counts | to_entries[] | "\($n) \(.key) \(.value)"' "$tmp/json" | sort >"$tmp/ours.txt"
}

# MS: nanoseconds from the trace's begin to its first event that is at least so many milliseconds
# later. A window that begins there has an event, wherever a busy machine let the program wait.
event_at()
{
	$READER events --canonical "$trace" | awk -v ms="$1" '
		NR == 1 { begin = $1 }
		!found && $1 - begin >= ms * 1000000 { printf "%.0f", $1 - begin; found = 1 }'
}

# MS LENGTH: a window of LENGTH milliseconds from the first event at MS
same_window()
{
	local from

	from=$(event_at "$1") && [ -n "$from" ] && same_part "${from}ns" "$((from + $2 * 1000000))ns"
}

# FROM TO: the same output with and without the index; no verb mentions the index
same_part()
{
	$READER events "$trace" --from "$1" --to "$2" >"$tmp/with.txt" 2>"$tmp/with.err" &&
		$READER cut --exact "$trace" --from "$1" --to "$2" -o "$tmp/with" 2>>"$tmp/with.err" || return 1
	mv "$trace.idx" "$tmp/away"
	$READER events "$trace" --from "$1" --to "$2" >"$tmp/without.txt" &&
		$READER cut --exact "$trace" --from "$1" --to "$2" -o "$tmp/without"
	mv "$tmp/away" "$trace.idx"
	[ ! -s "$tmp/with.err" ] && [ -s "$tmp/with.txt" ] && cmp "$tmp/with.txt" "$tmp/without.txt" &&
		cmp "$tmp/with" "$tmp/without"
}

# Byte offset of the events of the first large batch that begins behind the trace's first 64 KiB,
# which the index's checksum covers, and in its first generation. Go's runtime pads the size in a
# batch's header to 10 bytes.
offset_of_events()
{
	go_trace "$ORACLE_GO" -d=wire "$trace" | tr '=' ' ' | awk '
		function length_of(number) { return number < 128 ? 1 : 1 + length_of(int(number / 128)) }
		BEGIN { at = 16 }
		$1 != "EventBatch" || $3 != 1 { next }
		{
			at += 1 + length_of($3) + length_of($5) + length_of($7) + 10
			if (at > 65536 && $9 > 1000 && !found)
				found = at
			at += $9
		}
		END { print found }'
}

# The index is used: the events before the window are not read, and so may be corrupt.
is_used()
{
	local offset

	offset=$(offset_of_events 2>"$tmp/err") && [ -n "$offset" ] || return 1
	cp "$trace" "$tmp/y" && printf '\xff' | dd of="$tmp/y" bs=1 seek="$offset" conv=notrunc 2>/dev/null &&
		touch -r "$trace" "$tmp/y" && cp "$trace.idx" "$tmp/y.idx" || return 1
	$READER events "$tmp/y" --from 1400ms >"$tmp/have" && [ -s "$tmp/have" ] &&
		$READER events "$trace" --from 1400ms | cmp - "$tmp/have" &&
		rm "$tmp/y.idx" && ! $READER events "$tmp/y" --from 1400ms >/dev/null 2>"$tmp/err" &&
		grep -q "invalid trace at byte $offset " "$tmp/err"
}

# PATTERN: one line on stderr matches it, and the output is still correct
not_used()
{
	$READER events "$trace" --from "$from" --to "$to" >"$tmp/have" 2>"$tmp/err"
	cat "$tmp/err"
	cmp "$tmp/have" "$tmp/want" && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q "idx is not used: .*$1" "$tmp/err"
}

touched() { touch "$trace" && not_used changed; }
grown() { $READER index "$trace" >/dev/null && printf '\x34' >>"$trace" && not_used changed; }
empty() { : >"$trace.idx" && not_used short; }
foreign()
{
	head -c 5000 /dev/urandom >"$trace.idx" && not_used 'not an index, or one of another' || return 1
	$READER index "$trace" 2>"$tmp/err" && return 1
	grep -q 'it exists and is not an index; use --force to replace it' "$tmp/err" &&
		$READER index --force "$trace" >/dev/null && [ "$(stat -c %a "$trace.idx")" = 600 ]
}

broken() # the first byte of the state that is looked up
{
	$READER index "$trace" >/dev/null || return 1
	printf '\xa5' | dd of="$trace.idx" bs=1 seek=17 conv=notrunc 2>/dev/null
	not_used 'checksum mismatch'
}

shortened()
{
	$READER index "$trace" >/dev/null && truncate -s -7 "$trace.idx" && not_used 'checksum mismatch'
}

a_directory()
{
	rm -f "$trace.idx" && mkdir "$trace.idx" && not_used 'not a regular file'
	rmdir "$trace.idx"
}

# PATTERN TRACE: such a trace cannot be indexed, and no partial index is left
none_of()
{
	! $READER index "$2" >"$tmp/out" 2>"$tmp/err" && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -q "$1" "$tmp/err" && ! ls "$2".idx* >/dev/null 2>&1
}

none_of_these()
{
	cp "$CORPUS/$ORACLE_GO/v1/user_task_region_1_21_good" "$tmp/v1" && none_of 'no generations' "$tmp/v1" &&
		gzip -k "$tmp/v1" && none_of 'compressed' "$tmp/v1.gz" &&
		head -c 100000 "$CORPUS/runs/long-$ORACLE_GO.trace" >"$tmp/cut" && none_of 'invalid trace' "$tmp/cut"
}

ktap_start
trace=$tmp/x # a copy, so that its index is private to this script
if try "the reader builds" build_reader && try "programs trace themselves" trace_long_runs &&
	try "the corpus is extracted" extract_corpus "$ORACLE_GO" && try "the index is written" makes_it; then
	try "the index is small" is_small
	try "the index describes the trace correctly" matches_the_trace
	try "the counts of each generation" counts_match
	for part in "0s 50ms" "1s 1.2s" "1300ms 1h" "@1 1h"; do
		try "events and cut, ${part/ / to }" same_part $part
	done
	for window in "50 10" "990 20"; do
		try "events and cut, ${window/ / ms and the next }" same_window $window
	done
	try "the index is used" is_used
	rm -f "$trace.idx"
	from=$(event_at 900)ns to=$((${from%ns} + 50000000))ns
	try "without an index" eval '$READER events "$trace" --from $from --to $to >"$tmp/want" && [ -s "$tmp/want" ]'
	$READER index "$trace" >/dev/null
	try "the trace has a new modification time" touched
	try "a corrupt index" broken
	try "a truncated index" shortened
	try "an empty index" empty
	try "a file that is not an index" foreign
	try "a directory in place of the index" a_directory
	try "the trace has grown" grown
	try "traces that cannot be indexed" none_of_these
fi
ktap_end
