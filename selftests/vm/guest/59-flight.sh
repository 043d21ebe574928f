#!/bin/bash
# kernels: 6.12
# timeout: 300
# apart: yes
# module: loaded
# The flight recorder whose window is in the kernel (flight --blackbox). Snapshots of a session that
# continues to record: of a known-count target every event is in them, two in a row contain the same
# events where they overlap, and their causes are in them. The recorder is killed by SIGKILL, its
# target ends, its disk is full: the events are in a file or still in the kernel.
. "$(dirname "$0")/../../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh

snapshot_of() { traces | sed -n "$1p"; } # NUMBER
recorder_is_gone() { ! kill -0 "$BACKGROUND_PID" 2>/dev/null; }

box() # NAME JQ: prints a value from its list entry; false if there is none
{
	$GOTRACE recover --list --json >"$tmp/list.json" &&
		jq -er --arg name "$1" ".[] | select(.name == \$name) | $2" "$tmp/list.json"
}

no_box() { ! box "$1" .name; } # NAME
has_checkpoint() { [ "$(box "$1" .checkpoints)" -ge 3 ]; }

in_flight() # NAME [OPTION...]: a flight recorder of the target, with buffer NAME, into $tmp/NAME
{
	DIR=$tmp/$1
	start_background $GOTRACE flight -p "$TARGET_PID" --blackbox "$1" -o "$DIR" "${@:2}" &&
		wait_until 60 grep -q 'recording process' "$tmp/background.out" && cat "$tmp/background.out" &&
		wait_until 30 has_checkpoint "$1"
}

keep_snapshot() # NUMBER NAME: valid here, and the host validates it, too
{
	build/gotrace check "$(snapshot_of "$1")" && cp "$(snapshot_of "$1")" "$VM_SHARE/$2.trace"
}

has_cause() # NUMBER TEXT: the window in the index is that of the file, and its cause is in it
{
	local from to file cause

	from=$(index | sed -n "$1p" | cut -f 5) to=$(index | sed -n "$1p" | cut -f 6)
	file=$(snapshot_of "$1") cause=$(cause_time_of "$(snapshot_of "$1")")
	echo "from $from, cause $cause, to $to"
	[ "$(cause_of "$file")" = "$2" ] && [ "$cause" -gt "$from" ] && [ "$cause" -le "$to" ] &&
		[ "$(start_of "$file")" = "$from" ]
}

# A snapshot by request while it records, and one at the end: both have every event.
counted()
{
	start_target truth "$ORACLE_GO" && in_flight counted --window 10m && tell_target start &&
		expect_target done 120 && target_result >"$VM_SHARE/flight-request.done" &&
		$GOTRACE snapshot -p "$TARGET_PID" && wait_until 60 snapshots_are 1 && kill -0 "$BACKGROUND_PID" || return 1
	cp "$VM_SHARE/flight-request.done" "$VM_SHARE/flight-exit.done"
	stop_target && landed && cat "$tmp/background.out" && snapshots_are 2 && no_box counted &&
		keep_snapshot 1 flight-request && keep_snapshot 2 flight-exit &&
		has_cause 1 "the user's request" && has_cause 2 'the end of the process'
}

start_server()
{
	start_background "build/targets/$ORACLE_GO/server" -rate 200
	TARGET_PID=$BACKGROUND_PID
	wait_until 60 grep -q ready "$tmp/background.out"
}

twice() # under load, the second one right after the first
{
	in_flight twice --max-size 16M --tail 300ms && sleep 3 && $GOTRACE snapshot && wait_until 60 snapshots_are 1 &&
		$GOTRACE snapshot -p "$TARGET_PID" && wait_until 60 snapshots_are 2 && cat "$tmp/background.out" &&
		keep_snapshot 1 flight-first && keep_snapshot 2 flight-second &&
		has_cause 1 "the user's request" && has_cause 2 "the user's request"
}

# What both windows contain is the same, except at their ends. The statuses with which a generation
# begins have one time: a reader's order of them depends on the threads that the generation has.
overlap() # FROM TO FILE
{
	build/gotrace events --canonical "$3" |
		awk -F '\t' -v from="$1" -v to="$2" '$1 >= from && $1 < to && $2 == "StateTransition" {
			split($6, word, " ")
			split(word[2], state, "->")
			if (state[1] != state[2])
				print
		}' | cut -f 1-4
}

