#!/bin/bash
# Tests gotrace-bpf as an ordinary user: doctor names the capabilities that are missing, its setcap command grants them,
# and programs of this user and of others are recorded with them or refused for the reason.
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# The user has a copy of the recorder in a folder that this user can write to.

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

	doctor $own || return 1
	! grep 'privilege cap_sys_admin is missing' "$tmp/doctor" || own+=,cap_sys_admin
	doctor $own && user_records -p "$PUBLIC_PID" -d 300ms && user_records --cpu-profile -p "$PUBLIC_PID" -d 300ms &&
		user_refused 'no permission to read the program of process [0-9]+: .* CAP_DAC_READ_SEARCH' -p "$UNREADABLE_PID" &&
		doctor $own,cap_dac_read_search && user_records -p "$UNREADABLE_PID" -d 300ms || return 1
	[ "$(uname -m)" = x86_64 ] && ! inline_is 'inline probes require the clock source' "$PUBLIC_PID" || return 0
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
if try "libcap is installed" locked selftests/deps.sh libcap2-bin && try "a program of an ordinary user" start_user; then
	try "doctor names what an ordinary user lacks" user_has_nothing
	try "the command that doctor prints is sufficient" user_has_what_doctor_prints
	try "uprobes by perf events" user_uses_perf_uprobes
	try "uprobes by perf events that measure what a hit takes" user_measures_by_perf_uprobes
	try "programs of a third user" start_others && try "an ordinary user records them" user_records_others
fi
ktap_end
