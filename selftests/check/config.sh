#!/bin/bash
# gotrace-bpf serve as a service: its configuration file, its reports to the manager, and the systemd
# unit, with whose capabilities the service works.
# tier: all
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace debian selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

CONTROL=

config() { printf '%s\n' "$@" >"$CONFIG" && chmod 600 "$CONFIG"; } # LINE...
state() { $GOTRACE status --json --control "$CONTROL"; }

# LISTEN-ADDRESS: starts a listener that stands for the service manager
managed_by()
{
	ADDRESS=$1 REPORTS=$tmp/reports
	: >"$REPORTS"
	: >"$tmp/manager.out" # here, not in the child, so that no old line is found
	build/reference/service listen "$ADDRESS" "$REPORTS" >"$tmp/manager.out" 2>&1 &
	MANAGER_PID=$!
	background+=("$MANAGER_PID")
	wait_until 10 grep -q ready "$tmp/manager.out"
}

reported() { jq -er .text "$REPORTS" | grep -qx -- "$1"; } # LINE
reports() { jq -r .text "$REPORTS" | grep -cx -- "$1"; }
has_more() { [ "$(reports "$1")" -gt "$2" ]; } # LINE COUNT

# Options of the file and of the command line: the file's are those of the recording, too.
from_a_file()
{
	start_target pingpong "$ORACLE_GO" -duration 60s -rate 2000 -procs 2 && tell_target start || return 1
	config "# a comment" "" "control = $tmp/run/control" "	exe = no-such-program-$$  " "pid = $TARGET_PID" "events = sched" \
		"no-stacks = yes" "inherit = no" || return 1
	CONTROL=$tmp/run/control
	start_background $GOTRACE serve --config "$CONFIG" && recorder_is_live || return 1
	wait_until 20 eval 'state | jq -e "length == 1 and .[0].state == \"recording\" and .[0].hits > 0"'
	state | jq -c '.[0] | {pid, hits, tracepoint_hits}'
	state | jq -e --argjson pid "$TARGET_PID" '.[0].pid == $pid and .[0].tracepoint_hits == 0' && stop_recorder
}

# The command line replaces all lines of its options.
command_line_wins()
{
	config "control = $tmp/never/control" "exe = no-such-program-$$" "pid = 1" "events = nonsense" || return 1
	CONTROL=$tmp/run/control
	start_background $GOTRACE serve --config "$CONFIG" --control "$CONTROL" -p "$TARGET_PID" --events sched && recorder_is_live &&
		[ ! -e "$tmp/never" ] && state | jq -e --argjson pid "$TARGET_PID" 'length == 1 and .[0].pid == $pid' && stop_recorder
}

# STATUS PATTERN LINE...: a file with these lines is refused
refused_file()
{
	local status=$1 pattern=$2
	shift 2

	config "$@" && refused "$status" "$pattern" $GOTRACE serve --config "$CONFIG"
}

refused_files()
{
	refused_file 2 "$CONFIG, line 2: unknown option 'exee'; the most similar option is 'exe'" "" "exee = x" &&
		refused_file 2 "$CONFIG, line 1: .* expected NAME = VALUE" "exe" &&
		refused_file 2 "$CONFIG, line 3: invalid PID" "# x" "exe = x" "pid = -1" &&
		refused_file 2 "$CONFIG, line 1: .* only on the command line" "config = /etc/passwd" &&
		refused_file 2 "$CONFIG, line 1: .* must be yes or no" "no-stacks = maybe" &&
		refused_file 2 'no process given' "http = 127.0.0.1:6070" &&
		refused 1 'No such file' $GOTRACE serve --config "$tmp/none"
}

refused_owners()
{
	config "exe = x" && chmod 666 "$CONFIG" && refused 1 'other users can write it' $GOTRACE serve --config "$CONFIG" && chmod 600 "$CONFIG" &&
		chown 65534 "$CONFIG" && refused 1 'belongs to another user' $GOTRACE serve --config "$CONFIG" && chown 0 "$CONFIG" &&
		mkfifo "$tmp/fifo" && refused 1 'not a regular file' $GOTRACE serve --config "$tmp/fifo"
}

# Each line of the example is an option, also those that are commented out.
example()
{
	sed 's/^# \([a-z-]* = \)/\1/; /^unit/d; /^exe/d; /^http/d; /^output/d; /^control/d' debian/gotrace-bpf.conf.example >"$CONFIG" &&
		grep -c '^[a-z]' "$CONFIG" && CONTROL=$tmp/run/control &&
		start_background $GOTRACE serve --config "$CONFIG" -o "$tmp/snapshots" --exe "no-such-program-$$" --control "$CONTROL" &&
		wait_until 20 state && stop_recorder
}

