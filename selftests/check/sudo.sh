#!/bin/bash
# Files that `sudo gotrace-bpf` writes belong to the user who ran it, if the directory does: all kinds of
# output, by the real sudo(8), which an ordinary user runs in a mount namespace with sudoers of its own.
# Nothing else changes its owner, and what root keeps is named with its owner and the remedy.
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

USER_ID=65534 GROUP_ID=65534 # nobody

# COMMAND...: as the user, who may run everything by sudo
as_user()
{
	unshare --mount sh -c 'mount --bind "$0" /etc/sudoers && exec setpriv --reuid='$USER_ID' --regid='$GROUP_ID' --clear-groups "$@"' \
		"$tmp/sudoers" "$@"
}

by_sudo() { as_user sudo -n "$@"; } # COMMAND...

prepare()
{
	locked selftests/deps.sh sudo || return 1
	printf 'nobody ALL=(ALL:ALL) NOPASSWD: ALL\nDefaults !syslog\n' >"$tmp/sudoers" && chmod 440 "$tmp/sudoers" || return 1
	chmod 755 "$tmp" build build/tmp
	install -m 755 build/gotrace "$tmp/gotrace"
	home=$tmp/home theirs=$tmp/theirs
	install -d -m 755 -o $USER_ID -g $GROUP_ID "$home" && install -d -m 777 "$theirs" || return 1
	[ "$(by_sudo sh -c 'echo $(id -u) $SUDO_UID $SUDO_GID')" = "0 $USER_ID $GROUP_ID" ]
}

