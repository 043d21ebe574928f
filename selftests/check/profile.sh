#!/bin/bash
# Compares `gotrace profile` with `go tool trace -pprof` (counts, times and complete stacks, on Go's
# golden traces and on runs of each Go release), and its other kinds, filters, labels and text forms
# with a second implementation, selftests/reference/internal/profiles, which shares no code with it.
# The tool is that of the newest release for all traces: those of Go 1.22 to 1.25 skip transitions without a
# stack (`if stack == trace.NoStack` in cmd/trace/pprof.go), such as the start of a goroutine, so an
# interval lasts beyond its end, or is lost. The second implementation equals them when it skips these, too.
# parallel
# timeout: 900
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

kinds='net sync syscall sched'

# KIND TRACE [GO]: the profile of Go's tool; false: the trace has nothing that it would accept
theirs()
{
	go_trace "${3-$ORACLE_GO}" "-pprof=$1" "$2" >"$tmp/theirs.pb.gz" 2>"$tmp/theirs.err"
}

# KIND TRACE: both profiles are equal. For some traces before Go 1.22, times of Go's tool differ by
# 1 ns from one run to the next, which is tolerated ten times.
same_profile()
{
	local within=0

	$READER profile "$1" "$2" -o "$tmp/ours.pb.gz" || return 1
	if ! theirs "$1" "$2"; then
		cat "$tmp/theirs.err"
		# A trace without goroutines
		grep -q 'failed to find matching goroutines' "$tmp/theirs.err" &&
			[ "$($REFERENCE/profiles -folded "$tmp/ours.pb.gz")" = '' ]
		return
	fi
	! is_v1 "$2" || within=10
	$REFERENCE/profiles -within $within "$tmp/ours.pb.gz" "$tmp/theirs.pb.gz" >"$tmp/result" && return
	cat "$tmp/result"
	return 1
}

# TRACE: equal to Go's tool in each kind; $compared has the number of intervals
same_as_go()
{
	local kind

	for kind in $kinds; do
		: >"$tmp/result"
		same_profile "$kind" "$1" || { echo "$kind"; return 1; }
		compared=$((compared + $(sed -n '1s/.* stacks, \([0-9]*\) intervals.*/\1/p' "$tmp/result") + 0))
	done
}

