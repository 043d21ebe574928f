#!/bin/bash
# Tests that the components of `gotrace latency` add up to each goroutine's time, exact to the
# nanosecond: on the traces of Go's own tests, on long ones and on mutants. Its figures about Go
# states match `gotrace goroutines`, whose figures check/goroutines.sh compares with Go's.
# check/latency.sh tests the accuracy of the kernel components.
# tier: all
# parallel
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

PARTS='def parts: [.oncpu_ns, .go_runnable_ns, .kernel_runnable_ns, .throttled_ns, .kernel_blocked_ns,
		.syscall_blocked_ns, .go_blocked_ns];
	def reasons($part): .by_reason[$part] | map(.ns) | add // 0;
	def wrong: (parts | any(. < 0)) or (parts | add) != .total_ns or reasons("go_blocked") != .go_blocked_ns or
		reasons("syscall_blocked") != .syscall_blocked_ns or reasons("kernel_blocked") != .kernel_blocked_ns or
		reasons("kernel_runnable") != .kernel_runnable_ns or .unknown_ns > .oncpu_ns + .syscall_blocked_ns or
		.of_which.syscall_oncpu_ns > .oncpu_ns or .of_which.gc_assist_ns > .oncpu_ns;'

# FILE of latency --goroutines --json: the components add up, and functions are sums of their
# goroutines, unless an ID was reused: then only the last goroutine is shown
adds_up()
{
	jq -e "$PARTS"' def sums: [(map(parts) | transpose | map(add)), (map(.total_ns) | add)];
		([.functions[], .goroutines[]] | map(select(wrong)) == []) and
		((.goroutines | length) < .count or (.functions | sums) == (.goroutines | sums)) and
		(.functions | map(.count) | add // 0) == .count' \
		"$1" >"$tmp/result" && return
	echo "does not add up:"
	jq -c "$PARTS"' [.functions[], .goroutines[]] | map(select(wrong)) | .[0]' "$1"
	return 1
}

# The blocked time matches for each of Go's reasons; the runnable time matches, except that
# goroutines counts a system call at the end of the trace twice, as Go does; the rest matches. A
# goroutine that blocks forever ends for goroutines, but not for latency.
agrees_with_goroutines() # TRACE
{
	$READER goroutines --all --json "$1" | jq -c '.goroutines | sort_by(.id)[] |
		[.id, .name, .total, .exec + .syscall + .syscall_block, ([.block[] | [.name, .time]] | sort)]' \
		>"$tmp/theirs.txt" || return 1
	jq -c '.goroutines | sort_by(.id)[] | ([.by_reason.go_blocked[] | select(.name == "forever").ns] | add // 0) as $ever |
		[.id, .name, .total_ns - $ever, .total_ns - .go_runnable_ns - .go_blocked_ns,
		 ([.by_reason.go_blocked[] | select(.name != "forever") | [.name, .ns]] | sort)]' \
		"$tmp/latency.json" >"$tmp/ours.txt"
	same_text "$tmp/ours.txt" "$tmp/theirs.txt"
}

whole_trace() # TRACE
{
	timeout 300 $READER latency --goroutines --json "$1" >"$tmp/latency.json" && adds_up "$tmp/latency.json" &&
		agrees_with_goroutines "$1" || return 1
	timeout 300 $READER latency "$1" >"$tmp/table" && grep -q 'START FUNCTION$' "$tmp/table"
}

# The components of adjacent windows add up to those of the complete trace.
in_windows() # TRACE
{
	local start end a b

	timeout 300 $READER latency --goroutines --json "$1" >"$tmp/latency.json" || return 1
	start=$(jq .start "$tmp/latency.json") end=$(jq .end "$tmp/latency.json")
	a=$((start + (end - start) / 3)) b=$((start + (end - start) / 2))
	$READER latency --goroutines --json --to "@$a" "$1" >"$tmp/1.json" &&
		$READER latency --goroutines --json --from "@$a" --to "@$b" "$1" >"$tmp/2.json" &&
		$READER latency --goroutines --json --from "@$b" "$1" >"$tmp/3.json" || return 1
	for i in 1 2 3; do
		adds_up "$tmp/$i.json" || return 1
	done
	jq -cs "$PARTS"' map(.goroutines) | add | group_by(.id)[] | [.[0].id, ([.[] | parts] | transpose | map(add))]' \
		"$tmp/1.json" "$tmp/2.json" "$tmp/3.json" >"$tmp/ours.txt"
	jq -c "$PARTS"' .goroutines | sort_by(.id)[] | [.id, parts]' "$tmp/latency.json" >"$tmp/theirs.txt"
	same_text "$tmp/ours.txt" "$tmp/theirs.txt"
}

# GENERATION TIME: the program runs its one goroutine, and nothing else happens.
generation()
{
	cat <<-EOF
		EventBatch gen=$1 m=0 time=$2 size=9
		ProcStatus dt=1 p=0 pstatus=1
		GoStatus dt=1 g=1 m=0 gstatus=2
		EventBatch gen=$1 m=1 time=$2 size=6
		Frequency freq=1000000000
	EOF
}

# A state lasts up to the end of the window even if the next event comes much later.
to_between_events()
{
	{
		echo "Trace Go1.23"
		generation 1 1000
		generation 2 700001000
	} >"$tmp/quiet.txt"
	$READER assemble "$tmp/quiet.txt" -o "$tmp/quiet" && $READER check "$tmp/quiet" || return 1
	$READER latency --to 600ms --json "$tmp/quiet" | jq -e '.functions[0].total_ns == 600000000 and
		.functions[0].oncpu_ns == 600000000 and .end - .start == 600000000' &&
		$READER latency --from 200ms --to 600ms --json "$tmp/quiet" |
			jq -e '.functions[0].total_ns == 400000000'
}

# 40,000 running goroutines, and as many generations without events: the cost of a generation
# depends on its own size only.
many_generations()
{
	awk 'BEGIN {
		print "Trace Go1.23"
		for (b = 0; b < 8; b++) {
			print "EventBatch gen=1 m=0 time=1 size=45000"
			for (i = 20000 + 5000 * b; i < 25000 + 5000 * b; i++)
				print "GoStatus dt=1 g=" i " m=" i " gstatus=2"
		}
		for (gen = 1; gen <= 40000; gen++) {
			print "EventBatch gen=" gen " m=1 time=" 10000 * gen " size=4"
			print "ProcStatus dt=1 p=0 pstatus=2"
			print "EventBatch gen=" gen " m=1 time=" 10000 * gen " size=6"
			print "Frequency freq=1000000000"
		}
	}' >"$tmp/many.txt"
	$READER assemble "$tmp/many.txt" -o "$tmp/many" && rm "$tmp/many.txt" && $READER check "$tmp/many" &&
		timeout 20 $READER latency --json "$tmp/many" >"$tmp/latency.json" &&
		jq -e '.count == 40000 and .functions[0].oncpu_ns == .functions[0].total_ns' "$tmp/latency.json" &&
		timeout 20 $READER path --goroutine 20000 "$tmp/many" >"$tmp/path"
}

