#!/bin/bash
# Checks the privileges of a recorder after its probes are attached: exactly those in the manual's
# section PRIVILEGES.
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

PTRACE=$((1 << 19)) OWNER=$((1 << 0)) FOLDER=$((1 << 1 | 1 << 3)) KILL=$((1 << 5)) SEARCH=$((1 << 2)) ADMIN=$((1 << 21)) NICE=$((1 << 23))

status_of() # PID KEY
{
	awk -v key="$2:" '$1 == key { print $2 }' "/proc/$1/status"
}

sets_are() # PID CAPABILITIES: for each of its threads; one may end after it was listed
{
	local want task sets threads=0

	want=$(printf 'CapInh:\t%016x\nCapPrm:\t%016x\nCapEff:\t%016x\nCapBnd:\t%016x\nCapAmb:\t%016x\nNoNewPrivs:\t1\nSeccomp:\t2' \
		0 "$2" "$2" 0 0)
	for task in "/proc/$1"/task/*; do
		if ! sets=$(grep -E '^(Cap|NoNewPrivs|Seccomp:)' "$task/status"); then
			[ ! -e "$task" ] || return 1
			continue
		fi
		echo "$sets"
		[ "$sets" = "$want" ] || return 1
		threads=$((threads + 1))
	done
	[ $threads -gt 0 ]
}

# FOLDER CAPABILITIES [OPTION...]
of_a_process()
{
	local file=$1/one.trace want=$2
	shift 2

	start_background $GOTRACE record -p "$TARGET_PID" -o "$file" "$@"
	recorder_is_live && wait_until 10 sets_are "$BACKGROUND_PID" "$want"
	sets_are "$BACKGROUND_PID" "$want" && stop_recorder && build/gotrace check "$file"
}

of_a_process_in_folder_of_other()
{
	install -d -m 755 -o 65534 -g 65534 "$tmp/other" && of_a_process "$tmp/other" $((PTRACE | FOLDER)) &&
		[ ! -e "$tmp/other/one.trace.partial" ] &&
		of_a_process "$tmp" $((PTRACE | FOLDER)) --stats "$tmp/other/stats.json" &&
		jq -e .events "$tmp/other/stats.json" &&
		of_a_process "$tmp" $((PTRACE | FOLDER)) --save-input "$tmp/other/raw" && [ -s "$tmp/other/raw" ]
}

# CAP_CHOWN only if more files are to be created, for the owner of their directory
of_a_process_by_sudo()
{
	local SUDO_UID=65534 SUDO_GID=65534 status

	export SUDO_UID SUDO_GID
	install -d -m 755 -o 65534 -g 65534 "$tmp/user" && of_a_process "$tmp/user" $((PTRACE | FOLDER)) || return 1
	start_background $GOTRACE record -p "$TARGET_PID" --rotate 1s -o "$tmp/user/rotated"
	recorder_is_live && wait_until 10 sets_are "$BACKGROUND_PID" $((PTRACE | FOLDER | OWNER))
	sets_are "$BACKGROUND_PID" $((PTRACE | FOLDER | OWNER))
	status=$?
	stop_recorder && return $status
}

# The command keeps the privileges of this script; its recorder drops the rest once the libraries
# are open.
of_a_command()
{
	local pid key

	start_background $GOTRACE record -o "$tmp/command.trace" -- \
		"build/targets/$ORACLE_GO/pingpong" -duration 3s -procs 1 -rate 1000
	recorder_is_live && wait_until 20 sets_are "$BACKGROUND_PID" $((PTRACE | KILL))
	sets_are "$BACKGROUND_PID" $((PTRACE | KILL)) || return 1
	pid=$(pgrep -P "$BACKGROUND_PID" pingpong) || return 1
	for key in CapInh CapPrm CapEff CapBnd CapAmb NoNewPrivs; do
		echo "$key: $(status_of "$pid" $key) (here: $(status_of $$ $key))"
		[ "$(status_of "$pid" $key)" = "$(status_of $$ $key)" ] || return 1
	done
	wait "$BACKGROUND_PID" && build/gotrace check "$tmp/command.trace"
}

# PID SECCOMP CAPABILITIES: permitted and effective are these, and the program that it could execute gets none
keeps()
{
	local key have

	have=$(for key in CapPrm CapEff CapAmb NoNewPrivs Seccomp; do status_of "$1" $key; done | tr '\n' ' ')
	echo "$have"
	[ "$have" = "$(printf '%016x %016x %016x 1 %d ' "$3" "$3" 0 "$2")" ]
}

# The guardian has a filter; the process that traces for it can have none, and therefore has no file but a socket
# and a pidfd.
guardian_and_tracer()
{
	local guardian tracer

	start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/inline.trace" --probes=inline
	recorder_is_live || return 1
	guardian=$(pgrep -P "$BACKGROUND_PID" gotrace-guard) && tracer=$(pgrep -P "$guardian" gotrace-tracer) || return 1
	keeps "$guardian" 2 $((PTRACE | SEARCH | NICE | KILL)) && keeps "$tracer" 0 $((PTRACE | ADMIN | NICE | KILL)) || return 1
	[ -z "$(ls -A "/proc/$guardian/root/")" ] && [ -z "$(ls -A "/proc/$tracer/root/")" ] &&
		[ "$(readlink "/proc/$tracer/fd/"* | grep -v '^/dev/null$' | tr -d '0-9\n' | sort)" = 'anon_inode:[pidfd]socket:[]' ] &&
		stop_recorder && build/gotrace check "$tmp/inline.trace"
}

# A deleted library has no path any more, but /proc/PID/map_files refers to it.
deleted_library_is_open() # PID of the recorder
{
	readlink "/proc/$1"/fd/* | grep -q '/libdeleted.so (deleted)$'
}

preload_deleted() # starts COMMAND with it; fails if this machine has no C library to copy
{
	local libc

	libc=$(ldd "build/targets/$ORACLE_GO/cgo" | awk '/libpthread|libc\.so/ { print $3; exit }')
	[ -n "$libc" ] && cp "${libc/libc.so/libm.so}" "$tmp/libdeleted.so"
}

deleted_library_of_a_process()
{
	preload_deleted || return 1
	mkfifo "$tmp/cgo.in"
	exec {hold}<>"$tmp/cgo.in"
	LD_PRELOAD=$PWD/$tmp/libdeleted.so "build/targets/$ORACLE_GO/cgo" <"$tmp/cgo.in" >"$tmp/cgo.out" 2>&1 &
	CGO_PID=$!
	background+=("$CGO_PID")
	wait_until 20 grep -q ready "$tmp/cgo.out" || return 1
	rm "$tmp/libdeleted.so"
	start_background $GOTRACE record -p "$CGO_PID" -o "$tmp/library.trace"
	recorder_is_live && wait_until 10 deleted_library_is_open "$BACKGROUND_PID"
	deleted_library_is_open "$BACKGROUND_PID" && stop_recorder && kill "$CGO_PID"
}

ktap_start
start_target pingpong "$ORACLE_GO" -duration 60s -procs 2 -rate 1000 || exit 1
tell_target start
try "recording a process" of_a_process "$tmp" $PTRACE
try "recording into a folder of another user" of_a_process_in_folder_of_other
try "recording by sudo into a folder of its user" of_a_process_by_sudo
try "recording a command, which keeps its privileges" of_a_command
[ "$(uname -m)" != x86_64 ] || try "the guardian of inline probes and its tracer" guardian_and_tracer
try "a deleted library of a process is accessible" deleted_library_of_a_process
kill "$TARGET_PID"
ktap_end
