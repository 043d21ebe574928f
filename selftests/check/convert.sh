#!/bin/bash
# Tests `gotrace convert`: traces of all versions of Go, converted to each version of the format. A
# conversion to the same version keeps the canonical text (CANONICAL.md) unchanged, one to another
# version changes only what that version lacks; each result is readable by the tools of the first Go
# release with that version. Converted v1 traces are accepted by Go's reader, and the time of each
# goroutine is unchanged.
# tier: all
# parallel
# timeout: 1200
# depends on: Makefile include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

# TRACE OPTION...: writes $tmp/out; for a v2 trace nothing may be dropped
convert()
{
	local trace=$1
	shift

	timeout 120 $READER convert "$trace" -o "$tmp/out" "$@" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	cat "$tmp/err"
	is_v1 "$trace" || ! grep -q 'cannot express' "$tmp/err" || return 1
	$REFERENCE/validate "$tmp/out" && $READER check "$tmp/out"
}

# A generation without events gets a status event, since readers of Go 1.22 to 1.24 require one in
# each.
without_status_of_empty()
{
	awk -F '\t' '
		sync && $6 ~ /^proc=[0-9]+ ([A-Za-z]+)->/ { held = $0; sync = 0; next }
		held != "" { if ($2 != "Sync") print held; held = "" }
		{ sync = $2 == "Sync" }
		1'
}

stays_the_same() # TRACE
{
	convert "$1" && $READER events --canonical "$1" | without_status_of_empty >"$tmp/want" &&
		$REFERENCE/events "$tmp/out" | without_status_of_empty >"$tmp/have" &&
		same_text "$tmp/have" "$tmp/want"
}

# TRACE VERSION: only clocks may differ
of_version()
{
	convert "$1" --format-version "$2" && head -c 13 "$tmp/out" | grep -q "^go $2 trace" &&
		$READER events --canonical "$1" | sed 's/\tSync\t.*/\tSync/' >"$tmp/want" &&
		$REFERENCE/events "$tmp/out" | sed 's/\tSync\t.*/\tSync/' >"$tmp/have" &&
		same_text "$tmp/have" "$tmp/want"
}

# TRACE VERSION GO: that Go's tool reads it to the end
read_by()
{
	local form=parsed

	case $3 in go1.2[23].*) form=1 ;; esac
	convert "$1" --format-version "$2" &&
		go_trace "$3" "-d=$form" "$tmp/out" >"$tmp/tool" 2>&1 &&
		[ "$(wc -l <"$tmp/tool")" -gt 1000 ]
}

# Sums of the goroutines' times, which format 1.22 represents as well: a coroutine switch is three
# events there.
times_of_1_22()
{
	convert "$1" --format-version 1.22 || return 1
	$READER goroutines --canonical "$1" | times_of >"$tmp/want" &&
		$REFERENCE/goroutines "$tmp/out" | times_of >"$tmp/have" || return 1
	grep -q 'exec=[1-9]' "$tmp/want" && same_text "$tmp/have" "$tmp/want"
}

# TRACE VERSION: what that version has no event for is private data, so that a conversion back changes nothing
back_from()
{
	convert "$1" --format-version 1.26 && mv "$tmp/out" "$tmp/direct" && convert "$1" --format-version "$2" &&
		mv "$tmp/out" "$tmp/older" && convert "$tmp/older" --format-version 1.26 &&
		$REFERENCE/events "$tmp/direct" >"$tmp/want" && $REFERENCE/events "$tmp/out" >"$tmp/have" &&
		grep -q 'Sync.*mono=' "$tmp/want" && same_text "$tmp/have" "$tmp/want"
}

# TRACE: the names of goroutines by Go's reader, most of which have only the stack of a status, are those of gotrace for
# the trace in format 1.22
names_of_1_22()
{
	convert "$1" --format-version 1.22 || return 1
	$REFERENCE/goroutines "$1" | grep ^goroutine | cut -f 2-3 | sort >"$tmp/want"
	$READER goroutines --all --json "$tmp/out" | jq -r '.goroutines[] | "\(.id)\t\"\(.name)\""' | sort >"$tmp/have"
	$READER goroutines --canonical "$tmp/out" | grep -c $'^goroutine\t[0-9]*\t""' && same_text "$tmp/have" "$tmp/want"
}

