#!/bin/bash
# kernels: 6.12
# timeout: 700
# apart: yes
# module: loaded
# The kernel flight recorder: recorded events outlive the recorder. A known-count target is
# recorded, the recorder is killed by SIGKILL, and the recovered trace has each event, whether the
# target is alive or dead; for a server, the last moments before the kill are present, though its
# rings wrapped many times. Flight recorders are listed, locked against a second user, freed by
# their timeout, and stay when a recovery fails or is killed.
. "$(dirname "$0")/../../lib.sh"
. selftests/record.lib.sh

now() # CLOCK_MONOTONIC, ns; starting Python takes seconds here
{
	awk '/^now at / { print $3; exit }' /proc/timer_list
}

record() # NAME [OPTION...]: records the target into the flight recorder NAME; sets DAEMON
{
	$GOTRACE record --blackbox "$1" --daemonize -p "$TARGET_PID" "${@:2}" >"$tmp/daemon.out" 2>&1 ||
		{ cat "$tmp/daemon.out"; return 1; }
	cat "$tmp/daemon.out"
	DAEMON=$(box "$1" .owner) && kill -0 "$DAEMON"
}

box() # NAME JQ: prints a value from its list entry; false if there is none
{
	$GOTRACE recover --list --json >"$tmp/list.json" &&
		jq -er --arg name "$1" ".[] | select(.name == \$name) | $2" "$tmp/list.json"
}

no_box() # NAME
{
	! box "$1" .name
}

has_checkpoint() # NAME: one with at least the snapshots
{
	[ "$(box "$1" .checkpoints)" -ge 3 ]
}

kill_daemon() # by SIGKILL; sets KILLED, the time just before
{
	KILLED=$(now)
	kill -KILL "$DAEMON" && wait_until 20 daemon_is_gone
}

daemon_is_gone()
{
	! kill -0 "$DAEMON" 2>/dev/null
}

recover() # NAME TRACE [OPTION...]: recovers a trace, validated on the host; the flight recorder is freed
{
	$GOTRACE recover "$1" -o "$tmp/$2.trace" "${@:3}" >"$tmp/recover.out" 2>&1 ||
		{ cat "$tmp/recover.out"; return 1; }
	cat "$tmp/recover.out"
	cp "$tmp/$2.trace" "$VM_SHARE/" && no_box "$1"
}

# NAME alive|dead: the host checks that the program's counts are exact, and its goroutines present
counted()
{
	start_target truth "$ORACLE_GO" && record "$1" && wait_until 30 has_checkpoint "$1" &&
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
	start_background "build/targets/$ORACLE_GO/server" -rate 200
	TARGET_PID=$BACKGROUND_PID
	wait_until 60 grep -q ready "$tmp/background.out"
}

window() # TRACE: the times of its first and last event, ns
{
	build/gotrace events --canonical "$1" | awk -F '\t' 'NR == 1 { print $1 } { last = $1 } END { print last }'
}

# The rings wrapped: the window ends when the recorder was killed, not before.
last_moments()
{
	local first last

	record last --ring-size 256K && sleep 8 && kill_daemon && recover last last-moments || return 1
	grep -q 'older records had been overwritten' "$tmp/recover.out" || return 1
	first=$(window "$tmp/last-moments.trace" | head -n 1) last=$(window "$tmp/last-moments.trace" | tail -n 1)
	echo "first $first, last $last, killed $KILLED"
	[ "$last" -gt "$((KILLED - 500000000))" ] && [ "$((last - first))" -gt 1000000 ] &&
		[ "$first" -gt "$((KILLED - 6000000000))" ]
}

