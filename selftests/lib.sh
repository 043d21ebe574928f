# Functions for the test scripts (selftests/check): KTAP output, traced targets, trace validation. A script
# reads this file first, then for example:
#
#     . "$(dirname "$0")/../lib.sh"
#     ktap_start 2
#     start_target pingpong go1.26.8 -goroutines 4    # waits for "ready"
#     start_background $GOTRACE record -p $TARGET_PID -o "$tmp/x.trace"
#     tell_target start; expect_target done; ...
#     try "is a valid trace" check_trace "$tmp/x.trace"
#     try "the target exits normally" stop_target     # sends "exit", returns its exit status
#     ktap_end
#
# Scripts run in the tree's top folder. $tmp is a folder of the script, kept when a test failed. All
# processes of start_target and start_background are killed when the script ends, for any reason.

set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)} LC_ALL=C.UTF-8 TERM=xterm
PATH=$PATH:/usr/sbin
our_version() { sed -n 's/^#define GOTRACE_VERSION "\(.*\)"/\1/p' include/gotrace/version.h; }
make_variable() { sed -n "s/^$1 *[:?]= *//p" Makefile; }
export ORACLE_GO=${ORACLE_GO:-$(make_variable ORACLE_GO)}
export TARGET_GOS=${TARGET_GOS:-$(make_variable TARGET_GOS)}
GOTRACE=build/gotrace-bpf

# The tier in which the script runs: check, all (also when it was started by hand), or long (with LONG=1)
[ -z "${LONG-}" ] || TIER=long
export TIER=${TIER:-all}
[ $TIER != long ] || LONG=1
[ $TIER != check ] || TARGET_GOS=$(cut -d ' ' -f 1,2 <<<"$TARGET_GOS") # the newest and the oldest

by_tier() # CHECK ALL LONG: prints the value for the tier
{
	case $TIER in
	check) echo "$1" ;;
	all) echo "$2" ;;
	*) echo "$3" ;;
	esac
}

in_all() # COMMAND...: runs it in check-all and check-long only
{
	[ $TIER = check ] || "$@"
}

verbs_of() # READER or RECORDER: its commands
{
	sed -n "/^#define $1_VERBS/,/^$/s/^\tX(\([a-z]*\),.*/\1/p" userspace/lib/verbs.h
}

