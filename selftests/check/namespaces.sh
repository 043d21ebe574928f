#!/bin/bash
# timeout: 1500
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/check/fidelity.sh
# The recorder in a PID namespace of its own: other test scripts run within one, among them the
# comparison with the program's own trace, which has each thread's number in that namespace; also in a
# container of runc. Programs in namespaces below, and the same PID in both; what is refused, at once.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
tiny=$PWD/build/targets/$ORACLE_GO/tiny

alone=(unshare --pid --fork --kill-child --mount-proc)

# All results of a script are "ok", as many as it planned.
all_passed() # FILE
{
	cat "$1"
	! grep -qE '^not ok|# SKIP' "$1" && [ "$(grep -c '^ok' "$1")" = "$(sed -n 's/^1\.\.\([1-9].*\)/\1/p' "$1")" ]
}

in_namespace() # SCRIPT [GO...]
{
	TIER=check TARGET_GOS=${2:-$TARGET_GOS} "${alone[@]}" bash "selftests/check/$1.sh" >"$tmp/$1.out" 2>&1
	all_passed "$tmp/$1.out"
}

# In a container with PID, mount, network and cgroup namespaces of its own, in which this tree has its own path;
# its cgroups are of version 2.
in_a_container() # SCRIPT
{
	local bundle=$tmp/bundle.$1 cgroups capabilities

	cgroups=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
	capabilities=$(capsh --decode="$(sed -n 's/^CapBnd:\t//p' /proc/self/status)" | sed 's/.*=//') || return 1
	mkdir -p "$bundle/rootfs" "$bundle/upper" && runc spec -b "$bundle" && jq \
		--arg top "$PWD" --arg script "$1" --arg go "$ORACLE_GO" --arg capabilities "${capabilities^^}" --arg cgroups "$cgroups" '
		.process.terminal = false | .process.noNewPrivileges = false | .process.cwd = $top | .root.readonly = false |
		.process.args = ["bash", "selftests/check/\($script).sh"] | del(.process.rlimits) |
		.process.env += ["TIER=check", "TARGET_GOS=\($go)", "HOME=\(env.HOME)", "PATH=\(env.PATH)"] |
		.process.capabilities |= map_values($capabilities | split(",")) | del(.linux.seccomp) |
		.linux.namespaces = [("pid", "mount", "network", "ipc", "uts", "cgroup") | { type: . }] |
		.mounts |= map(select(.destination != "/sys/fs/cgroup")) |
		.mounts += [{ destination: "/sys/fs/cgroup", type: "bind", source: $cgroups, options: ["bind", "rw"] },
			{ destination: $top, type: "bind", source: $top, options: ["bind", "rw"] }]' \
		"$bundle/config.json" >"$tmp/config.json" && mv "$tmp/config.json" "$bundle/config.json" || return 1
	# shellcheck disable=SC2016 # the inner shell expands them
	unshare --mount bash -c 'mount -t tmpfs none "$1/upper" && mkdir "$1/upper/up" "$1/upper/work" &&
		mount -t overlay -o "lowerdir=/,upperdir=$1/upper/up,workdir=$1/upper/work" none "$1/rootfs" &&
		runc --root "$1/upper/state" run -b "$1" "gotrace-bpf-$$"' - "$PWD/$bundle" >"$tmp/$1.out" 2>&1
	all_passed "$tmp/$1.out"
}

# --- within: this script, as the first process of a namespace, runs one function

# [OPTION...]: a recording of $PID has threads that ps shows in this namespace, and of no other process
recorded()
{
	rm -f "$tmp/x.trace"
	timeout 60 $GOTRACE record -p "$PID" -d 500ms -o "$tmp/x.trace" "$@" && build/gotrace check "$tmp/x.trace" || return 1
	ps -L -o tid= -p "$PID" | tr -d ' ' | sort >"$tmp/ps"
	build/gotrace events --kernel --json "$tmp/x.trace" >"$tmp/events"
	only_these_threads 'select(.kind != "Kernel") | .m // empty' && only_these_threads 'select(.event == "on_cpu") | .m'
}