# OWNER:GROUP:MODE FILE...
owners_are()
{
	local want=$1 file have
	shift

	[ $# -gt 0 ] || return 1
	for file; do
		have=$(stat -c %u:%g:%a "$file") || return 1
		[ "$have" = "$want" ] || { echo "$file: $have, not $want"; return 1; }
	done
}

users_are() { owners_are "$USER_ID:$GROUP_ID:600" "$@"; } # FILE...
roots_are() { owners_are 0:0:600 "$@"; } # FILE...

is_readable() # FILE: the user can read the trace
{
	(cd "$tmp" && setpriv --reuid=$USER_ID --regid=$GROUP_ID --clear-groups ./gotrace check "${1#"$tmp/"}")
}

one_file()
{
	by_sudo $GOTRACE record -p "$TARGET_PID" -d 300ms -o "$home/one.trace" --stats "$home/one.json" --save-input "$home/one.raw" &&
		users_are "$home"/one.{trace,json,raw} && is_readable "$home/one.trace" && jq -e .events "$home/one.json" &&
		by_sudo $GOTRACE record -p "$TARGET_PID" -d 100ms -o "$home/one.trace" && users_are "$home/one.trace"
}

of_a_command()
{
	by_sudo $GOTRACE record -o "$home/command.trace" -- "build/targets/$ORACLE_GO/tiny" -duration 200ms &&
		users_are "$home/command.trace" && is_readable "$home/command.trace"
}

# Again by sudo, and by root itself: the index and its lock belong to the owner of the directory.
rotated()
{
	local n

	by_sudo $GOTRACE record -p "$TARGET_PID" -d 2500ms --rotate 1s -o "$home/rotated" &&
		owners_are "$USER_ID:$GROUP_ID:700" "$home/rotated" && users_are "$home"/rotated/{*.trace,index.tsv,.index.lock} || return 1
	n=$(wc -l <"$home/rotated/index.tsv")
	[ "$n" -ge 3 ] && by_sudo $GOTRACE record -p "$TARGET_PID" -d 200ms --rotate 1s -o "$home/rotated" &&
		users_are "$home"/rotated/{*.trace,index.tsv,.index.lock} && [ "$(wc -l <"$home/rotated/index.tsv")" -gt "$n" ] || return 1
	n=$(wc -l <"$home/rotated/index.tsv")
	$GOTRACE record -p "$TARGET_PID" -d 200ms --rotate 1s -o "$home/rotated" && [ "$(wc -l <"$home/rotated/index.tsv")" -gt "$n" ] &&
		roots_are "$home/rotated/index.tsv"
}

snapshots()
{
	start_background unshare --mount sh -c 'mount --bind "$0" /etc/sudoers &&
		exec setpriv --reuid='$USER_ID' --regid='$GROUP_ID' --clear-groups sudo -n "$@"' "$tmp/sudoers" \
		$GOTRACE flight -p "$TARGET_PID" -o "$home/flight" --window 1s
	recorder_is_live && $GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 eval 'ls "$home"/flight/*.trace' || return 1
	kill -TERM "$BACKGROUND_PID"
	wait "$BACKGROUND_PID"
	owners_are "$USER_ID:$GROUP_ID:700" "$home/flight" && users_are "$home"/flight/{*.trace,index.tsv,.index.lock} &&
		for file in "$home"/flight/*.trace; do is_readable "$file" || return 1; done
}

# All commands of gotrace that write a file do so by one function.
of_gotrace()
{
	by_sudo build/gotrace report "$home/one.trace" -o "$home/one.html" &&
		by_sudo build/gotrace profile sync "$home/one.trace" -o "$home/one.pb.gz" &&
		by_sudo build/gotrace index "$home/one.trace" &&
		by_sudo $GOTRACE replay "$home/one.raw" -o "$home/again.trace" &&
		by_sudo build/gotrace pack "$home/one.trace" -o "$home/one.gtp" &&
		users_are "$home"/{one.html,one.pb.gz,one.trace.idx,again.trace,one.gtp}
}

# Where the directory belongs to another user, root keeps its files, even if all users can write there.
elsewhere()
{
	by_sudo $GOTRACE record -p "$TARGET_PID" -d 100ms -o "$theirs/x.trace" --stats "$home/x.json" && roots_are "$theirs/x.trace" &&
		users_are "$home/x.json" && by_sudo $GOTRACE record -p "$TARGET_PID" -d 100ms --rotate 1s -o "$theirs/dir" &&
		owners_are 0:0:700 "$theirs/dir" && roots_are "$theirs"/dir/{*.trace,index.tsv,.index.lock}
}

# VALUE OF UID, OF GID: root keeps the file
keeps_with()
{
	SUDO_UID=$1 SUDO_GID=$2 $GOTRACE record -p "$TARGET_PID" -d 50ms -o "$home/kept.trace" && roots_are "$home/kept.trace"
}

only_valid_numbers()
{
	SUDO_UID=$USER_ID SUDO_GID=$GROUP_ID $GOTRACE record -p "$TARGET_PID" -d 50ms -o "$home/kept.trace" && users_are "$home/kept.trace" &&
		keeps_with "$USER_ID " $GROUP_ID && keeps_with +$USER_ID $GROUP_ID && keeps_with $USER_ID '' && keeps_with 0$USER_ID $GROUP_ID &&
		keeps_with $((USER_ID + (1 << 32))) $GROUP_ID && keeps_with 1000 $GROUP_ID
}

# The user's links to files of root, at each name that is written
planted_links()
{
	echo secret >"$tmp/victim" && chmod 600 "$tmp/victim" && mkdir -m 700 "$tmp/victims" || return 1
	ln "$tmp/victim" "$home/hard.trace.partial" && ln -s ../victim "$home/soft.trace.partial" && ln -s ../victims "$home/dir" &&
		mkdir "$home/index" && chown $USER_ID:$GROUP_ID "$home/index" && ln "$tmp/victim" "$home/index/.index.lock" &&
		ln "$tmp/victim" "$home/index/index.tsv" || return 1
	by_sudo $GOTRACE record -p "$TARGET_PID" -d 50ms -o "$home/hard.trace" && users_are "$home/hard.trace" || return 1
	! by_sudo $GOTRACE record -p "$TARGET_PID" -d 50ms -o "$home/soft.trace" || return 1
	! by_sudo $GOTRACE record -p "$TARGET_PID" -d 50ms --rotate 1s -o "$home/index" || return 1
	by_sudo $GOTRACE record -p "$TARGET_PID" -d 50ms --rotate 1s -o "$home/dir"
	roots_are "$tmp/victim" && owners_are 0:0:700 "$tmp/victims" && [ "$(cat "$tmp/victim")" = secret ]
}

# One warning, also for several files, and valid traces that root keeps
without_chown()
{
	local without=(env SUDO_UID=$USER_ID SUDO_GID=$GROUP_ID setpriv --inh-caps=-chown --bounding-set=-chown)

	"${without[@]}" $GOTRACE record -p "$TARGET_PID" -d 50ms -o "$home/stays.trace" --stats "$home/stays.json" 2>"$tmp/err" &&
		warned_once && roots_are "$home"/stays.{trace,json} && build/gotrace check "$home/stays.trace" || return 1
	"${without[@]}" $GOTRACE record -p "$TARGET_PID" -d 2500ms --rotate 1s -o "$home/stay" 2>"$tmp/err" && warned_once &&
		roots_are "$home"/stay/*.trace && build/gotrace check "$home"/stay/*.trace
}

warned_once()
{
	cat "$tmp/err"
	[ "$(grep -c warning "$tmp/err")" -eq 1 ] &&
		grep -qF "warning: output files belong to root, because they cannot be given to user $USER_ID: Operation not permitted; run 'sudo chown \"\$USER\" FILE'" "$tmp/err"
}

# FILE PATTERN: gotrace, which the user runs
denied()
{
	local status

	(cd "$tmp" && setpriv --reuid=$USER_ID --regid=$GROUP_ID --clear-groups ./gotrace check "$1") >"$tmp/out" 2>"$tmp/err"
	status=$?
	cat "$tmp/err"
	[ $status -eq 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -qF -e "$2" "$tmp/err"
}

owner_and_remedy()
{
	install -m 600 "$home/one.trace" "$theirs/root.trace" && install -m 600 -o 1 "$home/one.trace" "$theirs/daemon.trace" &&
		install -m 600 -o 54321 "$home/one.trace" "$theirs/unknown.trace" && install -m 600 "$home/one.trace" "$theirs/a b.trace" &&
		install -d -m 700 "$theirs/closed" || return 1
	denied theirs/root.trace "theirs/root.trace: Permission denied: it belongs to root; run 'sudo chown \"\$USER\" theirs/root.trace', or" &&
		denied "theirs/a b.trace" "it belongs to root; run 'sudo chown \"\$USER\" FILE'" &&
		denied theirs/daemon.trace 'it belongs to daemon, and its mode is 0600; ask its owner for read access' &&
		denied theirs/unknown.trace 'it belongs to 54321, and its mode is 0600' &&
		denied theirs/closed/x.trace 'theirs/closed/x.trace: Permission denied'
}

ktap_start
try "an ordinary user may run everything by sudo" prepare || ktap_end
start_target pingpong "$ORACLE_GO" -duration 600s -rate 2000 -procs 2 || exit 1
tell_target start
try "a trace, statistics and saved input" one_file
try "a trace of a command" of_a_command
try "a continuous recording: its directory, files, index and lock" rotated
try "snapshots of the flight recorder" snapshots
try "files of gotrace" of_gotrace
try "in a directory of another user, root keeps the files" elsewhere
try "SUDO_UID and SUDO_GID must be valid numbers" only_valid_numbers
try "links to files of root do not change their owner" planted_links
try "without CAP_CHOWN root keeps the files, with one warning" without_chown
try "gotrace names the owner of a file that it may not read, and the remedy" owner_and_remedy
ktap_end
