#!/bin/bash
# Compares `gotrace diff` with a second implementation on Go's reader, selftests/reference/cmd/diff: each
# figure, its error, the interval of the difference and the result. Traces of a random load whose
# distribution is known have no more false findings than the stated error rate, and a function that is
# 20 % slower is found in each; check-long has more of them (PAIRS). Also --threshold, pipes and hostile
# traces. diff_programs.sh does the same with recordings of a real program.
# parallel
# timeout: 900
# long: 1800
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh
. selftests/record.lib.sh
. selftests/diff.lib.sh

PAIRS=${PAIRS:-$(by_tier 13 13 40)}
# The error rate is 1 % per comparison: of 40, more than 3 findings have a probability of 0.07 %, of 13 more
# than 1 has 0.7 %.
MOST_FALSE=$((PAIRS < 40 ? 1 : 3))

make_loads()
{
	local i

	for ((i = 1; i <= PAIRS; i++)); do
		$REFERENCE/diff -make $((i)) "$tmp/a$i" && $REFERENCE/diff -make $((i + 1000)) -requests 500 "$tmp/b$i" &&
			$REFERENCE/diff -make $((i + 2000)) -slower 1.2 -requests 500 "$tmp/s$i" || return 1
	done
	$READER check "$tmp/a1" "$tmp/s1"
}

# JQ A B...: the comparison of each pair, those of which the expression is true are counted
count_pairs() # LETTER JQ
{
	local i n=0

	for ((i = 1; i <= PAIRS; i++)); do
		$READER diff --json "$tmp/a$i" "$tmp/$1$i" >"$tmp/pair.json" || return 1
		jq -e "$2" "$tmp/pair.json" >/dev/null && n=$((n + 1))
	done
	echo $n
}

no_false_findings()
{
	local n

	n=$(count_pairs b '.found > 0') && echo "$n of $PAIRS" && [ "$n" -le $MOST_FALSE ] &&
		[ "$(count_pairs b '.tested >= 15 and .per == "request"')" -eq $PAIRS ]
}

# Work that no request causes, and requests so rare that most slices have none: all of the work counts, so the
# recording that is ten times as long has no more of it per request.
rare_requests()
{
	local i found=0

	for ((i = 1; i <= PAIRS; i++)); do
		$REFERENCE/diff -make $((i)) -requests 2000 -share 0.01 "$tmp/short" && $REFERENCE/diff -make $((i + 1000)) -requests 20000 -share 0.01 "$tmp/long" &&
			$READER diff --json --per request "$tmp/short" "$tmp/long" >"$tmp/pair.json" || return 1
		[ "$(jq .found "$tmp/pair.json")" -eq 0 ] || found=$((found + 1))
		[ $i -gt 3 ] || agrees "$tmp/short" "$tmp/long" || return 1
		$READER goroutines --json --all "$tmp/short" >"$tmp/goroutines.json" || return 1
		jq -e --slurpfile of "$tmp/goroutines.json" '.a.requests as $n | [.figures[] | select(.figure == "running" and .a.value).a.value] |
			(add * $n) as $have | ([$of[0].goroutines[].exec] | add) as $want | ($have - $want | fabs) < 1e-6 * $want' "$tmp/pair.json" >/dev/null ||
			{ echo "pair $i"; return 1; }
	done
	echo "$found of $PAIRS"
	[ $found -le $MOST_FALSE ]
}

# About 10 requests, which are too few to estimate how much figures per request vary.
few_requests()
{
	local i found=0 message='fewer than 20 requests: figures per request are not tested'

	for ((i = 1; i <= PAIRS; i++)); do
		$REFERENCE/diff -make $((i)) -requests 1000 -share 0.01 "$tmp/short" && $REFERENCE/diff -make $((i + 1000)) -requests 10000 -share 0.01 "$tmp/long" &&
			$READER diff --json --per request "$tmp/short" "$tmp/long" >"$tmp/pair.json" 2>"$tmp/err" || return 1
		[ $i -gt 3 ] || agrees "$tmp/short" "$tmp/long" 2>"$tmp/result" || return 1
		[ "$(jq .a.requests "$tmp/pair.json")" -ge 20 ] && continue
		[ "$(cat "$tmp/err")" = "gotrace: $tmp/short: $message" ] &&
			jq -e '[.figures[] | select(.per != "second" and (.group == "request" or .per == "request")).tested] | length > 10 and (any | not)' "$tmp/pair.json" >/dev/null ||
			{ echo "pair $i"; return 1; }
		$READER diff --json "$tmp/short" "$tmp/long" 2>"$tmp/err" >"$tmp/pair.json" && [ ! -s "$tmp/err" ] && jq -e '.per == "second" and .tested > 5' "$tmp/pair.json" >/dev/null ||
			{ echo "pair $i"; return 1; }
		[ "$(jq .found "$tmp/pair.json")" -eq 0 ] || found=$((found + 1))
	done
	echo "$found of $PAIRS"
	[ $found -le $MOST_FALSE ]
}

