#!/bin/bash
# Compares CPU samples with the CPU clock of the program: the number of samples times the period in the trace is
# the CPU time, within the larger of 5 % and 3/sqrt(samples), at 49, 99, 997 and 4000 samples per second. All commands
# show the time of this rate, also after the trace was cut, packed, converted, made anonymous or aligned. Of a
# trace without a rate, such as those of Go's own tracer, they show counts.
# parallel
# timeout: 300
# long: 2400
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh
. selftests/sql.lib.sh

# PID: nanoseconds that all its threads have used, ended ones included, by the kernel's clock of the process
cpu_clock()
{
	python3 -c 'import sys, time; print(time.clock_gettime_ns((~int(sys.argv[1]) << 3) | 2))' "$1"
}

# Nanoseconds that the hypervisor has taken from this machine's CPUs (steal time). The kernel does not count them
# in the clock of a process (update_rq_clock_task()), but the timer of a sample runs on.
stolen()
{
	awk -v hz="$(getconf CLK_TCK)" '/^cpu / { printf "%.0f\n", $9 * 1e9 / hz }' /proc/stat
}

# HZ NAME [ARGUMENT...]: records the program's work as $tmp/NAME.trace, and sets $cpu to what the clock says of it,
# and $steal to the time stolen meanwhile
recorded()
{
	local hz=$1 name=$2 before before_stolen
	shift 2

	start_target "$name" "$ORACLE_GO" "$@" || return 1
	start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/$name.trace" --cpu-profile="$hz"
	recorder_is_live && before=$(cpu_clock "$TARGET_PID") && before_stolen=$(stolen) && tell_target start && expect_target done 240 &&
		cpu=$(($(cpu_clock "$TARGET_PID") - before)) && steal=$(($(stolen) - before_stolen)) && stop_recorder && stop_target
}

# TRACE: the sum of its samples in nanoseconds, or their number
sum_of()
{
	$READER profile cpu --folded "$1" 2>"$tmp/err" | awk '{ sum += $NF } END { printf "%.0f\n", sum }'
}

# TRACE LEAST: the samples, at least so many, agree with $cpu; at most $steal more
agrees_with_clock()
{
	local n ns

	n=$($READER stat --json "$1" | jq .samples) && ns=$(sum_of "$1") && awk -v n="$n" -v ns="$ns" -v cpu="$cpu" -v steal="$steal" -v least="$2" 'BEGIN {
		off = ns / cpu - 1
		bound = 3 / sqrt(n ? n : 1)
		if (bound < 0.05)
			bound = 0.05
		printf "%d samples, %.3f s of %.3f s (and %.2f s stolen): %+.1f %%, at most %.1f %%\n", n, ns / 1e9, cpu / 1e9, steal / 1e9, 100 * off, 100 * bound
		exit n < least || off > bound + steal / cpu || off < -bound }'
}

rate() # HZ LEAST NAME [ARGUMENT...]
{
	recorded "$1" "${@:3}" && agrees_with_clock "$tmp/$3.trace" "$2"
}

# --- all commands

# TRACE NS: each command that shows samples as time
shows()
{
	local n period

	n=$($READER stat --json "$1" | jq .samples) && period=$($READER stat --json "$1" | jq .private.cpu_samples.period_ns) && [ $((n * period)) -eq "$2" ] &&
		[ "$(sum_of "$1")" = "$2" ] && $READER stat "$1" | grep -q "^CPU samples  $n, one per 1.003ms of CPU time$" &&
		[ "$($READER report --json "$1" | jq '.profiles[] | select(.kind == "cpu" and .unit == "ns") | .total')" = "$2" ] &&
		[ "$($READER export speedscope "$1" | jq '.profiles[] | select(.name == "CPU samples" and .unit == "nanoseconds") | .endValue')" = "$2" ] || { echo "$1"; return 1; }
}

kept()
{
	local ns trace=$tmp/spin.trace

	recorded 997 spin -duration 300ms && ns=$(($($READER stat --json "$trace" | jq .samples) * 1003009)) && shows "$trace" "$ns" &&
		$READER cut "$trace" -o "$tmp/cut" && shows "$tmp/cut" "$ns" && $READER pack "$trace" -o "$tmp/packed" && shows "$tmp/packed" "$ns" &&
		$READER unpack "$tmp/packed" -o "$tmp/unpacked" && cmp "$trace" "$tmp/unpacked" && $READER convert --format-version 1.22 "$trace" -o "$tmp/converted" &&
		shows "$tmp/converted" "$ns" && $READER anonymize "$trace" -o "$tmp/anonymous" && shows "$tmp/anonymous" "$ns" &&
		$READER check "$tmp/anonymous" && build/reference/samples "$trace" | jq -e --argjson ns "$ns" '.samples * 1003009 == $ns'
}

# A part of the trace, within a generation, has the rate, too: from the 100th sample to the 200th
part_kept()
{
	local from to

	$READER events --json "$tmp/spin.trace" | jq 'select(.event == "CPUSample") | .time' >"$tmp/times" && from=$(sed -n 100p "$tmp/times") && to=$(sed -n 200p "$tmp/times") &&
		$READER cut --from "@$from" --to "@$to" "$tmp/spin.trace" -o "$tmp/part" && shows "$tmp/part" $((100 * 1003009))
}

