#!/bin/bash
# Probes are put into two working programs and taken out again 10,000 times, by four recorders at a time;
# one in ten is killed at a random moment. Each trace is valid, the programs' answers are right, nothing
# of the recorders is left in the kernel, and neither the programs nor the kernel need more memory.
#
#     CYCLES=10000 CYCLE_SECONDS=6600    fewer, if they take longer than that
# tier: long
# timeout: 7200
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh
. selftests/faults.lib.sh

cycles=${CYCLES:-10000} seconds=${CYCLE_SECONDS:-6600}
RECORDERS_AT_ONCE=4

unreclaimable() { awk '$1 == "SUnreclaim:" || $1 == "Percpu:" { n += $2 } END { print n }' /proc/meminfo; } # KiB of the kernel

killed_once() # PID TRACE
{
	local recorder

	$GOTRACE record -p "$1" -o "$2" --force >/dev/null 2>&1 &
	recorder=$!
	sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
	kill -KILL $recorder
	wait $recorder
	rm -f "$2".partial*
}

attach() # PID NUMBER CYCLES: one after the other; prints what failed, and finally the number that did not
{
	local pid=$1 trace=$tmp/worker$2.trace n=$3 good=0 killed=0

	while [ $((n--)) -gt 0 ] && [ $SECONDS -lt "$seconds" ]; do
		if [ $((n % 10)) -eq 0 ]; then
			killed_once "$pid" "$trace"
			killed=$((killed + 1))
		elif timeout 120 $GOTRACE record -p "$pid" -d $((RANDOM % 20 + 1))ms -o "$trace" >"$tmp/worker$2.err" 2>&1 &&
			build/gotrace check "$trace" >>"$tmp/worker$2.err" 2>&1; then
			good=$((good + 1))
		else
			echo "failed: $(tail -n 1 "$tmp/worker$2.err")"
		fi
	done
	echo "ended $good $killed"
}

# Two programs, of which one is not started by start_target(), which has only one at a time
all_cycles()
{
	local first second before after memory i ended good killed workers=()

	start_answers -rate 3000 -duration 7200s && first=$TARGET_PID || return 1
	"$PROGRAM" -duration 7200s -rate 3000 -counter "$tmp/counter2" >"$tmp/second.out" 2>&1 </dev/null &
	second=$!
	background+=("$second")
	killed_once "$second" "$tmp/first.trace" # so that caches are filled
	sleep 2
	before=$(unreclaimable)
	memory=$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$second/status")
	for ((i = 0; i < RECORDERS_AT_ONCE; i++)); do
		attach "$([ $((i % 2)) = 0 ] && echo "$first" || echo "$second")" $i $((cycles / RECORDERS_AT_ONCE)) \
			>"$tmp/attached.$i" &
		workers[i]=$!
	done
	wait "${workers[@]}"
	sleep 2
	after=$(unreclaimable)
	awk '$1 == "ended" { workers++; good += $2; killed += $3 }
		END { print workers + 0, good + 0, killed + 0 }' "$tmp"/attached.* >"$tmp/sums"
	read -r ended good killed <"$tmp/sums"
	echo "$good recordings and $killed killed; the kernel's memory: $before, then $after KiB; the program's: $memory, then" \
		"$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$second/status") KiB"
	! grep failed "$tmp"/attached.* && [ "$ended" -eq $RECORDERS_AT_ONCE ] && [ "$good" -gt 0 ] && [ "$killed" -gt 0 ] &&
		[ $((after - before)) -lt 65536 ] || return 1
	kill -TERM "$second" && wait "$second" && grep -q '^done' "$tmp/second.out"
}

ktap_start
orphans >"$tmp/orphans"
try "$cycles attachments" all_cycles
note "$(tail -n 1 "$tmp/try.out")"
mode=record
try "nothing is left in the kernel" no_orphan_stays
try "no uprobe is left" wait_until 20 no_uprobe_of_target
try "the code is that of the file" wait_until 20 code_is_clean
try "the program goes on" goes_on
try "its answers are right" answers_are_right
note "$(answers) answers"
ktap_end
