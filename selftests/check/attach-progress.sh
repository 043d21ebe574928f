#!/bin/bash
# Tests the progress line that gotrace-bpf shows on a terminal while attaching takes more than half
# a second. It names the current step and is cleared at the end. Nothing is shown when attaching is
# faster, or when stderr is a file.
# parallel
# timeout: 600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
steps='(analysing|checking|comparing|loading|attaching)[^.]* \.\.\.'

# MS PAUSE COMMAND...: runs the command on a terminal and stops it after MS milliseconds, for PAUSE.
# The terminal's contents are in $tmp/screen, with ESC as ^[ and CR as ^M.
on_terminal()
{
	timeout 60 python3 - "$@" <<'END' | cat -v >"$tmp/screen"
import os, pty, signal, sys, time
after, pause = float(sys.argv[1]) / 1000, float(sys.argv[2]) / 1000
pid, fd = pty.fork()
if not pid:
    os.execvp(sys.argv[3], sys.argv[3:])
if pause:
    time.sleep(after)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(pause)
    os.kill(pid, signal.SIGCONT)
while True:
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
	status=${PIPESTATUS[0]}
	cat "$tmp/screen"
	return "$status"
}

# Stopped at some moment during the attach, it shows a step, and clears it before it reports.
shows_steps() # COMMAND...
{
	local ms seen=0

	for ms in 5 10 15 20 30 40 60 80 120; do
		on_terminal $ms 700 "$@" || return 1
		if grep -qE "$steps" "$tmp/screen"; then
			seen=1
			grep -E "$steps" "$tmp/screen" | grep -vqE "$steps.*\^M\^\[\[K" && { echo "not cleared"; return 1; }
		fi
	done
	[ $seen -eq 1 ]
}

is_quiet_when_quick()
{
	for _ in $(seq 20); do
		on_terminal 0 0 $GOTRACE record -p "$TARGET_PID" -d 100ms -o "$tmp/x.trace" --stats "$tmp/x.json" || return 1
		[ "$(stat_of attach_ms "$tmp/x.json" | cut -d. -f1)" -lt 400 ] || continue
		grep -qE "$steps" "$tmp/screen" && return 1
		return 0
	done
	return 1
}

# Stopped in the same way, with stderr redirected to a file.
nothing_in_a_file()
{
	local ms pid

	for ms in 10 20 40 60; do
		$GOTRACE record -p "$TARGET_PID" -d 100ms -o "$tmp/x.trace" 2>"$tmp/err" </dev/null &
		pid=$!
		sleep 0.0$ms
		kill -STOP $pid && sleep 0.7 && kill -CONT $pid && wait $pid || return 1
		cat "$tmp/err"
		! grep -qE "$steps" "$tmp/err" && ! grep -q $'\r' "$tmp/err" && [ "$(wc -l <"$tmp/err")" -eq 2 ] || return 1
	done
}

# A program's name is escaped before it is printed.
hostile_name()
{
	local name=$'evil\e[31m\nname' ms

	cp build/targets/"$ORACLE_GO"/tiny "$tmp/$name" || return 1
	for ms in 5 10 15 20 30; do
		on_terminal $ms 700 $GOTRACE probes --no-cache --exe "$tmp/$name" >/dev/null
		grep -q 'evil^\[\[31m' "$tmp/screen" && return 1
		grep -q 'analysing evil?\[31m?name \.\.\.' "$tmp/screen" && return 0
	done
	return 1
}

ktap_start 6
start_target parked "$ORACLE_GO" -duration 100ms || exit 1
try "record -p shows the current step" shows_steps $GOTRACE record -p "$TARGET_PID" -d 100ms -o "$tmp/x.trace"
try "record -- CMD shows the current step" shows_steps $GOTRACE record --no-cache -o "$tmp/x.trace" -- build/targets/"$ORACLE_GO"/tiny -duration 50ms
try "doctor -p shows the current step" shows_steps $GOTRACE doctor --no-cache -p "$TARGET_PID"
try "no progress line when attaching is fast" is_quiet_when_quick
try "no progress line in a file" nothing_in_a_file
try "a program name with control characters" hostile_name
ktap_end
