#!/bin/bash
# depends on: Makefile bpf include userspace selftests/aligned.py selftests/reference selftests/targets
# Tests `gotrace align`. One run of a program next to a CPU-bound competitor is recorded by
# gotrace-bpf, by the program's own runtime/trace, and three times by perf: with CLOCK_MONOTONIC,
# with the default clock and with CLOCK_MONOTONIC_RAW. The events that align adds must be those that
# `perf script` shows, a fitted clock must be accurate to a few microseconds, and all other events
# must stay unchanged. Of a second run perf records too little: either the program alone, which
# align rejects, or with losses and without the end of the run.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

perf_beside() # NAME OPTION...: a recording of the whole machine, $tmp/NAME.data
{
	local name=$1
	shift

	perf sched record "$@" -o "$tmp/$name.data" >"$tmp/$name.out" 2>&1 </dev/null &
	background+=($!)
	perfs+=($!)
}

# A recording that ends in the middle of the run. perf is stopped for half a second before, so that
# it loses events.
perf_with_losses()
{
	perf record -a -m 1 -k CLOCK_MONOTONIC -e sched:sched_switch,sched:sched_waking -o "$tmp/short.data" \
		>"$tmp/short.out" 2>&1 </dev/null &
	short=$!
	background+=($short)
}

lose_and_end()
{
	sleep 0.3
	kill -STOP "$short"
	sleep 0.5
	kill -CONT "$short"
	sleep 0.3
	kill -INT "$short"
	wait "$short"
	[ $? -eq 130 ] || [ -s "$tmp/short.data" ]
}

# For a single process the kernel reports only the switches by which its threads leave a CPU.
perf_of_the_target()
{
	perf record -p "$TARGET_PID" -k CLOCK_MONOTONIC -e sched:sched_switch -o "$tmp/process.data" \
		>"$tmp/process.out" 2>&1 </dev/null &
	background+=($!)
	perfs+=($!)
}

perfs_are_live() # NAME...
{
	local name

	for name in "$@"; do
		wait_until 20 test -s "$tmp/$name.data" || { cat "$tmp/$name.out"; return 1; }
	done
	sleep 0.5 # until perf has attached
}

stop_perfs()
{
	local pid status=0

	for pid in "${perfs[@]}"; do
		kill -INT "$pid"
		wait "$pid" || status=$?
	done
	[ $status -eq 0 ] || [ $status -eq 130 ]
}

# Both clocks at one moment: of several readings, those with the least time between them.
clocks()
{
	python3 -c 'import time
def read():
	a, raw, b = time.monotonic_ns(), time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), time.monotonic_ns()
	return b - a, (a + b) / 2, raw
print("%d %.1f %d" % min(read() for _ in range(1000)))'
}

record_run()
{
	local competitor name

	perfs=()
	taskset -c 0 sh -c 'while :; do :; done' &
	competitor=$!
	background+=($competitor)
	start_target selftrace "$ORACLE_GO" -trace "$tmp/self.trace" -duration $(by_tier "700ms $FEW_SYSCALLS" 2s 2s) || return 1
	perf_beside mono -k CLOCK_MONOTONIC
	perf_beside none
	perf_beside raw -k CLOCK_MONOTONIC_RAW
	perfs_are_live mono none raw || return 1
	clocks >"$tmp/clocks"
	start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/kernel.trace" --events sched,syscall,gc,kernel
	recorder_is_live || return 1
	tell_target start
	expect_target done 60 && clocks >>"$tmp/clocks" && stop_recorder && stop_perfs && stop_target || return 1
	kill $competitor
	without_ksymbols <"$tmp/mono.data" >"$tmp/plain.data" &&
		perf script -i "$tmp/plain.data" --ns -F tid,cpu,time,event,trace >"$tmp/lines" 2>"$tmp/err" &&
		own_numbers "$tmp/lines" >"$tmp/script" && return
	cat "$tmp/err"
	return 1
}

