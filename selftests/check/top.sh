#!/bin/bash
# Tests gotrace top: the figures of each window are those that latency, histogram and requests print
# for the same time, and the states of goroutines those that the events lead to; -p records a process;
# on a terminal keys are read, names contain no control sequences, and the terminal is restored.
# depends on: Makefile bpf include userspace selftests/targets
# parallel
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

same() # WHAT OURS THEIRS
{
	[ -n "$2" ] && [ "$2" = "$3" ] || { echo "$1: $2; expected $3"; return 1; }
}

functions='[.functions[] | {name, count, total_ns, oncpu_ns, go_runnable_ns, kernel_runnable_ns, throttled_ns,
	kernel_blocked_ns, syscall_blocked_ns, go_blocked_ns}] | sort_by(.name, .total_ns)'

# The state of each goroutine after the last event up to a time, counted.
states_at() # TRACE TIME
{
	$READER events --json "$1" | python3 -c '
import collections, json, sys
state = {}
for line in sys.stdin:
    ev = json.loads(line)
    if ev["time"] > int(sys.argv[1]):
        break
    if ev.get("kind") == "StateTransition" and ev.get("goroutine") is not None:
        state[ev["goroutine"]] = ev["to"]
n = collections.Counter(state.values())
print(n["Runnable"], n["Running"], n["Waiting"], n["Syscall"])' "$2"
}

# Sums of the reasons of all functions, by part and name.
reasons_of() # OPTION... TRACE
{
	$READER latency --json "$@" | jq -cS '[.functions[].by_reason | to_entries[] | .key as $part |
		.value[] | {part: ($part | gsub("_"; "-")), name, ns}] | group_by(.part, .name) |
		map({part: .[0].part, name: .[0].name, ns: (map(.ns) | add)} | select(.ns != 0))'
}

# A window is [FROM, TO); the last one has the end of the trace, too.
window_equals() # TRACE WINDOW [last]
{
	local trace=$1 window=$2 kind range

	range=(--from "@$(jq .from <<<"$window")" --to "@$(jq .to <<<"$window")")
	[ -z "${3-}" ] || range=("${range[@]:0:2}")
	same functions "$(jq -cS "$functions" <<<"$window")" \
		"$($READER latency --json "${range[@]}" "$trace" | jq -cS "$functions")" || return 1
	same reasons "$(jq -cS '.reasons | sort_by(.part, .name)' <<<"$window")" "$(reasons_of "${range[@]}" "$trace")" || return 1
	for kind in sched runqueue syscall gc stw block; do
		same $kind "$(jq -c ".intervals.$kind | [.count, .sum_ns]" <<<"$window")" \
			"$($READER histogram --of $kind --json "${range[@]}" "$trace" |
				jq -c '[.count, .sum_ns]')" || return 1
	done
	same assists "$(jq .gc_assist_ns <<<"$window")" \
		"$($READER latency --json "${range[@]}" "$trace" | jq '[.functions[].of_which.gc_assist_ns] | add')" || return 1
	same requests "$(jq -cS '.requests | sort_by(.name)' <<<"$window")" \
		"$($READER requests --json "${range[@]}" "$trace" |
			jq -cS '[.requests[] | select(.count > 0) | {name, count, errors, total_ns}] | sort_by(.name)')" || return 1
	same states "$(jq -r '.goroutines | "\(.runnable) \(.running) \(.waiting) \(.syscall)"' <<<"$window")" \
		"$(states_at "$trace" "$(jq .to <<<"$window")")"
}

# TRACE: the numbers of each window of $tmp/windows, from the events between its bounds. A window begins with the Sync
# of a generation; heap and GOMAXPROCS are the last values up to its end.
numbers_equal()
{
	$READER events --kernel --json "$1" 2>"$tmp/err" | python3 -c '
import json, sys
windows = [json.loads(line) for line in open(sys.argv[1])]
metrics = {"/sched/gomaxprocs:threads": "gomaxprocs", "/memory/classes/heap/objects:bytes": "heap", "/gc/heap/goal:bytes": "heap_goal"}
last, want, syncs = dict.fromkeys(metrics.values(), 0), [], []
for line in sys.stdin:
    e = json.loads(line)
    if e["event"] == "Sync":
        syncs.append(e["time"])
        if e["time"] in [w["from"] for w in windows]:
            want.append({"from": e["time"], "created": 0, "ended": 0, "kernel_events": 0, **last})
    elif e["kind"] == "StateTransition" and "goroutine" in e:
        want[-1]["created"] += e["from"] == "NotExist"
        want[-1]["ended"] += e["to"] == "NotExist"
    elif e["kind"] == "Metric":
        want[-1][metrics[e["name"]]] = last[metrics[e["name"]]] = e["value"]
    want[-1]["kernel_events"] += e["kind"] == "Kernel"
for i, w in enumerate(want):
    w["to"] = want[i + 1]["from"] if i + 1 < len(want) else syncs[-1]
have = [{name: w[name] for name in want[0]} for w in windows]
if have != want:
    sys.exit(f"{have}\nby the events {want}")' "$tmp/windows" &&
		same lost "$(jq -s 'map(.lost) | add' "$tmp/windows")" "$($READER stat --json "$1" | jq '.private.lost // 0')"
}