# Events with a strict period do not vary between slices. Their rates differ only because the recordings end
# at another point of the period.
periodic()
{
	local ns

	$REFERENCE/diff -make 1 -spread 0 "$tmp/period" && $REFERENCE/diff -make 1 -spread 0 -requests 402 "$tmp/more" || return 1
	ns=$($READER diff --json "$tmp/period" "$tmp/more" | jq '.b.length_ns * 4004 / 4020 | floor') &&
		$READER cut --force --to "${ns}ns" "$tmp/more" -o "$tmp/cut" && $READER diff --json "$tmp/period" "$tmp/cut" | tee "$tmp/pair.json" |
		jq -e '.a.requests == .b.requests and (.figures[] | select(.figure == "rate") |
			.tested and .difference < 0 and .b.error < 1e-6 * .b.value and .result == "noise")' &&
		agrees "$tmp/period" "$tmp/cut"
}

finds_the_slower_function()
{
	local n

	n=$(count_pairs s '.figures | map({(.figure + " " + .name): .result}) | add |
		."running main.work" == "worse" and ."mean GET /work" == "worse" and ."running main.log" != "worse"')
	echo "$n of $PAIRS"
	[ "$n" -ge $((PAIRS - 1)) ]
}

# The direction: the faster one is better, and no threshold is exceeded.
the_other_way()
{
	$READER diff --json --threshold 0 "$tmp/s1" "$tmp/a1" |
		jq -e '.exceeding == 0 and (.figures[] | select(.figure == "running" and .name == "main.work").result == "better")'
}

thresholds()
{
	refused_after 1 '[0-9]+ figures? of .*/s1: worse than .*/a1 by more than 5 % and more than noise' diff --threshold 5 "$tmp/a1" "$tmp/s1" &&
		$READER diff --threshold 30 "$tmp/a1" "$tmp/s1" >"$tmp/out" && $READER diff --threshold 5 "$tmp/a1" "$tmp/b1" >"$tmp/out"
}

refused_after() # STATUS PATTERN ARGUMENT...: one line on stderr, with the result on stdout
{
	local want=$1 pattern=$2 status
	shift 2

	timeout 30 $READER "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	cat "$tmp/err"
	[ $status -eq "$want" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && [ -s "$tmp/out" ] && grep -qE "^gotrace: $pattern$" "$tmp/err"
}

table()
{
	$READER diff "$tmp/a1" "$tmp/s1" >"$tmp/table" &&
		grep -qE '^A: [0-9.]+ s, 400 requests, ' "$tmp/table" && grep -qE '^B: [0-9.]+ s, 500 requests, ' "$tmp/table" &&
		grep -qE '^time per request; 20 slices each; [0-9]+ of [0-9]+ figures differ by more than noise$' "$tmp/table" &&
		grep -qE '  \+[12][0-9]\.[0-9]%  worse   running: main\.work$' "$tmp/table" &&
		[ "$(grep -cE '  (worse|better|changed) ' "$tmp/table")" -eq "$($READER diff --json "$tmp/a1" "$tmp/s1" | jq .found)" ]
}

# The recordings and the numbers of the output, by other commands and by the list of figures; CHANGE of the
# table follows from the values.
stated()
{
	local side=a file

	$READER diff --json --threshold 5 "$tmp/a1" "$tmp/s1" >"$tmp/pair.json" 2>"$tmp/err"
	for file in "$tmp/a1" "$tmp/s1"; do
		jq -e --arg file "$file" --slurpfile stat <($READER stat --json "$file") --slurpfile requests <($READER requests --json "$file") \
			".$side"' == { file: $file, length_ns: $stat[0].duration, requests: ([$requests[0].requests[].count] | add),
				kernel: $requests[0].kernel }' "$tmp/pair.json" || return 1
		side=b
	done
	jq -e '.slices == 20 and .error_rate == 0.01 and .tested == ([.figures[] | select(.tested)] | length) and
		.found == ([.figures[] | select(.result != "noise")] | length) and .exceeding > 0 and
		.exceeding == ([.figures[] | select(.exceeds_threshold)] | length) and
		all(.figures[]; .exceeds_threshold == (.result == "worse" and .b.value > 1.05 * .a.value))' "$tmp/pair.json" || return 1
	$READER diff "$tmp/a1" "$tmp/s1" | sed -n 's/^ *[^ ]* *[^ ]* *[^ ]* *[^ ]* *\([-+][0-9.]*\)%  \(worse\|better\|changed\|\)  *\([^:]*\): \(.*\)/\1\t\3\t\4/p' >"$tmp/changes" &&
		[ "$(wc -l <"$tmp/changes")" -ge 5 ] && jq -e -n --rawfile changes "$tmp/changes" --slurpfile pair "$tmp/pair.json" '
			[$changes | split("\n")[] | select(. != "") | split("\t") | . as [$change, $figure, $name] |
				($pair[0].figures[] | select(.figure == $figure and .name == $name)) | (.b.value / .a.value - 1) * 100 - ($change | tonumber) | fabs] |
			length >= 5 and max <= 0.051'
}

# Of figures per second, the running time of a program that is busy all the time does not increase.
per_second()
{
	$READER diff --per second "$tmp/a1" "$tmp/b1" | grep -q '^time per second; ' &&
		refused 1 "$tmp/none: --per request requires tasks that end in the trace" $READER diff --per request "$tmp/a1" "$tmp/none" &&
		$READER diff "$tmp/a1" "$tmp/none" | grep -q '^time per second; '
}

make_none() # a trace without tasks
{
	$READER text "$CORPUS/runs/long-$ORACLE_GO.trace" >/dev/null && $REFERENCE/diff -make 7 -requests 0 "$tmp/empty" &&
		$READER cut --to 100us "$tmp/a1" -o "$tmp/none" && $READER requests --json "$tmp/none" | jq -e '.requests | map(.count) | add // 0 == 0'
}

pipes()
{
	$READER diff --json "$tmp/a1" "$tmp/s1" | jq 'del(.a.file, .b.file)' >"$tmp/want" &&
		$READER diff --json - "$tmp/s1" <"$tmp/a1" | jq 'del(.a.file, .b.file)' | cmp - "$tmp/want" &&
		cat "$tmp/s1" | $READER diff --json "$tmp/a1" - | jq 'del(.a.file, .b.file)' | cmp - "$tmp/want" &&
		$READER diff --json <(cat "$tmp/a1") <(cat "$tmp/s1") | jq 'del(.a.file, .b.file)' | cmp - "$tmp/want"
}

# Times that differ by more than 64 bits, and mutants: both end normally.
mutants()
{
	local i

	$REFERENCE/mutate -seed 20261126 -n 150 -worlds 10 -o "$tmp/mutants" "$CORPUS/$ORACLE_GO"/v2/go122-annotations*.trace \
		"$CORPUS/$ORACLE_GO"/v2/go122-task-across-generations.trace || return 1
	for i in $(seq 0 149); do
		timeout 20 $READER diff "$tmp/mutants/$i.trace" "$tmp/a1" >"$tmp/out" 2>"$tmp/err"
		[ $? -le 1 ] || { echo "mutant $i"; return 1; }
	done
	rm -rf "$tmp/mutants"
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$ORACLE_GO" &&
	try "programs trace themselves" trace_long_runs && try "loads are made" make_loads; then
	try "figures of random loads" agrees "$tmp/a1" "$tmp/s1"
	for trace in $(in_all echo "$CORPUS"/runs/long-*.trace); do
		try "figures of $(basename "$trace" .trace)" agrees "$CORPUS/runs/long-$ORACLE_GO.trace" "$trace"
	done
	try "no more false findings than stated" no_false_findings
	in_all try "requests that are rare" rare_requests
	in_all try "too few requests" few_requests
	try "events with a strict period" periodic
	try "a function that is 20 % slower is found" finds_the_slower_function
	try "one that is faster is better" the_other_way
	try "--threshold" thresholds
	try "the table" table
	try "what is stated about the recordings and the figures" stated
	try "a trace without tasks" make_none
	try "--per" per_second
	try "pipes" pipes
	in_all try "mutants" mutants
	try "one file" refused 2 'missing argument FILE: two traces are required' $READER diff "$tmp/a1"
	try "three files" refused 2 "unexpected argument 'c': only two files are accepted" $READER diff a b c
	try "standard input twice" refused 2 'only one of the two traces can be standard input' $READER diff - -
	try "--per" refused 2 "unknown unit 'day' for --per: must be second or request" $READER diff --per day a b
	for n in 3 201 x ''; do
		try "--slices '$n'" refused 2 "invalid number '$n' for --slices: expected 4 to 200" $READER diff --slices "$n" a b
	done
	for n in -1 x 5% nan ''; do
		try "--threshold '$n'" refused 2 "invalid value '$n' for --threshold: expected a percentage" $READER diff "--threshold=$n" a b
	done
	try "the second one does not exist" refused 1 "$tmp/nowhere: No such file" $READER diff "$tmp/a1" "$tmp/nowhere"
	try "the second one is no trace" refused 1 'Makefile: ' $READER diff "$tmp/a1" Makefile
fi
ktap_end
