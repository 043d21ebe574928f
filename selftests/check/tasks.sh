#!/bin/bash
# Compares `gotrace tasks`, `gotrace regions` and `gotrace requests` with a second implementation on Go's
# reader, selftests/reference/internal/annotations: each count, total, extreme, bucket and part of the
# time is the same, and percentiles are within the width of a class. The parts that depend on threads are
# compared with selftests/reference/internal/waits. Also what begins or ends outside the trace, counts of
# an HTTP server, and hostile traces.
# parallel
# timeout: 900
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

agrees() # TRACE
{
	timeout 300 $REFERENCE/tasks $READER "$1"
}

# There is enough to compare.
worth_comparing() # TRACE
{
	agrees "$1" >"$tmp/counts" && cat "$tmp/counts" &&
		awk '/ms: / && !n++ { exit !($3 > 400 && $7 > 1000) }' "$tmp/counts"
}

# A part of a trace: tasks that began before it, and others that end after it.
middles() # TRACE: prints the times in the middle of tasks, the longest first
{
	$READER events --json "$1" | jq -r 'select(.event == "UserTaskBegin" or .event == "UserTaskEnd") | "\(.task) \(.time)"' |
		awk '$1 in begin { printf "%.0f %.0f\n", $2 - begin[$1], (begin[$1] + $2) / 2 } { begin[$1] = $2 }' | sort -k 1,1nr | cut -d ' ' -f 2
}

# Each part begins within a task.
part_of_a_trace() # TRACE
{
	local at all=0 n

	n=$(by_tier 3 9 9)
	middles "$1" | awk 'NR % 7 == 1' | head -n "$n" >"$tmp/middles"
	[ "$(wc -l <"$tmp/middles")" = "$n" ] || return 1
	while read -r at; do
		$READER cut --exact --force --from "@$at" --to "@$((at + 50000000))" "$1" -o "$tmp/cut.trace" &&
			agrees "$tmp/cut.trace" || return 1
		all=$((all + $($READER tasks --json "$tmp/cut.trace" | jq '.unbegun + ([.tasks[].unfinished] | add // 0)')))
	done <"$tmp/middles"
	echo "$all began before or ended after the part"
	[ $all -ge "$n" ]
}

same_of_recording() # a recording of a real program by gotrace-bpf
{
	record_target selftrace "$ORACLE_GO" "" -duration 1200ms $FEW_SYSCALLS && worth_comparing "$RECORDED"
}

# FILE: the counts of `gotrace requests` equal those of the server, in the line it ended with.
server_counts() # TRACE FILE
{
	$READER requests --json "$1" | jq -S '.requests | map({(.name): {count, errors}}) | add' >"$tmp/ours.json" &&
		jq -S .requests "$2" | diff "$tmp/ours.json" - && jq -e 'length == 7' "$tmp/ours.json"
}

# An HTTP server with a task per request. The comparison by threads covers all names.
server_recorded() # GO
{
	record_target requests "$1" "" -n 16 && [ "$(stat_of lost "$tmp/requests.json")" = 0 ] &&
		server_counts "$RECORDED" "$tmp/requests.done" && agrees "$RECORDED" >"$tmp/counts" || return 1
	cat "$tmp/counts"
	grep -qE '^requests: 448, .* [0-9]{3} by threads, 0 names not' "$tmp/counts"
}

# The parts are where each route spends its time.
server_parts()
{
	$READER requests --json "$tmp/requests.trace" | jq -e '.requests | map({(.name): .time}) | add |
		def most(part): to_entries | map(select(.key | test("^(oncpu|.*_runnable|throttled|.*_blocked)_ns$"))) |
			max_by(.value).key == part;
		.["GET /cpu"].oncpu_ns > 64 * 150000 and (.["GET /sleep"] | most("go_blocked_ns")) and
		([.["GET /disk"].by_reason.syscall_blocked[] | select(.name == "fsync").ns] | add > 0) and
		.["GET /fan"].total_ns > 64 * 500000'
}

