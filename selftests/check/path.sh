#!/bin/bash
# tier: all
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
# Tests `gotrace path`, which finds what a goroutine waited for: on a chain of waits that is known
# in advance (selftests/targets/chain), with kernel events and with Go events only. Each moment is
# reported exactly once.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh
. selftests/kernel.lib.sh

GO_ONLY=sched,syscall,gc,heap,user

goroutine_of() # FUNCTION TRACE
{
	build/gotrace goroutines --all --json "$2" |
		jq -er --arg f "$1" '[.goroutines[] | select(.name == $f)][0].id'
}

# PATH.json: has no gap and no overlap, and the summary adds up to the window
is_whole='
	def ns: .to_ns - .from_ns;
	(.segments[0].from_ns == .from_ns) and (.segments[-1].to_ns == .to_ns) and
	([.segments[] | ns] | min > 0 and add == $path.to_ns - $path.from_ns) and
	([.segments, .segments[1:]] | transpose | all(.[1] == null or .[0].to_ns == .[1].from_ns)) and
	([.summary[].ns] | add == $path.to_ns - $path.from_ns) and
	([.summary[].count] | add == ($path.segments | length))'

whole() # FILE
{
	jq -e ". as \$path | $is_whole" "$1" >/dev/null || { echo "$1 has a gap, an overlap or a wrong sum"; return 1; }
}

# FILE CONDITION EXPECTED LEAST MOST: the time of the segments that match CONDITION, as a share of
# EXPECTED, is within LEAST and MOST
share()
{
	local share

	share=$(jq "[.segments[] | select($2) | .to_ns - .from_ns] | add / ($3)" "$1")
	echo "$share of $2"
	jq -en "$share >= $4 and $share <= $5" >/dev/null
}

chain_is_recorded() # GO EVENTS
{
	record_target chain "$1" "--events $2" && check_trace "$RECORDED" &&
		FIRST=$(goroutine_of main.first "$RECORDED") &&
		build/gotrace path --goroutine "$FIRST" --json "$RECORDED" >"$tmp/path.json" &&
		whole "$tmp/path.json"
}

took() # WHAT: its duration as measured by the target
{
	jq -er ".$1" "$tmp/chain.done"
}

blocked_in_kernel() # FUNCTION
{
	build/gotrace latency --json "$RECORDED" |
		jq -er --arg f "$1" '.functions[] | select(.name == $f).kernel_blocked_ns'
}

# Running and runnable time belongs to the CPU-bound goroutine, however often other tasks preempt
# it.
RUNS='(.kind == "on-CPU" or .kind == "running" or .kind == "kernel-runnable" or .kind == "Go-runnable" or
	.kind == "throttled")'

# Time that the runtime and a busy machine add in between counts for the goroutine that cannot
# continue, so the CPU-bound parts are compared as a sum. The kernel's time of a read is shorter
# than the program's by the time that the thread then waits for a CPU. What the thread is blocked for in
# the futex is the waker's: the runtime sends no signals for preemption, each of which wakes it, too.
with_kernel()
{
	local -x GODEBUG=asyncpreemptoff=1
	local path=$tmp/path.json holder='.function == "main.holder" and .syscall == null'
	local futex='(.function == "main.waker" or .function == "main.holder" and .syscall == "futex")'

	chain_is_recorded "$1" $GO_ONLY,kernel && jq -e .kernel "$path" >/dev/null || return 1
	share "$path" '.function == "main.holder" and .kind == "Go-blocked" and .cause == "timer"' \
		"$(took sleep_ns)" 0.8 1.001 &&
		share "$path" "$holder and $RUNS" "$(took burn_ns)" 0.9 1.4 &&
		share "$path" ".kind == \"syscall-blocked\" and .syscall == \"read\" and .cause == \"process\" and
			.process_id == $(took writer)" "$(took read_ns)" 0.7 1.001 &&
		share "$path" '.function == "main.waker"' "$(blocked_in_kernel main.holder)" 0.97 1.03 &&
		share "$path" "$futex or $holder and $RUNS" \
			"$(took burn_ns) + $(took futex_ns)" 0.95 1.1 &&
		share "$path" '.function == "main.first"' "$(jq '.to_ns - .from_ns' "$path")" 0 0.1
}