wanted() # NAME: contains one of the words in parts, or there are none
{
	local part

	[ ${#parts[@]} -eq 0 ] && return
	for part in "${parts[@]}"; do
		[[ $1 == *"$part"* ]] && return
	done
	return 1
}

locked() # COMMAND...: runs it while holding the build lock
{
	local status

	mkdir -p build
	exec 8>build/.lock
	flock 8
	"$@" 8>&-
	status=$?
	exec 8>&-
	return $status
}

# NAME COMMAND...: in a run of selftests/run, succeeds only once for all scripts: make takes a second of
# CPU time to find that nothing is to be built.
once()
{
	[ -z "${ONCE_FOLDER-}" ] || [ ! -e "$ONCE_FOLDER/$1" ] || return 0
	"${@:2}" || return
	[ -z "${ONCE_FOLDER-}" ] || : >"$ONCE_FOLDER/$1"
}

# --- time

# Prints how many times slower than a quiet developer machine (2 virtual CPUs) this machine
# currently is, by the wall-clock time of a loop: 1 to 20. Every deadline of a test is multiplied by
# it, since a deadline exists to end a hang, not to measure the machine. In an emulated machine the
# host's slowness is used; the limits there allow for the emulation.
SLOWNESS_REFERENCE=150000 # microseconds for the loop on that machine

slowness()
{
	local i started=${EPOCHREALTIME/./} times

	if [ -n "${GT_SLOWNESS-}" ]; then
		echo "$GT_SLOWNESS"
		return
	fi
	for ((i = 0; i < 100000; i++)); do :; done
	times=$(((${EPOCHREALTIME/./} - started) / SLOWNESS_REFERENCE))
	echo $((times < 1 ? 1 : times > 20 ? 20 : times))
}

# STARTED SECONDS: true when SECONDS, stretched, have passed since $SECONDS was STARTED. The factor
# is the larger of the current slowness and that at the start of the script.
expired()
{
	local times

	[ $SECONDS -gt $(($1 + $2 * ${stretch:-1})) ] || return 1
	times=$(slowness)
	[ $SECONDS -gt $(($1 + $2 * times)) ]
}

stretched() # DURATION: 300ms or 2s; prints it multiplied by the machine's slowness at the start of the script
{
	echo "$((${1%%[a-z]*} * ${stretch:-1}))${1##*[0-9]}"
}

pause() # MILLISECONDS: sleeps, stretched
{
	local ms=$(($1 * ${stretch:-1}))

	sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
}

# Like the command, but SECONDS are multiplied by the machine's slowness at the start of the script.
timeout() # [OPTION...] SECONDS COMMAND...
{
	local options=()

	while [[ $1 == -* ]]; do
		options+=("$1")
		[ "$1" != -k ] || { options+=("$2"); shift; }
		shift
	done
	command timeout "${options[@]}" $(($1 * ${stretch:-1})) "${@:2}"
}

# jq 1.6 -e exits with 0 when it has no input, an empty file for example. Here it exits with 4, as
# since 1.7.
jq()
{
	local printed status

	if [[ ${1-} != -e* ]]; then
		command jq "$@"
		return
	fi
	printed=$(command jq "$@")
	status=$?
	[ -n "$printed" ] || return $((status ? status : 4))
	printf '%s\n' "$printed"
	return $status
}

# --- KTAP

ktap_start() # [N]: N results will follow; without N, ktap_end prints the plan
{
	ktap_plan=${1-} ktap_count=0 ktap_failures=0
	mkdir -p build/tmp
	tmp=$(mktemp -d "build/tmp/$(basename "$0" .sh).XXXXXX") || exit 1
	background=()
	stretch=$(slowness)
	trap ktap_cleanup EXIT
	trap 'exit 143' INT TERM HUP
	echo 'KTAP version 1'
	[ -z "$ktap_plan" ] || echo "1..$ktap_plan"
}

ktap_end() # the script's last line
{
	[ -n "$ktap_plan" ] || echo "1..$ktap_count"
	exit "$((ktap_failures > 0))"
}

# False for a child that was waited for: its PID may be that of another script's process by now.
is_child() # PID
{
	local name value=

	{
		while read -r name value; do
			[ "$name" != PPid: ] || break
		done <"/proc/$1/status"
	} 2>/dev/null
	[ "$value" = $$ ]
}

ktap_cleanup()
{
	local status=$? pid

	for pid in "${background[@]}"; do
		is_child "$pid" && kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	[ $status -ne 0 ] || rm -rf "$tmp"
}

ok() # NAME
{
	ktap_count=$((ktap_count + 1))
	echo "ok $ktap_count $*"
}

not_ok() # NAME
{
	ktap_count=$((ktap_count + 1)) ktap_failures=$((ktap_failures + 1))
	echo "not ok $ktap_count $*"
}

skip() # NAME REASON: counts as a failure unless selftests/run permits the reason
{
	ktap_count=$((ktap_count + 1))
	echo "ok $ktap_count $1 # SKIP $2"
}

note() # TEXT: prints a comment, line by line
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# Sets CPU: seconds of this shell's ended children since `times` wrote the file. In $(), `times` is that of
# another shell.
cpu_since() # FILE
{
	builtin times >"$1.now"
	CPU=$(awk -F '[ ms]' 'FNR == 2 { last = now; now = $1 * 60 + $2 + $4 * 60 + $5 } END { printf "%.1f", now - last }' "$1" "$1.now")
}

# NAME COMMAND...: ok if the command succeeds; its output is shown only if it fails. It runs in this
# shell, so that it can set variables. A comment states the time of a command that takes long.
try()
{
	local name=$1 status started=$SECONDS
	shift

	builtin times >"$tmp/try.before" # a script may have a function of this name
	"$@" >"$tmp/try.out" 2>&1 </dev/null
	status=$?
	if [ $((SECONDS - started)) -ge 3 ]; then
		cpu_since "$tmp/try.before"
		note "$((SECONDS - started)) s, $CPU s of CPU time:"
	fi
	if [ $status -eq 0 ]; then
		ok "$name"
		return 0
	fi
	note "exit status $status of: $*"
	tail -n 40 "$tmp/try.out" | sed 's/^/#   /'
	not_ok "$name"
	return 1
}

# --- targets

# Arguments of the target selftrace: its bursts have few system calls, which otherwise are most events.
FEW_SYSCALLS='-between 20000'

# SECONDS COMMAND...: repeats the command until it succeeds; false after SECONDS. See slowness().
wait_until()
{
	local started=$SECONDS limit=$1
	shift

	until "$@" >/dev/null 2>&1; do
		! expired "$started" "$limit" || return 1
		sleep 0.02
	done
}

start_background() # COMMAND...: sets BACKGROUND_PID; output in $tmp/background.out
{
	: >"$tmp/background.out"	# here, not in the child, so that no old line is found
	"$@" >"$tmp/background.out" 2>&1 </dev/null &
	BACKGROUND_PID=$!
	background+=("$BACKGROUND_PID")
}

# NAME GO [ARGUMENT...]: starts build/targets/GO/NAME, or GO/NAME if GO is the path of a folder, and
# waits for its line "ready". Sets TARGET_PID and TARGET_OUT (its standard output). One target at a
# time. A target reads commands from standard input: "start" (it works, then prints "done") and
# "exit"; it also exits on end of file. The value of -duration is stretched, so that as much happens
# in it as on a quiet machine.
start_target()
{
	local program=build/targets/$2/$1 arguments=() argument before=
	[[ $2 != /* ]] || program=$2/$1
	shift 2

	for argument; do
		[ "$before" != -duration ] || argument=$(stretched "$argument")
		arguments+=("$argument")
		before=$argument
	done
	TARGET_OUT=$tmp/target.out
	rm -f "$tmp/target.in"
	mkfifo "$tmp/target.in" || return 1
	: >"$TARGET_OUT"
	exec {TARGET_IN}<>"$tmp/target.in"
	"$program" "${arguments[@]}" <"$tmp/target.in" >"$TARGET_OUT" 2>"$tmp/target.err" {TARGET_IN}<&- &
	TARGET_PID=$!
	background+=("$TARGET_PID")
	expect_target ready 30
}

tell_target() # COMMAND
{
	echo "$1" >&"$TARGET_IN"
}

expect_target() # WORD [SECONDS]: waits for a line that begins with WORD. See slowness().
{
	local started=$SECONDS

	until grep -q "^$1\b" "$TARGET_OUT"; do
		if ! kill -0 "$TARGET_PID" 2>/dev/null || expired "$started" "${2-60}"; then
			note "no line \"$1\" from target $TARGET_PID; its standard error:"
			tail -n 20 "$tmp/target.err" | sed 's/^/#   /'
			return 1
		fi
		sleep 0.02
	done
}

target_result() # prints the results of its work: the JSON after "done"
{
	sed -n 's/^done //p' "$TARGET_OUT"
}

stop_target() # sends "exit"; returns its exit status, 124 if it had to be killed
{
	local status

	tell_target exit
	exec {TARGET_IN}>&-
	if ! wait_until 30 target_is_gone; then
		kill -KILL "$TARGET_PID"
		wait "$TARGET_PID" 2>/dev/null
		return 124
	fi
	wait "$TARGET_PID"
	status=$?
	return $status
}

is_gone() # PID: it has exited, even when not yet waited for
{
	! grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status" 2>/dev/null
}

target_is_gone() { is_gone "$TARGET_PID"; }

# --- validation

# GO ARGUMENT...: runs `go tool trace` of that release. The go command takes 0.15 s of CPU time to find
# the tool, since 1.25 one that it has built, so each script asks for it once.
go_trace()
{
	local tool=$tmp/trace-of-$1 found

	if [ ! -e "$tool" ]; then
		found=$(GOTOOLCHAIN=$1 "${GO:-go}" tool -n trace) && ln -sf "$found" "$tool" || return 1
	fi
	"$tool" "${@:2}"
}

check_trace() # FILE: gotrace check and both of Go's readers accept it
{
	build/gotrace check "$1" &&
	build/reference/validate "$1" &&
	go_trace "$ORACLE_GO" -d=parsed "$1" >/dev/null
}

stat_of() # KEY FILE: prints a number of a --stats file
{
	jq -er ".$1" "$2"
}
