#!/bin/bash
# Tests the filters that the commands of gotrace share: on a recording of a program with all kinds
# of events, the output of each command with each filter equals the unfiltered JSON, reduced by jq.
# tier: all
# parallel
# timeout: 600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

recorded()
{
	record_target selftrace "$ORACLE_GO" "--events sched,syscall,gc,heap,user,kernel" -duration 300ms $FEW_SYSCALLS &&
		trace=$RECORDED
}

# NAME VERB OPTION...: the unfiltered output, in $tmp/NAME.json
all_of()
{
	local name=$1
	shift

	timeout 120 $READER "$@" --json "$trace" >"$tmp/$name.json" && jq . "$tmp/$name.json" >"$tmp/$name.all" &&
		[ -s "$tmp/$name.all" ]
}

# NAME JQ VERB OPTION... FILTER: that output reduced by JQ is the filtered one; the filter omits
# something, but not everything.
same()
{
	local name=$1 program=$2
	shift 2

	jq "$program" "$tmp/$name.json" >"$tmp/want" && timeout 120 $READER "$@" --json "$trace" >"$tmp/have" &&
		jq . "$tmp/have" >"$tmp/have.json" && same_text "$tmp/have.json" "$tmp/want" || return 1
	if cmp -s "$tmp/want" "$tmp/$name.all"; then
		echo "the filter omits nothing"
		return 1
	fi
	has_elements "$tmp/have.json" || { echo "the filter omits everything"; return 1; }
}

has_elements() # FILE: none of the lists that a filter reduces is empty
{
	jq -se 'length > 0 and all(.[]; [.groups, .functions, .goroutines | arrays | length > 0] | all)' "$1" >/dev/null
}

by_function() # LIST REGEX: jq
{
	echo ".$1 |= map(select(.name | test(\"$2\")))"
}

# The tasks are those of the goroutines that are shown.
with_tasks='(.goroutines | map({ key: "\(.id)", value: true }) | from_entries) as $shown |
	.tasks |= map(select(any(.goroutines[]; $shown["\(.)"])))'

goroutines_by_function()
{
	local regex

	for regex in 'main' '^main\\..*func[12]$' 'short|recurse|forcegc'; do
		same groups "$(by_function groups "$regex")" goroutines --function "${regex//\\\\/\\}" &&
			same all "$(by_function goroutines "$regex") | $with_tasks" goroutines --all \
				--function "${regex//\\\\/\\}" || return 1
	done
}

top_goroutines()
{
	same groups '.groups |= .[:3]' goroutines --top 3 && same by_count '.groups |= .[:4]' goroutines --sort count --top 4 &&
		same all ".goroutines |= .[:20] | $with_tasks" goroutines --all --top 20 &&
		same all "$(by_function goroutines func1) | .goroutines |= .[:5] | $with_tasks" \
			goroutines --all --top 5 --function func1
}

one_goroutine()
{
	local id

	for id in $(jq '.goroutines[0, 3, 70].id' "$tmp/all.json"); do
		same all ".goroutines |= map(select(.id == $id)) | $with_tasks" goroutines --goroutine "$id" &&
			same latencies ".goroutines |= map(select(.id == $id))" latency --goroutine "$id" || return 1
	done
}

latency_by_function()
{
	local regex

	for regex in 'main' 'short|recurse|forcegc'; do
		same functions "$(by_function functions "$regex")" latency --function "$regex" &&
			same latencies "$(by_function functions "$regex") | $(by_function goroutines "$regex")" \
				latency --all --function "$regex" || return 1
	done
}

top_latencies()
{
	same functions '.functions |= .[:3]' latency --top 3 &&
		same latencies '.functions |= .[:7] | .goroutines |= .[:7]' latency --all --top 7
}

events_by_type()
{
	same events 'select(.event == "GoBlock")' events --type GoBlock &&
		same kernel 'select(.event | IN("GoStart", "waking", "sys_exit"))' events --kernel \
			--type GoStart,waking,sys_exit
}

events_by_reason()
{
	same events 'select(.reason == "chan receive")' events --reason 'chan receive' &&
		same kernel 'select(.reason == "chan receive" or .reason == "sleep" or .why == "sleeping")' \
			events --kernel --reason 'chan receive,sleep,sleeping'
}

events_by_thread()
{
	local thread

	thread=$(jq -rs 'map(.m | values) | group_by(.) | max_by(length)[0]' "$tmp/events.json") &&
		same events "select(.m == $thread)" events --thread "$thread" &&
		same kernel "select(.m == $thread)" events --kernel --thread "$thread"
}

