#!/bin/bash
# Compares the data of `gotrace report` with those of `gotrace latency` and `gotrace requests`, and
# writes pages of all traces, also of hostile ones and with names that could end the data. TRACE=FILE compares
# the figures of another trace.
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/report selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh
. selftests/record.lib.sh

# PAGE: its data; fails if a "<" is in them, or if they are there twice
data()
{
	[ "$(grep -o '<script type="application/json" id="gotrace-data">' "$1" | wc -l)" -eq 1 ] &&
		python3 -c '
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
rest = page.split("id=\"gotrace-data\">", 1)[1]
sys.stdout.write(rest[:rest.index("<")])
sys.exit(not rest[rest.index("<"):].startswith("</script>"))' "$1"
}

parts='[.oncpu_ns, .go_runnable_ns, .kernel_runnable_ns, .throttled_ns, .kernel_blocked_ns, .syscall_blocked_ns, .go_blocked_ns]'

# TRACE: each figure of the tables, which the other commands compute in passes of their own
equals()
{
	$READER report --force -o "$tmp/page.html" "$1" && data "$tmp/page.html" >"$tmp/data" &&
		$READER latency --goroutines --json "$1" >"$tmp/latency" && $READER requests --worst 100 --json "$1" >"$tmp/requests" &&
		$READER goroutines --all --json "$1" >"$tmp/goroutines" && about_equal "$1" && goroutines_equal && requests_equal && findings_hold && causes_equal && examples_equal "$1" && flames_equal "$1"
}

# The stacks of the profiles are those of `profile --folded`.
flames_equal() # TRACE
{
	local kind

	for kind in cpu offcpu wall; do
		$READER profile $kind --folded "$1" >"$tmp/folded" 2>/dev/null && python3 selftests/report/flames.py "$tmp/data" $kind "$tmp/folded" || return 1
	done
}

# The program, its release, and the wall-clock time of the start, which is that of the first clock
about_equal() # TRACE
{
	$READER stat --json "$1" >"$tmp/stat" && jq -e -n --slurpfile page "$tmp/data" --slurpfile stat "$tmp/stat" '
		$page[0].trace as $t | $stat[0] as $s | $s.generations[0].clock as $clock |
		([$s.private.meta[]? | { key: .name, value }] | from_entries) as $meta |
		$t.program == $meta.command and $t.go_version == $meta.go_version and
		$t.events == $s.events and $t.bytes == $s.bytes and $t.generations == ($s.generations | length) and
		if $clock then
			(($t.start_wall | .[:19] + "Z" | fromdate) - $clock.wall_sec) * 1e9 + ($t.start_wall[20:29] | tonumber) ==
				$clock.wall_nsec + $t.start - $clock.time and ($t.start_wall | test("^[^.]{19}[.][0-9]{9}Z$"))
		else
			$t.start_wall == null
		end' >/dev/null
}

# A goroutine's time ends with it or the trace. That of `goroutines` also ends when it is blocked for ever.
goroutines_equal()
{
	jq -e -n --slurpfile page "$tmp/data" --slurpfile latency "$tmp/latency" --slurpfile go "$tmp/goroutines" '
		$page[0] as $p | $latency[0] as $l |
		($go[0].goroutines | map({ key: (.id | tostring), value: . }) | from_entries) as $g |
		($p.goroutines.functions | sort) ==
			($l.functions | map({ name, count, total: .total_ns, parts: '"$parts"' }) | sort) and
		($p.goroutines.list | length) == ([2000, ($l.goroutines | length)] | min) and
		$p.goroutines.omitted == ($l.goroutines | length) - ($p.goroutines.list | length) and
		($p.goroutines.list | map(.total)) == ($l.goroutines | map(.total_ns) | sort | reverse | .[:2000]) and
		(($l.goroutines | map({ key: (.id | tostring), value: '"$parts"' }) | from_entries) as $parts |
			all($p.goroutines.list[]; .parts == $parts[.id | tostring] and .to - .from == .total)) and
		all($p.goroutines.list[] | select(.name != "main.blockedForEver"); . as $one | $g[.id | tostring].ended as $last |
			$one.to == if $last then $last - $p.trace.start else $p.trace.ns end)' >/dev/null
}