# READY once requests are answered, then reports that the loop goes on, the number of targets, and STOPPING.
notifies() # path|abstract
{
	local address=$PWD/$tmp/notify

	[ "$1" = path ] || address=@gotrace-test-$$
	managed_by "$address" && CONTROL=$tmp/run/control || return 1
	start_background env NOTIFY_SOCKET="$address" WATCHDOG_USEC=1000000 $GOTRACE serve --control "$CONTROL" -p "$TARGET_PID"
	wait_until 20 reported READY=1 && state && wait_until 20 reported 'STATUS=1 process is recorded' && wait_until 20 has_more WATCHDOG=1 3 || return 1
	stop_recorder && wait_until 20 reported STOPPING=1 && jq -c . "$REPORTS" | tail -n 3
	kill "$MANAGER_PID"
	rm -f "$tmp/notify"
}

# A loop that stalls, here by SIGSTOP, reports nothing, and goes on when it does.
watchdog()
{
	local before

	managed_by "$PWD/$tmp/notify" && CONTROL=$tmp/run/control || return 1
	start_background env NOTIFY_SOCKET="$PWD/$tmp/notify" WATCHDOG_USEC=1000000 $GOTRACE serve --control "$CONTROL" --exe "no-such-program-$$"
	wait_until 20 has_more WATCHDOG=1 1 && kill -STOP "$BACKGROUND_PID" && pause 500 && before=$(reports WATCHDOG=1) && sleep 3 || return 1
	echo "reports: $before, and $(reports WATCHDOG=1) 3 s later"
	[ "$(reports WATCHDOG=1)" -eq "$before" ] && kill -CONT "$BACKGROUND_PID" && wait_until 20 has_more WATCHDOG=1 "$before" && stop_recorder
}

# Those of the variable WATCHDOG_PID are for another process.
not_its_manager()
{
	: >"$REPORTS" && managed_by "$PWD/$tmp/other" &&
		start_background env NOTIFY_SOCKET="$PWD/$tmp/other" WATCHDOG_USEC=200000 WATCHDOG_PID=1 $GOTRACE serve --control "$CONTROL" --exe "no-such-program-$$" &&
		wait_until 20 reported READY=1 && sleep 1 && [ "$(reports WATCHDOG=1)" -eq 0 ] && stop_recorder
}

# ---- the unit

unit_is_valid()
{
	selftests/deps.sh systemd || return 1
	locked make -s DESTDIR="$PWD/$tmp/root" PREFIX=/usr install_service && UNIT=$tmp/root/usr/lib/systemd/system/gotrace-bpf.service && [ -e "$tmp/root/etc/gotrace-bpf.conf.example" ] &&
		grep -q '^ExecStart=/usr/bin/gotrace-bpf serve ' "$UNIT" && sed -i "s,=/usr/bin/gotrace-bpf,=$PWD/$GOTRACE," "$UNIT" || return 1
	systemd-analyze verify --man=no "$UNIT" 2>&1 | tee "$tmp/verify"
	[ ! -s "$tmp/verify" ]
}

# In tenths, as docs/security.md says; each remaining exposure has its reason there.
unit_is_hardened() { systemd-analyze security --offline=true --threshold=28 "$UNIT" >"$tmp/security" || { grep ✗ "$tmp/security" && return 1; }; }

# With the capabilities of the unit: a program of another user, and a request by HTTP.
capabilities()
{
	local caps port=$((20000 + $$ % 12000)) trace=$tmp/caps.trace

	caps=$(sed -n 's/^CapabilityBoundingSet=//p' "$UNIT" | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
	echo "$caps"
	CONTROL=$tmp/run/control
	start_background setpriv --no-new-privs --bounding-set="-all,$caps" --inh-caps=-all $GOTRACE serve --control "$CONTROL" \
		-p "$TARGET_PID" --http 127.0.0.1:$port && recorder_is_live && wait_until 20 eval 'state | jq -e ".[0].state == \"recording\""' &&
		curl -sS --max-time "$((20 * stretch))" -o "$trace" "http://127.0.0.1:$port/debug/pprof/trace?seconds=1" && check_trace "$trace" &&
		stop_recorder
}

ktap_start
CONFIG=$tmp/gotrace.conf
try "options of a file" from_a_file
try "the command line comes first" command_line_wins
try "refused lines and files" refused_files
try "files of other users" refused_owners
try "the example" example
for kind in path abstract; do
	try "the service manager, by a socket with a name: $kind" notifies $kind
done
try "a loop that stalls" watchdog
try "a watchdog of another process" not_its_manager
if try "the unit" unit_is_valid; then
	try "the unit permits no more than it needs" unit_is_hardened
	try "the capabilities of the unit" capabilities
fi
kill "$TARGET_PID"
ktap_end
