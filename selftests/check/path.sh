#!/bin/bash
# `gotrace path` finds who made a goroutine wait: in a chain of waits that is known in advance
# (selftests/targets/chain), with the kernel's side and by Go's events alone; and each moment is told once.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

GO_ONLY=sched,syscall,gc,heap,user

goroutine_of() # FUNCTION TRACE
{
	build/gotrace goroutines --all --json "$2" |
		jq -er --arg f "$1" '[.goroutines[] | select(.name == $f)][0].id'
}

# PATH.json: no gap, nothing twice, and the summary adds up to the window
is_whole='
	def ns: .to_ns - .from_ns;
	(.segments[0].from_ns == .from_ns) and (.segments[-1].to_ns == .to_ns) and
	([.segments[] | ns] | min > 0 and add == $path.to_ns - $path.from_ns) and
	([.segments, .segments[1:]] | transpose | all(.[1] == null or .[0].to_ns == .[1].from_ns)) and
	([.summary[].ns] | add == $path.to_ns - $path.from_ns) and
	([.summary[].count] | add == ($path.segments | length))'

whole() # FILE
{
	jq -e ". as \$path | $is_whole" "$1" >/dev/null || { echo "$1 is not whole"; return 1; }
}

# The time of what fits a condition, in shares of what it should be: FILE CONDITION EXPECTED LEAST MOST
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

took() # WHAT: as the target has measured it
{
	jq -er ".$1" "$tmp/chain.done"
}

# What runs, or could, is the burning one's, however often others take its core away.
RUNS='(.kind == "on-CPU" or .kind == "running" or .kind == "kernel-runnable" or .kind == "Go-runnable" or
	.kind == "throttled")'