# FILE: perf script's lines without the TID of the sample. In a PID namespace (check/namespaces) that is
# the thread's number there, but those of events are of the initial one; the two in the line of a thread
# that leaves a CPU translate the others.
own_numbers()
{
	[ "$(readlink /proc/self/ns/pid)" != 'pid:[4026531836]' ] || { sed 's/^ *[0-9-]* *//' "$1"; return; }
	awk '
		FNR == NR {
			if ($1 > 0 && match($0, /prev_pid=[0-9]+/))
				own[substr($0, RSTART + 9, RLENGTH - 9)] = $1
			next
		}
		{
			sub(/^ *[0-9-]+ */, "")
			line = ""
			while (match($0, /pid=[1-9][0-9]*/)) {
				number = substr($0, RSTART + 4, RLENGTH - 4)
				line = line substr($0, 1, RSTART + 3) (number in own ? own[number] : number + 4194304)
				$0 = substr($0, RSTART + RLENGTH)
			}
			print line $0
		}' "$1" "$1"
}

# A second run, of which perf records too little.
record_half_a_run()
{
	perfs=()
	start_target selftrace "$ORACLE_GO" -trace "$tmp/half.trace" -duration 2s || return 1
	perf_of_the_target
	perf_with_losses
	perfs_are_live process short || return 1
	tell_target start
	lose_and_end && expect_target done 60 && stop_perfs && stop_target
}

# With several perfs recording, the kernel gives the records about loaded and unloaded BPF programs,
# such as those of gotrace-bpf, a wrong size, and perf rejects the file. So PERF_RECORD_KSYMBOL and
# BPF_EVENT are replaced by FINISHED_INIT, which has no payload.
without_ksymbols()
{
	perl -0777 -ne '
		my ($at, $size) = unpack("x40 Q< Q<", $_);
		for (my $end = $at + $size; $at < $end; $at += unpack("v", substr($_, $at + 6, 2))) {
			substr($_, $at, 4) = pack("V", 82) if unpack("V", substr($_, $at, 4)) =~ /^1[78]$/;
		}
		print'
}

# TRACE PERF [OPTION...]: writes $tmp/joined, and the fit to $tmp/joined.json
align()
{
	local trace=$1 perf=$2
	shift 2

	rm -f "$tmp/joined"
	timeout 60 $READER align "$tmp/$trace.trace" --perf "$tmp/$perf.data" -o "$tmp/joined" --json "$@" \
		>"$tmp/joined.json" || return 1
	cat "$tmp/joined.json"
	check_trace "$tmp/joined"
}

items() # TRACE: its kernel events
{
	$READER events --kernel --json "$1" | grep '"kind":"Kernel"'
}

cores() # TRACE: time, CPU and next thread of each switch
{
	items "$1" | jq -r 'select(.event == "cpu" and .m) | "\(.time) \(.cpu) \(.m)"'
}

switches() # TRACE: time, previous and next thread, for switches that involve threads of the target
{
	items "$1" | jq -r 'if .event == "on_cpu" then "\(.time) \(.cpu) \(.before.m // 0) \(.m)"
		elif .event == "off_cpu" then "\(.time) \(.cpu) \(.m) \(.then.m // 0)" else empty end' | sort -u
}

perf_switches() # the same for all threads, from perf script
{
	sed -nE 's/^\[0*([0-9]+)\] +0*([0-9]+)\.([0-9]+): +sched:sched_switch: .*prev_pid=([0-9]+) .*next_pid=([0-9]+) .*/\2\3 \1 \4 \5/p' \
		"$tmp/script" | sort -u
}

nothing_but() # FILE, which should be empty
{
	[ ! -s "$1" ] || { wc -l "$1"; head -n 5 "$1"; return 1; }
}

# With the clock that perf recorded, each added event is one of perf's switches, exact to the
# nanosecond.
competitors_match_perf()
{
	align kernel mono || return 1
	jq -e '.clock == "CLOCK_MONOTONIC" and .fitted == false and .added.cpus > 100 and .matched > 1000 and
		.added.switches == 0 and .offset_ns == 0' "$tmp/joined.json" || return 1
	cores "$tmp/joined" | sort -u >"$tmp/cores"
	[ "$(cores "$tmp/joined" | wc -l)" -eq "$(jq .added.cpus "$tmp/joined.json")" ] || return 1
	perf_switches | awk '{ print $1, $2, $4 }' | sort -u >"$tmp/perf.cores"
	comm -23 "$tmp/cores" "$tmp/perf.cores" >"$tmp/more"
	nothing_but "$tmp/more" && cp "$tmp/cores" "$tmp/mono.cores"
}

