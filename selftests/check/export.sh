#!/bin/bash
# Decodes what `gotrace export` writes with the published schemas of the formats, and compares the
# sums with those of other commands and with sums over single events. perfetto_sql.sh does the same
# with Perfetto's own trace processor, viewers.sh with the viewers of the other formats.
# parallel
# timeout: 900
# depends on: Makefile bpf include userspace selftests/export selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh
. selftests/export.lib.sh

# TRACE: $tmp/perfetto.json and $tmp/chrome.json are summaries of both timelines, which are equal
# except for times of Chrome, which are relative
timelines()
{
	local kind

	for kind in perfetto chrome; do
		rm -f "$tmp/$kind"
		$READER export "$kind" "$1" -o "$tmp/$kind" &&
			$python selftests/export/summary.py "$kind" "$tmp/$kind" >"$tmp/$kind.json" || { echo "$kind"; return 1; }
	done
	same_text "$tmp/perfetto.json" "$tmp/chrome.json"
}

runs()
{
	local go trace

	for go in $READER_GOS; do
		for trace in "$CORPUS/runs/short-$go.trace" "$CORPUS/runs/few-$go.trace"; do
			timelines "$trace" && same_states "$tmp/perfetto.json" "$trace" || { echo "$trace"; return 1; }
		done
		[ "$(jq length "$tmp/states")" -gt 3 ]
	done
}

single_events()
{
	local go

	for go in go1.22.12 "$ORACLE_GO"; do
		timelines "$CORPUS/runs/short-$go.trace" && same_events "$tmp/perfetto.json" "$CORPUS/runs/short-$go.trace" &&
			jq -e '.unblock > 10 and .create > 10 and (.heap | length > 10)' "$tmp/sums" >"$tmp/result" || { echo "$go"; cat "$tmp/sums"; return 1; }
	done
}

# All golden traces, of all formats: each valid one is exported in each kind, and what was written parses.
golden()
{
	local trace n=0

	for trace in $(valid_golden); do
		n=$((n + 1))
		timelines "$trace" && others "$trace" && profiles "$trace" || { echo "$trace"; return 1; }
	done
	echo "$n traces"
	[ $n -gt 10 ]
}

profiles() # TRACE: Go's reader of profiles accepts each kind
{
	local kind files=()

	for kind in $KINDS; do
		rm -f "$tmp/$kind.pb.gz"
		$READER profile "$kind" "$1" -o "$tmp/$kind.pb.gz" && files+=("$tmp/$kind.pb.gz") || return 1
	done
	$REFERENCE/profiles -folded "${files[@]}" >"$tmp/result"
}

# TRACE: speedscope and folded stacks are the profile of all time; lines of JSON are those of `events`
others()
{
	rm -f "$tmp"/{scope,lines,folded}
	$READER export speedscope "$1" -o "$tmp/scope" && $READER export ndjson "$1" -o "$tmp/lines" && $READER export folded "$1" -o "$tmp/folded" &&
		$python selftests/export/summary.py schema selftests/export/speedscope.schema.json "$tmp/scope" || return 1
	$READER profile wall --folded "$1" | LC_ALL=C sort >"$tmp/expected"
	LC_ALL=C sort "$tmp/folded" | cmp - "$tmp/expected" || return 1
	[ "$(jq '.profiles[0].weights | add // 0' "$tmp/scope")" = "$(awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$tmp/folded")" ] &&
		jq -e '.profiles[] | (.weights | add // 0) == .endValue and (.weights | length) == (.samples | length)' "$tmp/scope" >"$tmp/result" || return 1
	$READER events --kernel --stacks --json "$1" >"$tmp/expected" 2>"$tmp/err"
	head -n 1 "$tmp/lines" | jq -e '.exporter == "gotrace" and .schema == "events" and .version == 1 and .unit == "ns"' >"$tmp/result" &&
		tail -n +2 "$tmp/lines" | cmp - "$tmp/expected" &&
		jq -n -e 'all(inputs; (.time | type == "number") and (.kind | type == "string"))' <(tail -n +2 "$tmp/lines") >"$tmp/result" &&
		! LC_ALL=C grep -avq '^.* [0-9]\+$' "$tmp/folded"
}