# What the runtime and a busy machine do in between is the one's who then cannot go on: so what burns is measured
# together, too. The kernel's time of a read is shorter than the program's by how long it then waits for a core.
with_kernel()
{
	local path=$tmp/path.json holder='.function == "main.holder" and .syscall == null'
	local futex='(.function == "main.waker" or .function == "main.holder" and .syscall == "futex")'

	chain_is_recorded "$1" $GO_ONLY,kernel && jq -e .kernel "$path" >/dev/null || return 1
	share "$path" '.function == "main.holder" and .kind == "Go-blocked" and .cause == "timer"' \
		"$(took sleep_ns)" 0.8 1.001 &&
		share "$path" "$holder and $RUNS" "$(took burn_ns)" 0.9 1.4 &&
		share "$path" ".kind == \"syscall-blocked\" and .syscall == \"read\" and .cause == \"process\" and
			.process_id == $(took writer)" "$(took read_ns)" 0.7 1.001 &&
		share "$path" '.function == "main.waker"' "$(took futex_ns)" 0.6 1.05 &&
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

# Who sends over TCP on this machine wakes the reader itself, in a soft interrupt of its own.
over_loopback()
{
	local path=$tmp/path.json

	record_target latency "$JUDGE_GO" "--events $GO_ONLY,kernel" -case socket -duration 500ms &&
		build/gotrace path --goroutine "$(goroutine_of main.pipeReader "$RECORDED")" --json "$RECORDED" \
			>"$path" && whole "$path" || return 1
	share "$path" '.function == "main.socketWriter"' "$(jq '.to_ns - .from_ns' "$path")" 0.5 1
}

# All on one core, beside a process that takes it away again and again.
core_is_held()
{
	local hog path=$tmp/path.json status

	# shellcheck disable=SC2016 # it is the other bash's
	taskset -c 0 chrt -f 1 bash -c 'exec {never}<> <(:)
		while :; do
			for ((i = 0; i < 10000; i++)); do :; done
			read -rt 0.005 -u $never
		done' &
	hog=$!
	background+=("$hog")
	(taskset -p -c 0 $BASHPID && chain_is_recorded "$JUDGE_GO" $GO_ONLY,kernel)
	status=$?
	kill -KILL "$hog"
	wait "$hog" 2>/dev/null
	[ $status -eq 0 ] || return 1
	share "$path" ".kind == \"kernel-runnable\" and .process_id == $hog" \
		"$(jq '[.segments[] | select(.kind == "kernel-runnable") | .to_ns - .from_ns] | add' "$path")" 0.2 1
}

# With perf's events, too, it is known who else had the core, of each wait for one; all else stays as it was.
joined_with_perf()
{
	local perf status

	perf sched record -k CLOCK_MONOTONIC -o "$tmp/perf.data" >"$tmp/perf.out" 2>&1 </dev/null &
	perf=$!
	background+=("$perf")
	wait_until 20 test -s "$tmp/perf.data" && sleep 0.5 && chain_is_recorded "$JUDGE_GO" $GO_ONLY,kernel
	status=$?
	kill -INT "$perf"
	wait "$perf"
	[ $status -eq 0 ] || { cat "$tmp/perf.out"; return 1; }
	build/gotrace align "$RECORDED" --perf "$tmp/perf.data" -o "$tmp/joined.trace" &&
		build/gotrace path --goroutine "$FIRST" --json "$tmp/joined.trace" >"$tmp/joined.json" &&
		whole "$tmp/joined.json" || return 1
	jq -e '[.segments[] | select(.kind == "kernel-runnable" and .cause == null)] == []' "$tmp/joined.json" &&
		same_text <(times_by_kind "$tmp/path.json") <(times_by_kind "$tmp/joined.json")
}

times_by_kind() # FILE
{
	jq -r '.segments | group_by([.kind, .goroutine])[] |
		"\(.[0].kind) \(.[0].goroutine) \(map(.to_ns - .from_ns) | add)"' "$1"
}

# A goroutine's own time on its path is what `gotrace latency` has of it, to the nanosecond: PATH.json LATENCY.json
agrees()
{
	jq -e --slurpfile latency "$2" '
		def own($kinds): [.segments[] | select(.depth == 0 and (.kind | IN($kinds[]))) | .to_ns - .from_ns] |
			add // 0;
		.goroutine as $id | ($latency[0].goroutines[] | select(.id == $id)) as $g |
		own(["on-CPU", "running"]) == $g.oncpu_ns and own(["Go-runnable"]) == $g.go_runnable_ns and
		own(["kernel-runnable"]) == $g.kernel_runnable_ns and own(["throttled"]) == $g.throttled_ns' "$1"
}

# Any goroutine of a program that does everything there is, in any part of its time.
all_goroutines()
{
	local id from to all=0 other=0

	record_target selftrace "$JUDGE_GO" "--events $GO_ONLY,kernel" -duration 700ms &&
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
	# But for a system call that a signal cut short, which is one wait here.
	echo "$other of $all are not as gotrace latency has them"
	[ $all -eq 40 ] && [ $other -le 2 ]
}

# From the middle of a trace of several generations, by its index: the same, but for what only the part before has.
by_an_index()
{
	local id told from count=0

	record_target selftrace "$JUDGE_GO" "--events $GO_ONLY,kernel" -duration 2500ms &&
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
			[ $told -eq 0 ] || { grep -q 'is not there then' "$tmp/err" && continue; cat "$tmp/err"; return 1; }
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
		fails 1 'goroutine [0-9]* is not there then' --goroutine "$FIRST" --from 500s "$trace" &&
		fails 2 'no FILE given' --goroutine 1 && fails 2 'no --goroutine ID given' "$trace" &&
		fails 2 'not a goroutine ID, which is a number' --goroutine main "$trace" &&
		fails 2 'from is not before --to' --goroutine 1 --from 2s --to 1s "$trace" &&
		head -c 5000 "$trace" >"$tmp/cut.trace" && fails 1 'cut.trace' --goroutine 1 "$tmp/cut.trace"
}

for_people()
{
	build/gotrace path --goroutine "$FIRST" "$tmp/chain.trace" >"$tmp/out" 2>"$tmp/err" && cat "$tmp/out" &&
		grep -q "^g$FIRST main.first: " "$tmp/out" && grep -q '^who made it wait:$' "$tmp/out" &&
		grep -q 'Go-blocked  *g[0-9]* main.holder, .*sleep, ended by timer$' "$tmp/out" &&
		grep -q 'on-CPU  *g[0-9]* main.waker' "$tmp/out"
}

ktap_start
for go in $TARGET_GOS; do
	try "$go: by Go's events alone" without_kernel "$go"
	try "$go: with the kernel's side" with_kernel "$go"
done
try "as lines for people" for_people
try "what cannot be" refusals
try "over TCP on this machine" over_loopback
try "another process has the core" core_is_held
try "joined with what perf has seen" joined_with_perf
try "each moment is told once" all_goroutines
try "by an index" by_an_index
ktap_end