# <GOROUTINES [SHIFT]: the time of each goroutine by state. A goroutine created blocked is runnable
# in 1.22.
times_of()
{
	grep ^goroutine | sed -E "s/\"[^\"]*\"\tpc=[0-9a-f]*//; s/(created|started|ended)=[-0-9]*//g
		s/ranges=.*//; s/sched_wait=[0-9]*//; s/block=.*//"
}

# Before 1.22, a goroutine in a system call when tracing starts has a P for a moment, and times
# start 2 ns earlier.
goroutines_of_v1()
{
	grep ^goroutine | awk -F '\t' -v shift="$1" '
		BEGIN { OFS = FS }
		{
			for (i = 1; i <= NF; i++) {
				if (split($i, kv, "=") == 2 && kv[1] ~ /^(created|started|ended)$/ && kv[2] != 0)
					$i = kv[1] "=" kv[2] + shift
				if (kv[1] == "syscall") a = kv[2]
				if (kv[1] == "syscall_block") { b = kv[2]; $i = "syscalls=" a + b }
				if (kv[1] == "syscall") $i = ""
			}
			# a goroutine of C, of which nothing else is known
			if ($0 ~ /exec=0\t/ && a + b > 0) next
			print
		}'
}

from_v1() # TRACE
{
	convert "$1" && head -c 13 "$tmp/out" | grep -q '^go 1.22 trace' || return 1
	$READER goroutines --canonical "$1" | goroutines_of_v1 0 >"$tmp/want" &&
		$REFERENCE/goroutines "$tmp/out" | goroutines_of_v1 -2 >"$tmp/have" || return 1
	[ -s "$tmp/want" ] && same_text "$tmp/have" "$tmp/want"
}

refuses() # TRACE
{
	! $READER convert "$1" -o "$tmp/refused" 2>"$tmp/err" && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		[ ! -e "$tmp/refused" ]
}

packed()
{
	gzip -c "$1" >"$tmp/packed.gz" && $READER convert "$tmp/packed.gz" -o "$tmp/a" &&
		$READER convert - -o - <"$1" >"$tmp/b" && cmp "$tmp/a" "$tmp/b"
}

ktap_start
if try "the reader builds" build_reader && try "programs trace themselves" trace_long_runs &&
	try "the corpora are extracted" extract_corpus "$ORACLE_GO" go1.22.12; then
	for trace in "$CORPUS"/runs/*.trace; do
		try "$(basename "$trace" .trace)" stays_the_same "$trace"
	done
	for trace in "$CORPUS/$ORACLE_GO"/v2/*.trace; do
		case $(head -c 7 "${trace%.trace}.expect") in
		SUCCESS) try "$(basename "$trace" .trace)" stays_the_same "$trace" ;;
		*) try "$(basename "$trace" .trace)" refuses "$trace" ;;
		esac
	done
	long=$CORPUS/runs/long-$ORACLE_GO.trace
	for version in 1.23 1.25 1.26; do
		try "as $version" of_version "$long" $version
		try "from 1.22 as $version" of_version "$CORPUS/runs/long-go1.22.12.trace" $version
	done
	try "as 1.22: the goroutines' times" times_of_1_22 "$long"
	try "as 1.22: the goroutines' names" names_of_1_22 "$long"
	try "as 1.23 and back" back_from "$long" 1.23
	try "1.22 is readable by Go 1.22" read_by "$long" 1.22 go1.22.12
	try "1.23 is readable by Go 1.23" read_by "$long" 1.23 go1.23.12
	try "1.25 is readable by Go 1.25" read_by "$long" 1.25 go1.25.3
	for trace in "$CORPUS/go1.22.12"/v1/*; do
		case $trace in
		*_unordered) try "$(basename "$trace")" refuses "$trace" ;;
		*) try "$(basename "$trace")" from_v1 "$trace" ;;
		esac
	done
	try "compressed, and through pipes" packed "$long"
fi
ktap_end
