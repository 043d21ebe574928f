#!/bin/bash
# kernels: 6.12
# timeout: 240
# module: loaded
# Start of the daemon of a kernel flight recorder, and the messages when it fails: with closed
# descriptors, cancelled or killed before it is ready, without memory; and the lock on a flight
# recorder that is being read.
. "$(dirname "$0")/../../lib.sh"

names() # of all flight recorders
{
	$GOTRACE recover --list --json | jq -r '.[].name'
}

gone() # PID
{
	! kill -0 "$1" 2>/dev/null
}

says_only() # FILE TEXT: it has a single line, which contains TEXT
{
	cat "$1"
	[ "$(wc -l <"$1")" -eq 1 ] && grep -q "$2" "$1"
}

start_server()
{
	start_background "build/targets/$ORACLE_GO/server" -duration 500s -rate 20
	TARGET_PID=$BACKGROUND_PID
	wait_until 60 grep -q ready "$tmp/background.out"
}

closed() # descriptors 0, 1 and 2 are closed, and become /dev/null
{
	timeout 60 $GOTRACE record --blackbox closed --daemonize -p "$TARGET_PID" -d 3s <&- >&- || return 1
	wait_until 60 ended closed || return 1
	timeout 60 $GOTRACE recover closed -o "$tmp/closed.trace" && build/gotrace check "$tmp/closed.trace"
}

ended() # NAME
{
	$GOTRACE recover --list --json | jq -e --arg name "$1" '.[] | select(.name == $name) | .ended and .owner == null'
}

# NAME: begins to record; sets PARENT and DAEMON, which is not ready yet
begin()
{
	$GOTRACE record --blackbox "$1" --daemonize --no-cache -p "$TARGET_PID" 2>"$tmp/$1.said" &
	PARENT=$!
	wait_until 20 grep . "/proc/$PARENT/task/$PARENT/children" &&
		read -r DAEMON _ <"/proc/$PARENT/task/$PARENT/children"
	[ -n "$DAEMON" ]
}

called_off()
{
	begin off && kill -TERM $PARENT || return 1
	wait $PARENT
	wait_until 60 gone "$DAEMON" || return 1
	cat "$tmp/off.said"
	[ ! -s "$tmp/off.said" ] && [ -z "$(names)" ]
}

# It may have created the flight recorder just before: that is kept, like that of any killed recorder.
killed()
{
	begin killed && kill -KILL "$DAEMON" || return 1
	wait $PARENT
	[ $? -eq 1 ] && says_only "$tmp/killed.said" 'terminated by a signal: Killed' || return 1
	[ -z "$(names)" ] || $GOTRACE recover killed --discard
	[ -z "$(names)" ]
}

no_memory()
{
	local parameter=/sys/module/gotrace/parameters/max_memory before status

	before=$(cat $parameter) && echo 1000000 >$parameter || return 1
	timeout 60 $GOTRACE record --blackbox large --daemonize -p "$TARGET_PID" 2>"$tmp/large.said"
	status=$?
	echo "$before" >$parameter
	[ $status -eq 1 ] && says_only "$tmp/large.said" 'max_memory.*--ring-size'
}

being_read()
{
	local reader held

	timeout 60 $GOTRACE record --blackbox read -p "$TARGET_PID" -d 100ms --timeout 90s 2>"$tmp/read.said" &&
		grep 'for up to 90.0 s' "$tmp/read.said" || return 1
	$GOTRACE recover read -o /dev/full 2>"$tmp/full.said" && return 1
	says_only "$tmp/full.said" 'flight recorder buffer read is kept' || return 1
	mkfifo "$tmp/fifo" && exec {held}<>"$tmp/fifo" && head -c 65536 /dev/zero >&"$held" # full
	$GOTRACE recover read -o "$tmp/fifo" &
	reader=$!
	wait_until 20 owned_by $reader || return 1
	$GOTRACE recover read -o "$tmp/other.trace" 2>"$tmp/other.said"
	kill -KILL $reader
	wait $reader
	exec {held}>&-
	says_only "$tmp/other.said" "is being read by process $reader" && $GOTRACE recover read --discard
}

owned_by() # PID
{
	$GOTRACE recover --list --json | jq -e --argjson pid "$1" '.[] | select(.owner == $pid) | .ended'
}

ktap_start
try "a server" start_server
try "a daemon with closed descriptors" closed
in_all try "a daemon that is cancelled while it starts: no flight recorder, no message" called_off
in_all try "a daemon that is killed before it is ready: one line" killed
try "no memory: the remedy is printed" no_memory
try "a finished flight recorder, and one that is being read: one line" being_read
ktap_end