# TRACE VERB ITEMS: the figures are those of the same switches in the events of TRACE, or in those of the result, and in
# perf script; the version of perf is that of its own report.
figures()
{
	align "$1" mono >"$tmp/out" || { cat "$tmp/out"; return 1; }
	$READER events --kernel --json "$3" >"$tmp/items" && $READER stat --json "$tmp/$1.trace" >"$tmp/stat" &&
		python3 -B selftests/aligned.py "$2" "$tmp/joined.json" "$tmp/items" "$tmp/script" "$tmp/stat" &&
		[ "$(jq -r .perf "$tmp/joined.json")" = "$(perf report --header-only -i "$tmp/plain.data" | sed -n 's/^# perf version : /perf /p')" ]
}

# Whenever perf shows a thread of the target waiting for a CPU, the trace shows which thread ran
# there meanwhile.
competitor_is_running()
{
	$READER events --kernel "$tmp/joined" | grep -c ' cpu  .*(sh)' >"$tmp/competitor"
	cat "$tmp/competitor"
	[ "$(cat "$tmp/competitor")" -ge 20 ]
}

# What an export shows of the CPUs is what perf has, or unknown.
cpus_match_perf()
{
	align kernel mono && $READER export chrome "$tmp/joined" -o "$tmp/chrome" --force || return 1
	python3 selftests/report/cpus.py "$tmp/chrome" "$tmp/script" "$($READER events --json "$tmp/joined" | head -n 1 | jq .time)" >"$tmp/said" || { cat "$tmp/said"; return 1; }
	note "$(cat "$tmp/said")"
}

# The clocks themselves ran apart by as much, but for what the ends of the line may be off: it is fitted to matches that
# are up to 4 times the middle residual from it, and how much later than the recorder perf takes a time may be another
# at the end than at the begin, for example after its ring was full.
drift_is_right()
{
	awk 'NR == 1 { mono = $2; raw = $3 } END { printf "%.6f\n", (($3 - raw) / ($2 - mono) - 1) * 1e6 }' "$tmp/clocks" | tee "$tmp/drift"
	jq -e --argjson have "$(cat "$tmp/drift")" '(.drift_ppm - $have | fabs) < 8e6 * .residual_ns.p50 / .covered_ns' "$tmp/joined.json"
}

# NAME: the clock was fitted, and the times match the recording with CLOCK_MONOTONIC
is_fitted()
{
	align kernel "$1" || return 1
	jq -e '.fitted and .residual_ns.p99 < 5000 and .matched > 1000 and
		.matched > 0.9 * ([.in_trace, .in_perf] | min)' "$tmp/joined.json" || return 1
	[ "$1" != raw ] || drift_is_right || return 1
	{ sed 's/$/ m/' "$tmp/mono.cores"; cores "$tmp/joined" | sed 's/$/ f/'; } | sort -k2,2n -k3,3n -k1,1n |
		awk '{ key[NR] = $2 " " $3; time[NR] = $1; from[NR] = $4 }
			END {
				for (i = 1; i <= NR; i++) {
					if (from[i] != "f")
						continue
					best = 1e18
					for (k = i - 3; k <= i + 3; k++)
						if (from[k] == "m" && key[k] == key[i]) {
							d = time[k] - time[i]
							d = d < 0 ? -d : d
							best = d < best ? d : best
						}
					print best
				}
			}' | sort -n >"$tmp/apart"
	awk '{ d[NR] = $1; near += $1 < 50000 }
		END {
			print NR, "switches, apart", d[int(NR / 2)], "ns p50,", d[int(NR * 0.99)], "ns p99,", NR - near, "alone"
			exit !(NR > 100 && near > NR * 0.97 && d[int(near * 0.99)] < 5000)
		}' "$tmp/apart"
}

