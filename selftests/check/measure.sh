#!/bin/bash
# Tests doctor --measure, and what record reports of its cost: the counted rates are those of the
# records of a recording and of the kernel's counters, the sums are correct, and no probe is left. What a hit takes is
# compared, within a factor of 2, with what perf's own probes and empty probes take. Predicted times are not compared:
# `make bench` measures what they predict.
# tier: all
# timeout: 300
# depends on: Makefile bpf include userspace selftests/targets selftests/bench
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

measure() # [OPTION...]
{
	timeout 60 $GOTRACE doctor -p "$TARGET_PID" --measure 3s "$@" >"$tmp/doctor" 2>"$tmp/error"
}

# Until it is killed: the time in microseconds, and how often the threads of the target have left a CPU so far, in
# all and to sleep, by the kernel's own counters.
count_switches()
{
	while :; do
		awk -v time="${EPOCHREALTIME/./}" '/^voluntary_ctxt/ { slept += $2 } /ctxt_switches/ { all += $2 }
			END { print time, all, slept }' "/proc/$TARGET_PID/task/"*/status
		sleep 0.05
	done
}

# SECONDS: the least and the greatest rates of those counts within so many seconds
rates_of_switches()
{
	awk -v us="$(jq "$1 * 1000000 | floor" <<<null)" '{ t[NR] = $1; all[NR] = $2; slept[NR] = $3 }
		function add(k, rate) { if (!(k in low) || rate < low[k]) low[k] = rate; if (rate > high[k]) high[k] = rate }
		END {
			for (i = j = 1; i <= NR; i++) {
				while (j <= NR && t[j] - t[i] < us) j++
				if (j > NR) break
				add("all", (all[j] - all[i]) * 1e6 / (t[j] - t[i]))
				add("slept", (slept[j] - slept[i]) * 1e6 / (t[j] - t[i]))
			}
			printf "{\"all\": [%f, %f], \"slept\": [%f, %f]}\n", low["all"], high["all"], low["slept"], high["slept"]
		}' "$tmp/switches"
}