# Folded stacks of speedscope are those of folded, line by line.
same_stacks()
{
	local trace=$CORPUS/runs/short-$ORACLE_GO.trace

	others "$trace" && jq -r '[.shared.frames[].name] as $names | .profiles[0] | [.samples, .weights] | transpose[] |
		"\([.[0][] | $names[.] | gsub(";"; ":")] | join(";")) \(.[1])"' "$tmp/scope" |
		awk '{ ns = $NF; sub(/ [0-9]*$/, ""); sum[$0] += ns } END { for (w in sum) printf "%s %.0f\n", w, sum[w] }' | LC_ALL=C sort >"$tmp/sums" &&
		[ "$(wc -l <"$tmp/sums")" -gt 20 ] && LC_ALL=C sort "$tmp/folded" >"$tmp/expected" && same_text "$tmp/sums" "$tmp/expected"
}

# Kernel events: time without a CPU is that of `gotrace latency`, system calls and time on CPUs are
# those of single events. What has not ended lasts until the last event, and a kernel event that a
# later event of Go follows counts as if it had come with that.
kernel_sums='def add_call($open; $to): .calls[$open.syscall].count += 1 | .calls[$open.syscall].ns += $to - $open.time;
[foreach ([inputs] | reverse[]) as $e ({next: infinite};
	if $e.kind == "Kernel" then .next as $next | .e = ($e | .time = ([.time, $next] | min)) else {next: $e.time, e: $e} end; .e)] | reverse |
reduce .[] as $e ({calls: {}, open: {}, on: {}, cpus: {}, last: 0}; .last = ([$e.time, .last] | max) |
	if $e.event == "sys_enter" then .open[$e.m | tostring] = $e
	elif $e.event == "sys_exit" then .open[$e.m | tostring] as $open | del(.open[$e.m | tostring]) |
		if $open then add_call($open; $e.time) else . end
	elif $e.event == "on_cpu" then .on["CPU \($e.cpu)"] = $e.time
	elif $e.event == "off_cpu" then .on["CPU \($e.cpu)"] as $from | del(.on["CPU \($e.cpu)"]) |
		if $from then .cpus["CPU \($e.cpu)"] += $e.time - $from else . end
	else . end) | .last as $to | reduce .open[] as $open (.; add_call($open; $to)) |
	reduce (.on | to_entries[]) as $on (.; .cpus[$on.key] += $to - $on.value) | {calls, cpus: (.cpus | map_values(select(. > 0)))}'

# The time on each CPU of an export for Chrome, without that of other processes and what is unknown
own_cpus='reduce (.traceEvents[] | select(.pid == 4)) as $e ({}; "\($e.tid)" as $track |
	if $e.name == "thread_name" then .name[$track] = $e.args.name
	elif $e.ph == "B" then .open[$track] = (if $e.args.thread and ($e.args.process | not) then $e.ts else null end)
	elif $e.ph == "E" and .open[$track] then .cpus[.name[$track]] += (($e.ts - .open[$track]) * 1000 | round)
	else . end) | .cpus'

kernel()
{
	record_target selftrace "$ORACLE_GO" --cpu-profile=500 -duration $(by_tier 50ms 300ms 300ms) $FEW_SYSCALLS && [ "$(stat_of lost "$tmp/selftrace.json")" = 0 ] &&
		timelines "$RECORDED" && same_states "$tmp/perfetto.json" "$RECORDED" && same_events "$tmp/perfetto.json" "$RECORDED" && others "$RECORDED" || return 1
	jq -S '[.slices.Goroutines | to_entries[] | select(.key | test("^G [0-9]+$")) | {key: .key[2:], value: (.value | [
		([to_entries[] | select(.key | endswith("/waiting for a CPU")).value.ns] | add // 0),
		([to_entries[] | select(.key | startswith("system call/") and (endswith("/waiting for a CPU") | not)).value.ns] | add // 0)])}] | from_entries' \
		"$tmp/perfetto.json" >"$tmp/sums"
	$READER latency --all --json "$RECORDED" | jq -S '[.goroutines[] | {key: (.id | tostring), value: [.kernel_runnable_ns, .syscall_blocked_ns]}] | from_entries' >"$tmp/expected"
	same_text "$tmp/sums" "$tmp/expected" && jq -e 'map(.[0]) | add > 1000' "$tmp/sums" || return 1
	$READER events --kernel --json "$RECORDED" | jq -S -n "$kernel_sums" >"$tmp/expected"
	jq -S '{calls: (reduce (.slices.Threads | to_entries[] | select(.key | startswith("system calls of")).value | to_entries[]) as $c ({};
		.[$c.key].count += $c.value.count | .[$c.key].ns += $c.value.ns)), cpus: $cpus[0]}' \
		--slurpfile cpus <(jq "$own_cpus" "$tmp/chrome") "$tmp/perfetto.json" >"$tmp/sums"
	same_text "$tmp/sums" "$tmp/expected"
}