requests_equal()
{
	jq -e -n --slurpfile page "$tmp/data" --slurpfile requests "$tmp/requests" '
		$page[0] as $p | $requests[0] as $r |
		($p.requests.names | map({ name, count, total, p50, p90, p99, max, errors, parts,
			histogram: (.histogram | map(.[0], .[1])) }) | sort) ==
		($r.requests | map(select(.count > 0) | { name, count, total: .total_ns, p50: .p50_ns, p90: .p90_ns,
			p99: .p99_ns, max: .max_ns, errors, parts: (.time | '"$parts"'),
			histogram: (.buckets | map(.from_ns, .count)) }) | sort) and
		all($p.requests.names[]; .mean == (.total / .count | floor)) and
		([$p.requests.names[].worst[] | .to - .from] | sort) == ([$r.worst[] | .duration_ns] | sort)' >/dev/null
}

# Each share is that of the time, the largest first, and no sentence is about less than 5 %.
findings_hold()
{
	jq -e '[.findings[] | select(.ns)] as $f | (.findings | length) >= 1 and ($f | length) >= 1 and
		all($f[]; (.detail | capture("^(?<a>[0-9.]+) s of (?<b>[0-9.]+) s$")) as $d | .share as $share |
			(.text | startswith("\($share * 100 | round) % of ")) and
			(($d.b | tonumber) == 0 or (($d.a | tonumber) / ($d.b | tonumber) - $share | fabs < 0.001))) and
		all($f[:-1][]; .share >= 0.05) and ($f[:-1] | map(-.ns)) == ($f[:-1] | map(-.ns) | sort)' "$tmp/data" >/dev/null
}

# The causes that the findings name, from the figures of the other commands: those of the requests with the
# longest durations in all, or of goroutines that are not the runtime's, those that are mostly blocked only without the time in which they are
causes='def assist: [.by_reason.go_blocked[] | select(.name == "GC mark assist wait for work").ns] | add // 0;
	def in_call: .name | IN("not recorded", "page fault", "page fault or signal (see --events fault)", "memory reclaim", "disk", "end of the thread",
		"stopped", "stopped by a debugger", "frozen") | not;
	def without_calls: .by_reason.syscall_blocked |= map(select(in_call | not)) | .by_reason.kernel_blocked |= map(select(in_call | not));
	def causes(idle): [.of_which.gc_assist_ns + assist, .go_runnable_ns, .kernel_runnable_ns, .throttled_ns,
		(.by_reason.go_blocked[] | select(.name == "sync" or (idle and .name != "GC mark assist wait for work")).ns),
		(.by_reason | .syscall_blocked[], .kernel_blocked[]).ns] | map(select(. > 0));'