events_by_goroutine()
{
	local id

	for id in 1 $(jq '.goroutines[0, 3].id' "$tmp/all.json"); do
		same events "select(.g == $id or .goroutine == $id)" events --goroutine "$id" &&
			same kernel "select(.g == $id or .goroutine == $id or .by.g == $id)" events --kernel \
				--goroutine "$id" || return 1
	done
}

# The functions are those of `gotrace goroutines`, also for events before the first stack of the
# goroutine.
events_by_function()
{
	local regex ids

	for regex in 'func1$' 'short|recurse|runtime[.]main'; do
		ids=$(jq -c "[.goroutines[] | select(.name | test(\"$regex\")) | { key: \"\\(.id)\", value: true }] |
			from_entries" "$tmp/all.json") || return 1
		same kernel "$ids as \$ids | select(\$ids[\"\\(.g)\"] or \$ids[\"\\(.goroutine)\"] or \$ids[\"\\(.by.g)\"])" \
			events --kernel --function "$regex" || return 1
	done
}

events_by_all()
{
	local from

	from=$(jq -s '.[length / 3 | floor].time' "$tmp/events.json") &&
		same events "select(.event == \"GoStart\" and .time >= $from)" events --type GoStart --from "@$from" &&
		same events 'select(.event == "GoBlock" and .reason == "select")' events --type GoBlock,GoStart \
			--reason select
}

# A pipe is read twice, too.
events_of_pipes()
{
	$READER events --function func1 "$trace" >"$tmp/want" && [ -s "$tmp/want" ] &&
		cat "$trace" | $READER events --function func1 >"$tmp/have" && cmp "$tmp/have" "$tmp/want" &&
		$READER events --function func1 - <"$trace" | cmp - "$tmp/want" &&
		$READER events --function func1 <(cat "$trace") | cmp - "$tmp/want"
}

# The events before an error are those of the unfiltered output.
events_of_broken_traces()
{
	head -c -5000 "$trace" >"$tmp/broken.trace" || return 1
	! $READER events --json "$tmp/broken.trace" >"$tmp/all.broken" 2>"$tmp/err" && grep -q 'invalid trace' "$tmp/err" &&
		! $READER events --json --function . "$tmp/broken.trace" >"$tmp/have" 2>"$tmp/err.filtered" &&
		cmp "$tmp/err" "$tmp/err.filtered" &&
		$READER events --lenient --json --function . "$tmp/broken.trace" | cmp - "$tmp/have"
}

# OPTION VALUE MESSAGE: no event matches; one line reports it
no_event()
{
	timeout 60 $READER events "$1" "$2" "$trace" >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/out" ] || return 1
	cat "$tmp/err"
	[ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q "$3" "$tmp/err"
}

no_events()
{
	no_event --thread 1 'no event matches the filters' && no_event --goroutine 99999999 'no event matches' &&
		no_event --function 'no such' 'no event matches' &&
		refused 2 "unknown event type 'GoBlok'; the most similar type is 'GoBlock'" $READER events --type GoBlok "$trace" &&
		refused 2 "unknown event type 'waitng'; the most similar type is 'waking'" $READER events --type waitng "$trace" &&
		refused 2 "unknown event type ''" $READER events --type GoBlock, "$trace" &&
		refused 2 'type waking requires --kernel' $READER events --type waking "$trace" &&
		no_event --reason 'chan receve' "no event has the reason 'chan receve'; the most similar reason is 'chan receive'"
}

# --- paths

# REGEX OPTION...: the path of each goroutine with such a start function, in $tmp/each.json
each_path()
{
	local regex=$1 id
	shift

	for id in $(jq ".goroutines[] | select(.name | test(\"$regex\")).id" "$tmp/all.json"); do
		$READER path --json --goroutine "$id" "$@" "$trace" 2>/dev/null
	done | jq -s . >"$tmp/each.json"
	jq -e 'length > 1' "$tmp/each.json"
}

worst_paths()
{
	local regex=$1 n=$2
	shift 2

	each_path "$regex" "$@" && $READER path --json --function "$regex" --worst "$n" "$@" "$trace" >"$tmp/worst.json" ||
		return 1
	jq -e --slurpfile each "$tmp/each.json" --argjson n "$n" '
		def ns: .to_ns - .from_ns;
		($each[0] | map({ key: "\(.goroutine)", value: . }) | from_entries) as $by_id |
		([$each[0][] | ns] | sort | reverse | .[:$n]) as $longest |
		(.paths | length) == $n and [.paths[] | ns] == $longest and
		(.paths | all(. == $by_id["\(.goroutine)"]))' "$tmp/worst.json"
}

# The summary of several paths, computed from their segments.
sums='
	def cause($own): {
		own: (.goroutine == $own), by_own: (.by_goroutine == $own), kind, cause, function, by_function, process,
		process_id, reason, syscall, interrupt, held_cpu, got_cpu_first,
		goroutine: (if .function then null else .goroutine end),
		by_goroutine: (if .by_function then null else .by_goroutine end),
		tid: (if .goroutine then null else .tid end),
		by_tid: (if .by_goroutine or .process_id then null else .by_tid end)
	};
	[.[] | .goroutine as $own | .segments[] | { cause: cause($own), ns: (.to_ns - .from_ns), $own }] |
	group_by(.cause) | map(.[0].cause + {
		ns: (map(.ns) | add), count: length, paths: (map(.own) | unique | length)
	}) | sort_by(tojson)'

summed_paths() # REGEX OPTION...
{
	local regex=$1
	shift

	each_path "$regex" "$@" && jq -S "$sums" "$tmp/each.json" >"$tmp/want" &&
		$READER path --json --summary --function "$regex" "$@" "$trace" >"$tmp/sums.json" &&
		jq -S '.summary | map(.) | sort_by(tojson)' <(jq -S . "$tmp/sums.json") >"$tmp/have" &&
		diff <(jq -Sc '.[]' "$tmp/have" | sort) <(jq -Sc '.[]' "$tmp/want" | sort) | head -n 6 >"$tmp/differs"
	cat "$tmp/differs"
	[ ! -s "$tmp/differs" ] && [ -s "$tmp/have" ] || return 1
	jq -e --slurpfile each "$tmp/each.json" '
		(.summary | map(.ns)) as $ns | $ns == ($ns | sort | reverse) and .ns == ($ns | add) and
		(.paths | map({ goroutine, from_ns, to_ns }) | sort) ==
			([$each[0][] | { goroutine, from_ns, to_ns }] | sort) and
		(.summary | length) > 3' "$tmp/sums.json" &&
		jq '.summary |= .[:3]' "$tmp/sums.json" | cmp - <($READER path --json --summary --top 3 \
			--function "$regex" "$@" "$trace" | jq .)
}

# One goroutine has the same summary as its path; --worst applies before.
sums_of_some()
{
	local id

	id=$(jq '[.goroutines[] | select(.name | test("func1"))][0].id' "$tmp/all.json")
	$READER path --json --goroutine "$id" "$trace" | jq -s . >"$tmp/each.json" &&
		jq -Sc "$sums | .[]" "$tmp/each.json" | sort >"$tmp/want" &&
		$READER path --json --summary --goroutine "$id" "$trace" | jq -Sc '.summary[]' | sort | cmp - "$tmp/want" &&
		[ -s "$tmp/want" ] || return 1
	$READER path --json --worst 3 --function func1 "$trace" | jq .paths >"$tmp/each.json" &&
		jq -Sc "$sums | .[]" "$tmp/each.json" | sort >"$tmp/want" &&
		$READER path --json --summary --worst 3 --function func1 "$trace" | jq -Sc '.summary[]' | sort |
		cmp - "$tmp/want"
}

# The text has the same figures, and one path unless --worst requests more.
text_of_paths()
{
	[ "$($READER path --function func1 "$trace" | grep -c '^causes:')" -eq 1 ] &&
		[ "$($READER path --function func1 --worst 4 "$trace" | grep -c '^causes:')" -eq 4 ] &&
		$READER path --function func1 --worst 4 --top 2 "$trace" | awk '/^causes:/ { n = 0 }
			/^ .*x  / { n++; if (n > 2) exit bad = 1 } END { exit bad || !NR }' &&
		[ "$($READER path --function func1 --summary --top 5 "$trace" | grep -c '^ .*x .*  ')" -eq 5 ] &&
		$READER path --function func1 --summary "$trace" | grep -q '(itself)' &&
		$READER path --function func1 --summary "$trace" | grep -q "^$(jq '[.goroutines[] |
			select(.name | test("func1"))] | length' "$tmp/all.json") goroutines, "
}

wrong_paths()
{
	refused 2 'missing option --goroutine ID or --function REGEX' $READER path --summary "$trace" &&
		refused 2 'worst requires --function' $READER path --goroutine 1 --worst 2 "$trace" &&
		refused 2 "invalid number '0' for --worst" $READER path --function x --worst 0 "$trace" &&
		refused 1 "no goroutine whose start function matches 'no such'" $READER path --function 'no such' "$trace" &&
		refused 1 "no goroutine whose start function matches 'func1' in the requested time" \
			$READER path --function func1 --from 1h "$trace"
}

# --- times

# A trace of a few generations, each of which relates the trace's clock to the time of day.
recorded_generations()
{
	record_target pingpong "$ORACLE_GO" "--events sched,kernel" -rate 100 -duration 2200ms && trace=$RECORDED &&
		all_of long events && [ "$(clocks | wc -l)" -ge 3 ] &&
		READ_START=$(jq -s '.[0].time' "$tmp/long.json")
}

clocks() # one line per sync: its time in the trace, and in seconds and nanoseconds of the day
{
	jq -r 'select(.clock) | .clock | "\(.time) \(.wall_sec) \(.wall_nsec)"' "$tmp/long.json"
}

# TIME OFFSET: of the trace, as a date, by the last sync before it; OFFSET from UTC in hours
date_of()
{
	local time sec nsec ns

	read -r time sec nsec < <(clocks | awk -v at="$1" '$1 <= at' | tail -n 1)
	ns=$((sec * 1000000000 + nsec + $1 - time + $2 * 3600000000000))
	printf '%s.%09d' "$(date -u -d "@$((ns / 1000000000))" +%Y-%m-%dT%H:%M:%S)" $((ns % 1000000000))
}

# Each form of a time selects the same events.
forms_of_times()
{
	local from to form since seconds n=0

	read -r from to < <(jq -s '.[length * 2 / 3 | floor].time, .[length * 4 / 5 | floor].time' "$tmp/long.json" | xargs)
	since=$((from - READ_START))
	seconds=$((since / 1000000000)).$(printf %09d $((since % 1000000000)))
	jq -c "select(.time >= $from and .time < $to)" "$tmp/long.json" >"$tmp/want"
	[ -s "$tmp/want" ] || return 1
	for form in "@$from" "$seconds" "+$seconds" "${seconds}s" "${since}ns" "+${since}ns" "@${from}ns" \
		"$(date_of "$from" 0)Z" "$(date_of "$from" 0)z" "$(date_of "$from" 5)+05:00" "$(date_of "$from" -3)-03:00" \
		"$(date_of "$from" 0 | tr T ' ') UTC"; do
		n=$((n + 1))
		$READER events --json --from "$form" --to "@$to" "$trace" | jq -c . >"$tmp/have" &&
			cmp "$tmp/have" "$tmp/want" &&
			$READER events --json --from "@$from" --to "$(date_of "$to" 0)Z" "$trace" | jq -c . |
			cmp - "$tmp/want" || { echo "--from '$form'"; return 1; }
	done
	[ $n -eq 12 ]
}

same_for_dates() # VERB OPTION...
{
	$READER "$@" --json "${dates[@]}" "$trace" | cmp - <($READER "$@" --json "${times[@]}" "$trace")
}

# The other commands treat a date as the time of the trace that it stands for; so does an index.
dates_of_commands()
{
	local from to dates times goroutine

	read -r from to < <(jq -s '.[length * 2 / 3 | floor].time, .[length * 4 / 5 | floor].time' "$tmp/long.json" | xargs)
	dates=(--from "$(date_of "$from" 0)Z" --to "$(date_of "$to" 0)Z") times=(--from "@$from" --to "@$to")
	goroutine=$($READER goroutines --all --json "$trace" | jq '.goroutines[0].id')
	for _ in 1 2; do
		same_for_dates goroutines --all && same_for_dates latency &&
			$READER path --json --goroutine "$goroutine" "${dates[@]}" "$trace" |
			cmp - <($READER path --json --goroutine "$goroutine" "${times[@]}" "$trace") &&
			same_for_dates waits --longest 5 && same_for_dates histogram --of sched &&
			same_for_dates tasks && same_for_dates regions && same_for_dates requests &&
			$READER cut "${dates[@]}" "$trace" -o "$tmp/dates.trace" &&
			$READER cut "${times[@]}" "$trace" -o "$tmp/times.trace" &&
			cmp "$tmp/dates.trace" "$tmp/times.trace" &&
			$READER events "${dates[@]}" "$trace" >"$tmp/have" && [ -s "$tmp/have" ] &&
			cmp "$tmp/have" <($READER events "${times[@]}" "$trace") &&
			cat "$trace" | $READER events "${dates[@]}" - | cmp - "$tmp/have" &&
			$READER index "$trace" >/dev/null || return 1
	done
}

# The clock is set by an hour between two generations.
adjusted_clock()
{
	local time sec nsec at

	read -r time sec nsec < <(clocks | sed -n 2p)
	$READER text "$trace" | awk '/^ClockSnapshot / && ++n > 1 { sub(/sec=.*/, "sec=" substr($4, 5) + 3600 " " $5) }
		{ print }' >"$tmp/adjusted.txt" && [ "$(grep -c "sec=$((sec + 3600)) " "$tmp/adjusted.txt")" -eq 1 ] &&
		$READER assemble "$tmp/adjusted.txt" -o "$tmp/adjusted.trace" || return 1
	at=$(date -u -d "@$((sec + 3600))" +%FT%T).$(printf %09d "$nsec")Z
	$READER events --json --from "$at" "$tmp/adjusted.trace" >"$tmp/have" && [ -s "$tmp/have" ] &&
		cmp "$tmp/have" <($READER events --json --from "@$time" "$tmp/adjusted.trace")
}

wrong_times()
{
	local text

	for text in 2026-02-30T00:00:00Z 2026-11-26T04:58:10 2026-11-26 2026-13-01T00:00:00Z; do
		refused 2 "invalid date '$text' for --from: expected a date" $READER events --from $text "$trace" || return 1
	done
	for text in ++1s +-1s 1s1 @ @-1 '@1.5' + 5parsecs; do
		refused 2 "invalid time '$text' for --to: expected seconds|invalid time .* for --to: expected seconds" \
			$READER latency --to "$text" "$trace" || return 1
	done
	refused 2 'from must be before --to' $READER events --from 2026-01-02T00:00:00Z --to 2026-01-02T00:30:00+01:00 "$trace" &&
		$READER convert --format-version 1.23 "$trace" -o "$tmp/clock.trace" &&
		LC_ALL=C sed 's|gotrace-bpf/1 |gotrace-bpf/0 |g' "$tmp/clock.trace" >"$tmp/no-clock.trace" &&
		$READER events --from 2026-01-02T00:00:00Z "$tmp/clock.trace" >"$tmp/out" && [ -s "$tmp/out" ] &&
		refused 1 'does not contain the time of day' $READER events --from 2026-01-02T00:00:00Z "$tmp/no-clock.trace" &&
		refused 1 'No such file' $READER events --from 2026-01-02T00:00:00Z "$tmp/nowhere" &&
		$READER events --from 2200-01-02T00:00:00Z "$trace" >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/out" ] &&
		grep -q 'no events in the requested time' "$tmp/err" &&
		$READER events --to 1980-01-02T00:00:00Z "$trace" >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/out" ] &&
		grep -q 'no events in the requested time' "$tmp/err"
}

# The table has a line per element of the list.
tables_are_cut()
{
	[ "$($READER goroutines --top 3 "$trace" | wc -l)" -eq 4 ] &&
		[ "$($READER goroutines --all --top 5 --function func1 "$trace" | grep -c func1)" -eq 5 ] &&
		[ "$($READER latency --all --top 5 --function func1 "$trace" | grep -c func1)" -eq 5 ]
}

none_matches()
{
	local verb

	for verb in goroutines latency; do
		refused 1 "no goroutine whose start function matches 'no such'" $READER $verb --function 'no such' "$trace" &&
			refused 1 "no goroutine 99999999" $READER $verb --goroutine 99999999 "$trace" &&
			refused 1 "no goroutine 1 whose start function matches 'no such'" \
				$READER $verb --goroutine 1 --function 'no such' "$trace" || return 1
	done
}

invalid_values()
{
	refused 2 'invalid regular expression .\(a. for --function: unmatched' $READER goroutines --function '(a' "$trace" &&
		refused 2 'back-references are not supported' $READER goroutines --function '(a)\1' "$trace" &&
		$READER goroutines --function '\\1|main' "$trace" >/dev/null &&
		refused 2 'longer than 256 bytes' $READER goroutines --function "$(printf '%0257d' 1)" "$trace" &&
		refused 2 "invalid number '0' for --top" $READER goroutines --top 0 "$trace" &&
		refused 2 "invalid goroutine ID 'x'" $READER latency --goroutine x "$trace" &&
		refused 2 'canonical cannot be combined' $READER goroutines --canonical --top 1 "$trace"
}

# --- goroutines within a window

# Times of goroutines in [$from, $to), from the transitions in `gotrace events`. One that blocks forever
# counts as ended, as in Go's summary.
windowed_times='def clip: [[., $from] | max, $to] | min;
	def leave($time): (($time | clip) - (.since | clip)) as $ns |
		if $ns == 0 then . else .times[.state] += $ns end;
	def record($time): { id, total: (($time | clip) - (.created | clip)), times };
	def state: if .to == "Waiting" then "blocked: \(.reason // "")" else .to end;
	def appear($time; $e): { id: $e.goroutine, created: $time, since: $time, state: ($e | state), times: {} };
	reduce inputs as $e ({ live: {}, done: [] };
		.last = $e.time | "\($e.goroutine)" as $id |
		if $e.event == "Sync" then .sync = $e.time
		elif $e.kind != "StateTransition" or $e.goroutine == null or $e.from == $e.to then .
		elif $e.from == "NotExist" then .live[$id] = appear($e.time; $e)
		elif $e.from == "Undetermined" then .live[$id] = appear(.sync; $e)
		elif .live[$id] == null then .
		elif $e.to == "NotExist" or $e.reason == "forever" then .done += [.live[$id] | leave($e.time) | record($e.time)] | del(.live[$id])
		else .live[$id] |= (leave($e.time) | .since = $e.time | .state = ($e | state)) end) |
	.last as $last | .done + [.live[] | leave($last) | record($last)] |
	map(select(.total > 0)) | sort_by(.id)'

# The same of the figures of `gotrace goroutines --all`
reported_times='[.goroutines[] | { id, total, times: ([{ key: "Running", value: .exec }, { key: "Runnable", value: .sched_wait },
	{ key: "Syscall", value: (.syscall + .syscall_block) }, (.block[] | { key: "blocked: \(.name)", value: .time })] |
	map(select(.value != 0)) | from_entries) }] | sort_by(.id)'

