#!/bin/bash
# The flight recorder (gotrace-bpf flight): its window is bounded, a snapshot of it is a valid trace that
# states its cause and contains what happened before and after it, and everything if the window is long.
# parallel
# timeout: 600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh

# NAME "OPTIONS" [ARGUMENT...]: starts pingpong, and a flight recorder of it into $tmp/NAME
in_flight()
{
	local name=$1 options=$2
	shift 2
	DIR=$tmp/$name
	start_target "${program-pingpong}" "$ORACLE_GO" "$@" && start_background $GOTRACE flight -p "$TARGET_PID" -o "$DIR" $options &&
		recorder_is_live
}

window=$(by_tier 1 2 2) # seconds

# Two snapshots by request, and one at the end.
snapshots()
{
	in_flight short "--window ${window}s" -duration $(by_tier "5s -rate 500" "9s -rate 5000" "9s -rate 5000") && tell_target start && pause $((2500 * window)) &&
		$GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 snapshots_are 1 &&
		$GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 snapshots_are 2 &&
		expect_target done && stop_target && landed && snapshots_are 3 && nothing_left
}

# The window is at most a generation longer than --window, and the tail is complete.
windows_are_bounded()
{
	local name bytes events start from to cause kind='signal' n=0
	while IFS=$'\t' read -r name bytes events start from to; do
		n=$((n + 1))
		[ $n -lt 3 ] || kind='exit'
		cause=$(cause_time_of "$DIR/$name")
		echo "$name: $from to $to, cause $cause"
		[[ $name == *Z-$kind.trace ]] && [ $((to - from)) -le $((window * 1000000000 + 1000000000 * 3 / 2)) ] &&
			[ "$cause" -gt "$from" ] && [ "$cause" -le $((to + 100000000)) ] &&
			[ "$(start_of "$DIR/$name")" = "$from" ] || return 1
		# `to` is the time of the last event; the program has some every 2 ms, if it may run
		[ $kind = exit ] || [ $((to - cause)) -ge $((500000000 - 20000000 * stretch)) ] || return 1
		[ $kind = exit ] || [ "$(cause_of "$DIR/$name")" = "the user's request" ] || return 1
	done < <(index)
	[ $n -eq 3 ] && [ "$(cause_of "$(traces | tail -n 1)")" = "the end of the process" ]
}

# In a long window there is everything.
complete()
{
	in_flight long "--window 5m" -duration $(by_tier "2s -rate 1000" "5s -rate 10000" "5s -rate 10000") && tell_target start && expect_target done 60 &&
		target_result >"$tmp/long.done" && stop_target && landed && snapshots_are 1 && each_is_valid &&
		are_all_blocks "$(blocks_in "$(traces)")" "$tmp/long.done"
}

# Each generation, with whatever range of the garbage collector is open, can be the first one.
in_collections()
{
	program=stress in_flight stress "--window 2s --events sched,syscall,gc,heap,user,kernel,sweep" -duration 8s &&
		tell_target start && pause 4000 && $GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 snapshots_are 1 &&
		expect_target done && stop_target && landed && snapshots_are 2 && each_is_valid
}

limited()
{
	in_flight small "--window 5m --max-size 1M" -duration 6s -rate 10000 && tell_target start && expect_target done 60 &&
		stop_target && landed && snapshots_are 1 && each_is_valid && [ "$(stat -c %s "$(traces)")" -le $((1 << 20)) ]
}

# The state of all goroutines alone is larger than the limit: the message has the size that is needed.
too_many_goroutines()
{
	local size
	program=parked in_flight parked "--max-size 1M" -n 200000 -duration 20s && tell_target start && pause 2500 &&
		$GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 grep -q 'no snapshot of' "$tmp/background.out" || return 1
	size=$(sed -n 's/.*no snapshot of the user.s request: .* use --max-size=\([0-9]*M\)$/\1/p' "$tmp/background.out")
	echo "advised: $size"
	stop_recorder || true # exit status 1
	grep -q "the window is often empty: .* use --max-size=$size" "$tmp/background.out" && [ -z "$(ls "$DIR")" ] || return 1
	start_background $GOTRACE flight -p "$TARGET_PID" -o "$DIR" --max-size "$size" && recorder_is_live && pause 2500 &&
		$GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 snapshots_are 1 && stop_recorder && each_is_valid || return 1
	build/gotrace stat --json "$(traces)" | jq -e '.goroutines.present + .goroutines.created >= 200000' && kill "$TARGET_PID"
}