# The places are those of the code of each route.
server_places()
{
	$READER requests --json "$tmp/requests.trace" | jq -e '.requests | map({(.name): .time.by_place}) | add |
		(.["GET /disk"].syscall_blocked | max_by(.ns) | .function | test("disk")) and
		(.["GET /sleep"].go_blocked[0] | .reason == "sleep" and (.function | test("sleep")) and (.file | endswith("/main.go"))) and
		([.["GET /fan"].go_blocked[] | select(.reason == "sleep" and .ns > 64 * 100000).function | test("fan")] | length == 2 and all)' &&
		$READER requests --name '^GET /sleep$' "$tmp/requests.trace" | grep -qE '%    at main\..*sleep.* \(main\.go:[0-9]+\)$'
}

server_traces_itself() # GO: by the runtime's own trace
{
	build/targets/"$1"/requests -trace "$tmp/own.trace" -n 16 </dev/null | sed -n 's/^done //p' >"$tmp/own.done" &&
		server_counts "$tmp/own.trace" "$tmp/own.done" && agrees "$tmp/own.trace"
}

tables() # TRACE
{
	$READER tasks "$1" >"$tmp/tasks" && $READER regions "$1" >"$tmp/regions" &&
		head -n 1 "$tmp/tasks" | grep -qE '^ +COUNT +RATE/S +P50 +P90 +P99 +MAX +TOTAL  TASK$' &&
		head -n 1 "$tmp/regions" | grep -q 'TOTAL  REGION$' &&
		grep -qE '^ +[0-9]+ .*s  part$' "$tmp/tasks" && grep -qE '^ +[0-9]+ .*s  outer$' "$tmp/regions" &&
		grep -qE '[0-9] +#+$' "$tmp/tasks" &&
		[ "$(grep -c unfinished "$tmp/tasks")" = "$($READER tasks --json "$1" | jq '[.tasks[] | select(.unfinished > 0)] | length')" ] &&
		$READER requests "$1" >"$tmp/requests" &&
		head -n 1 "$tmp/requests" | grep -qE ' MAX +ERRORS  TASK$' &&
		grep -q '  time of the goroutines$' "$tmp/requests" && grep -q '  Go-blocked: sleep$' "$tmp/requests" &&
		grep -qE '^the slowest [0-9]+, which took [0-9.]+.s or more:$' "$tmp/requests"
}

# The events of one goroutine, from standard input as text, as a trace $tmp/made, whose string 1 is
# "name".
make_trace()
{
	{
		echo "Trace Go1.23"
		echo "EventBatch gen=1 m=0 time=1 size=9"
		echo "ProcStatus dt=1 p=0 pstatus=1"
		echo "GoStatus dt=1 g=1 m=0 gstatus=2"
		cat
		printf '%s\n' "EventBatch gen=1 m=1 time=1 size=8" Strings "String id=1" '	data="name"'
		echo "EventBatch gen=1 m=1 time=1 size=6"
		echo "Frequency freq=1000000000"
	} >"$tmp/made.txt"
	$READER assemble "$tmp/made.txt" -o "$tmp/made" --force && $READER check "$tmp/made"
}

# PARENT: 100,000 tasks are open at once, in a goroutine with 100,000 open regions; the parent of task i is
# i - 1 if PARENT is 1, and none if it is 0.
many_at_once()
{
	awk -v nested="$1" 'function leb(n) { return n < 128 ? 1 : n < 16384 ? 2 : 3 }
	BEGIN {
		format[0] = "UserTaskBegin dt=1 task=%d parent_task=%d name_string=1 stack=0\n"
		format[1] = "UserRegionBegin dt=1 task=%d name_string=1 stack=0\n"
		format[2] = "UserRegionEnd dt=1 task=%d name_string=1 stack=0\n"
		format[3] = "UserTaskEnd dt=1 task=%d stack=0\n"
		rest[0] = 5; rest[1] = rest[2] = 4; rest[3] = 3 # bytes without the task
		for (type = 0; type < 4; type++)
			for (b = 0; b < 50; b++) {
				size = 0
				for (i = 2000 * b + 1; i <= 2000 * b + 2000; i++)
					size += rest[type] + leb(type == 2 ? 100001 - i : i) + (type == 0 ? leb(nested * (i - 1)) - 1 : 0)
				print "EventBatch gen=1 m=0 time=" 1000000 * (type + 1) + 10000 * b " size=" size
				for (i = 2000 * b + 1; i <= 2000 * b + 2000; i++)
					printf format[type], type == 2 ? 100001 - i : i, nested * (i - 1)
			}
	}' | make_trace || return 1
	timeout 20 $READER tasks --json "$tmp/made" >"$tmp/tasks.json" &&
		timeout 20 $READER regions --json "$tmp/made" >"$tmp/regions.json" &&
		jq -e '.tasks[0] | .count == 100000 and .total_ns == 3e11 and .p50_ns == 3e6' "$tmp/tasks.json" &&
		jq -e '.regions[0] | .count == 100000' "$tmp/regions.json" &&
		timeout 20 $READER requests --json --max-memory 300M "$tmp/made" >"$tmp/requests.json" &&
		jq -e '.requests[0] | .count == 100000 and .time.total_ns == 3e11 and .slowest.count == 100000' \
			"$tmp/requests.json"
}