same_events()
{
	local from to

	from=$(index | cut -f 5 | sort -n | tail -n 1) to=$(index | cut -f 6 | sort -n | head -n 1)
	from=$((from + 10000000)) to=$((to - 50000000))
	overlap $from $to "$(snapshot_of 1)" >"$tmp/first" && overlap $from $to "$(snapshot_of 2)" >"$tmp/second"
	echo "$(wc -l <"$tmp/first") events in $(((to - from) / 1000000)) ms"
	[ "$(wc -l <"$tmp/first")" -gt 500 ] && diff "$tmp/first" "$tmp/second" | head -n 20 && cmp "$tmp/first" "$tmp/second"
}

in_use() # by its recorder
{
	refused 1 'exists already: gotrace-bpf recover twice' $GOTRACE flight -p "$TARGET_PID" --blackbox twice -o "$tmp/other" &&
		refused 1 'in use by process' $GOTRACE recover twice -o "$tmp/x.trace" && ! rmmod gotrace && box twice .name
}

stopped() # SIGTERM is no cause, and leaves nothing behind
{
	kill -TERM "$BACKGROUND_PID" && landed && snapshots_are 2 && no_box twice
}

killed() # by SIGKILL: the window is still in the kernel
{
	in_flight killed --max-size 16M && $GOTRACE snapshot && wait_until 60 snapshots_are 1 && sleep 2 &&
		kill -KILL "$BACKGROUND_PID" && wait_until 20 recorder_is_gone && kill -0 "$TARGET_PID" &&
		[ "$(box killed '.owner == null and .ended')" = true ] &&
		$GOTRACE recover killed -o "$tmp/killed.trace" && no_box killed && build/gotrace check "$tmp/killed.trace" &&
		cp "$tmp/killed.trace" "$VM_SHARE/flight-killed.trace" && keep_snapshot 1 flight-before-kill
}

small() # the rings wrap often, and are no larger than the limit; the rest is for the stacks
{
	in_flight small --max-size 1M --window 2s --tail 100ms && sleep 5 && [ "$(box small .bytes)" -lt $((11 << 20)) ] &&
		$GOTRACE snapshot && wait_until 60 snapshots_are 1 && kill -TERM "$BACKGROUND_PID" && landed &&
		cat "$tmp/background.out" && keep_snapshot 1 flight-small && [ "$(stat -c %s "$(snapshot_of 1)")" -le $((1 << 20)) ]
}

short_window() # up to a generation longer than --window, though the rings contain more
{
	in_flight short --window 1s --tail 100ms && sleep 5 && $GOTRACE snapshot && wait_until 60 snapshots_are 1 &&
		kill -TERM "$BACKGROUND_PID" && landed && cat "$tmp/background.out" && has_cause 1 "the user's request" || return 1
	local ms=$((($(index | cut -f 6) - $(index | cut -f 5)) / 1000000))
	echo "$ms ms" && [ $ms -ge 1000 ] && [ $ms -le 3000 ] && build/gotrace check "$(snapshot_of 1)"
}

# A snapshot that fails does not end the recording; the last one stays in the kernel.
full_disk()
{
	mkdir "$tmp/full" && mount -t tmpfs -o size=16k tmpfs "$tmp/full" && in_flight full && sleep 2 && $GOTRACE snapshot &&
		wait_until 60 grep -q 'cannot write a snapshot' "$tmp/background.out" && kill -0 "$BACKGROUND_PID" || return 1
	kill -KILL "$TARGET_PID" && ! landed && cat "$tmp/background.out" &&
		grep -q '2 of 2 snapshots could not be written' "$tmp/background.out" && ! snapshots_are 1 &&
		[ "$(box full .ended)" = true ] && $GOTRACE recover full -o "$tmp/full.trace" && no_box full &&
		build/gotrace check "$tmp/full.trace" && umount "$tmp/full"
}

ktap_start
try "snapshots by request and at the end, of every event" counted
try "a server" start_server
try "two snapshots in a row under load" twice
try "both contain the same events" same_events
try "a buffer in use is locked, and the module stays" in_use
try "SIGTERM frees the buffer" stopped
try "kill -9, and recover" killed
try "a small buffer" small
try "a short window" short_window
try "a full disk" full_disk
ktap_end