# A trace without kernel events gets the switches of the target: exactly those that perf script
# shows.
gets_kernel_events()
{
	local from to

	align self mono || return 1
	jq -e '.added.switches > 1000 and .added.wakings > 500' "$tmp/joined.json" || return 1
	$READER events --json "$tmp/self.trace" >"$tmp/events"
	from=$(($(head -n 1 "$tmp/events" | jq .time) + 1000000))
	to=$(($(tail -n 1 "$tmp/events" | jq .time) - 1000000))
	items "$tmp/joined" | jq -r 'select(.event == "on_cpu" or .event == "off_cpu") | .m' | sort -u >"$tmp/tids"
	switches "$tmp/joined" | within "$from" "$to" >"$tmp/have"
	perf_switches | awk '
		BEGIN { while (getline tid <"'"$tmp/tids"'") ours[tid] = 1 }
		$3 in ours || $4 in ours' | within "$from" "$to" >"$tmp/want"
	wc -l "$tmp/want"
	# times are in the runtime's clock; each generation relates it to CLOCK_MONOTONIC with a
	# small error
	paste -d ' ' "$tmp/have" "$tmp/want" | awk '$2 != $6 || $3 != $7 || $4 != $8 ||
		$1 - $5 > 20000 || $5 - $1 > 20000' >"$tmp/more"
	nothing_but "$tmp/more" && $READER latency "$tmp/joined" >"$tmp/latency" || return 1
	head -n 5 "$tmp/latency"
	grep -q 'main\.' "$tmp/latency"
}

latency() # TRACE OPTION...: the times of all functions, in ms
{
	$READER latency --json "$@" | jq -r '.functions | map(to_entries | map(select(.value | type == "number"))) | add |
		group_by(.key) | map("\(.[0].key) \(map(.value) | add / 1e6)") | .[]'
}

# While perf lost events, and after the end of its recording, nothing is known: there the trace must
# be unchanged.
gaps_stay_unknown()
{
	local unknown covered

	align half short 2>"$tmp/err" || return 1
	cat "$tmp/err"
	grep -q 'perf lost .* -m 16M' "$tmp/err" &&
		jq -e '.perf_lost > 100 and .covered_ns > 5e8 and .covered_ns < 0.8 * .trace_ns' "$tmp/joined.json" &&
		perf script --show-lost-events -i "$tmp/short.data" 2>/dev/null |
		awk '/PERF_RECORD_LOST lost / { sum += $NF } END { print sum + 0 }' | tee "$tmp/lost" &&
		[ "$(cat "$tmp/lost")" = "$(jq .perf_lost "$tmp/joined.json")" ] &&
		$READER stat "$tmp/joined" | grep -E ' cpu_on, from' || return 1
	covered=$(jq .covered_ns "$tmp/joined.json")
	latency "$tmp/joined" --to "${covered}ns" | tee "$tmp/have"
	unknown=$(awk '$1 == "unknown_ns" { print int($2) }' "$tmp/have")
	[ "$unknown" -ge 200 ] || return 1
	latency "$tmp/joined" --from $((covered + 100000000))ns >"$tmp/have"
	latency "$tmp/half.trace" --from $((covered + 100000000))ns >"$tmp/before"
	grep unknown_ns "$tmp/before" && same_text "$tmp/have" "$tmp/before"
}

within() # FROM TO
{
	awk -v from="$1" -v to="$2" '$1 >= from && $1 <= to' | sort -k2,2n -k1,1n
}

# Existing data stays, and only strings are added.
leaves_the_rest()
{
	local trace=$1 size

	align "$trace" mono || return 1
	size=$(($(stat -c %s "$tmp/$trace.trace") + $(jq .added.bytes "$tmp/joined.json")))
	[ "$(stat -c %s "$tmp/joined")" -eq $size ] || return 1
	$READER text "$tmp/$trace.trace" >"$tmp/before"
	$READER text "$tmp/joined" >"$tmp/after"
	diff "$tmp/before" "$tmp/after" | grep -a '^[<>]' |
		grep -avE '^> (EventBatch |Strings|String |	data="\\x00gotrace-bpf/1 )' >"$tmp/more"
	nothing_but "$tmp/more"
}

version() # V
{
	$READER convert "$tmp/kernel.trace" --format-version "1.$1" -o "$tmp/v.trace" || return 1
	leaves_the_rest v && cores "$tmp/joined" | sort -u >"$tmp/cores" || return 1
	wc -l <"$tmp/cores"
	same_text "$tmp/cores" "$tmp/mono.cores"
}