# Two requests within a tail: one snapshot, and both are causes of it.
two_causes()
{
	in_flight two "--tail 1s" -duration 4s -rate 1000 && tell_target start && pause 1000 &&
		$GOTRACE snapshot -p "$TARGET_PID" && sleep 0.3 && $GOTRACE snapshot -p "$TARGET_PID" &&
		wait_until 20 snapshots_are 1 || return 1
	build/gotrace stat --json "$(traces)" | jq -e '[.. | .causes? // empty][0] |
		length == 2 and .[0].time < .[1].time and .[1].time < .[0].time + 1000000000 and all(.text == "the user\u0027s request")' &&
		build/gotrace stat "$(traces)" | grep -q '^ *also the user.s request, at ' && grep -q '(and 1 more)' "$tmp/background.out" &&
		expect_target done && stop_target && landed
}

# Without a request nothing is written, and ^C is none.
nothing_written()
{
	in_flight nothing "" -duration 1s -rate 1000 && tell_target start && expect_target done && stop_recorder && [ ! -e "$DIR/index.tsv" ] && [ -z "$(ls "$DIR")" ] && stop_target
}

# The recorder has found its process by name; by now another one has that name, too.
by_name()
{
	local name=named.$$ other failed=0
	DIR=$tmp/by_name
	mkdir "$tmp/other" && cp "$(command -v sleep)" "$tmp/other/$name" && cp "build/targets/$ORACLE_GO/pingpong" "$tmp/$name" &&
		start_target "$name" "$PWD/$tmp" -duration 1s -rate 1000 &&
		start_background $GOTRACE flight -p "$name" -o "$DIR" && recorder_is_live || return 1
	"$tmp/other/$name" 60 &
	other=$!
	tell_target start && $GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 snapshots_are 1 &&
		$GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 snapshots_are 2 &&
		refused 1 "no running 'gotrace-bpf flight' of that process" $GOTRACE snapshot -p "$other" || failed=1
	kill "$other"
	expect_target done && stop_target && landed && return $failed
}

on_terminal_is_live() { grep -q 'gotrace-bpf: recording' "$tmp/typed"; }

# On a terminal, commands that read the first snapshot are named once.
suggests()
{
	local typed=$tmp/typed

	DIR=$tmp/suggested
	: >"$typed"
	start_target pingpong "$ORACLE_GO" -duration 1s -rate 1000 || return 1
	script -qfec "$GOTRACE flight -p $TARGET_PID -o $DIR" /dev/null </dev/null >"$typed" &
	background+=($!)
	wait_until 20 on_terminal_is_live && tell_target start && pause 500 &&
		$GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 snapshots_are 1 &&
		$GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 snapshots_are 2 &&
		expect_target done && stop_target && wait $! || return 1
	cat "$typed"
	[ "$(grep -c "next: 'gotrace latency $DIR/.*\.trace'" "$typed")" -eq 1 ]
}

ktap_start
try "snapshots by request and at the end" snapshots
try "each is valid" each_is_valid
try "windows are bounded and contain their causes" windows_are_bounded
try "two causes of one snapshot" two_causes
try "a long window contains everything" complete
in_all try "windows that begin during garbage collections" in_collections
in_all try "the limit of bytes" limited
in_all try "more goroutines than the limit holds" too_many_goroutines
try "nothing is written without a cause" nothing_written
try "a process found by name" by_name
try "on a terminal, what to do with a snapshot" suggests
try "no flight recorder" refused 1 "no running 'gotrace-bpf flight' of that process" $GOTRACE snapshot -p $$
try "without a directory" refused 2 'no directory given' $GOTRACE flight -p 1
try "without a process" refused 2 'no process given' $GOTRACE flight -o "$tmp/x"
try "a short window" refused 2 'at least 1s' $GOTRACE flight -p 1 --window 10ms -o "$tmp/x"
try "a small window" refused 2 'at least 1M' $GOTRACE flight -p 1 --max-size 1K -o "$tmp/x"
ktap_end