# FROM TO: what the transitions of events say, and what `gotrace goroutines` does
times_in_window()
{
	$READER goroutines --all --json --from "@$1" --to "@$2" "$trace" >"$tmp/window.json" &&
		jq -n --argjson from "$1" --argjson to "$2" "$windowed_times" "$tmp/events.json" | jq -S . >"$tmp/want" &&
		jq -S "$reported_times" "$tmp/window.json" >"$tmp/have" && same_text "$tmp/have" "$tmp/want" &&
		jq -e --argjson from "$1" --argjson to "$2" '.start == $from and .end <= $to and
			.count == (.goroutines | length) and .count > 3' "$tmp/window.json"
}

# What was created, started and ended when, in whole seconds or not, is that of the whole trace.
moments='[.goroutines[] | { id, name, created, started, ended, regions: [.regions[] | { task, name, start, "end": .end }] }]'

# Each time that `goroutines --all` reports, of goroutines and their regions
all_times='def times: to_entries[] | select(.key | IN("exec", "sched_wait", "syscall", "syscall_block", "total", "gc_work")) |
		{ key, value };
	def lists: (.block[] | { key: "block \(.name)", value: .time }), (.ranges[] | { key: "range \(.name)", value: .time });
	[.goroutines[] | .id as $id | ((times, lists) | .key |= "\($id) \(.)"),
		(.regions[] | "\($id) region \(.name) \(.start) \(.end) " as $region | (times, lists) | .key |= $region + .)]'