windows_equal() # TRACE LEAST: it has at least so many windows
{
	local window n=0 all

	$READER top --interval 1s --json "$1" >"$tmp/windows" || return 1
	all=$(wc -l <"$tmp/windows")
	[ "$all" -ge "$2" ] || { echo "$all windows"; return 1; }
	numbers_equal "$1" || return 1
	while read -r window; do
		n=$((n + 1))
		# all of a long trace would take long, and the last one differs
		[ $n -le 2 ] || [ $n -eq "$all" ] || continue
		window_equals "$1" "$window" $([ $n -lt "$all" ] || echo last) || return 1
	done <"$tmp/windows"
	[ "$(jq -s 'map(.intervals.block.count) | min' "$tmp/windows")" -gt 0 ]
}

# The numbers of events of all windows add up to those of the file.
adds_up() # TRACE
{
	same events "$($READER top --interval 1s --json "$1" | jq -s 'map(.events) | add')" \
		"$($READER metrics "$1" | sed -n 's/^gotrace_events_total //p')"
}

from_pipe() # TRACE: as from the file
{
	$READER top --interval 1s --json "$1" >"$tmp/file" && cat "$1" | $READER top --json >"$tmp/pipe" &&
		cmp "$tmp/file" "$tmp/pipe" && [ "$(wc -l <"$tmp/pipe")" -ge 2 ]
}

table() # TRACE: the columns are those of the JSON, by the sort key
{
	local have want

	have=$($READER top --sort go-blocked --top 3 "$1" | awk '/START FUNCTION$/ { on = 1; next } on { print $1, $NF }')
	want=$($READER top --json "$1" | jq -r '.functions | sort_by(-.go_blocked_ns)[:3][] |
		"\(.count) \(if .name == "" then "recorded)" else .name end)"')
	[ "$(wc -l <<<"$have")" -eq 3 ] && same table "$have" "$want"
}

# A terminal of 80 columns in which keys are typed; prints what is drawn, and checks that the modes of the
# terminal are restored and that q, or the signal, ends the command. python3 has pseudo terminals.
on_terminal() # KEYS|SIGNAL STATUS COMMAND...
{
	python3 - "$@" <<-'EOF'
		import fcntl, os, pty, select, signal, struct, sys, termios, time
		keys, want, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
		parent, child = pty.openpty()
		fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
		before = termios.tcgetattr(child)
		pid = os.fork()
		if not pid:
		    os.setsid()
		    fcntl.ioctl(child, termios.TIOCSCTTY, 0)
		    for fd in 0, 1, 2:
		        os.dup2(child, fd)
		    os.environ.pop("COLUMNS", None), os.environ.pop("LINES", None)
		    os.execvp(command[0], command)
		seen, sent, status = b"", False, None
		for _ in range(600): # 60 s, in which a machine that stands still has less
		    if select.select([parent], [], [], 0.1)[0]:
		        seen += os.read(parent, 65536)
		    if not sent and b"START FUNCTION" in seen:
		        sent = True
		        if keys.startswith("SIG"):
		            os.kill(pid, getattr(signal, keys))
		        else:
		            os.write(parent, keys.encode())
		    if sent:
		        done, status = os.waitpid(pid, os.WNOHANG)
		        if done:
		            break
		else:
		    os.kill(pid, signal.SIGKILL)
		    sys.exit("it did not end: %r" % seen[-500:])
		while select.select([parent], [], [], 0.1)[0]:
		    seen += os.read(parent, 65536)
		code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
		assert code == want, (code, seen[-300:])
		assert termios.tcgetattr(child) == before, "the modes of the terminal changed"
		assert b"\x1b" not in seen.split(b"\x1b[?25h\x1b[?1049l")[1], seen[-100:]
		seen = seen.split(b"\x1b[?1049l")[0] + b"\x1b[?1049l"
		import re
		text = re.sub(rb"\x1b\[(\?1049[hl]|\?25[hl]|H|J|1?m)", b"", seen)
		assert b"\x1b" not in text, text
		for view in re.split(rb"\x1b\[H\x1b\[J", seen):
		    lines = re.sub(rb"\x1b\[[?0-9]*[a-zA-Z]", b"", view).decode().split("\r\n")
		    assert max(map(len, lines)) <= 80 and len(lines) <= 24, lines
		sys.stdout.buffer.write(seen)
	EOF
}

keys_and_signals() # TRACE
{
	on_terminal q 0 $READER top "$1" >"$tmp/view" && grep -q 'now oncpu' "$tmp/view" &&
		on_terminal '>>q' 0 $READER top "$1" >"$tmp/view" && grep -q 'now kernel-runnable' "$tmp/view" &&
		on_terminal '< q' 0 $READER top "$1" >"$tmp/view" && grep -q 'now count.*continue' "$tmp/view" &&
		on_terminal SIGTERM 143 $READER top "$1" >/dev/null && on_terminal SIGINT 0 $READER top "$1" >/dev/null
}

