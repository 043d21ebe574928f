#!/bin/bash
# kernels: 6.12
# timeout: 700
# apart: yes
# module: loaded
# The black box: what was recorded outlives the recorder. A program that counts what it does is recorded, the
# recorder is killed by SIGKILL, and what is recovered has each event, with the program alive or dead; of a
# server the last moments before the kill are there, though its rings went round many times. Black boxes are
# listed, held against a second user, freed by their time-out, and stay when a recovery fails or is killed.
. "$(dirname "$0")/../../lib.sh"
. selftests/record.lib.sh

now() # CLOCK_MONOTONIC, ns
{
	python3 -c 'import time; print(time.monotonic_ns())'
}

record() # NAME [OPTION...]: records the target into it; sets DAEMON
{
	$GOTRACE record --blackbox "$1" --daemonize -p "$TARGET_PID" "${@:2}" >"$tmp/daemon.out" 2>&1 ||
		{ cat "$tmp/daemon.out"; return 1; }
	cat "$tmp/daemon.out"
	DAEMON=$(box "$1" .owner) && kill -0 "$DAEMON"
}

box() # NAME JQ: what the list says of it; false if it is not there
{
	$GOTRACE recover --list --json >"$tmp/list.json" &&
		jq -er --arg name "$1" ".[] | select(.name == \$name) | $2" "$tmp/list.json"
}

no_box() # NAME
{
	! box "$1" .name
}

has_checkpoint() # NAME: one with snapshots at least
{
	[ "$(box "$1" .checkpoints)" -ge 3 ]
}

kill_daemon() # by what nobody can catch; sets KILLED, the time just before
{
	KILLED=$(now)
	kill -KILL "$DAEMON" && wait_until 20 daemon_is_gone
}

daemon_is_gone()
{
	! kill -0 "$DAEMON" 2>/dev/null
}

recover() # NAME TRACE [OPTION...]: into a trace for the host to judge, and the black box is gone
{
	$GOTRACE recover "$1" -o "$tmp/$2.trace" "${@:3}" >"$tmp/recover.out" 2>&1 ||
		{ cat "$tmp/recover.out"; return 1; }
	cat "$tmp/recover.out"
	cp "$tmp/$2.trace" "$VM_SHARE/" && no_box "$1"
}

# BOX alive|dead: that the program's counts are exact, and its goroutines there, is seen on the host
counted()
{
	start_target truth "$JUDGE_GO" && record "$1" && wait_until 30 has_checkpoint "$1" &&
		tell_target start && expect_target done 120 || return 1
	target_result >"$VM_SHARE/truth-$2.done"
	if [ "$2" = dead ]; then
		kill -KILL "$TARGET_PID" && wait_until 20 target_is_gone && kill -KILL "$DAEMON" 2>/dev/null
		wait_until 20 daemon_is_gone || return 1
	else
		kill_daemon && kill -0 "$TARGET_PID" || return 1
	fi
	[ "$(box "$1" '.owner == null and .ended')" = true ] && recover "$1" "truth-$2" || return 1
	[ "$2" = dead ] || stop_target
}

start_server()
{
	start_background "build/targets/$JUDGE_GO/server" -rate 200
	TARGET_PID=$BACKGROUND_PID
	wait_until 60 grep -q ready "$tmp/background.out"
}

window() # TRACE: its first and last event's time, ns
{
	build/gotrace events --canonical "$1" | awk -F '\t' 'NR == 1 { print $1 } { last = $1 } END { print last }'
}

# The rings went round: the window ends when the recorder was killed, not before.
last_moments()
{
	local first last

	record last --ring-size 256K && sleep 8 && kill_daemon && recover last last-moments || return 1
	grep -q 'what was before has been overwritten' "$tmp/recover.out" || return 1
	first=$(window "$tmp/last-moments.trace" | head -n 1) last=$(window "$tmp/last-moments.trace" | tail -n 1)
	echo "first $first, last $last, killed $KILLED"
	[ "$last" -gt "$((KILLED - 500000000))" ] && [ "$((last - first))" -gt 1000000 ] &&
		[ "$first" -gt "$((KILLED - 6000000000))" ]
}