without_kernel()
{
	local path=$tmp/path.json

	chain_is_recorded "$1" $GO_ONLY && jq -e '.kernel | not' "$path" >/dev/null || return 1
	share "$path" ".function == \"main.holder\" and $RUNS" "$(($(took burn_ns) + $(took futex_ns)))" 0.95 1.2 &&
		share "$path" '.function == "main.holder" and .kind == "Go-blocked" and .cause == "timer"' \
			"$(took sleep_ns)" 0.8 1.001 &&
		share "$path" '.kind == "syscall"' "$(took read_ns)" 0.8 1.1
}

# Loopback TCP: the sender itself wakes the reader, from a softirq on the sender's thread.
over_loopback()
{
	local path=$tmp/path.json

	record_target latency "$ORACLE_GO" "--events $GO_ONLY,kernel" -case socket -duration 500ms &&
		build/gotrace path --goroutine "$(goroutine_of main.pipeReader "$RECORDED")" --json "$RECORDED" \
			>"$path" && whole "$path" || return 1
	share "$path" '.function == "main.socketWriter"' "$(jq '.to_ns - .from_ns' "$path")" 0.5 1
}

# All on one CPU, next to a process that repeatedly preempts the target.
core_is_held()
{
	local competitor path=$tmp/path.json status

	taskset -c 0 chrt -f 1 bash -c 'exec {never}<> <(:)
		while :; do
			for ((i = 0; i < 10000; i++)); do :; done
			read -rt 0.005 -u $never
		done' &
	competitor=$!
	background+=("$competitor")
	(taskset -p -c 0 $BASHPID && chain_is_recorded "$ORACLE_GO" $GO_ONLY,kernel)
	status=$?
	kill -KILL "$competitor"
	wait "$competitor" 2>/dev/null
	[ $status -eq 0 ] || return 1
	share "$path" ".kind == \"kernel-runnable\" and .process_id == $competitor" \
		"$(jq '[.segments[] | select(.kind == "kernel-runnable") | .to_ns - .from_ns] | add' "$path")" 0.2 1
}

# With perf's events, each wait for a CPU also shows which other task ran there; the rest is
# unchanged.
# PERF.DATA PATH.json: a wait for a CPU has no cause only where perf lacks a switch.
unknown_where_perf_lacks()
{
	perf_lacks "$1" >"$tmp/lacking" || return 1
	jq -r '.segments[] | select(.kind == "kernel-runnable" and .cause == null) | "\(.from_ns) \(.to_ns)"' "$2" >"$tmp/unknown"
	echo "$(wc -l <"$tmp/unknown") waits without a cause, perf lacks switches in $(wc -l <"$tmp/lacking") intervals"
	[ -s "$tmp/lacking" ] || [ ! -s "$tmp/unknown" ] || return 1
	awk 'NR == FNR { from[NR] = $1; to[NR] = $2; n = NR; next }
		{ for (i = 1; i <= n && !(from[i] <= $2 && $1 <= to[i]); i++); if (i > n) { print "not there: " $0; bad = 1 } }
		END { exit bad }' "$tmp/lacking" "$tmp/unknown"
}

joined_with_perf()
{
	local perf status

	perf sched record -k CLOCK_MONOTONIC -o "$tmp/perf.data" >"$tmp/perf.out" 2>&1 </dev/null &
	perf=$!
	background+=("$perf")
	wait_until 20 test -s "$tmp/perf.data" && sleep 0.5 && chain_is_recorded "$ORACLE_GO" $GO_ONLY,kernel
	status=$?
	kill -INT "$perf"
	wait "$perf"
	[ $status -eq 0 ] || { cat "$tmp/perf.out"; return 1; }
	build/gotrace align "$RECORDED" --perf "$tmp/perf.data" -o "$tmp/joined.trace" &&
		build/gotrace path --goroutine "$FIRST" --json "$tmp/joined.trace" >"$tmp/joined.json" &&
		whole "$tmp/joined.json" || return 1
	unknown_where_perf_lacks "$tmp/perf.data" "$tmp/joined.json" &&
		same_text <(times_by_kind "$tmp/path.json") <(times_by_kind "$tmp/joined.json")
}

times_by_kind() # FILE
{
	jq -r '.segments | group_by([.kind, .goroutine])[] |
		"\(.[0].kind) \(.[0].goroutine) \(map(.to_ns - .from_ns) | add)"' "$1"
}