# Through pipes, and compressed
by_other_ways()
{
	align kernel mono || return 1
	cp "$tmp/joined" "$tmp/want"
	gzip -c "$tmp/kernel.trace" >"$tmp/packed.trace" && align packed mono && cmp "$tmp/joined" "$tmp/want" || return 1
	$READER align - --perf "$tmp/mono.data" -o - <"$tmp/kernel.trace" >"$tmp/joined" 2>"$tmp/err" &&
		grep -q '^added' "$tmp/err" && cmp "$tmp/joined" "$tmp/want" || return 1
	rm "$tmp/joined"
	$READER align "$tmp/packed.trace" --perf - -o "$tmp/joined" <"$tmp/mono.data" >"$tmp/out" &&
		$READER text "$tmp/joined" | grep -v 'data=.*residual_' >"$tmp/a" # the name of perf's file differs
	$READER text "$tmp/want" | grep -v 'data=.*residual_' >"$tmp/b"
	sed -i 's/^EventBatch .*//' "$tmp/a" "$tmp/b"
	same_text "$tmp/a" "$tmp/b"
}

refused() # STATUS TEXT ARGUMENT...
{
	local status=$1 text=$2 have
	shift 2

	rm -f "$tmp/joined"
	timeout 60 $READER align "$@" -o "$tmp/joined" >"$tmp/out" 2>"$tmp/err"
	have=$?
	cat "$tmp/err"
	[ $have -eq "$status" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && [ ! -s "$tmp/out" ] &&
		grep -q "$text" "$tmp/err" && [ ! -e "$tmp/joined" ] && [ ! -e "$tmp/joined.partial" ]
}

refuses()
{
	local size

	cp "$tmp/want" "$tmp/aligned.trace"
	size=$(stat -c %s "$tmp/mono.data")
	head -c $((size / 2)) "$tmp/mono.data" >"$tmp/cut.data"
	head -c 100000 "$tmp/kernel.trace" >"$tmp/cut.trace"
	refused 1 'already aligned' "$tmp/aligned.trace" --perf "$tmp/mono.data" &&
		refused 1 'record the trace with --events kernel' "$tmp/self.trace" --perf "$tmp/none.data" &&
		refused 1 'cut.data: truncated.*; record again' "$tmp/kernel.trace" --perf "$tmp/cut.data" &&
		refused 1 'cut.trace: invalid trace' "$tmp/cut.trace" --perf "$tmp/mono.data" &&
		refused 1 'gotrace convert' "$CORPUS/$ORACLE_GO/v1/http_1_21_good" --perf "$tmp/mono.data" &&
		refused 1 'record all CPUs' "$tmp/half.trace" --perf "$tmp/process.data" &&
		refused 1 'no-such' "$tmp/kernel.trace" --perf "$tmp/no-such" &&
		refused 1 'self.trace: not a perf.data file' "$tmp/kernel.trace" --perf "$tmp/self.trace" &&
		refused 2 'missing option --perf PERF.DATA' "$tmp/kernel.trace" &&
		refused 2 'the same file' - --perf - &&
		refused 1 'different times' "$(later_run)" --perf "$tmp/mono.data"
}

later_run() # a window in which perf did not run
{
	build/targets/"$ORACLE_GO"/selftrace -trace "$tmp/later.trace" -duration 300ms </dev/null >/dev/null
	echo "$tmp/later.trace"
}

ktap_start
if try "perf is installed" selftests/deps.sh linux-perf && try "the reader builds" build_reader &&
	try "traces of Go 1.21 and older" extract_corpus "$ORACLE_GO" && try "a run, recorded five times" record_run; then
	try "CPU competitors match perf script" competitors_match_perf
	try "the CPU-bound competitor was running" competitor_is_running
	try "CPUs in an export match perf script" cpus_match_perf
	try "the figures of both recordings" figures kernel same "$tmp/kernel.trace"
	note "$(grep -E 'matched|max' "$tmp/try.out")"
	in_all try "the figures of added events" figures self added "$tmp/joined"
	in_all try "default clock" is_fitted none
	in_all try "CLOCK_MONOTONIC_RAW" is_fitted raw
	in_all try "a trace of runtime/trace gets kernel events" gets_kernel_events
	for v in $(in_all echo 22 23 25) 26; do
		try "format 1.$v" version $v
	done
	in_all try "other data of a runtime/trace trace is unchanged" leaves_the_rest self
	in_all try "compressed, and through pipes" by_other_ways
	in_all try "a partial perf recording" record_half_a_run && in_all try "times that perf did not record stay unknown" gaps_stay_unknown
	in_all try "rejected inputs" refuses
fi
ktap_end