# With a recording of perf at the same time
aligned()
{
	local perf ns

	perf sched record -k CLOCK_MONOTONIC -o "$tmp/perf.data" >"$tmp/perf.out" 2>&1 </dev/null &
	perf=$!
	background+=($perf)
	wait_until 20 test -s "$tmp/perf.data" && recorded 997 spin -duration 300ms || return 1
	kill -INT $perf
	wait $perf
	ns=$(sum_of "$tmp/spin.trace") && $READER align "$tmp/spin.trace" --perf "$tmp/perf.data" -o "$tmp/joined" && [ "$ns" -gt 0 ] && shows "$tmp/joined" "$ns"
}

in_tables()
{
	[ "$(sql 'SELECT CAST(SUM(cpu_ns) AS BIGINT) AS ns FROM samples' "$tmp/spin.trace")" = "{\"ns\":$(sum_of "$tmp/spin.trace")}" ]
}

# --- without a rate

# TRACE: counts, and "rate unknown"
counts()
{
	local n

	n=$($READER stat --json "$1" | jq .samples) && [ "$n" -gt 0 ] && $READER stat "$1" | grep -q "^CPU samples  $n, rate unknown$" && [ "$(sum_of "$1")" = "$n" ] &&
		grep -q 'does not contain the rate .*--rate HZ' "$tmp/err" && $READER profile cpu "$1" >"$tmp/table" 2>"$tmp/err" &&
		grep -qx "cpu: $n samples, rate unknown" "$tmp/table" && ! sed 's/%.*//' "$tmp/table" | grep -E '[0-9](ns|us|ms|s)\b' &&
		[ "$($READER report --json "$1" | jq '.profiles[] | select(.kind == "cpu") | "\(.unit) \(.total <= '"$n"')"')" = '"samples true"' ] &&
		[ "$($READER export speedscope "$1" | jq '.profiles[] | select(.name == "CPU samples (rate unknown)" and .unit == "none") | .endValue')" = "$n" ] &&
		$READER profile cpu "$1" -o "$tmp/counts.pb.gz" 2>"$tmp/err" && GOTOOLCHAIN=$ORACLE_GO "${GO:-go}" tool pprof -raw "$tmp/counts.pb.gz" >"$tmp/raw" 2>"$tmp/err" &&
		grep -qx 'samples/count' "$tmp/raw" && $READER profile cpu --rate 200 "$1" | grep -q " in $n samples$" || { echo "$1"; return 1; }
}

older() # without the rate
{
	without_rate "$tmp/spin.trace" "$tmp/older" && counts "$tmp/older"
}

of_go()
{
	counts "$CORPUS/$ORACLE_GO/v1/fmt_1_21_pprof_good"
}

# --- the default

default_rate()
{
	start_target spin "$ORACLE_GO" -duration 300ms && start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/default.trace" --cpu-profile &&
		recorder_is_live && tell_target start && expect_target done && stop_recorder && stop_target &&
		[ "$($READER stat --json "$tmp/default.trace" | jq .private.cpu_samples.period_ns)" = 10101010 ]
}

# --- three programs, alone and beside one competitor and one on each CPU

competitors() # N
{
	local i

	for ((i = 0; i < $1; i++)); do
		sh -c 'while :; do :; done' &
		background+=($!)
		competing+=($!)
	done
}

# Enough for 1000 samples, if the program gets half of a CPU
loaded() # HZ PROGRAM
{
	local seconds=$((1500 / $1 + 1))

	case $2 in
	spin) rate "$1" 1000 spin -duration $((2 * seconds))s ;;
	profiled) rate "$1" 1000 profiled -profile "$tmp/own.pb.gz" -cpu ${seconds}s ;;
	pingpong) rate "$1" 1000 pingpong -duration $((3 * seconds))s ;;
	esac
}

matrix()
{
	local load program hz competing

	for load in 0 1 "$(nproc)"; do
		competing=()
		competitors "$load"
		for program in spin profiled pingpong; do
			for hz in 49 99 997 4000; do
				try "$program at $hz Hz beside $load competitors" loaded "$hz" "$program" && note "$(grep ' samples, ' "$tmp/try.out")"
			done
		done
		[ "$load" = 0 ] || kill "${competing[@]}"
	done
}

ktap_start
for hz in 49 99 997 4000; do
	try "$hz samples per second are the CPU time of the program" rate "$hz" 20 spin -duration 500ms && note "$(grep ' samples, ' "$tmp/try.out")"
done
try "all commands show times by the rate in the trace" kept
try "a part of a trace has the rate" part_kept
try "an aligned trace has the rate" aligned
try "the table of samples has their time" in_tables
try "samples of a trace without a rate are counted" older
try "samples of Go's own tracer are counted" of_go
try "the default is 99 per second" default_rate
[ $TIER != long ] || matrix
ktap_end