# Mutants of traces with annotations: both end normally, with the same result where Go's reader accepts
# the trace.
mutants()
{
	local result verb i=0 same=0

	$REFERENCE/mutate -seed 20261126 -n 250 -worlds 20 -o "$tmp/mutants" "$CORPUS/$ORACLE_GO"/v2/go122-annotations*.trace \
		"$CORPUS/$ORACLE_GO"/v2/go122-task-across-generations.trace || return 1
	seq -f "$tmp/mutants/%.0f.trace" 0 249 | $REFERENCE/expected >"$tmp/results"
	while read -r result _; do
		for verb in tasks "regions --function main --name e" "requests --worst 3"; do
			timeout 20 $READER $verb "$tmp/mutants/$i.trace" >"$tmp/out" 2>"$tmp/err"
			[ $? -le 1 ] || { echo "$verb: mutant $i"; return 1; }
		done
		if [ "$result" = ok ]; then
			timeout 60 $REFERENCE/tasks -made-up $READER "$tmp/mutants/$i.trace" >"$tmp/counts" 2>"$tmp/err" ||
				{ cat "$tmp/counts" "$tmp/err"; sed -n "$((i + 1))p" "$tmp/mutants/index"; return 1; }
			same=$((same + 1))
		fi
		i=$((i + 1))
	done <"$tmp/results"
	rm -rf "$tmp/mutants"
	[ $same -gt 10 ] || { echo "only $same were accepted"; return 1; }
}

# --worst prints the path that `gotrace path` prints, and its parts; a pipe is copied, and a file may be read
# from its middle on.
worst() # TRACE
{
	$READER requests --worst 2 "$1" >"$tmp/worst" 2>"$tmp/err" || return 1
	[ "$(grep -cE '^request [0-9]+ \(.*\), [0-9.]+[num]?s(, failed)?$' "$tmp/worst")" -eq 2 ] &&
		[ "$(grep -c '^causes:$' "$tmp/worst")" -eq 2 ] &&
		cat "$1" | $READER requests --worst 2 - | cmp - "$tmp/worst" &&
		$READER requests --worst 2 <"$1" | cmp - "$tmp/worst" &&
		{ echo skipped; cat "$1"; } >"$tmp/behind" &&
		{ read -r _; $READER requests --worst 2 --function '' -; } <"$tmp/behind" | cmp - "$tmp/worst"
}

# --top shortens the lists; --sort changes only the order of the names.
sorted_and_cut() # TRACE
{
	local verb key

	for verb in tasks regions requests; do
		$READER $verb --json "$1" >"$tmp/all.json" &&
			$READER $verb --json --top 2 "$1" | jq -S . >"$tmp/have" &&
			jq -S ".$verb |= .[:2]" "$tmp/all.json" | diff - "$tmp/have" &&
			jq -e ".$verb | length > 2" "$tmp/all.json" || return 1
		for key in total_ns p99_ns errors $(in_all echo count p50_ns p90_ns max_ns); do
			[ $verb$key = taskserrors ] || [ $verb$key = regionserrors ] && continue
			$READER $verb --json --sort ${key%_ns} "$1" | jq -S . >"$tmp/sorted.json" &&
				jq -e "[.${verb}[].$key] | . == (sort | reverse)" "$tmp/sorted.json" &&
				diff <(jq -S ".$verb |= sort_by(.name)" "$tmp/all.json") \
					<(jq -S ".$verb |= sort_by(.name)" "$tmp/sorted.json") || return 1
		done
	done
	refused 2 "unknown key 'errors' for --sort: must be total, count, p50, p90, p99 or max" \
		$READER tasks --sort errors "$1" &&
		refused 2 "unknown key '' for --sort: .* p99, max or errors" $READER requests --sort '' "$1"
}