# Windows that follow each other have the times of the whole trace together.
windows_add_up() # FROM TO
{
	local part

	$READER goroutines --all --json --to "@$1" "$trace" >"$tmp/w1.json" &&
		$READER goroutines --all --json --from "@$2" "$trace" >"$tmp/w3.json" &&
		cp "$tmp/window.json" "$tmp/w2.json" || return 1
	for part in w1 w2 w3; do
		jq -c "$all_times" "$tmp/$part.json" || return 1
	done | jq -s 'add | group_by(.key) | map({ key: .[0].key, value: (map(.value) | add) } | select(.value != 0))' >"$tmp/have" &&
		jq "$all_times | map(select(.value != 0)) | sort_by(.key)" "$tmp/all.json" >"$tmp/want" &&
		same_text "$tmp/have" "$tmp/want" && jq -e 'map(.key | test("region")) | any' "$tmp/want" || return 1
	jq "$moments" "$tmp/window.json" >"$tmp/have" &&
		jq --argjson from "$1" --argjson to "$2" --slurpfile window "$tmp/window.json" '
			([$window[0].goroutines[] | { key: "\(.id)", value: true }] | from_entries) as $shown |
			.goroutines |= map(select($shown["\(.id)"]) | .regions |= map(select(
				(.start == null or .start < $to) and (.end == null or .end >= $from)))) |
			.goroutines |= sort_by(.id) | '"$moments" "$tmp/all.json" >"$tmp/want" &&
		jq 'sort_by(.id)' "$tmp/have" >"$tmp/have.json" && same_text "$tmp/have.json" "$tmp/want"
}