causes_equal()
{
	jq -e -n --slurpfile page "$tmp/data" --slurpfile latency "$tmp/latency" --slurpfile requests "$tmp/requests" "$causes"'
		def sums: group_by(.name) | map({ name: .[0].name, ns: (map(.ns) | add) });
		($requests[0].requests | map(select(.count > 0)) | max_by(.total_ns)) as $r |
		([$latency[0].goroutines[] | select(.name | . == "" or (startswith("runtime.") and (IN("runtime.main", "runtime.corostart", "runtime.cgocallback") | not)) | not) |
			if (.total_ns - (.lost_ns // 0)) as $known | $known - .go_blocked_ns - .syscall_blocked_ns > ($known / 100 | floor) then .
			else .by_reason.go_blocked = [] | .by_reason.syscall_blocked = [] end]) as $busy |
		(if $r then $r.critical_path else ($busy | {
			oncpu_ns: (map(.oncpu_ns) | add // 0), go_runnable_ns: (map(.go_runnable_ns) | add // 0),
			kernel_runnable_ns: (map(.kernel_runnable_ns) | add // 0), throttled_ns: (map(.throttled_ns) | add // 0),
			of_which: { gc_assist_ns: (map(.of_which.gc_assist_ns) | add // 0) },
			by_reason: { go_blocked: (map(.by_reason.go_blocked[]) | sums), syscall_blocked: (map(.by_reason.syscall_blocked[]) | sums),
				kernel_blocked: (map(.by_reason.kernel_blocked[]) | sums), kernel_runnable: (map(.by_reason.kernel_runnable[]) | sums) } }) end) as $t |
		($t | causes($r != null)) as $c |
		(if $r then $t.total_ns else ($c | add // 0) + $t.oncpu_ns - $t.of_which.gc_assist_ns end) as $base |
		[$page[0].findings[] | select(.ns) | select(.text | endswith(" running.") or endswith(" on a CPU.") | not)] as $found |
		[$found[] | select(.text | contains(" was in system call ") | not).ns] as $others |
		($others == ($t | without_calls | causes($r != null) | map(select(. >= 0.05 * $base)) | sort | reverse | if ($found | length) < 6 then . else .[:($others | length)] end)) and
		([$t.by_reason | .syscall_blocked[], .kernel_blocked[] | select(in_call)] | group_by(.name) | map({ name: .[0].name, ns: (map(.ns) | add) })) as $blocked |
		all($blocked[]; . as $b | .ns < 0.05 * $base or ($found | length) == 6 or any($found[]; .text | contains(" was in system call \($b.name), "))) and
		all($found[] | select(.text | contains(" was in system call ")); . as $f | (.text | capture(" was in system call (?<n>.*), from entry").n) as $n |
			([$blocked[] | select(.name == $n).ns] | add // 0) as $asleep | $f.ns >= $asleep and
			$f.ns <= $asleep + $t.oncpu_ns + $t.kernel_runnable_ns + $t.throttled_ns) and
		all($page[0].findings[] | select(.ns); $base == 0 or (.ns / $base - .share | fabs < 1e-6)) and
		($t.by_reason.kernel_runnable // [] | map(select(.name | startswith("preempted by "))) | max_by(.ns)) as $preempted |
		all($page[0].findings[].text | select(test(" was waiting for a CPU")); . as $text |
			($t.by_reason.kernel_runnable | max_by(.ns)) as $longest |
			contains("after its thread was \($longest.name)") or contains("after its thread yielded") or $longest.name == "unknown" or
			($longest.name | startswith("CPU held by ")) and contains("that was held most by \($longest.name[12:])")) and
		all($page[0].findings[].text | capture("; (?<s>[0-9.]+) s of it after it was (?<name>.*)[.]$"); $preempted.name[:200] == .name and
			((.s | tonumber) - $preempted.ns / 1e9 | fabs < 0.001)) and
		any($page[0].findings[]; .text == "Nothing stands out.") == ($found == [])' >/dev/null
}

# The examples that findings link to: of the slowest requests of that name, one in which nothing took more
# time; or the longest wait of those that `waits` finds, of goroutines that are not idle. The timeline ends with
# the last event of Go; for `waits`, what goes on then ends with the last kernel event.
examples_equal() # TRACE
{
	local kind

	: >"$tmp/examples"
	jq -e -n --slurpfile page "$tmp/data" --slurpfile requests "$tmp/requests" "$causes"'
		($requests[0].requests | map(select(.count > 0)) | max_by(.total_ns)) as $r |
		[$requests[0].worst[] | select($r and .name == $r.name)] as $worst |
		[$page[0].findings[] | . as $f | .links[] | select(.task) | . + { sentence: $f.text }] as $links |
		all($links[]; . as $link | ($worst[] | select(.id == $link.task)) as $one |
			$link.from == $one.begin - $page[0].trace.start and $link.to == $one.begin + $one.duration_ns - $page[0].trace.start and
			$link.lane == (if $one.created_by then "g:\($one.created_by)" else null end) and
			(if $link.sentence | endswith(" waiting for a P.") then
				$link.ns == $one.critical_path.go_runnable_ns and all($worst[]; .critical_path.go_runnable_ns <= $link.ns)
			elif $link.sentence | test(" waiting for a CPU") then
				$link.ns == $one.critical_path.kernel_runnable_ns and all($worst[]; .critical_path.kernel_runnable_ns <= $link.ns)
			elif $link.sentence | test(" (running|on a CPU)\\.$") then
				$link.ns == $one.critical_path.oncpu_ns - $one.critical_path.of_which.gc_assist_ns
			elif $link.sentence | contains(" was in system call ") then
				($link.sentence | capture(" was in system call (?<n>.*), from entry").n) as $n |
				([$one.critical_path.by_reason | .syscall_blocked[], .kernel_blocked[] | select(.name == $n).ns] | add // 0) as $asleep |
				if $one.top_cause.kind == "syscall" and $one.top_cause.reason == $n then $link.ns == $one.top_cause.ns
				else $link.ns >= $asleep and $link.ns <= $one.top_cause.ns end
			else
				any($one.critical_path | causes(true)[]; . == $link.ns)
			end)) and
		(($links | length) > 0) == ($r != null and ($worst | length) > 0 and any($page[0].findings[]; .ns))' >/dev/null || return 1
	for kind in "sched waiting for a P" "syscall in system call" "runqueue waiting for a CPU" "block waiting for locks"; do
		jq -e --arg sentence " was ${kind#* }" '[.findings[] | select(.text | contains($sentence)).links[] | select(.ns and (.task | not))] | length > 0' \
			"$tmp/data" >/dev/null || continue
		echo "$kind" >>"$tmp/examples"
		build/gotrace waits --json --longest 10000 --kind "${kind%% *}" "$1" >"$tmp/waits" && jq -e -n --arg sentence " was ${kind#* }" \
			--slurpfile page "$tmp/data" --slurpfile waits "$tmp/waits" --slurpfile go "$tmp/goroutines" '
			($go[0].goroutines | map(select(.exec + .sched_wait > ((.exec + .sched_wait + .syscall + .syscall_block + (.block | map(.time) | add // 0)) / 100 | floor)) |
				{ key: (.id | tostring), value: true }) | from_entries) as $busy |
			($page[0].trace | .start + .ns) as $last |
			($waits[0].waits | map(select(.kind != "block" or .reason == "sync") | select(.kind == "sched" or .kind == "runqueue" or $busy[.goroutine | tostring]) |
				.to_ns = ([.to_ns, $last] | min)) | sort_by([.from_ns - .to_ns, .from_ns, .goroutine])[0]) as $longest |
			all($page[0].findings[] | select(.text | contains($sentence)).links[] | select(.ns and (.task | not));
				.from == $longest.from_ns - $page[0].trace.start and .to == $longest.to_ns - $page[0].trace.start and
				.ns == .to - .from and .lane == "g:\($longest.goroutine)")' >/dev/null || return 1
	done
}

runs()
{
	local go

	[ -z "${TRACE-}" ] || { equals "$TRACE"; return; }
	for go in $READER_GOS; do
		equals "$CORPUS/runs/short-$go.trace" || { echo "$go"; return 1; }
	done
	equals "$CORPUS/runs/long-$ORACLE_GO.trace"
}

recorded() # with kernel events, without requests
{
	record_target stress "$ORACLE_GO" "" -duration $(by_tier 100ms 500ms 500ms) && equals "$RECORDED" && [ -s "$tmp/examples" ]
}

# Lanes, the slowest requests, links, limits and names, by the events; and after losses
facts()
{
	record_target requests "$ORACLE_GO" "" -n 6 && facts_of "$RECORDED" && $READER view --json "$RECORDED" | jq -e '.live == true' &&
		record_target lossy "$ORACLE_GO" "--ring-size=16K --events=sched,kernel" -load 300ms -quiet 1s && facts_of "$RECORDED" &&
		jq -e '["Some kernel events were lost.", "Some events of Go were lost."] - .limits == []' "$tmp/data"
}

facts_of() # TRACE: also, each fact is found to differ if it is another one
{
	$READER report --force -o "$tmp/page.html" "$1" && data "$tmp/page.html" >"$tmp/data" &&
		python3 -B selftests/report/facts.py detects "$tmp/data" $READER "$1"
}

golden() # each valid trace of all formats; of others, an error, and no file
{
	local trace n=0

	for trace in "$CORPUS/$ORACLE_GO"/v2/*.trace "$CORPUS/$ORACLE_GO"/v1/*; do
		rm -f "$tmp/page.html"
		if $READER check "$trace" >"$tmp/result" 2>&1; then
			n=$((n + 1))
			$READER report -o "$tmp/page.html" "$trace" && data "$tmp/page.html" >"$tmp/data" &&
				$READER latency --goroutines --json "$trace" >"$tmp/latency" 2>"$tmp/err" &&
				$READER requests --json "$trace" >"$tmp/requests" && causes_equal && flames_equal "$trace" >"$tmp/kinds" || { echo "$trace"; return 1; }
		elif $READER report -o "$tmp/page.html" "$trace" 2>"$tmp/err"; then
			# `check` finds errors that do not keep others from reading the trace
			data "$tmp/page.html" >/dev/null || { echo "$trace"; return 1; }
		elif [ -e "$tmp/page.html" ] || [ "$(wc -l <"$tmp/err")" -ne 1 ]; then
			echo "$trace"
			return 1
		fi
	done
	[ $n -gt 10 ]
}

# The name of a function becomes one of the same length that could end the data, or a string in them.
hostile_names()
{
	$READER text "$CORPUS/runs/short-$ORACLE_GO.trace" >"$tmp/text" &&
		sed 's/"main\.(\*workload)\.run\.func1"/"main.<\/script><!--\\"\\n\\x01\\xffabcd"/' "$tmp/text" >"$tmp/evil.text" &&
		! cmp -s "$tmp/text" "$tmp/evil.text" && $READER assemble -o "$tmp/evil" "$tmp/evil.text" &&
		$READER report --force -o "$tmp/page.html" "$tmp/evil" && data "$tmp/page.html" >"$tmp/data" &&
		jq -e '[.goroutines.functions[].name | select(. == "main.</script><!--\"\n\u0001\ufffdabcd")] | length == 1' \
			"$tmp/data" >/dev/null
}

output()
{
	local trace=$CORPUS/runs/short-$ORACLE_GO.trace mode

	rm -f "$tmp/new.html" && $READER report -o "$tmp/new.html" "$trace" && mode=$(stat -c %a "$tmp/new.html") && [ "$mode" = 600 ] &&
		$READER report -o "$tmp/new.html" "$trace" && cat "$trace" | $READER report - >"$tmp/piped.html" &&
		data "$tmp/new.html" | jq 'del(.trace.file, .trace.bytes)' >"$tmp/a" && data "$tmp/piped.html" | jq 'del(.trace.file, .trace.bytes)' >"$tmp/b" &&
		cmp "$tmp/a" "$tmp/b" && echo mine >"$tmp/other" && ! $READER report -o "$tmp/other" "$trace" 2>"$tmp/err" &&
		grep -q 'is not a page of gotrace report' "$tmp/err" && [ "$(cat "$tmp/other")" = mine ] &&
		$READER report --force -o "$tmp/other" "$trace" && data "$tmp/other" >/dev/null &&
		! $READER report -o "$tmp/none.html" "$tmp/err" 2>"$tmp/err2" && [ ! -e "$tmp/none.html" ] && [ "$(wc -l <"$tmp/err2")" -eq 1 ]
}

ktap_start
if try "the reader builds" build_reader && try "there are traces" eval 'extract_corpus "$ORACLE_GO" && trace_short_runs && trace_long_runs'; then
	try "figures equal those of other commands" runs
	try "so do those of a recorded trace with kernel events" recorded
	in_all try "lanes, requests, links and limits are those of the events" facts
	in_all try "the golden traces have a page" golden
	try "names cannot end the data" hostile_names
	try "the output is private, complete and of its own kind" output
fi
ktap_end
