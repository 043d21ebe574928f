#!/bin/bash
# Reading with several threads: `check -j 4` must print what `check -j 1` prints, about traces of real
# programs, Go's golden traces, and mutants of both. Go's own reader judges `check` in
# differential.sh. check-long has more mutants. To reproduce one:
# MUTANTS="SEED FIRST COUNT" selftests/check/parallel.sh
# tier: all
# parallel
# timeout: 600
# long: 1200
# depends on: Makefile include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

read -r seed first count <<<"${MUTANTS:-20261126 0 $(by_tier 500 500 10000)}"

outcome() # JOBS OPTION... FILE: all that is printed, and the exit status
{
	local jobs=$1
	shift

	timeout 60 $READER check -j "$jobs" --json "$@" 2>&1
	echo "exit status $?"
}

same_outcome() # OPTION... FILE
{
	local one four

	one=$(outcome 1 "$@")
	four=$(outcome 4 "$@")
	[ "$one" = "$four" ] && return
	printf '%s\nwith 1 job:  %s\nwith 4 jobs: %s\n' "$*" "$one" "$four"
	return 1
}

same_outcomes() # FILE...
{
	local file failed=0

	for file; do
		same_outcome "$file" || failed=1
		same_outcome --lenient "$file" || failed=1
	done
	[ $# -gt 0 ] && return $failed
}

make_mutants()
{
	$REFERENCE/mutate -seed "$seed" -first "$first" -n "$count" -worlds "$count" -o "$tmp/mutants" \
		"$CORPUS"/runs/{few,short}-*.trace
}

half_of_the_mutants() # 1 or 2
{
	local files=("$tmp"/mutants/*.trace) n

	n=$((${#files[@]} / 2))
	if [ "$1" = 1 ]; then same_outcomes "${files[@]:0:n}"; else same_outcomes "${files[@]:n}"; fi
}

all_mutants()
{
	local half status

	half_of_the_mutants 1 >"$tmp/half" &
	half=$!
	half_of_the_mutants 2
	status=$?
	wait $half && [ $status = 0 ] && return
	cat "$tmp/half"
	return 1
}

jobs_are_checked()
{
	local text

	for text in 0 -1 257 x; do
		$READER check -j "$text" "$CORPUS/runs/few-$ORACLE_GO.trace" >"$tmp/out" 2>&1
		[ $? = 2 ] && grep -q "invalid number '$text' for -j" "$tmp/out" || { cat "$tmp/out"; return 1; }
	done
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$ORACLE_GO" &&
	try "programs trace themselves for long" trace_long_runs && try "and shortly" trace_short_runs &&
	try "$count mutants of seed $seed are made" make_mutants; then
	try "traces of programs" same_outcomes "$CORPUS"/runs/*.trace
	try "Go's golden traces" same_outcomes "$CORPUS/$ORACLE_GO"/v2/*.trace
	try "mutants" all_mutants
	try "an invalid number of jobs is refused" jobs_are_checked
fi
ktap_end