golden_traces() # that are valid
{
	local expect

	for expect in "$CORPUS/$ORACLE_GO"/v2/*.expect; do
		! grep -q SUCCESS "$expect" || echo "${expect%.expect}.trace"
	done
	ls "$CORPUS/$ORACLE_GO"/v1/*
}

all_golden()
{
	local trace

	compared=0
	for trace in $(golden_traces); do
		same_as_go "$trace" || { echo "$trace"; return 1; }
	done
	[ $compared -gt 1000 ]
}

each_release()
{
	local go

	for go in $READER_GOS; do
		compared=0
		same_as_go "$CORPUS/runs/long-$go.trace" || { echo "$go"; return 1; }
		[ $compared -gt 10000 ] || { echo "$go: only $compared intervals"; return 1; }
	done
}

# The tools of older releases differ from the newest only because they skip transitions without a stack.
older_tools()
{
	local go kind trace differ=0

	for go in $READER_GOS; do
		[ "$go" != "$ORACLE_GO" ] || continue
		trace=$CORPUS/runs/short-$go.trace
		for kind in $kinds; do
			theirs "$kind" "$trace" "$go" && $REFERENCE/profiles -kind "$kind" -with-stack "$tmp/theirs.pb.gz" "$trace" ||
				{ echo "$go $kind"; return 1; }
			$REFERENCE/profiles -kind "$kind" "$tmp/theirs.pb.gz" "$trace" >"$tmp/result" || differ=$((differ + 1))
		done
	done
	echo "$differ profiles differ otherwise"
	[ $differ -gt 4 ]
}

# TRACE "OPTIONS OF OURS" "OPTIONS OF THE REFERENCE" [KIND...]: each kind has something, and agrees
agrees()
{
	local kind chosen=$kinds' wall region task gc'

	[ $# -lt 4 ] || chosen=${*:4}
	for kind in $chosen; do
		# shellcheck disable=SC2086 # several options
		$READER profile "$kind" "$1" $2 -o "$tmp/ours.pb.gz" &&
			$REFERENCE/profiles -kind "$kind" $3 "$tmp/ours.pb.gz" "$1" >"$tmp/result" &&
			! grep -q '^0 stacks' "$tmp/result" || { echo "$kind"; cat "$tmp/result"; return 1; }
	done
}

filters()
{
	local go

	for go in $(in_all echo go1.22.12) "$ORACLE_GO"; do
		agrees "$CORPUS/runs/long-$go.trace" '' '' &&
			agrees "$CORPUS/runs/short-$go.trace" '' '' region task &&
			agrees "$CORPUS/runs/long-$go.trace" '--from 0.3 --to 0.9' '-from 300000000 -to 900000000' &&
			agrees "$CORPUS/runs/long-$go.trace" '--function main\.[(]' '-function main\.[(]' || return 1
	done
}

# The goroutine with the most intervals
one_goroutine()
{
	local trace=$CORPUS/runs/long-$ORACLE_GO.trace id

	id=$($READER goroutines --all --json "$trace" | jq '[.goroutines[] | select(.name != "")] | max_by(.sched_wait).id') || return 1
	$READER profile sched "$trace" --goroutine "$id" -o "$tmp/ours.pb.gz" &&
		$REFERENCE/profiles -kind sched -goroutine "$id" "$tmp/ours.pb.gz" "$trace" | tee "$tmp/result" &&
		! grep -q '^0 stacks' "$tmp/result"
}

labels()
{
	local go

	for go in $(in_all echo go1.22.12) "$ORACLE_GO"; do
		agrees "$CORPUS/runs/long-$go.trace" '--labels goroutine,function' -labels || return 1
	done
}

# The columns FLAT%, SUM%, CUM% and FUNCTION of the table, and the folded stacks, are those of the file.
text_forms()
{
	local trace=$CORPUS/runs/long-$ORACLE_GO.trace kind

	for kind in $kinds; do
		$READER profile "$kind" "$trace" -o "$tmp/ours.pb.gz" || return 1
		$READER profile "$kind" "$trace" --folded | sed 's/^(unknown) / /; s/;(unknown)/;/g; s/^(unknown);/;/' | LC_ALL=C sort >"$tmp/folded"
		$REFERENCE/profiles -folded "$tmp/ours.pb.gz" | LC_ALL=C sort >"$tmp/expected"
		[ -s "$tmp/folded" ] && same_text "$tmp/folded" "$tmp/expected" || return 1
		$READER profile "$kind" "$trace" | sed 1,2d | awk '{ print $2, $3, $5, $6 }' | sed 's/ (unknown:$/ /' >"$tmp/table"
		$REFERENCE/profiles -table "$tmp/ours.pb.gz" >"$tmp/expected"
		[ -s "$tmp/table" ] && same_text "$tmp/table" "$tmp/expected" || return 1
		[ "$($READER profile "$kind" "$trace" --top 2 | wc -l)" -eq 4 ] || return 1
	done
}

# A program that spins, recorded with CPU samples: their rate is in the trace, unless another one is given.
samples()
{
	record_target spin "$ORACLE_GO" '--cpu-profile=500' -duration 500ms && agrees "$RECORDED" '--rate 200' '-sample 5000000' cpu &&
		agrees "$RECORDED" '--labels goroutine,function' '-sample 2000000 -labels' cpu &&
		agrees "$RECORDED" '--from 0.1 --to 0.2' '-sample 2000000 -from 100000000 -to 200000000' cpu &&
		agrees "$RECORDED" '' '-sample 2000000' cpu wall && $READER profile cpu "$RECORDED" -o "$tmp/ours.pb.gz" && pprof_reads -raw >"$tmp/raw" &&
		grep -qx 'PeriodType: cpu nanoseconds' "$tmp/raw" && grep -qx 'Period: 2000000' "$tmp/raw" && grep -qx 'samples/count cpu/nanoseconds' "$tmp/raw"
}

# All time of goroutines is that of `gotrace goroutines`, which ends when one is blocked for ever.
whole_time()
{
	local go all

	for go in $READER_GOS; do
		all=$($READER goroutines --all --json "$CORPUS/runs/long-$go.trace" | jq '[.goroutines[].total] | add') &&
			$READER profile wall "$CORPUS/runs/long-$go.trace" --folded | grep -v '\[waiting: forever\] ' | awk '{ sum += $NF } END { printf "%.0f\n", sum }' >"$tmp/sum" &&
			echo "$go: $all $(cat "$tmp/sum")" && [ "$(cat "$tmp/sum")" = "$all" ] || return 1
	done
}

# Time of threads with a goroutine without a CPU, by reason, from the single events: until the thread
# is woken, and from then on until it gets a CPU. One that is preempted or yields is not woken; one
# that is woken while it is about to sleep, after its last system call or wake-up of another, waits
# for a CPU at once. A thread that makes a system call or wakes another has a CPU.
offcpu_of_events='
def add($what; $ns): if $ns > 0 then .sum[$what] += $ns else . end;
def runs($m): .early[$m] = false | del(.off[$m]);
reduce inputs as $e ({off: {}, early: {}, sum: {}}; ($e.m | tostring) as $m |
	if $e.event == "off_cpu" then
		(.early[$m] and ($e.why == "sleeping" or $e.why == "disk")) as $early |
		if $e.g == null then runs($m)
		else .off[$m] = {from: $e.time, why: $e.why, call: .call[$m],
			woken: (if $early or $e.why == "preempted" or $e.why == "yielded" then $e.time else null end)} end
	elif $e.event == "waking" then
		(if $e.by.m and ($e.interrupt | not) and $e.by.m != $e.m then runs($e.by.m | tostring) else . end) |
		if .off[$m] | not then (if $e.by.m != $e.m then .early[$m] = true else . end)
		elif .off[$m].woken == null then .off[$m].woken = $e.time else . end
	elif $e.event == "sys_enter" then runs($m) | .call[$m] = $e.syscall
	elif $e.event == "sys_exit" then runs($m) | .call[$m] = null
	elif $e.event == "on_cpu" and .off[$m] then
		.off[$m] as $o | ($o.woken // $e.time) as $w |
		add("[" + $o.why + (if $o.call then ": " + $o.call else "" end) + "]"; $w - $o.from) |
		add("[waiting for a CPU]"; $e.time - $w) | runs($m)
	elif $e.event == "on_cpu" then runs($m)
	else . end) | .sum | to_entries | sort_by(.key)[] | "\(.key) \(.value)"'

off_cpu()
{
	record_target selftrace "$ORACLE_GO" '' -duration 300ms $FEW_SYSCALLS && [ "$(stat_of lost "$tmp/selftrace.json")" = 0 ] &&
		$READER events --kernel --json "$RECORDED" | jq -nr "$offcpu_of_events" | LC_ALL=C sort >"$tmp/expected" &&
		$READER profile offcpu "$RECORDED" --folded | sed 's/^.*;\[/[/' |
		awk '{ ns = $NF; sub(/ [0-9]*$/, ""); sum[$0] += ns } END { for (w in sum) printf "%s %.0f\n", w, sum[w] }' | LC_ALL=C sort >"$tmp/sums" &&
		cat "$tmp/sums" && [ "$(wc -l <"$tmp/sums")" -ge 3 ] && same_text "$tmp/sums" "$tmp/expected"
}

# Reads what `go tool pprof` makes of our file.
pprof_reads()
{
	GOTOOLCHAIN=$ORACLE_GO "${GO:-go}" tool pprof "$@" "$tmp/ours.pb.gz" 2>"$tmp/pprof.err"
}

# A trace of gotrace-bpf, with kernel events: equal, and it names the program.
recorded()
{
	local build_id

	compared=0
	record_target selftrace "$ORACLE_GO" '' -duration 300ms $FEW_SYSCALLS && same_as_go "$RECORDED" && [ $compared -gt 1000 ] || return 1
	build_id=$($READER stat --json "$RECORDED" | jq -er '.private.meta[] | select(.name == "build_id").value') &&
		pprof_reads -raw >"$tmp/raw" && grep -A 2 '^Mappings' "$tmp/raw" &&
		grep -q "/selftrace $build_id \[FN\]" "$tmp/raw"
}

# A profile is replaced, another file is not; nothing is left after an error.
output_file()
{
	local trace=$CORPUS/runs/short-$ORACLE_GO.trace

	$READER profile sync "$trace" -o "$tmp/o.pb.gz" && cp "$tmp/o.pb.gz" "$tmp/first" &&
		$READER profile sync "$trace" -o "$tmp/o.pb.gz" && cmp "$tmp/first" "$tmp/o.pb.gz" &&
		$READER profile sync "$trace" -o - | cmp - "$tmp/first" || return 1
	gzip -c "$trace" >"$tmp/other"
	cp "$tmp/other" "$tmp/kept"
	! $READER profile sync "$trace" -o "$tmp/other" 2>"$tmp/err" && cmp "$tmp/other" "$tmp/kept" &&
		grep -q 'exists and is not a profile; use --force' "$tmp/err" &&
		$READER profile sync "$trace" -o "$tmp/other" --force && cmp "$tmp/other" "$tmp/first" || return 1
	head -c 30000 "$trace" >"$tmp/short"
	! $READER profile sync "$tmp/short" -o "$tmp/none" 2>"$tmp/err" && [ ! -e "$tmp/none" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		! $READER profile sync "$trace" -o /dev/full 2>"$tmp/err" && grep -q 'cannot write /dev/full' "$tmp/err"
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$ORACLE_GO" &&
	try "programs trace themselves" trace_long_runs && try "for a short time" trace_short_runs; then
	in_all try "golden traces: as go tool trace" all_golden
	try "runs of each Go release: as go tool trace" each_release
	in_all try "older tools skip transitions without a stack" older_tools && note "$(tail -n 1 "$tmp/try.out")"
	try "a part of the time, and some functions" filters
	try "one goroutine" one_goroutine
	try "labels" labels
	try "tables and folded stacks" text_forms
	try "all time" whole_time
	in_all try "CPU samples" samples
	in_all try "threads without a CPU" off_cpu
	try "a trace of gotrace-bpf: as go tool trace" recorded
	try "the output file" output_file
fi
ktap_end