hostile_names() # TRACE: copies it with names that contain control sequences
{
	LC_ALL=C sed 's/main\.main/\x1b[31mred\xff/g' "$1" >"$tmp/hostile.trace"
	$READER top --top 100 "$tmp/hostile.trace" >"$tmp/hostile" && grep -qF '\x1b[31mred\xff' "$tmp/hostile" &&
		! grep -q $'\x1b' "$tmp/hostile" && on_terminal q 0 $READER top "$tmp/hostile.trace" >/dev/null
}

# A process is recorded from outside, until ^C; its counts are in the windows.
live()
{
	start_target selftrace "$ORACLE_GO" -duration 3s $FEW_SYSCALLS || return 1
	start_background $READER top -p "$TARGET_PID" --json
	wait_until 20 grep -q 'gotrace-bpf: recording' "$tmp/background.out" || { cat "$tmp/background.out"; return 1; }
	tell_target start
	expect_target done 60 || return 1
	stop_target
	wait "$BACKGROUND_PID" || { cat "$tmp/background.out"; return 1; }
	grep '^{' "$tmp/background.out" >"$tmp/live" || return 1
	jq -es 'length >= 3 and (map(.kernel_events) | add) > 0 and (map(.intervals.runqueue.count) | add) > 0 and
		(map(.created) | add) > 100' "$tmp/live" >/dev/null || { cat "$tmp/background.out"; return 1; }
}

live_on_terminal()
{
	start_target selftrace "$ORACLE_GO" -duration 60s $FEW_SYSCALLS && tell_target start || return 1
	on_terminal q 0 $READER top -p "$TARGET_PID" >"$tmp/view" && grep -q 'run queue delay' "$tmp/view" &&
		text_is_clean "$TARGET_PID" && kill -KILL "$TARGET_PID"
}

# A recorder that fails after it was asked to end, as one does that found no room in its pipe for a second.
quit_while_it_fails()
{
	mkdir "$tmp/bin" && cp build/gotrace "$tmp/bin/" && cat >"$tmp/bin/gotrace-bpf" <<-END && chmod +x "$tmp/bin/gotrace-bpf" || return 1
		#!/bin/bash
		trap 'kill %1; wait; touch "$tmp/failed"; exit 1' TERM
		"$PWD/build/gotrace-bpf" "\$@" & wait
	END
	start_target selftrace "$ORACLE_GO" -duration 60s $FEW_SYSCALLS && tell_target start || return 1
	on_terminal q 0 "$tmp/bin/gotrace" top -p "$TARGET_PID" >"$tmp/view" && [ -e "$tmp/failed" ] &&
		text_is_clean "$TARGET_PID" && kill -KILL "$TARGET_PID"
}

fails()
{
	mkdir "$tmp/bin" && cp build/gotrace "$tmp/bin/" && cat >"$tmp/bin/gotrace-bpf" <<-END || return 1
		#!/bin/bash
		trap 'echo "gotrace-bpf: cannot write -" >&2; exit 1' TERM
		cat "$long"
		while :; do sleep 0.1; done
	END
	chmod +x "$tmp/bin/gotrace-bpf" && on_terminal q 0 "$tmp/bin/gotrace" top -p 1 >"$tmp/view" && grep -q 'cannot write -' "$tmp/view"
}

fails()
{
	! $READER top -p 999999999 >/dev/null 2>"$tmp/errors" && grep -q 'gotrace: gotrace-bpf has failed$' "$tmp/errors" &&
		[ "$(grep -c '' "$tmp/errors")" -le 2 ] || { cat "$tmp/errors"; return 1; }
	$READER top -p 1 x >/dev/null 2>&1
	[ $? -eq 2 ] || return 1
	$READER top --requests http x >/dev/null 2>&1
	[ $? -eq 2 ] || return 1
	$READER top --interval 0 x >/dev/null 2>&1
	[ $? -eq 2 ]
}

ktap_start
try "builds" build_reader
long="$CORPUS/runs/long-$ORACLE_GO.trace"
try "a trace of runtime/trace" trace_long_runs
try "its windows equal other commands" windows_equal "$long" 2
try "windows add up" adds_up "$long"
try "from a pipe" from_pipe "$long"
try "table" table "$long"
try "keys and signals on a terminal" keys_and_signals "$long"
try "control sequences in names" hostile_names "$long"
if record_target requests "$ORACLE_GO" "" -n $(by_tier 20 100 100); then
	try "windows with kernel events equal other commands" windows_equal "$RECORDED" 1
else
	not_ok "record a program"
fi
try "-p records a process" live
try "-p on a terminal" live_on_terminal
try "q while the recorder fails" quit_while_it_fails
try "failures" fails
ktap_end