# A recording of a real program with kernel events: little of its time is unknown.
recording()
{
	record_target selftrace "$ORACLE_GO" "" -duration 1200ms $FEW_SYSCALLS && whole_trace "$RECORDED" &&
		jq -e '.kernel and (.functions | (map(.unknown_ns) | add) * 1000 < (map(.total_ns) | add) and
			all(map(.kernel_runnable_ns), map(.run_queue_delays.count); add > 0))' \
			"$tmp/latency.json" >/dev/null && in_windows "$RECORDED"
}

# The text forms, and the form for one goroutine.
forms()
{
	local trace="$CORPUS/runs/long-$ORACLE_GO.trace" id

	id=$($READER latency --goroutines --sort oncpu --json "$trace" | jq -r '.goroutines[0].id')
	$READER latency --goroutine "$id" --json "$trace" | jq -e ".goroutines | length == 1 and .[0].id == $id" &&
		$READER latency --goroutine "$id" "$trace" | grep -q "^goroutine $id: " &&
		$READER latency "$trace" | grep -q '^The trace has no kernel' &&
		$READER latency --details "$trace" | grep -q 'Go-blocked: chan receive$' &&
		$READER latency --goroutines --sort id "$trace" | sed -n '/ START FUNCTION$/,/^$/s/^ *\([0-9]*\) .*/\1/p' | sort -nc &&
		$READER latency --sort go-runnable --json "$trace" |
			jq -e '[.functions[].go_runnable_ns] | . == (sort | reverse)'
}

# Goroutines in states that no program reaches.
mutants()
{
	local i=0 result same=0

	$REFERENCE/mutate -seed 20261121 -n 100 -worlds 50 -o "$tmp/mutants" $(mutation_bases) || return 1
	for ((i = 0; i < 100; i++)); do
		result=0
		timeout 10 $READER latency --goroutines --json "$tmp/mutants/$i.trace" >"$tmp/latency.json" 2>"$tmp/err" ||
			result=$?
		if [ $result -eq 0 ]; then
			adds_up "$tmp/latency.json" || { sed -n "$((i + 1))p" "$tmp/mutants/index"; return 1; }
			same=$((same + 1))
		elif [ $result -ne 1 ] || [ "$(wc -l <"$tmp/err")" -ne 1 ]; then
			echo "mutant $i: exit status $result"
			return 1
		fi
	done
	rm -rf "$tmp/mutants"
	[ $same -gt 5 ] || { echo "only $same were accepted"; return 1; }
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$ORACLE_GO" &&
	try "programs trace themselves" trace_long_runs && try "programs trace short runs" trace_short_runs; then
	for trace in "$CORPUS"/runs/*.trace "$CORPUS/$ORACLE_GO"/v2/*.trace "$CORPUS/$ORACLE_GO"/v1/*; do
		grep -qs '^FAILURE' "${trace%.trace}.expect" ||
			try "$(basename "$trace" .trace)" whole_trace "$trace"
	done
	try "adjacent windows" in_windows "$CORPUS/runs/long-$ORACLE_GO.trace"
	try "adjacent windows of an older format" in_windows "$CORPUS/runs/long-go1.22.12.trace"
	try "a window that ends between events" to_between_events
	try "many generations" many_generations
	try "a recording of gotrace-bpf" recording
	try "text forms, one goroutine, sorting" forms
	try "mutants that Go's reader accepts" mutants
fi
ktap_end
