#!/bin/bash
# Recording with a limited overhead (--max-overhead) while the load rises and falls: event sets are left
# out, then the probes are removed, and all are recorded again. Each change is reported and in the trace,
# which is valid; in any 10 s the budget is kept; what is recorded is complete.
# timeout: 900
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh

valid() { check_trace "$1" && build/reference/validate -strict "$1"; }
change_of() { build/gotrace stat --json "$1" | jq '.private.recorded // []'; } # FILE

# OPTION...: `record` with these rejects them by the usage error in $pattern
refuses()
{
	refused 2 "$pattern" $GOTRACE record -p $$ -o "$tmp/refused" "$@" && [ ! -e "$tmp/refused" ]
}

usage()
{
	local value pattern
	pattern='invalid overhead .*: expected a percentage'
	for value in 3 % 0% 0.01% -1% nan% inf% 3%% 3%cpu 100000% '3 %' ''; do
		refuses "--max-overhead=$value" || { echo "$value"; return 1; }
	done
	pattern='cannot be combined with --sample'
	refuses --max-overhead 3% --sample 1s/10s || return 1
	pattern='cannot be combined with --blackbox'
	refused 2 "$pattern" $GOTRACE record -p $$ --max-overhead 3% --blackbox x || return 1
	pattern='cannot be combined with --probes=inline'
	refuses --max-overhead 3% --probes inline
}

# NAME "OPTIONS" STEPS: records ramp
recorded()
{
	record_target ramp "$ORACLE_GO" "--save-input $tmp/$1.raw $2" -steps "$3" || return 1
	for end in trace json done; do mv "$tmp/ramp.$end" "$tmp/$1.$end" || return 1; done
	cp "$tmp/background.out" "$tmp/$1.out"
	change_of "$tmp/$1.trace" >"$tmp/$1.changes"
	[ "$(stat_of lost "$tmp/$1.json")" = 0 ] && valid "$tmp/$1.trace"
}

# NAME: messages, the trace and the statistics have the same number of changes, and of pauses
counted()
{
	local changes pauses
	changes=$(jq length "$tmp/$1.changes") pauses=$(jq '[.[] | select(.sets == "")] | length' "$tmp/$1.changes")
	echo "changes: $changes, pauses: $pauses; $(cat "$tmp/$1.out")"
	[ "$changes" = "$(stat_of overhead_changes "$tmp/$1.json")" ] &&
		[ "$pauses" = "$(stat_of overhead_pauses "$tmp/$1.json")" ] &&
		[ "$changes" = "$(grep -c 'leaving out event set\|again with event set\|pausing it\|recording continues' "$tmp/$1.out")" ] &&
		[ "$pauses" = "$(grep -c 'pausing it' "$tmp/$1.out")" ]
}

pauses_of() { jq -c '[., .[1:]] | transpose | map(select(.[0].sets == "" and .[1])) | map([.[0].time, .[1].time])' "$tmp/$1.changes"; }

# NAME: the length of all pauses is that between their records in the trace, the last one up to its end. A busy machine
# may suspend the recorder between the end of a pause and its record.
paused()
{
	local end

	end=$(build/gotrace stat --json "$tmp/$1.trace" | jq '.start + .duration') &&
		jq --argjson until "$end" '[., .[1:] + [{time: $until}]] | transpose | map(select(.[0].sets == "") | .[1].time - .[0].time) | add // 0' \
			"$tmp/$1.changes" >"$tmp/paused" || return 1
	jq -e --argjson ns "$(cat "$tmp/paused")" --argjson late "$(stretched 20ms | tr -d ms)" '[.overhead_paused_ms, $ns / 1e6] | debug |
		.[0] <= .[1] + 0.1 and .[0] >= .[1] - $late' "$tmp/$1.json"
}

# NAME: of events of set sched alone the model has a hit and its stack, and the recorder prints what a hit takes here.
cost()
{
	local hit

	hit=$(sed -n 's/.*overhead: a hit takes \([0-9]*\) ns in the program.*/\1/p' "$tmp/$1.out") &&
		jq -e --argjson hit "$hit" '[.overhead_ns, .probe_hits * $hit * (1 + (130 + 120) / 400)] | debug |
			.[0] > 1e6 and .[0] > .[1] * 0.97 and .[0] < .[1] * 1.03' "$tmp/$1.json"
}

# NAME: the trace states that nothing is known of each pause, and has no event of goroutines in it. A generation
# that begins in a pause states what was so before: that is none.
nothing_in_pauses()
{
	build/gotrace stat --json "$tmp/$1.trace" | jq -c .private.gaps >"$tmp/gaps"
	pauses_of "$1" >"$tmp/pauses"
	jq -e -n --slurpfile gaps "$tmp/gaps" --slurpfile pauses "$tmp/pauses" \
		'$pauses[0] | length > 0 and all(. as $p | any($gaps[0][]; .from <= $p[0] and .to >= $p[1]))' || return 1
	jq -e -n --slurpfile pauses "$tmp/pauses" 'reduce inputs as $e (0;
		if ($e.event | test("^Sync$|Status$") | not) and any($pauses[0][]; $e.time > .[0] and $e.time < .[1]) then . + 1 else . end) == 0' "$tmp/$1.events"
}