# A filter that nothing matches, and one that is invalid. The comparisons use the others.
filters_without_matches() # TRACE
{
	local verb

	for verb in tasks regions requests; do
		refused 1 "there is no goroutine whose start function matches 'no such'" $READER $verb --function 'no such' "$1" &&
			refused 2 "invalid regular expression '\(' for --name: unmatched" $READER $verb --name '(' "$1" &&
			$READER $verb --json --goroutine 99999999 "$1" | jq -e ".$verb == [] and .unbegun == (if \"$verb\" == \"regions\" then null else 0 end)" &&
			$READER $verb --json --name 'no such' "$1" | jq -e ".$verb == []" || return 1
	done
	$READER tasks --function 'HandlerFunc|conn' --json "$1" >"$tmp/want" && [ "$(jq '.tasks | length' "$tmp/want")" -gt 2 ] &&
		cat "$1" | $READER tasks --function 'HandlerFunc|conn' --json - | cmp - "$tmp/want"
}

no_annotations()
{
	make_trace </dev/null && $READER tasks --json "$tmp/made" | jq -e '.tasks == [] and .unbegun == 0' &&
		$READER regions --json "$tmp/made" | jq -e '.regions == []' &&
		$READER requests --json "$tmp/made" | jq -e '.requests == []' &&
		[ "$($READER tasks "$tmp/made" | wc -l)" -eq 1 ] && [ "$($READER requests "$tmp/made" | wc -l)" -eq 1 ]
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$ORACLE_GO" &&
	try "programs trace themselves" trace_long_runs; then
	try "there are many tasks and regions" worth_comparing "$CORPUS/runs/long-$ORACLE_GO.trace"
	for trace in "$CORPUS"/runs/long-*.trace "$CORPUS/$ORACLE_GO"/v2/*.trace; do
		grep -qs '^FAILURE' "${trace%.trace}.expect" && continue
		in_all try "$(basename "$trace" .trace)" agrees "$trace"
	done
	try "parts of a trace" part_of_a_trace "$CORPUS/runs/long-$ORACLE_GO.trace"
	try "tables" tables "$CORPUS/runs/long-$ORACLE_GO.trace"
	in_all try "a recording of gotrace-bpf" same_of_recording
	for go in "$ORACLE_GO" $(in_all echo go1.21.13); do
		try "$go: an HTTP server" server_recorded "$go"
		try "$go: an HTTP server, parts" server_parts
		try "$go: an HTTP server, places" server_places
	done
	try "an HTTP server that traces itself" server_traces_itself "$ORACLE_GO"
	try "the worst requests" worst "$tmp/own.trace"
	try "--sort and --top" sorted_and_cut "$tmp/own.trace"
	try "filters that nothing matches" filters_without_matches "$tmp/own.trace"
	in_all try "mutants" mutants
	in_all try "100,000 open tasks and regions" many_at_once 0
	in_all try "100,000 open tasks, each a subtask of another" many_at_once 1
	try "a trace without annotations" no_annotations
	try "--worst 0" refused 2 "invalid number '0' for --worst: expected 1 to 1000" $READER requests --worst 0 "$tmp/made"
	try "--worst of a pipe that is no trace" refused 1 'stdin: ' $READER requests --worst 1 - < <(echo no trace)
	for verb in tasks regions requests; do
		try "$verb: a window after the end" refused 1 'no events in the requested time; the length of the trace is 0\.000 s' \
			$READER $verb "$tmp/made" --from 1s
		try "$verb: an empty window" refused 2 'before' $READER $verb "$tmp/made" --from 3us --to 2us
		try "$verb: not a trace" refused 1 'Makefile: ' $READER $verb Makefile
	done
fi
ktap_end