goroutines_in_windows()
{
	local part from to

	for part in '1/100 1/50' '1/3 4/5'; do
		read -r from to < <(jq -s --argjson a "$(awk "BEGIN { print ${part% *} }")" --argjson b "$(awk "BEGIN { print ${part#* } }")" \
			'.[length * $a | floor].time + 1, .[length * $b | floor].time + 1' "$tmp/events.json" | xargs)
		times_in_window "$from" "$to" && windows_add_up "$from" "$to" || return 1
	done
	$READER goroutines --from "@$from" --to "@$to" --json "$trace" >"$tmp/groups.window" &&
		jq '[.goroutines[] | { name, exec, total }] | group_by(.name) |
			map({ name: .[0].name, count: length, exec: (map(.exec) | add), total: (map(.total) | add) })' \
			"$tmp/window.json" >"$tmp/want" &&
		jq '[.groups[] | { name, count, exec, total }] | sort_by(.name)' "$tmp/groups.window" >"$tmp/have" &&
		same_text "$tmp/have" "$tmp/want"
}

# No goroutine, or options that have no meaning within a window
windows_without_goroutines()
{
	refused 1 'no events in the requested time' $READER goroutines --from 1h "$trace" &&
		refused 1 'there is no goroutine in the requested time' $READER goroutines --to @1 "$trace" &&
		refused 2 'cannot be combined with --compare-extremes' $READER goroutines --from 0.1 --canonical "$trace" &&
		refused 2 'cannot be combined with --compare-extremes' $READER goroutines --to 1 --compare-extremes main.main "$trace" &&
		refused 1 "no goroutine whose start function matches 'no such' in the requested time" \
			$READER goroutines --from 0.01 --function 'no such' "$trace"
}

# The longest waits that a filter accepts are those of all waits. Their causes are left out: for all
# waits of a trace they would take too many steps.
waits_by_goroutine()
{
	local id least rare bare='map(del(.causes, .other_causes_ns, .holders))'

	timeout 120 $READER waits --longest 10000 --json "$trace" >"$tmp/waits.json" || return 1
	# shorter ones may be missing in it: 10000 are the most that can be requested
	least=$(jq '.waits | if length < 10000 then -1 else (map(.to_ns - .from_ns) | min) end' "$tmp/waits.json")
	id=$(jq '[.waits[].goroutine] | group_by(.) | max_by(length)[0]' "$tmp/waits.json")
	# which functions have long waits depends on the machine's other work
	rare=$(jq -r --argjson least "$least" '[.waits[] | select(.to_ns - .from_ns > $least).function] |
		group_by(.) | map(select(length > 1)) | min_by(length)[0]' "$tmp/waits.json")
	rare="^${rare//[.()*]/.}\$|timer"
	same_waits "[.waits[] | select(.goroutine == $id)][:7] | $bare" --goroutine "$id" --longest 7 &&
		same_waits "[.waits[] | select(.function | test(\"$rare\"))][:7] | $bare" --function "$rare" --longest 7 &&
		same_waits "[.waits[] | select(.kind == \"sched\" and (.function | test(\"main\")))][:7] | $bare" \
			--function main --kind sched --longest 7
}

same_waits() # JQ OPTION...
{
	local program=$1
	shift

	jq --argjson least "$least" "$program | map(select(.to_ns - .from_ns > \$least))" "$tmp/waits.json" >"$tmp/want" &&
		[ "$(jq length "$tmp/want")" -gt 1 ] && $READER waits "$@" --json "$trace" |
		jq --argjson least "$least" '.waits | map(del(.causes, .other_causes_ns, .holders) | select(.to_ns - .from_ns > $least))' >"$tmp/have" &&
		same_text "$tmp/have" "$tmp/want"
}

# The intervals of a function are those of its goroutines together; some have none.
histograms()
{
	local kind id function ids

	function=$(jq -r '[.goroutines[] | select(.name | startswith("main."))] | group_by(.name) |
		map(select(length > 1 and length < 200)) | max_by(map(.total - .exec) | add)[0].name' "$tmp/all.json")
	ids=$(jq --arg function "$function" '.goroutines[] | select(.name == $function).id' "$tmp/all.json")
	[ "$(wc -l <<<"$ids")" -gt 1 ] || { echo "$function has one goroutine"; return 1; }
	for kind in sched block syscall runqueue; do
		for id in $ids; do
			$READER histogram --of $kind --goroutine "$id" --json "$trace" || return 1
		done >"$tmp/each.json"
		$READER histogram --of $kind --function "^${function//[.()*]/.}\$" --json "$trace" |
			jq '[.count, .sum_ns, .not_counted]' >"$tmp/have" &&
			jq -s '[(map(.count) | add), (map(.sum_ns) | add), (map(.not_counted) | add)]' "$tmp/each.json" |
			diff - "$tmp/have" || return 1
		jq -c . "$tmp/have"
	done >"$tmp/sums"
	cat "$tmp/sums"
	[ "$(jq -s '[.[] | select(.[0] > 0)] | length' "$tmp/sums")" -ge 2 ] &&
		refused 2 'cannot be combined with --of gc, which' $READER histogram --of gc --goroutine 1 "$trace" &&
		refused 2 'cannot be combined with --of stw' $READER histogram --of stw --function main "$trace"
}

# Each reason of the trace has a histogram of its name, with the events that have it.
histogram_names()
{
	$READER histogram --of block --json "$trace" | jq -e '.name == null' && $READER events --json "$trace" |
		jq -c -n 'reduce (inputs | select(.to == "Waiting" and .reason and (.event | endswith("Status") | not))) as $e ({}; .[$e.reason] += 1) |
			to_entries[] | [.key, .value]' | sort >"$tmp/want"
	[ "$(wc -l <"$tmp/want")" -ge 3 ] || { cat "$tmp/want"; return 1; }
	jq -r '.[0]' "$tmp/want" | while read -r reason; do
		$READER histogram --of "block:$reason" --json "$trace" | jq -c '[.name, .count + .unfinished + .not_counted]'
	done >"$tmp/have"
	same_text "$tmp/have" "$tmp/want"
}

# A filter that has no meaning for a command is an unknown option.
not_everywhere()
{
	refused 2 "unrecognized option '--top'" $READER stat --top 1 "$trace" &&
		refused 2 "unrecognized option '--function'" $READER cut --function main "$trace" -o "$tmp/x" &&
		refused 2 "unrecognized option '--goroutine'" $READER check --goroutine 1 "$trace"
}

ktap_start
if try "the reader builds" build_reader && try "a program is recorded" recorded; then
	try "unfiltered: goroutines" all_of groups goroutines
	try "unfiltered: goroutines by count" all_of by_count goroutines --sort count
	try "unfiltered: each goroutine" all_of all goroutines --all
	try "unfiltered: latency" all_of functions latency
	try "unfiltered: latency of each goroutine" all_of latencies latency --all
	try "goroutines --function" goroutines_by_function
	try "goroutines --top" top_goroutines
	try "--goroutine" one_goroutine
	try "latency --function" latency_by_function
	try "latency --top" top_latencies
	try "unfiltered: events" all_of events events
	try "unfiltered: events and kernel events" all_of kernel events --kernel
	try "events --type" events_by_type
	try "events --reason" events_by_reason
	try "events --thread" events_by_thread
	try "events --goroutine" events_by_goroutine
	try "events --function" events_by_function
	try "events: several filters" events_by_all
	try "events of a pipe" events_of_pipes
	try "events of a truncated trace" events_of_broken_traces
	try "no event matches" no_events
	try "goroutines --from, --to" goroutines_in_windows
	try "goroutines --from, --to: none" windows_without_goroutines
	try "--top of tables" tables_are_cut
	try "no goroutine matches" none_matches
	try "path --function --worst" worst_paths 'recurse|timerLoop' 3
	try "path --function --worst, a part of the time" worst_paths 'recurse|runtime' 5 --from 0.05 --to 0.2
	try "path --summary" summed_paths 'recurse$'
	try "path --summary of several functions" summed_paths 'recurse|runtime[.]|exits'
	try "path --summary, a part of the time" summed_paths 'recurse|runtime' --from 0.05 --to 0.2
	try "path --summary of some goroutines" sums_of_some
	try "paths as text" text_of_paths
	try "waits --goroutine, --function" waits_by_goroutine
	try "path: wrong options" wrong_paths
	try "invalid values" invalid_values
	try "histogram --goroutine, --function" histograms
	try "histogram: the reasons" histogram_names
	try "commands that do not have a filter" not_everywhere
	try "a trace of several generations is recorded" recorded_generations
	try "forms of times" forms_of_times
	try "dates in each command" dates_of_commands
	try "a clock that was adjusted" adjusted_clock
	try "invalid times" wrong_times
fi
ktap_end
