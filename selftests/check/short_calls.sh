#!/bin/bash
# Recording without short system calls (--min-duration syscall:TIME): the trace is that of the same input
# with all calls, minus the short ones, and states what was left out; also in files of --rotate and in
# snapshots of the flight recorder, at whose boundaries calls are in progress. Other kinds are rejected.
# tier: all
# parallel
# timeout: 600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh

kernel_events() { build/gotrace events --kernel --json "$1"; }
short_of() { jq "[.private.short_calls.$1 // empty] | add" "$2"; } # MEMBER FILE: of `gotrace stat --json`

valid() { build/gotrace check "$@" && build/reference/validate -strict "$@"; }

# NAME MINIMUM: replays $tmp/NAME.raw as $tmp/NAME.all and without short calls as $tmp/NAME.short
replayed()
{
	local raw=$tmp/$1.raw all=$tmp/$1.all short=$tmp/$1.short
	[ -e "$all" ] || { $GOTRACE replay "$raw" -o "$all" && kernel_events "$all" >"$all.json"; } || return 1
	rm -f "$short"
	$GOTRACE replay "$raw" --min-duration "syscall:$2" -o "$short" && valid "$short" &&
		kernel_events "$short" >"$short.json" && build/gotrace stat --json "$short" >"$short.stat"
}

# NAME MINIMUM: the second way to compute what remains
minus_short_ones()
{
	build/reference/shortcalls -min "$2" "$tmp/$1.all" "$tmp/$1.short" "$tmp/$1.all.json" "$tmp/$1.short.json" \
		"$tmp/$1.short.stat"
}

replays() { replayed "$1" "$2" && minus_short_ones "$1" "$2"; }
fails() { ! "$@" >"$tmp/fails" 2>&1; }
wrong_minimum() { replayed reads 1ms && minus_short_ones reads 1ms && fails minus_short_ones reads 5us && fails minus_short_ones reads 20ms; }

# Most of the trace is calls of 1 us.
much_smaller() { [ $((3 * $(stat -c %s "$tmp/reads.short"))) -lt "$(stat -c %s "$tmp/reads.all")" ]; }

# FILE...: the calls that the program has made are in these traces, or stated to have been left out
accounted()
{
	local file begins naps=0 n=0 left=0
	for file in "$@"; do
		build/reference/events "$file" | grep 'Running->Syscall' >"$tmp/begins"
		begins=$(wc -l <"$tmp/begins")
		naps=$((naps + $(grep -c '"main.nap"' "$tmp/begins")))
		build/gotrace stat --json "$file" >"$tmp/stat" || return 1
		n=$((n + begins + $(short_of calls "$tmp/stat"))) left=$((left + begins))
	done
	echo "calls: $n, in the trace: $left, naps: $naps; $(cat "$tmp/done")"
	jq -e --argjson n $n --argjson naps $naps --argjson left $left \
		'.naps <= $naps and $naps <= .naps + .interrupted and .reads + .naps <= $n and $left < .reads / 10' "$tmp/done"
}

# A live recording gives the trace that a replay of its input with the same option gives.
live()
{
	record_target reads "$ORACLE_GO" "--min-duration=syscall:1ms --save-input $tmp/live.raw" -rate 20000 -reads 20000 &&
		[ "$(stat_of lost "$tmp/reads.json")" = 0 ] && cp "$tmp/reads.done" "$tmp/done" && valid "$RECORDED" &&
		$GOTRACE replay "$tmp/live.raw" --min-duration syscall:1ms -o "$tmp/live.replay" &&
		cmp "$RECORDED" "$tmp/live.replay" && accounted "$RECORDED"
}

# stat shows what was left out; what sums system calls reports that short ones are missing.
stated()
{
	local command calls
	build/gotrace stat --json "$RECORDED" >"$tmp/stat" && calls=$(short_of calls "$tmp/stat") && [ "$calls" -gt 1000 ] &&
		build/gotrace stat "$RECORDED" | grep -q "^short calls  left out below 1.000ms: $calls system calls, " || return 1
	for command in 'latency' 'goroutines' 'histogram --of syscall' 'waits' 'profile syscall' 'path --function main.main'; do
		# shellcheck disable=SC2086 # words
		build/gotrace $command "$RECORDED" 2>&1 >"$tmp/out" | grep -q 'system calls below 1 ms are not in the trace' ||
			{ echo "$command does not report it"; return 1; }
		# shellcheck disable=SC2086 # words
		build/gotrace $command "$tmp/reads.all" 2>&1 >"$tmp/out" | grep -q 'system calls below' && return 1
	done
	[ "$(build/gotrace stat "$tmp/reads.all" | grep -c 'short calls')" = 0 ]
}