# NAME: the number of meetings in each batch of the target that lies outside of pauses, and at least half a
# second after each, is exact. There is such a batch before, and after.
complete()
{
	local settled=$(($(stretched 500ms | tr -d ms) * 1000000))
	pauses_of "$1" >"$tmp/pauses"
	jq -n --slurpfile pauses "$tmp/pauses" --slurpfile done "$tmp/$1.done" --argjson settled $settled '
		$done[0].batches[] | . as [$from, $to] |
		select(all($pauses[0][]; $to < .[0] or $from > .[1] + $settled)) | "\($from) \($to)"' -r >"$tmp/batches"
	jq -r 'select(.event == "GoUnblock" and .frame.func == "runtime.chansend1" or
		.event == "GoUnblock" and .frame.func == "runtime.chanrecv1" or
		.event == "GoUnblock" and .frame.func == "runtime.chanrecv2") | .time' "$tmp/$1.events" >"$tmp/meetings"
	[ "$(wc -l <"$tmp/batches")" -ge 10 ] || return 1
	awk -v last="$(jq '.[-1].time' "$tmp/$1.changes")" '
		BEGIN { n = i = 0 }
		NR == FNR { from[n] = $1; to[n++] = $2; next }
		{
			while (i < n && to[i] < $1) i++
			if (i < n && $1 > from[i]) has[i]++
		}
		END {
			for (i = 0; i < n; i++)
				if (has[i] != 200) { print "batch at " from[i] ": " has[i]; wrong++ }
			for (i = 0; i < n; i++)
				after += from[i] > last
			print n " batches, " after " after the last change, " wrong + 0 " wrong"
			exit wrong > 0 || !after
		}' "$tmp/batches" "$tmp/meetings"
}

# NAME SHARE: counted in the trace, the hits of any 10 s times the recorder's cost of one are at most 1.2 times the
# budget, and somewhere at least half of it.
kept()
{
	local cost
	jq -r 'select(.event == "GoUnblock" or .event == "GoStart") | .time' "$tmp/$1.events" >"$tmp/hits"
	cost=$(jq -n --argjson ns "$(stat_of overhead_ns "$tmp/$1.json")" --argjson n "$(wc -l <"$tmp/hits")" '$ns / $n')
	awk -v cost="$cost" -v share="$2" '
		{
			at[NR] = $1
			while (at[NR] - at[first + 1] > 10e9) first++
			n = NR - first
			most = n > most ? n : most
		}
		END {
			used = most * cost / 10e9
			print NR " hits, " cost " ns each, most in 10 s: " most ", " used " of a CPU"
			exit !(used <= 1.2 * share && used >= 0.5 * share)
		}' "$tmp/hits"
}

events_of() { build/gotrace events --json "$tmp/$1.trace" >"$tmp/$1.events"; }
replays() { $GOTRACE replay "$tmp/$1.raw" -o "$tmp/$1.again" && cmp "$tmp/$1.again" "$tmp/$1.trace"; }

# NAME: kernel events were left out before the first pause, and all sets are recorded in the end
in_order()
{
	jq -c 'map(.sets)' "$tmp/$1.changes"
	jq -e 'map(.sets) | (.[0] | test("kernel") | not) and (.[0] | test("sched,syscall,gc.*user")) and any(. == "") and
		(.[-1] | test("sched,syscall,gc,.*user,kernel"))' "$tmp/$1.changes"
}

rises() { recorded rises "--max-overhead=2%" 300:2s,10000:6s,300:30s && events_of rises; }
ample() { recorded ample "-v --events=sched --max-overhead=6400%" 3000:2s && [ "$(jq length "$tmp/ample.changes")" = 0 ] && replays ample; }

# It ends in a pause.
ends() { recorded ends "--max-overhead=0.2%" 10000:4s && counted ends && jq -e '.[-1].sets == ""' "$tmp/ends.changes"; }

# The program uses little CPU time: a share of that is less than one of a CPU.
of_target()
{
	recorded target "--max-overhead=5%target" 3000:5s && replays target && counted target &&
		[ "$(jq length "$tmp/target.changes")" -gt 0 ] &&
		jq -e 'all(.budget_ppm < 50000)' "$tmp/target.changes"
}

flight()
{
	DIR=$tmp/flight
	start_target ramp "$ORACLE_GO" -steps 10000:6s || return 1
	start_background $GOTRACE flight -p "$TARGET_PID" -o "$DIR" --max-overhead 1%
	recorder_is_live && tell_target start && expect_target done 120 && $GOTRACE snapshot -p "$TARGET_PID" &&
		wait_until 20 snapshots_are 1 && stop_target && landed && each_is_valid &&
		grep 'pausing it' "$tmp/background.out" && build/gotrace stat "$(traces | head -n 1)" | grep '^recorded'
}

rising()
{
	try "a load that rises and falls is recorded, and the trace is valid" rises
	note "$(grep overhead "$tmp/rises.json")"
	try "each change is reported, and in the trace" counted rises
	try "event sets are left out in order, and recorded again" in_order rises
	try "the length of the pauses" paused rises
	note "$(grep DEBUG "$tmp/try.out")"
	try "a pause has no events, and is marked" nothing_in_pauses rises
	try "what is recorded is complete" complete rises
	note "$(tail -n 1 "$tmp/try.out")"
	try "in any 10 s the budget is kept" kept rises 0.02
	note "$(tail -n 1 "$tmp/try.out")"
	try "a replay of the input gives the same trace" replays rises
}

ktap_start
try "invalid values and combinations are rejected" usage
in_all rising # 40 s
try "with an ample budget nothing changes" ample
try "the cost is that of the model" cost ample
note "$(grep DEBUG "$tmp/try.out")"
try "a share of the program's CPU time" of_target
try "a recording that ends in a pause" ends
try "the length of its pauses" paused ends
note "$(grep DEBUG "$tmp/try.out")"
try "the flight recorder" flight
ktap_end