# The target does the same work all the time. A program on a busy machine does a bit less, and how often it leaves
# a CPU depends on what else runs there: so that is compared with the counters of the same seconds.
rates_are_those_of_records()
{
	local counter

	count_switches >"$tmp/switches" &
	counter=$!
	background+=($counter)
	measure --json || { cat "$tmp/error"; return 1; }
	kill $counter
	timeout 60 $GOTRACE record -p "$TARGET_PID" -d 2s -o "$tmp/m.trace" --stats "$tmp/stats" \
		--events sched,syscall,gc,heap,user,kernel 2>"$tmp/recorded" || { cat "$tmp/recorded"; return 1; }
	rates_of_switches "$(jq .target.measured.seconds "$tmp/doctor")" >"$tmp/by_kernel"
	jq -n --slurpfile doctor "$tmp/doctor" --slurpfile stats "$tmp/stats" --slurpfile kernel "$tmp/by_kernel" '
		$doctor[0].target.measured.hits_per_second as $hit | $stats[0] as $s |
		($s.records_by_kind | map_values(. * 1e9 / $s.window_ns)) as $n |
		def sum(f): [f] | map(. // 0) | add;
		{
			execute: [$hit.execute, sum($n.execute, $n.execute_parked, $n.execute_ended)],
			ready: [$hit.ready, $n.ready],
			system_calls: [$hit.system_calls, sum($n.sys_enter, $n.go_sys_enter)],
			cpu_on: ([$hit.cpu_on] + $kernel[0].all),
			cpu_off: ([$hit.cpu_off] + $kernel[0].all),
			waking: ([$hit.waking] + $kernel[0].slept)
		}' >"$tmp/rates"
	cat "$tmp/rates"
	jq -e 'all(.[]; .[0] > 0 and .[0] / .[1] > 0.7 and .[0] / .[-1] < 1.4)' "$tmp/rates"
}

# The CPU time of the target so far, in ticks.
target_ticks() { echo $(($(cut -d' ' -f14,15 "/proc/$TARGET_PID/stat" | tr ' ' +))); }

# The CPUs according to /proc; the parts of the slowdown add up to it; what costs less is less.
sums_are_right()
{
	local before after hz

	hz=$(getconf CLK_TCK)
	before=$(target_ticks)
	sleep 5
	after=$(target_ticks)
	jq -e --argjson ticks $((after - before)) --argjson hz "$hz" '.target.measured | ($ticks / $hz / 5) as $cpus |
		([.cpus, $cpus] | debug) as $_ |
		.cpus < $cpus * 1.6 + 0.02 and $cpus < .cpus * 1.6 + 0.02 and
		.hit_us >= .loop_hit_us and .loop_hit_us > 0.05 and
		(.added_percent | del(.sweep) | add) / 100 + 1 - .cpu_ratio.default < 0.001 and
		.cpu_ratio.default > .cpu_ratio.no_stacks and .cpu_ratio.no_stacks > .cpu_ratio.sched_no_stacks and
		.cpu_ratio.sched_no_stacks > 1' "$tmp/doctor"
}

# The model of capture/cost.c for what a recording adds with all sets of `probes`, without stacks, and of the goroutines'
# states alone without stacks, each relative to the first: from the rates and the time of a hit.
ratios_are_those_of_the_model()
{
	jq -e '.target.measured | .hits_per_second as $n | (.hit_us * 1000) as $trap |
		([$n.system_calls, $n.cpu_off + $n.cpu_on, $n.waking] | . as [$calls, $switches, $wakes] | 250 * $calls + 150 * $switches + 200 * $wakes) as $kernel |
		def probes(names): [$n | to_entries[] | select(.key | IN(names)).value] | add;
		probes("execute", "execute_parked", "execute_ended", "ready", "yield", "preempt_park", "create", "p_start", "p_stop", "p_handoff") as $sched |
		([$n | del(.system_calls, .cpu_off, .cpu_on, .waking, .sweep_begin, .sweep_end)[]] | add) as $all |
		def cost(hits; kernel; stacks): hits * $trap + (130 * hits + kernel + 120 * stacks) * $trap / 400;
		cost($all; $kernel; $all + $n.system_calls) as $default |
		([[cost($all; $kernel; 0), .cpu_ratio.no_stacks], [cost($sched; 0; 0), .cpu_ratio.sched_no_stacks]] | debug) as $each | .cpu_ratio.default as $ratio |
		all($each[]; (.[0] / $default) / ((.[1] - 1) / ($ratio - 1)) | . > 0.99 and . < 1.01)' "$tmp/doctor"
}

# The seconds are those of half of the measurement, and what the clock of the shell leaves for it
seconds_are_right()
{
	local before=${EPOCHREALTIME/./} seconds

	measure --json || return 1
	seconds=$(jq .target.measured.seconds "$tmp/doctor")
	echo "$seconds s of $((${EPOCHREALTIME/./} - before)) us"
	jq -n -e --argjson seconds "$seconds" --argjson us $((${EPOCHREALTIME/./} - before)) '$seconds >= 1.5 and $seconds <= $us / 1e6 - 1.5'
}

# emulated|stepped N: ns of a hit, by the CPU time of a program with and without a probe of perf
by_perf()
{
	local with without

	with=$(perf stat -x, -e task-clock,"probe_hit:$1" "$tmp/hit" "$1" "$2" 2>&1 >/dev/null) && grep -q "^$2,.*probe_hit" <<<"$with" &&
		without=$(perf stat -x, -e task-clock "$tmp/hit" "$1" "$2" 2>&1 >/dev/null) || { echo "$with" >&2; return 1; }
	awk -F, -v n="$2" -v without="${without%%,*}" '/task-clock/ { print ($1 - without) * 1e6 / n }' <<<"$with"
}

# The least of five in turn
hits_take_as_long_by_perf()
{
	local i

	perf probe -q -d 'probe_hit:*' 2>/dev/null
	${CC:-gcc} -O1 -no-pie selftests/bench/hit.c -o "$tmp/hit" && perf probe -q -x "$tmp/hit" emulated && perf probe -q -x "$tmp/hit" stepped || return 1
	for ((i = 0; i < 5; i++)); do
		by_perf emulated 300000 >>"$tmp/emulated" && by_perf stepped 30000 >>"$tmp/stepped" &&
			$GOTRACE probes --exe "build/targets/$ORACLE_GO/pingpong" --functions 'main.*' --json >>"$tmp/sites" &&
			measure --json && cat "$tmp/doctor" >>"$tmp/doctors" || break
	done
	perf probe -q -d 'probe_hit:*'
	[ $i -eq 5 ] || return 1
	jq -n -e --slurpfile emulated "$tmp/emulated" --slurpfile stepped "$tmp/stepped" --slurpfile sites "$tmp/sites" --slurpfile doctor "$tmp/doctors" '
		def least(cost): [$sites | .. | objects | select(.cost == cost and .hit_us).hit_us] | min;
		[$doctor[].target.measured] as $m | ($emulated | min / 1000) as $e | ($stepped | min / 1000) as $s |
		([["emulated", $e, least("emulated"), ($m | map(.loop_hit_us) | min)], ["stepped", $s, least("stepped"), ($m | map(.loop_stepped_us) | min)]] | debug) as $each |
		all($each[]; .[1] as $perf | all(.[2:][]; . > $perf / 2 and . < $perf * 2))'
}

# us of a hit of the empty probes of `make bench`, by the CPU time of the target; the least of five in turn with the
# doctor's, which is between 1 and 4 times that in a loop.
hits_take_as_long_in_the_target()
{
	local i with without

	true >"$tmp/doctors"
	for ((i = 0; i < 5; i++)); do
		measure --json && cat "$tmp/doctor" >>"$tmp/doctors" && without=$(ticks_of_seconds 2) || return 1
		start_background build/bench/empty "$TARGET_PID"
		wait_until 20 grep -q 'recording nothing' "$tmp/background.out" && with=$(ticks_of_seconds 2) && stop_recorder || return 1
		jq --argjson ticks $((with - without)) --argjson hz "$(getconf CLK_TCK)" '.target.measured.hits_per_second |
			($ticks / $hz / 2) / ([del(.system_calls, .cpu_off, .cpu_on, .waking)[]] | add) * 1e6' "$tmp/doctor" >>"$tmp/empty"
	done
	jq -n -e --slurpfile empty "$tmp/empty" --slurpfile doctor "$tmp/doctors" '[$doctor[].target.measured.hit_us] as $us | ([$empty, $us] | debug) |
		($empty | sort[2]) as $middle | ($us | sort[2]) | . > $middle / 2 and . < $middle * 2'
}

ticks_of_seconds()
{
	local before

	before=$(target_ticks)
	sleep "$1"
	echo $(($(target_ticks) - before))
}

text_has_the_numbers()
{
	measure && cat "$tmp/doctor" &&
		grep -q '^ok       measured     for 1\.[0-9] s: the process uses [0-9.]* CPUs; then' "$tmp/doctor" &&
		tr -s ' \n' ' ' <"$tmp/doctor" | grep -q 'the sets add: sched [0-9.]* %,.* kernel [0-9.]* %' &&
		! grep -q '.\{101\}' "$tmp/doctor"
}

# The counts of the message are those of the statistics, and the CPU time that of the program.
record_reports_its_cost()
{
	local hits kernel

	hits=$(jq '.records_by_kind | [.execute, .execute_parked, .execute_ended, .ready, .yield, .preempt_park, .create,
		.p_start, .p_stop, .p_handoff, .syscall_lost, .syscall_no_p, .stw_begin, .stw_end, .gc_begin, .gc_end, .procs,
		.heap_alloc, .heap_goal, .assist_begin, .assist_end, .syscall_enter, .syscall_try_exit, .syscall_block] | add' "$tmp/stats")
	kernel=$(jq '.records_by_kind | 2 * ((.sys_enter // 0) + (.go_sys_enter // 0)) + .cpu_on + .cpu_off + .waking' "$tmp/stats")
	cat "$tmp/recorded"
	grep -q "^gotrace-bpf: cost: $hits hits of probes and $kernel of tracepoints took about [0-9]* % of the program's CPU time, " \
		"$tmp/recorded" || { echo "expected $hits and $kernel"; cat "$tmp/stats"; return 1; }
}

leaves_nothing()
{
	start_background $GOTRACE doctor -p "$TARGET_PID" --measure 6s
	wait_until 20 text_is_probed && kill "-$1" "$BACKGROUND_PID" || return 1
	wait "$BACKGROUND_PID" 2>/dev/null
	wait_until 20 text_is_clean "$TARGET_PID" && ! target_is_gone
}

text_is_probed() { ! text_is_clean "$TARGET_PID"; }

ends_meanwhile()
{
	start_background $GOTRACE doctor -p "$TARGET_PID" --measure 4s
	wait_until 20 text_is_probed || return 1
	kill -KILL "$TARGET_PID"
	wait "$BACKGROUND_PID"
	[ $? = 1 ]; echo "exit status $?"; cat "$tmp/background.out" && grep -q '^MISSING  measured     process [0-9]* ended during the measurement' "$tmp/background.out"
}

usage()
{
	local option

	for option in '--measure 3s' '-p 1 --measure 3' '-p 1 --measure 1ms' '-p 1 --measure 99h'; do
		$GOTRACE doctor $option 2>"$tmp/error" >"$tmp/out"
		[ $? = 2 ] && [ "$(wc -l <"$tmp/error")" -le 2 ] || { echo "$option"; cat "$tmp/error"; return 1; }
	done
}

ktap_start
try "empty probes build" make -s build/bench/empty
start_target pingpong "$ORACLE_GO" -duration 300s -procs 1 -rate 40000
tell_target start
try "the rates are those of the records" rates_are_those_of_records
try "the CPU time, and sums" sums_are_right
try "ratios of the recording without stacks" ratios_are_those_of_the_model
try "how long it counts" seconds_are_right
if try "perf is installed" selftests/deps.sh linux-perf; then
	try "a hit in a loop, by perf" hits_take_as_long_by_perf
	note "$(grep -h DEBUG "$tmp/try.out")"
fi
try "a hit in the program, by empty probes" hits_take_as_long_in_the_target
note "$(grep -h DEBUG "$tmp/try.out")"
try "record reports its cost" record_reports_its_cost
try "the text" text_has_the_numbers
try "interrupted" leaves_nothing INT
try "killed" leaves_nothing KILL
try "wrong usage" usage
try "the process ends meanwhile" ends_meanwhile
ktap_end
