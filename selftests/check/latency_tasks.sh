#!/bin/bash
# Tests what `gotrace latency` shows of an aligned trace: which tasks held the CPUs that threads
# waited for. The times add up to those of the waits, and are those of the paths of the goroutines,
# which `gotrace path` computes from the whole history.
# tier: all
# timeout: 300
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh
. selftests/kernel.lib.sh

# Two goroutines per CPU next to processes that are always runnable.
aligned()
{
	local perf status i

	cp "$(command -v bash)" "$tmp/competitor" || return 1
	for ((i = 0; i < 2 * $(nproc); i++)); do
		"$tmp/competitor" -c 'while :; do :; done' &
		background+=($!)
	done
	perf sched record -k CLOCK_MONOTONIC -o "$tmp/perf.data" >"$tmp/perf.out" 2>&1 </dev/null &
	perf=$!
	background+=("$perf")
	wait_until 20 test -s "$tmp/perf.data" && sleep 0.5 &&
		record_target selftrace "$ORACLE_GO" "--events sched,syscall,gc,kernel" -duration 700ms
	status=$?
	kill -INT "$perf"
	wait "$perf"
	kill "${background[@]:0:2 * $(nproc)}"
	[ $status -eq 0 ] || { cat "$tmp/perf.out"; return 1; }
	build/gotrace align "$RECORDED" --perf "$tmp/perf.data" -o "$tmp/joined.trace" &&
		build/gotrace latency --all --json "$tmp/joined.trace" >"$tmp/joined.json"
}

# Options for the middle third of the longest wait for a CPU of the goroutine that waited most
within_a_wait()
{
	local id

	id=$(jq '.goroutines | max_by(.kernel_runnable_ns).id' "$tmp/joined.json")
	build/gotrace path --json --goroutine "$id" "$tmp/joined.trace" | jq -r '
		[.segments[] | select(.depth == 0 and .kind == "kernel-runnable")] | max_by(.to_ns - .from_ns) |
		((.to_ns - .from_ns) / 3 | floor) as $third | "--from @\(.from_ns + $third) --to @\(.to_ns - $third)"'
}

# Of functions and of goroutines, in the whole trace and in parts of it.
adds_up()
{
	local window

	for window in '' '--from 0.2 --to 0.5' "$(within_a_wait)"; do
		build/gotrace latency --all --json $window "$tmp/joined.trace" |
			jq -e '[.functions[], .goroutines[]] | (map(.kernel_runnable_ns) | add > 0) and
				all(.kernel_runnable_ns == ([.cpu_held_by[].ns] | add // 0) and
				([.cpu_held_by[].ns] | all(. > 0) and . == (sort | reverse)))' || return 1
	done
}

# Little is of unknown tasks, but for the intervals in which perf lacks a switch: all CPUs may be waited for in them.
names_the_competitor()
{
	local lacking

	lacking=$(perf_lacks "$tmp/perf.data" | awk '{ sum += $2 - $1 } END { printf "%.0f", sum }') || return 1
	jq -e --argjson lacking "$lacking" --argjson cpus "$(nproc)" '([.functions[].cpu_held_by[] | select(.name == "competitor").ns] | add) as $held |
		([.functions[].kernel_runnable_ns] | add) as $waited | $held > $waited / 100 and
		([.functions[].cpu_held_by[] | select(.name == "(unknown)").ns] | add // 0) < $waited / 20 + $lacking * $cpus' "$tmp/joined.json" &&
		build/gotrace latency --details "$tmp/joined.trace" | grep -q 'the CPU was held by: competitor$'
}

# The recording itself, without perf, has the same tasks: each within 2 % or 1 ms of what align shows of it, and the time in
# which perf lacks a switch. check/neighbours.sh compares it with perf's events.
is_the_same_without_perf()
{
	local lacking

	lacking=$(perf_lacks "$tmp/perf.data" | awk '{ sum += $2 - $1 } END { printf "%.0f", sum }') || return 1
	build/gotrace latency --all --json "$RECORDED" | jq -r --argjson lacking "$lacking" --argjson cpus "$(nproc)" --slurpfile joined "$tmp/joined.json" '
		def tasks: [.functions[].cpu_held_by[]] | group_by(.name) | map({ (.[0].name): (map(.ns) | add) }) | add;
		tasks as $a | ($joined[0] | tasks) as $b | "\($a | length) tasks", ($a + $b | keys[] | ($a[.] // 0) as $x | ($b[.] // 0) as $y |
		select(($x - $y | fabs) > ([$y / 50, 1e6] | max) + $lacking * $cpus) | "\(.): \($x) ns, \($y) after align")' >"$tmp/compared"
	cat "$tmp/compared"
	[ "$(wc -l <"$tmp/compared")" -eq 1 ] && build/gotrace latency --details "$RECORDED" | grep -q 'CPU held by competitor$'
}

# A goroutine's own waits on its path by task, exact to the nanosecond. A path joins the parts of a sleep whose system call
# a signal interrupted, with what is between them: goroutines with such a call are not compared.
of_paths()
{
	local id all=0 other=0

	build/gotrace events --kernel --json "$tmp/joined.trace" |
		jq 'select(.event == "sys_exit" and (.result == -4 or .result <= -512 and .result >= -516)).g | values' >"$tmp/interrupted"
	for id in $(jq '.goroutines | sort_by(-.kernel_runnable_ns)[:24][].id' "$tmp/joined.json"); do
		grep -qx "$id" "$tmp/interrupted" && continue
		build/gotrace path --json --goroutine "$id" "$tmp/joined.trace" | jq -c '[.segments[] |
			select(.depth == 0 and .kind == "kernel-runnable") | { ns: (.to_ns - .from_ns), name: (
				if .cause == "process" then .process // "process \(.process_id)"
				elif .cause == "idle" then "(idle)"
				elif .cause then "(the program itself)" else "(unknown)" end) }] |
			group_by(.name) | map({ name: .[0].name, ns: map(.ns) | add }) | sort' >"$tmp/path" &&
			jq -c ".goroutines[] | select(.id == $id).cpu_held_by | sort" "$tmp/joined.json" >"$tmp/latency" ||
			return 1
		all=$((all + 1))
		cmp -s "$tmp/path" "$tmp/latency" && continue
		other=$((other + 1))
		echo "goroutine $id"
		cat "$tmp/path" "$tmp/latency"
	done
	echo "$other of $all differ from gotrace path"
	[ $all -ge 12 ] && [ $other -eq 0 ]
}

# The other figures are those of the trace before.
same_otherwise()
{
	local others='walk(if type == "object" then del(.cpu_held_by, .kernel_runnable) else . end)'

	build/gotrace latency --all --json "$RECORDED" | jq -S "$others" >"$tmp/before" && jq -S "$others" "$tmp/joined.json" | cmp - "$tmp/before"
}

ktap_start
if try "a run next to a busy process is recorded and aligned" aligned; then
	try "the times of tasks add up to the waits" adds_up
	try "the busy process is named" names_the_competitor
	try "the recording has the same tasks without perf" is_the_same_without_perf
	try "the same as in the paths" of_paths
	try "the other figures do not change" same_otherwise
fi
ktap_end
