# What the test scripts (selftests/check, selftests/check-long) share: KTAP output, targets to trace,
# judging a trace. A script reads this file first, and then says for example:
#
#     . "$(dirname "$0")/../lib.sh"
#     ktap_start 2
#     start_target pingpong go1.26.8 -goroutines 4    # waits for its line "ready"
#     start_background $GOTRACE record -p $TARGET_PID -o "$tmp/x.trace"
#     tell_target start; expect_target done; ...
#     try "is a valid trace" check_trace "$tmp/x.trace"
#     try "the target ended well" stop_target         # tells it to exit, returns its exit status
#     ktap_end
#
# Scripts run in the tree's top folder. $tmp is theirs; it stays for a look when a test failed. What
# start_target and start_background started is killed when the script ends, however it ends.

set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export HOME=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)} LC_ALL=C.UTF-8
PATH=$PATH:/usr/sbin
make_variable() { sed -n "s/^$1 *:= *//p" Makefile; }
export JUDGE_GO=${JUDGE_GO:-$(make_variable JUDGE_GO)}
export TARGET_GOS=${TARGET_GOS:-$(make_variable TARGET_GOS)}
GOTRACE=build/gotrace-bpf

locked() # COMMAND...: not while another script does something of the kind
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

# --- time

# Prints how many times slower than a quiet machine of the developers' (2 virtual CPUs) this one
# is at this moment, by the wall-clock time of a loop: 1 to 20. Every deadline of a test is
# multiplied by it, since a deadline is there to end a hang, not to judge the machine. An emulated
# machine is slow by itself, which its limits allow for; it is given its host's slowness.
SLOWNESS_REFERENCE=150000 # microseconds that the loop takes there

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

# STARTED SECONDS: true when SECONDS have passed since $SECONDS was STARTED, or as many times more as
# the machine is slow at their end or was when the script began
expired()
{
	local times

	[ $SECONDS -gt $(($1 + $2 * ${stretch:-1})) ] || return 1
	times=$(slowness)
	[ $SECONDS -gt $(($1 + $2 * times)) ]
}

stretched() # DURATION: 300ms or 2s, as long as the same work takes on the machine as the script found it
{
	echo "$((${1%%[a-z]*} * ${stretch:-1}))${1##*[0-9]}"
}

pause() # MILLISECONDS: sleeps, stretched
{
	local ms=$(($1 * ${stretch:-1}))

	sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
}

# As the command, but SECONDS are multiplied by how slow the machine was when the script began.
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

# jq 1.6 says "true" to -e when there is nothing to judge, a file that nothing was written to for
# example. That is 4 here, as it is since 1.7.
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

ktap_start() # [N]: N results will follow; without N, ktap_end counts
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

ktap_cleanup()
{
	local status=$? pid

	for pid in "${background[@]}"; do
		kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
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

skip() # NAME REASON: a failure unless selftests/run knows the reason as a permitted one
{
	ktap_count=$((ktap_count + 1))
	echo "ok $ktap_count $1 # SKIP $2"
}

note() # TEXT: a comment, line by line
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# NAME COMMAND...: ok if the command succeeds; its output is shown only if it fails. It runs in this
# shell, so that it may set variables.
try()
{
	local name=$1 status
	shift

	"$@" >"$tmp/try.out" 2>&1 </dev/null
	status=$?
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

# SECONDS COMMAND...: runs the command again and again; false when the time is over. See slowness().
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
	: >"$tmp/background.out"	# here, not in the child: who waits for a line must not see an old one
	"$@" >"$tmp/background.out" 2>&1 </dev/null &
	BACKGROUND_PID=$!
	background+=("$BACKGROUND_PID")
}

# NAME GO [ARGUMENT...]: starts build/targets/GO/NAME, or GO/NAME if GO is the path of a folder, and
# waits for its line "ready". Sets TARGET_PID and TARGET_OUT (all that it prints). One target at a time. A
# target obeys the words on its standard input: "start" (it works, then prints "done") and "exit"; it
# exits on the end of file as well.
# The value of -duration is stretched, so that as much happens in it as on a quiet machine.
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

tell_target() # WORD
{
	echo "$1" >&"$TARGET_IN"
}

expect_target() # WORD [SECONDS]: waits for a line that begins with the word. See slowness().
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

target_result() # what it said of its work: the JSON after "done"
{
	sed -n 's/^done //p' "$TARGET_OUT"
}

stop_target() # tells it to exit; returns its exit status, 124 if it had to be killed
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

target_is_gone() # exited, even when not yet waited for
{
	! grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$TARGET_PID/status" 2>/dev/null
}

# --- judging

check_trace() # FILE: our reader and both of Go's read it to its end
{
	build/gotrace check "$1" &&
	build/reference/validate "$1" &&
	GOTOOLCHAIN=$JUDGE_GO "${GO:-go}" tool trace -d=parsed "$1" >/dev/null
}

stat_of() # KEY FILE: a number of a --stats file
{
	jq -er ".$1" "$2"
}