# Goroutines that never did anything in the window are there, with their names.
names()
{
	start_target parked "$JUDGE_GO" -n 100 -live && record names && wait_until 30 has_checkpoint names &&
		kill_daemon && recover names names || return 1
	build/gotrace goroutines "$tmp/names.trace" >"$tmp/names.txt" && grep 'main\.parked' "$tmp/names.txt" &&
		[ "$(awk '$NF ~ /^main\.parked/ { n += $1 } END { print n }' "$tmp/names.txt")" -eq 100 ] &&
		kill -KILL "$TARGET_PID"
}

listed()
{
	record one && record two --timeout 0 || return 1
	$GOTRACE recover --list || return 1
	[ "$(box one .owner)" != "$(box two .owner)" ] && [ "$(box two .ended)" = false ] &&
		[ "$(box one .bytes)" -gt 16000000 ]
}

refused() # TEXT COMMAND...: exit status 1, and it says TEXT
{
	local text=$1 status

	"${@:2}" >"$tmp/refused.out" 2>&1
	status=$?
	cat "$tmp/refused.out"
	[ $status -eq 1 ] && grep -q "$text" "$tmp/refused.out"
}

in_use()
{
	refused 'already: gotrace-bpf recover one' $GOTRACE record --blackbox one -p "$TARGET_PID" &&
		refused "in use by process $(box one .owner): end it" $GOTRACE recover one -o "$tmp/x.trace" &&
		refused 'no black box "none"' $GOTRACE recover none -o "$tmp/x.trace" && box one .name
}

ends() # by SIGTERM, and by its duration: the session is there still
{
	DAEMON=$(box one .owner) && kill -TERM "$DAEMON" && wait_until 20 daemon_is_gone &&
		[ "$(box one .ended)" = true ] && recover one by-signal || return 1
	timeout 60 $GOTRACE record --blackbox short -p "$TARGET_PID" -d 1500ms &&
		[ "$(box short .ended)" = true ] && recover short by-duration
}

# A disk that is full, and a recovery that is killed in its midst: it is still there.
stays()
{
	DAEMON=$(box two .owner) && kill_daemon || return 1
	refused 'black box two stays' $GOTRACE recover two -o /dev/full && box two .name || return 1
	mkfifo "$tmp/fifo" && exec {held}<>"$tmp/fifo" # which nobody reads
	$GOTRACE recover two -o "$tmp/fifo" &
	wait_until 20 owned_by two $! && kill -KILL $! && ! wait $! || return 1
	exec {held}>&-
	[ "$(box two '.owner == null')" = true ] && recover two stays
}

owned_by() # NAME PID
{
	[ "$(box "$1" .owner)" = "$2" ]
}

discarded()
{
	timeout 60 $GOTRACE record --blackbox away -p "$TARGET_PID" -d 100ms && $GOTRACE recover away --discard &&
		no_box away
}

timed_out()
{
	timeout 60 $GOTRACE record --blackbox brief -p "$TARGET_PID" -d 100ms --timeout 2s && box brief .expires_in_s &&
		wait_until 20 no_box brief
}

# Whoever has the module's memory still has to say so.
unload_refused()
{
	timeout 60 $GOTRACE record --blackbox held -p "$TARGET_PID" -d 100ms && ! rmmod gotrace &&
		$GOTRACE recover held --discard
}

ktap_start
try "recover after kill -9, the program alive" counted alive alive
try "recover after kill -9, the program dead" counted dead dead
try "recover has the names of goroutines that only wait" names
try "a server" start_server
try "recover of rings that went round: the last moments before kill -9" last_moments
try "recover --list" listed
try "a black box that is in use is held against others" in_use
try "SIGTERM and -d end it, and recover works" ends
try "a recover that fails or is killed leaves it there" stays
try "recover --discard" discarded
try "the time-out frees it" timed_out
try "the module stays while there is one" unload_refused
ktap_end