# PATH.json LATENCY.json: a goroutine's own time on its path matches `gotrace latency`, exact to the
# nanosecond
agrees()
{
	jq -e --slurpfile latency "$2" '
		def own($kinds): [.segments[] | select(.depth == 0 and (.kind | IN($kinds[]))) | .to_ns - .from_ns] |
			add // 0;
		.goroutine as $id | ($latency[0].goroutines[] | select(.id == $id)) as $g |
		own(["on-CPU", "running"]) == $g.oncpu_ns and own(["Go-runnable"]) == $g.go_runnable_ns and
		own(["kernel-runnable"]) == $g.kernel_runnable_ns and own(["throttled"]) == $g.throttled_ns' "$1"
}

# Any goroutine of a program with all kinds of events, in any part of its time.
all_goroutines()
{
	local id from to all=0 other=0

	record_target selftrace "$ORACLE_GO" "--events $GO_ONLY,kernel" -duration 700ms $FEW_SYSCALLS &&
		build/gotrace latency --goroutines --json "$RECORDED" >"$tmp/latency.json" || return 1
	for id in $(build/gotrace goroutines --all --json "$RECORDED" | jq '.goroutines[].id' | shuf -n 40 \
			--random-source=<(yes)); do
		build/gotrace path --goroutine "$id" --json "$RECORDED" >"$tmp/path.json" || return 1
		whole "$tmp/path.json" || return 1
		all=$((all + 1))
		agrees "$tmp/path.json" "$tmp/latency.json" >/dev/null || other=$((other + 1))
		read -r from to < <(jq -r '[.from_ns, .to_ns] | "\(.[0] + (.[1] - .[0]) / 3 | floor) " +
			"\(.[1] - (.[1] - .[0]) / 4 | floor)"' "$tmp/path.json")
		[ "$from" -lt "$to" ] || continue
		build/gotrace path --goroutine "$id" --json --from "@$from" --to "@$to" "$RECORDED" >"$tmp/part.json" &&
			whole "$tmp/part.json" &&
			jq -e --argjson from "$from" --argjson to "$to" '.from_ns == $from and .to_ns == $to' \
				"$tmp/part.json" >/dev/null || { echo "goroutine $id @$from @$to"; return 1; }
	done
	# Except for a system call that a signal interrupted, which is a single wait here.
	echo "$other of $all differ from gotrace latency"
	[ $all -eq 40 ] && [ $other -le 2 ]
}

# From the middle of a trace of several generations, with an index: the same output, except for what
# only the part before contains.
by_an_index()
{
	local id told from count=0

	record_target selftrace "$ORACLE_GO" "--events $GO_ONLY,kernel" -duration 2500ms $FEW_SYSCALLS &&
		cp "$RECORDED" "$tmp/indexed.trace" && build/gotrace index "$tmp/indexed.trace" || return 1
	for from in 1.5s 2.2s; do
		for id in $(build/gotrace goroutines --all --json "$RECORDED" | jq '.goroutines[] |
				select(.ended == null).id' | head -n 25); do
			told=0
			for trace in "$RECORDED" "$tmp/indexed.trace"; do
				build/gotrace path --goroutine "$id" --json --from $from --to 2.4s "$trace" \
					>"$tmp/path.json" 2>"$tmp/err" || { told=1; break; }
				whole "$tmp/path.json" || return 1
				jq '.segments | del(.[] | .function, .by_function, .reason, .cause)' "$tmp/path.json" \
					>"$tmp/$(basename "$trace" .trace).told"
			done
			[ $told -eq 0 ] || { grep -q 'does not exist in the requested time' "$tmp/err" && continue; cat "$tmp/err"; return 1; }
			same_text "$tmp/selftrace.told" "$tmp/indexed.told" || { echo "goroutine $id"; return 1; }
			count=$((count + 1))
		done
	done
	[ $count -gt 10 ] || { echo "only $count were there"; return 1; }
}

refusals()
{
	local trace=$tmp/chain.trace

	fails() # STATUS TEXT ARGUMENT...
	{
		local status=$1 text=$2 is
		shift 2

		build/gotrace path "$@" >"$tmp/out" 2>"$tmp/err"
		is=$?
		cat "$tmp/err"
		[ $is -eq "$status" ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
			grep -q "$text" "$tmp/err"
	}
	fails 1 'there is no goroutine 987654321' --goroutine 987654321 "$trace" &&
		fails 1 'goroutine [0-9]* does not exist in the requested time' --goroutine "$FIRST" --from 500s "$trace" &&
		fails 2 'missing argument FILE' --goroutine 1 && fails 2 'missing option --goroutine ID' "$trace" &&
		fails 2 'invalid goroutine ID .*: expected a number' --goroutine main "$trace" &&
		fails 2 'from must be before --to' --goroutine 1 --from 2s --to 1s "$trace" &&
		head -c 5000 "$trace" >"$tmp/cut.trace" && fails 1 'cut.trace' --goroutine 1 "$tmp/cut.trace"
}

for_people()
{
	build/gotrace path --goroutine "$FIRST" "$tmp/chain.trace" >"$tmp/out" 2>"$tmp/err" && cat "$tmp/out" &&
		grep -q "^g$FIRST main.first: " "$tmp/out" && grep -q '^causes:$' "$tmp/out" &&
		grep -q 'Go-blocked  *g[0-9]* main.holder, .*sleep, ended by timer$' "$tmp/out" &&
		grep -q 'on-CPU  *g[0-9]* main.waker' "$tmp/out"
}

# Who had the P for which each of 12 goroutines waited, and for how long, by the starts and stops of
# goroutines and Ps, which only this reads.
holders_are_charged() # TRACE
{
	python3 - build/gotrace "$1" 12 <<-'EOF'
		import bisect, collections, json, subprocess, sys
		gotrace, trace, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
		on, began, waits, first = collections.defaultdict(list), {}, [], None
		for line in subprocess.run([gotrace, "events", "--json", trace], capture_output=True, text=True, check=True).stdout.splitlines():
		    ev = json.loads(line)
		    first = first or ev["time"]
		    if ev.get("kind") != "StateTransition":
		        continue
		    t, to, p = ev["time"], ev["to"], ev["p"]
		    if "proc" in ev:
		        if to == "Idle":
		            on[ev["proc"]].append((t, None))
		        continue
		    g, was = ev["goroutine"], ev["from"]
		    # Its state since the trace began; that of a P only if this is its first event.
		    if was == "Undetermined" and (to == "Runnable" or not on[p]):
		        t = first
		    if to == "Runnable" and was != to:
		        began[g] = t
		    elif to == "Running":
		        if was == "Runnable":
		            waits.append((g, began[g], t, p))
		        if p is not None:
		            on[p].append((t, g))
		    if was in ("Running", "Syscall") and to not in ("Running", "Syscall") and p is not None:
		        on[p].append((t, None))
		want = collections.defaultdict(collections.Counter)
		for g, a, b, p in waits:
		    held = on[p]
		    for i in range(max(bisect.bisect_right(held, a, key=lambda x: x[0]) - 1, 0), len(held)):
		        t, holder = held[i]
		        if t >= b:
		            break
		        end = held[i + 1][0] if i + 1 < len(held) else b
		        ns = min(end, b) - max(t, a)
		        if holder is not None and ns > 0:
		            want[g][holder] += ns
		bad = n = 0
		total = collections.Counter()
		for g, holders in sorted(want.items(), key=lambda x: -sum(x[1].values()))[:most]:
		    path = json.loads(subprocess.run([gotrace, "path", "--goroutine", str(g), "--json", trace], capture_output=True, text=True, check=True).stdout)
		    have = collections.Counter()
		    for s in path["segments"]:
		        if s["kind"] == "Go-runnable" and s["goroutine"] == g and s["cause"] == "goroutine":
		            have[s["by_goroutine"]] += s["to_ns"] - s["from_ns"]
		    for h in set(have) | set(holders):
		        n += 1
		        if abs(have[h] - holders[h]) > max(1000, holders[h] / 100):
		            bad += 1
		            print(f"g{g} waited for g{h}: {have[h]} ns in its path, {holders[h]} by the events")
		print(f"{n} holders of {min(most, len(want))} goroutines")
		sys.exit(bad > 0 or n == 0)
	EOF
}

ktap_start
try "traces of runtime/trace" trace_long_runs
for go in $READER_GOS; do
	try "$go: holders of a P" holders_are_charged "$CORPUS/runs/long-$go.trace"
done
for go in $TARGET_GOS; do
	try "$go: with Go events only" without_kernel "$go"
	try "$go: with kernel events" with_kernel "$go"
done
try "text output" for_people
try "rejected arguments" refusals
try "TCP over loopback" over_loopback
try "another process holds the CPU" core_is_held
try "merged with perf events" joined_with_perf
try "each moment is reported once" all_goroutines
try "with an index" by_an_index
ktap_end