# Counters of goroutines by state and of threads that wait for a CPU; those of both timelines are equal.
counters()
{
	local trace

	for trace in "$tmp/selftrace.trace" "$CORPUS"/runs/{short,few}-"$ORACLE_GO".trace; do
		$READER export chrome "$trace" -o "$tmp/chrome" --force && $READER events --kernel --json "$trace" >"$tmp/events" &&
			$python selftests/export/counters.py "$tmp/chrome" "$tmp/events" >"$tmp/compared" || { cat "$tmp/compared"; return 1; }
		[ "$(wc -l <"$tmp/compared")" -ge 4 ] && grep -q '^Goroutines runnable (run queues): [1-9]' "$tmp/compared" &&
			{ [ "$trace" != "$tmp/selftrace.trace" ] || grep -q '^Threads waiting for a CPU: [1-9]' "$tmp/compared"; } || return 1
	done
}

samples()
{
	same_samples "$tmp/perfetto.json" "$tmp/selftrace.trace"
}

# An export is replaced, another file is not; nothing is left after an error; a terminal gets no
# binary data.
output_file()
{
	local trace=$CORPUS/runs/short-$ORACLE_GO.trace kind

	for kind in perfetto chrome speedscope ndjson; do
		rm -f "$tmp/o"
		$READER export $kind "$trace" -o "$tmp/o" && cp "$tmp/o" "$tmp/first" && $READER export $kind "$trace" -o "$tmp/o" &&
			cmp "$tmp/o" "$tmp/first" && $READER export $kind "$trace" | cmp - "$tmp/first" && [ "$(stat -c %a "$tmp/o")" = 600 ] || { echo $kind; return 1; }
	done
	cp "$trace" "$tmp/other"
	! $READER export perfetto "$trace" -o "$tmp/other" 2>"$tmp/err" && cmp "$tmp/other" "$trace" && grep -q 'use --force' "$tmp/err" &&
		$READER export perfetto "$trace" -o "$tmp/other" --force && ! cmp -s "$tmp/other" "$trace" || return 1
	head -c 30000 "$trace" >"$tmp/short"
	for kind in perfetto chrome speedscope ndjson folded; do
		! $READER export $kind "$tmp/short" -o "$tmp/none" 2>"$tmp/err" && [ ! -e "$tmp/none" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
			! $READER export $kind "$trace" -o /dev/full 2>"$tmp/err" && grep -q 'cannot write /dev/full' "$tmp/err" || { echo $kind; cat "$tmp/err"; return 1; }
	done
	script -qec "$READER export perfetto $trace" /dev/null >"$tmp/terminal" </dev/null
	[ $? -eq 2 ] && grep -q 'not written to a terminal' "$tmp/terminal"
}

# Names may be any bytes: JSON and protocol buffers have valid UTF-8 nevertheless.
any_bytes()
{
	local trace=$CORPUS/runs/short-$ORACLE_GO.trace

	LC_ALL=C sed 's/main\.recurse/m\xff\x01"\\;\xe2\x80wxyz/g' "$trace" >"$tmp/bytes"
	$READER check "$tmp/bytes" >"$tmp/result" && LC_ALL=C grep -q $'m\xff\x01' "$tmp/bytes" && timelines "$tmp/bytes" && others "$tmp/bytes" &&
		grep -q 'm\\ufffd' "$tmp/perfetto.json" && $python -c 'import sys; open(sys.argv[1], encoding="utf-8").read()' "$tmp/chrome"
}

# Memory does not grow with the trace: four times the events, of which most repeat
memory()
{
	local long=$CORPUS/runs/long-$ORACLE_GO.trace kind

	for kind in perfetto chrome ndjson; do
		$READER export $kind "$long" --max-memory 48M >/dev/null || { echo $kind; return 1; }
	done
}

# A part is that of `gotrace cut`, also of a pipe; nothing is left in the folder for temporary files.
parts()
{
	local trace=$CORPUS/runs/long-$ORACLE_GO.trace kind

	mkdir -p "$tmp/temporary" && $READER cut --exact --from 0.3 --to 0.6 "$trace" -o "$tmp/part.trace" || return 1
	for kind in perfetto chrome speedscope folded ndjson; do
		$READER export $kind "$tmp/part.trace" -o - >"$tmp/want" && [ -s "$tmp/want" ] &&
			TMPDIR=$tmp/temporary $READER export $kind "$trace" --from 0.3 --to 0.6 -o - | cmp - "$tmp/want" &&
			cat "$trace" | TMPDIR=$tmp/temporary $READER export $kind - --from 0.3 --to 0.6 -o - | cmp - "$tmp/want" || { echo $kind; return 1; }
	done
	jq -s -e --argjson start "$($READER stat --json "$trace" | jq .start)" \
		'[.[1:][].time | . >= $start + 3e8 - 1000 and . < $start + 6e8] | length > 1000 and all' "$tmp/want" || return 1
	TMPDIR=$tmp/temporary refused 1 'no events after --from' $READER export folded "$trace" --from 99s -o "$tmp/x.folded" &&
		TMPDIR=$tmp/temporary refused 1 'Makefile: ' $READER export folded Makefile --from 1s -o "$tmp/x.folded" &&
		TMPDIR=$tmp/nowhere refused 1 "cannot create a file in $tmp/nowhere: No such file" $READER export folded "$trace" --from 1s -o "$tmp/x.folded" &&
		refused 2 'must be before --to' $READER export folded "$trace" --from 2s --to 1s &&
		[ ! -e "$tmp/x.folded" ] && [ -z "$(ls -A "$tmp/temporary")" ]
}

# FILE GROUP REGEX: the slices and marks on the tracks of a group whose names match, in order, without IDs of
# tracks and arrows
on_tracks()
{
	jq -cS --arg group "$2" --arg names "$3" '.traceEvents as $all |
		($all[] | select(.name == "process_name" and .args.name == $group).pid) as $pid |
		[$all[] | select(.name == "thread_name" and .pid == $pid) | select(.args.name | test($names)).tid | tostring] as $tracks |
		$all[] | select(.pid == $pid and .ph != "M" and (.tid | tostring | IN($tracks[])) and (.ph | IN("B", "E", "X"))) | del(.tid, .id)' "$1"
}

# Of the goroutines only the selected ones have tracks, with the same slices; the other tracks are the same.
selected_goroutines()
{
	local trace=$CORPUS/runs/few-$ORACLE_GO.trace id

	id=$($READER goroutines --all --json "$trace" | jq '[.goroutines[] | select(.name | test("^main"))] | max_by(.sched_wait).id') &&
		$READER export chrome "$trace" -o "$tmp/all.json" --force && $READER export chrome "$trace" --goroutine "$id" -o "$tmp/one.json" --force &&
		$READER export chrome "$trace" --function '^main' -o "$tmp/some.json" --force || return 1
	[ "$(jq '[.traceEvents[] | select(.name == "thread_name").args.name | select(test("^G "))] | unique | length' "$tmp/one.json")" -le 2 ] || return 1
	on_tracks "$tmp/all.json" Goroutines "^G $id( |\$)" >"$tmp/want" && on_tracks "$tmp/one.json" Goroutines '.' >"$tmp/have" &&
		[ "$(wc -l <"$tmp/want")" -gt 10 ] && cmp "$tmp/want" "$tmp/have" || return 1
	on_tracks "$tmp/some.json" Goroutines '^G [0-9]+ main' | cmp - <(on_tracks "$tmp/all.json" Goroutines '^G [0-9]+ main') || return 1
	for group in Ps Threads; do
		on_tracks "$tmp/all.json" $group '.' >"$tmp/want" && on_tracks "$tmp/one.json" $group '.' | cmp - "$tmp/want" && [ -s "$tmp/want" ] || return 1
	done
	refused 2 'require the kind perfetto or chrome' $READER export ndjson "$trace" --goroutine 1 &&
		refused 1 'there is no goroutine whose start function matches' $READER export chrome "$trace" --function 'no such' -o "$tmp/x.json" &&
		[ ! -e "$tmp/x.json" ]
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$ORACLE_GO" && try "schemas are installed" locked install_python &&
	try "programs trace themselves" trace_long_runs && try "for a short time" trace_short_runs; then
	try "runs of each Go release: as gotrace goroutines" runs
	try "tasks, the heap and arrows: as single events" single_events
	in_all try "golden traces in all formats" golden
	try "stacks of speedscope" same_stacks
	try "a trace of gotrace-bpf: as gotrace latency, and as single events" kernel
	try "counters: as the states, whenever they change" counters
	try "CPU samples" samples
	try "the output file" output_file
	try "--from and --to" parts
	try "--goroutine and --function" selected_goroutines
	try "names of any bytes" any_bytes
	in_all try "memory" memory
fi
ktap_end