# Goroutines without events in the window are present, with their names.
names()
{
	start_target parked "$ORACLE_GO" -n 100 -live && record names && wait_until 30 has_checkpoint names &&
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

# The rest of an entry, of the only flight recorder: times lie between those taken around the recording and the list, its
# memory is what the module counts, in whole pages for each of two checkpoints and a table of rings; strace sees checkpoints.
figures()
{
	local begun ended before after memory

	begun=$(now)
	strace -f -qq -e trace=ioctl -o "$tmp/strace" timeout 60 $GOTRACE record --blackbox figures -p "$TARGET_PID" -d 3s --timeout 90s ||
		return 1
	ended=$(now)
	sleep 2
	before=$(now)
	memory=$(cat /sys/module/gotrace/parameters/memory) && box figures . || return 1
	after=$(now)
	echo "begun $begun, ended $ended, listed $before to $after; memory $memory; $(grep -c 0x87 "$tmp/strace") checkpoints"
	jq -e --argjson begun "$begun" --argjson ended "$ended" --argjson before "$before" --argjson after "$after" \
		--argjson memory "$memory" --argjson checkpoints "$(grep -c '0x87.* = 0$' "$tmp/strace")" '
		length == 1 and (.[0] | ($memory - .bytes - .checkpoint_bytes | . >= 0 and . <= 3 * 4096) and
			.checkpoint_bytes > 0 and .checkpoints == $checkpoints and
			.recorded_s >= 3 and .recorded_s <= ($ended - $begun) / 1e9 and
			.age_s >= ($before - $ended) / 1e9 + .recorded_s and .age_s <= ($after - $begun) / 1e9 and
			.expires_in_s <= 90 - ($before - $ended) / 1e9 and .expires_in_s >= 90 - (.age_s - .recorded_s) - 1)' "$tmp/list.json" &&
		$GOTRACE recover figures --discard
}

refused() # TEXT COMMAND...: exit status 1, and a message that contains TEXT
{
	local text=$1 status

	"${@:2}" >"$tmp/refused.out" 2>&1
	status=$?
	cat "$tmp/refused.out"
	[ $status -eq 1 ] && grep -q "$text" "$tmp/refused.out"
}

in_use()
{
	refused 'exists already: gotrace-bpf recover one' $GOTRACE record --blackbox one -p "$TARGET_PID" &&
		refused "in use by process $(box one .owner): end it" $GOTRACE recover one -o "$tmp/x.trace" &&
		refused "no flight recorder buffer 'none'" $GOTRACE recover none -o "$tmp/x.trace" && box one .name
}

ends() # with SIGTERM, and after its duration: the session still exists
{
	DAEMON=$(box one .owner) && kill -TERM "$DAEMON" && wait_until 20 daemon_is_gone &&
		[ "$(box one .ended)" = true ] && recover one by-signal || return 1
	timeout 60 $GOTRACE record --blackbox short -p "$TARGET_PID" -d 1500ms &&
		[ "$(box short .ended)" = true ] && recover short by-duration
}

# A full disk, and a recovery that is killed while it runs: the flight recorder still exists.
stays()
{
	DAEMON=$(box two .owner) && kill_daemon || return 1
	refused 'flight recorder buffer two is kept' $GOTRACE recover two -o /dev/full && box two .name || return 1
	mkfifo "$tmp/fifo" && exec {held}<>"$tmp/fifo" # without a reader
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

# The module cannot be unloaded while a flight recorder holds memory of it.
unload_refused()
{
	timeout 60 $GOTRACE record --blackbox held -p "$TARGET_PID" -d 100ms && ! rmmod gotrace &&
		$GOTRACE recover held --discard
}

# As the first process of a PID namespace: the events have the numbers of that namespace, in which the program counts
# them, and the flight recorder outlives it. Recovered outside.
in_namespace()
{
	unshare --pid --fork --kill-child --mount-proc bash selftests/vm/guest/50-recover.sh within "$tmp" &&
		[ "$(box namespace '.owner == null and .ended')" = true ] && recover namespace truth-namespace
}

record_within()
{
	start_target truth "$ORACLE_GO" && record namespace && wait_until 30 has_checkpoint namespace &&
		tell_target start && expect_target done 120 || return 1
	target_result >"$VM_SHARE/truth-namespace.done"
	kill_daemon && stop_target
}

if [ "${1-}" = within ]; then
	tmp=$2 background=() stretch=$(slowness)
	record_within
	exit
fi

ktap_start
try "recover after kill -9, the target alive" counted alive alive
try "recover after kill -9, the target dead" counted dead dead
try "recover after kill -9 in a PID namespace" in_namespace
try "recover has the names of blocked goroutines" names
try "a server" start_server
try "recover from rings that wrapped: the last moments before kill -9" last_moments
try "recover --list: times, memory and checkpoints" figures
try "recover --list" listed
try "a flight recorder in use is locked" in_use
try "SIGTERM and -d end the recording, and recover works" ends
try "a recover that fails or is killed keeps it" stays
try "recover --discard" discarded
try "the timeout frees it" timed_out
try "the module cannot be unloaded while one exists" unload_refused
ktap_end