only_these_threads() # FILTER
{
	jq -r "$1" "$tmp/events" | sort -u >"$tmp/threads"
	[ -s "$tmp/threads" ] && [ -z "$(comm -23 "$tmp/threads" "$tmp/ps")" ] && return
	echo "$1: threads $(xargs <"$tmp/threads"), and those of ps: $(xargs <"$tmp/ps")"
	return 1
}

started() # starts a program here; its number in PID
{
	start_background "$tiny" -duration 100s
	PID=$BACKGROUND_PID
	wait_until 20 is_running
}

is_running() { [[ $(readlink "/proc/$PID/exe") == "$tiny" ]]; }

own() { started && recorded && recorded --force-perf-uprobes; }

# The same program in a namespace below, with the same number in it
same_number()
{
	local first

	started && first=$PID || return 1
	# shellcheck disable=SC2016 # the inner shell expands them
	"${alone[@]}" sh -c 'echo $(($2 - 1)) >/proc/sys/kernel/ns_last_pid; "$1" -duration 100s & wait' - "$tiny" "$PID" &
	wait_until 20 below "$first" || return 1
	recorded && recorded --force-perf-uprobes && PID=$first && recorded && recorded --force-perf-uprobes
}

below() # NUMBER: sets PID to the number here of the process that has NUMBER in the namespace below
{
	PID=$(awk -v n="$1" '/^NSpid:/ && $3 == n { print $2 }' /proc/[0-9]*/status 2>/dev/null)
	[ -n "$PID" ] && is_running
}

# Each ends by itself, and has recorded the program.
commands_end()
{
	local trace

	timeout 30 $GOTRACE record -o "$tmp/command.trace" -- "$tiny" -duration 300ms &&
		timeout 30 $GOTRACE record -o "$tmp/script.trace" -- sh -c "true; exec $tiny -duration 300ms" &&
		timeout 30 $GOTRACE record --follow -o "$tmp/follow.trace" -- sh -c "$tiny -duration $(stretched 1s) & wait" || return 1
	for trace in "$tmp/command.trace" "$tmp/script.trace" "$tmp"/follow.trace*; do
		build/gotrace check "$trace" || return 1
	done
}

if [ "${1-}" = within ]; then
	tmp=$2 background=() stretch=$(slowness)
	"${@:3}"
	exit
fi

within() # LEVELS FUNCTION
{
	local levels=()

	for ((i = 0; i < $1; i++)); do
		levels+=("${alone[@]}")
	done
	timeout -k 5 120 "${levels[@]}" bash selftests/check/namespaces.sh within "$tmp" "$2"
}

# --- what is refused: before a command is started

not_started() # PATTERN PREFIX...: with each way to choose a target
{
	local pattern=$1
	shift

	refused 1 "$pattern" "$@" $GOTRACE record -d 1s -o "$tmp/x.trace" -- touch "$tmp/started" &&
		refused 1 "$pattern" "$@" $GOTRACE record --follow -d 1s -o "$tmp/x.trace" -- touch "$tmp/started" &&
		refused 1 "$pattern" "$@" $GOTRACE record -p 1 -d 1s -o "$tmp/x.trace" &&
		refused 1 "$pattern" "$@" $GOTRACE record --exe '*/tiny' --rotate 1s -d 1s -o "$tmp/folder" &&
		"$@" $GOTRACE doctor >"$tmp/doctor"
	tr -s '\n ' ' ' <"$tmp/doctor" | grep -E "MISSING namespaces $pattern" && [ ! -e "$tmp/started" ]
}

ktap_start
try "in a PID namespace: the trace matches runtime/trace of the same run" in_namespace fidelity "$ORACLE_GO"
try "threads of a program there, and of no other process" within 1 own
try "in a namespace of a namespace" within 2 own
try "the same number in this namespace and in one below" within 1 same_number
try "a command, a script and --follow end" within 1 commands_end
try "a user namespace of its own is refused" not_started 'gotrace-bpf is in a user namespace of its own' \
	unshare --user --map-root-user
try "/proc of another PID namespace is refused" not_started '/proc is missing, or of another PID namespace' \
	unshare --pid --fork --kill-child
in_all try "runc is installed" locked selftests/deps.sh runc libcap2-bin
for script in fidelity inline targets; do
	in_all try "check/$script in a container" in_a_container $script
done
for script in labels flight serve cpu_profile triggers; do
	in_all try "check/$script in a PID namespace" in_namespace $script
done
ktap_end
