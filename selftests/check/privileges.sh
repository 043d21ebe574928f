#!/bin/bash
# Checks the privileges of a recorder after its probes are attached: exactly those in the manual's
# section PRIVILEGES. Then as an ordinary user: doctor names what is missing, and its command grants it.
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

# --- an ordinary user, with a copy of the recorder in a folder that this user can write to

as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)

doctor() # [CAPABILITIES]: of the copy, with exactly these; its lines are one each in $tmp/doctor
{
	cp $GOTRACE "$user/gotrace-bpf" && { [ $# = 0 ] || setcap "$1=ep" "$user/gotrace-bpf"; } || return 1
	"${as_user[@]}" "$user/gotrace-bpf" doctor | awk '/^[a-zA-Z]/ { printf "\n" } { $1 = $1; printf "%s ", $0 }' >"$tmp/doctor"
	cat "$tmp/doctor"
}

user_has_nothing()
{
	local cap

	doctor || return 1
	for cap in cap_bpf cap_perfmon cap_sys_ptrace; do
		grep -q "^MISSING privilege $cap is missing" "$tmp/doctor" || return 1
	done
	grep -q '^note privilege cap_checkpoint_restore is missing .*inline' "$tmp/doctor"
}

printed() { sed -n "s|.*sudo setcap \([a-z_,]*\)=ep $user/gotrace-bpf.*|\1|p" "$tmp/doctor"; }

user_has_what_doctor_prints()
{
	doctor && doctor "$(printed)" || return 1
	[ -z "$(printed)" ] || doctor "$(printed)" || return 1 # before Linux 6.10 it needs cap_perfmon to try for more
	! grep -E '^MISSING|setcap' "$tmp/doctor" && user_records -p "$USERS_PID" -d 300ms &&
		user_records --cpu-profile -d 300ms -p "$USERS_PID" &&
		user_records -- "$user/tiny" -duration 300ms || return 1
	! grep '^ok inline' "$tmp/doctor" || user_records --probes=inline -p "$USERS_PID" -d 300ms
}

user_records() # ARGUMENT...
{
	"${as_user[@]}" "$user/gotrace-bpf" record -o "$user/x.trace" --force "$@" && build/gotrace check "$user/x.trace"
}

# What doctor tried is what record reports.
user_uses_perf_uprobes()
{
	doctor cap_bpf,cap_perfmon,cap_sys_ptrace || return 1
	if ! grep 'privilege cap_sys_admin is missing' "$tmp/doctor"; then
		user_records --force-perf-uprobes -p "$USERS_PID" -d 300ms
		return
	fi
	refused 1 'this kernel permits uprobes by perf events .* CAP_SYS_ADMIN' "${as_user[@]}" "$user/gotrace-bpf" record \
		--force-perf-uprobes -p "$USERS_PID" -d 300ms -o "$user/y.trace" &&
		doctor cap_bpf,cap_perfmon,cap_sys_ptrace,cap_sys_admin && ! grep cap_sys_admin "$tmp/doctor" &&
		user_records --force-perf-uprobes -p "$USERS_PID" -d 300ms
}

# The release of the kernel selects how sites are attached: this one is too old for a single call.
user_measures_by_perf_uprobes()
{
	doctor cap_bpf,cap_perfmon,cap_sys_ptrace || return 1
	grep 'privilege cap_sys_admin is missing' "$tmp/doctor" || return 0
	! "${as_user[@]}" setarch --uname-2.6 "$user/gotrace-bpf" record -v -p "$USERS_PID" -d 100ms -o "$user/y.trace" >"$tmp/measured" 2>&1 || return 1
	cat "$tmp/measured"
	grep 'cannot count hits: not permitted; this kernel permits uprobes by perf events .* CAP_SYS_ADMIN only' "$tmp/measured"
}

# --- programs of a third user, one of which other users cannot read

start_others()
{
	install -m 755 "$user/tiny" "$user/public" && install -m 700 -o 1 "$user/tiny" "$user/unreadable" || return 1
	setpriv --reuid 1 --regid 1 --clear-groups "$user/public" -duration 300s >"$tmp/public.out" 2>&1 &
	PUBLIC_PID=$!
	setpriv --reuid 1 --regid 1 --clear-groups "$user/unreadable" -duration 300s >"$tmp/unreadable.out" 2>&1 &
	UNREADABLE_PID=$!
	background+=("$PUBLIC_PID" "$UNREADABLE_PID")
	wait_until 20 grep -q pid "$tmp/public.out" && wait_until 20 grep -q pid "$tmp/unreadable.out"
}

user_refused() # PATTERN ARGUMENT...
{
	refused 1 "$1" "${as_user[@]}" "$user/gotrace-bpf" record -d 300ms -o "$user/y.trace" "${@:2}"
}

inline_is() # PATTERN PID: what doctor reports of inline probes
{
	"${as_user[@]}" "$user/gotrace-bpf" doctor -p "$2" | tr -s '\n ' ' ' | grep -E "$1"
}

user_records_others()
{
	local own=cap_bpf,cap_perfmon,cap_sys_ptrace,cap_checkpoint_restore

	doctor $own && user_records -p "$PUBLIC_PID" -d 300ms && user_records --cpu-profile -p "$PUBLIC_PID" -d 300ms &&
		user_refused 'no permission to read the program of process [0-9]+: .* CAP_DAC_READ_SEARCH' -p "$UNREADABLE_PID" &&
		doctor $own,cap_dac_read_search && user_records -p "$UNREADABLE_PID" -d 300ms || return 1
	[ "$(uname -m)" = x86_64 ] || return 0
	user_refused 'another user, so inline probes also require CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_KILL' \
		-p "$PUBLIC_PID" --probes=inline && inline_is 'note inline process [0-9]+ belongs to another user' "$PUBLIC_PID" &&
		doctor $own,cap_dac_override,cap_dac_read_search,cap_kill || return 1
	! inline_is 'ok inline record' "$PUBLIC_PID" || {
		user_records --probes=inline -p "$PUBLIC_PID" -d 300ms && user_records --probes=inline -p "$UNREADABLE_PID" -d 300ms
	}
}

start_user()
{
	user=$(mktemp -d /tmp/gotrace-user.XXXXXX) && trap 'rm -rf "$user"; ktap_cleanup' EXIT && chmod 755 "$user" &&
		cp "build/targets/$ORACLE_GO/tiny" "$user/" && chown 65534:65534 "$user" || return 1
	"${as_user[@]}" "$user/tiny" -duration 300s >"$tmp/tiny.out" 2>&1 &
	USERS_PID=$!
	background+=("$USERS_PID")
	wait_until 20 grep -q pid "$tmp/tiny.out"
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
if try "libcap is installed" locked selftests/deps.sh libcap2-bin && try "a program of an ordinary user" start_user; then
	try "doctor names what an ordinary user lacks" user_has_nothing
	try "the command that doctor prints is sufficient" user_has_what_doctor_prints
	try "uprobes by perf events" user_uses_perf_uprobes
	try "uprobes by perf events that measure what a hit takes" user_measures_by_perf_uprobes
	try "programs of a third user" start_others && try "an ordinary user records them" user_records_others
fi
ktap_end