# VERB OPTION...: a recorder of reads into files of $DIR; $meanwhile runs while the program works
into_files()
{
	local verb=$1
	shift
	DIR=$tmp/$verb
	start_target reads "$ORACLE_GO" -rate 20000 -reads 80000 -naps 200 || return 1
	start_background $GOTRACE "$verb" -p "$TARGET_PID" -o "$DIR" --min-duration syscall:1ms "$@"
	recorder_is_live && tell_target start && ${meanwhile-true} && expect_target done 60 &&
		target_result >"$tmp/done" && stop_target && landed && mapfile -t files < <(traces) &&
		valid "${files[@]}"
}

rotated() { into_files record --rotate 1s && [ ${#files[@]} -ge 3 ] && accounted "${files[@]}"; }

take_snapshots()
{
	pause 1000
	$GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 snapshots_are 1 && pause 500 &&
		$GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 snapshots_are 2
}

# The last one contains everything, and boundaries of generations where the others were taken.
in_flight() { meanwhile=take_snapshots into_files flight --window 5m && [ ${#files[@]} -eq 3 ] && accounted "${files[2]}"; }

refuses() # PATTERN OPTION...
{
	local pattern=$1
	shift
	refused 2 "$pattern" $GOTRACE record -p $$ -o "$tmp/refused.trace" "$@" && [ ! -e "$tmp/refused.trace" ]
}

flight_refuses() # PATTERN OPTION...
{
	local pattern=$1
	shift
	refused 2 "$pattern" $GOTRACE flight -p $$ -o "$tmp/refused" --min-duration syscall:1ms "$@" && [ ! -e "$tmp/refused" ]
}

flight_refusals()
{
	flight_refuses "requires the event set syscall or kernel" --events sched &&
		flight_refuses "cannot be combined with --blackbox" --blackbox x &&
		flight_refuses "trigger syscall:500us is shorter than --min-duration" --trigger syscall:500us
}

refusals()
{
	refuses 'kind blocked cannot be left out: the P runs other goroutines' --min-duration blocked:1ms &&
		refuses 'kind runnable cannot be left out: the P runs' --min-duration runnable:1ms &&
		refuses 'kind offcpu cannot be left out: .* count as time on a CPU' --min-duration offcpu:1ms &&
		refuses 'kind runqueue cannot be left out' --min-duration runqueue:1ms &&
		refuses 'kind stw cannot be left out' --min-duration stw:1ms &&
		refuses "unknown kind, expected syscall:TIME" --min-duration syscalls:1ms &&
		refuses "invalid minimum duration 'syscall': expected a time" --min-duration syscall &&
		refuses "invalid minimum duration 'syscall:0': expected" --min-duration syscall:0 &&
		refuses "invalid minimum duration 'syscall:2s': expected a time of at most 1s" --min-duration syscall:2s &&
		refuses "requires the event set syscall or kernel" --min-duration syscall:1ms --events sched &&
		refuses "cannot be combined with --blackbox" --min-duration syscall:1ms --blackbox x
}

ktap_start
if try "reads: records the input" record_target reads "$ORACLE_GO" "--save-input $tmp/reads.raw" -rate 40000 -reads 40000; then
	for minimum in 5us 1ms 300ms; do
		try "reads: only calls below $minimum are left out" replays reads $minimum
	done
	try "reads: the oracle notices another minimum" wrong_minimum
	try "reads: the trace is less than a third" much_smaller
fi
if try "pair: records the input" record_target pair "$ORACLE_GO" "--save-input $tmp/pair.raw" -requests 3000; then
	try "pair: only calls below 1ms are left out" replays pair 1ms
fi
for go in $TARGET_GOS; do
	[ "$go" = "$ORACLE_GO" ] || [[ $go == go1.24.* ]] || continue
	if try "cgo, $go: records the input" record_target cgo "$go" "--save-input $tmp/cgo-$go.raw"; then
		try "cgo, $go: only calls below 20us are left out" replays "cgo-$go" 20us
		try "cgo, $go: only calls below 1ms are left out" replays "cgo-$go" 1ms
	fi
done
try "a live recording" live && note "$(grep '^calls: ' "$tmp/try.out")"
try "what was left out is stated" stated
try "record --rotate" rotated && note "$(grep '^calls: ' "$tmp/try.out")"
try "flight" in_flight && note "$(grep '^calls: ' "$tmp/try.out")"
try "other kinds, and invalid values" refusals
try "flight: what does not fit" flight_refusals
ktap_end
