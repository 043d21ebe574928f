#!/bin/bash
# Tests conventions of command lines: -h, errors that refer to the help, suggestions for mistyped
# words, a process given by name or by a bare PID, traces that are still being written, pipes, and
# times in the form in which they are printed.
# parallel
# timeout: 200
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh
tiny=build/targets/$ORACLE_GO/tiny

run() # COMMAND...: sets status; the output is in $tmp/out and $tmp/err
{
	timeout 60 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	echo "exit $status: $(head -n 5 "$tmp/err")"
}

says() # STATUS PATTERN COMMAND...: one line on stderr matches PATTERN after its program's name
{
	local want=$1 pattern=$2
	shift 2

	run "$@"
	[ $status -eq "$want" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && [ ! -s "$tmp/out" ] &&
		grep -qE "^$(basename "$1"): $pattern$" "$tmp/err"
}

helps() # PROGRAM VERB: -h, -? and `help VERB` print the same as --help
{
	run "$1" "$2" --help && cp "$tmp/out" "$tmp/help"
	for option in -h '-?'; do
		run "$1" "$2" $option
		[ $status -eq 0 ] && [ ! -s "$tmp/err" ] && cmp "$tmp/out" "$tmp/help" || return 1
	done
	run "$1" help "$2" && cmp "$tmp/out" "$tmp/help" && grep -q -- '-h, --help' "$tmp/help"
}

# --- processes

# NAME [ARGV0]: starts a copy of tiny with that name; sets PID. It is killed at the end, and by the kernel
# when the script itself is killed.
start_named()
{
	[ -e "$tmp/$1" ] || cp "$tiny" "$tmp/$1" || return 1
	setpriv --pdeathsig KILL bash -c 'exec -a "$0" "$1" -duration 900s' "${2-$tmp/$1}" "$tmp/$1" >/dev/null 2>&1 </dev/null &
	PID=$!
	background+=("$PID")
	wait_until 10 eval '[ "$(readlink /proc/$PID/exe)" = "$PWD/$tmp/'"$1"'" ]' && sleep 0.1
}

by_name()
{
	start_named habits-one && run $GOTRACE record -p habits-one -d 200ms -o "$tmp/n.trace" &&
		[ $status -eq 0 ] && grep -q "recording process $PID " "$tmp/err" &&
		run $GOTRACE probes -p habits-one && [ $status -eq 0 ] &&
		run $GOTRACE doctor -p habits-one && [ $status -eq 0 ]
}

long_name() # comm has only 15 bytes of it; and its file is deleted
{
	start_named habits-has-a-long-name && rm "$tmp/habits-has-a-long-name" &&
		run $GOTRACE record -p habits-has-a-long-name -d 200ms -o "$tmp/n.trace" && [ $status -eq 0 ] &&
		run $GOTRACE record -p habits-has-a-lo -d 200ms -o "$tmp/n.trace" && [ $status -eq 0 ]
}

several() # a few of them are listed, with control characters escaped
{
	for _ in $(seq 12); do
		start_named habits-many
	done
	start_named habits-many $'evil\e[31m\nname'
	run $GOTRACE record -p habits-many -d 200ms -o "$tmp/m.trace"
	cat -v "$tmp/err"
	[ $status -eq 1 ] && [ ! -e "$tmp/m.trace" ] && ! grep -q $'\e' "$tmp/err" &&
		grep -q "13 processes are named 'habits-many'; give the PID of one:" "$tmp/err" &&
		[ "$(grep -cE '^gotrace-bpf:   [0-9]+  ' "$tmp/err")" -eq 10 ] &&
		grep -qE "^gotrace-bpf:   and 3 more" "$tmp/err"
}

operands() # a bare PID
{
	start_named habits-op && run $GOTRACE record "$PID" -d 200ms -o "$tmp/n.trace" && [ $status -eq 0 ] &&
		check_trace "$tmp/n.trace" && run $GOTRACE doctor "$PID" && [ $status -eq 0 ] &&
		grep -q "^ok *program" "$tmp/out" && run $GOTRACE probes "$PID" && [ $status -eq 0 ]
}

profile() # OPTION...: samples at that rate: the default, or 250
{
	run $GOTRACE record -d 300ms -o "$tmp/p.trace" --stats "$tmp/p.json" "$@" &&
		[ $status -eq 0 ] && check_trace "$tmp/p.trace"
}

rates()
{
	start_named habits-cpu && profile --cpu-profile -p "$PID" && profile --cpu-profile 250 -p "$PID" &&
		profile --cpu-profile=250 -p "$PID" && profile -p "$PID" --cpu-profile &&
		profile -p "$PID" --cpu-profile 250 && profile --cpu-profile -- "$tiny" -duration 300ms &&
		says 2 "record: invalid rate '20000': must be 1 to 10000 .*" $GOTRACE record --cpu-profile 20000 -p "$PID" &&
		says 2 "record: invalid rate '': must be 1 to 10000 .*" $GOTRACE record --cpu-profile= -p "$PID"
}

# --- traces

being_recorded()
{
	start_named habits-partial
	start_background $GOTRACE record -p "$PID" -o "$tmp/later.trace"
	recorder_is_live || return 1
	for verb in stat events goroutines check text; do
		says 1 ".*later.trace: No such file or directory; .*/later.trace.partial is still being recorded \(--lenient .*" \
			$READER $verb "$tmp/later.trace" || return 1
	done
	wait_until 20 test -s "$tmp/later.trace.partial" && run $READER stat --lenient "$tmp/later.trace.partial" &&
		[ $status -eq 0 ] || return 1
	kill -KILL "$BACKGROUND_PID"
	wait "$BACKGROUND_PID" 2>/dev/null
	says 1 ".*later.trace: No such file or directory; .*/later.trace.partial was left by a recorder that was killed \(--lenient .*" \
		$READER stat "$tmp/later.trace"
}

through_stdin() # VERB [OPTION...]: without FILE, from a pipe and from a file
{
	cat "$tmp/n.trace" | timeout 60 $READER "$@" >"$tmp/1" && timeout 60 $READER "$@" <"$tmp/n.trace" >"$tmp/2" &&
		timeout 60 $READER "$@" - <"$tmp/n.trace" >"$tmp/3" && [ -s "$tmp/3" ] &&
		cmp "$tmp/1" "$tmp/3" && cmp "$tmp/2" "$tmp/3"
}

of_a_terminal() # VERB: does not read from a terminal
{
	timeout 10 python3 -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' $READER "$1" </dev/null >"$tmp/out"
	status=$?
	cat "$tmp/out"
	[ $status -eq 2 ] && grep -q 'missing argument FILE' "$tmp/out"
}

ends_with_head() # COMMAND...: its reader closes the pipe early
{
	(set -o pipefail; timeout 60 "$@" 2>"$tmp/err" | head -n 1 >/dev/null)
	status=$?
	echo "exit $status: $(cat "$tmp/err")"
	[ $status -eq 0 ] && [ ! -s "$tmp/err" ]
}

long_trace() # larger than a pipe's buffer, on a busy machine, too
{
	local seconds

	for seconds in 1 5 20; do
		run $GOTRACE record -d ${seconds}s -o "$tmp/n.trace" -- "$tiny" -duration ${seconds}s || return 1
		[ "$($READER events "$tmp/n.trace" | wc -c)" -le 200000 ] || return 0
	done
	return 1
}

# COMMAND...: the last line that a terminal shows of it; sets $tmp/err to what it prints on a pipe instead. A line of
# progress, which is printed when the command takes long, is overwritten.
last_line()
{
	run "$@" && [ $status -eq 0 ] || return 1
	script -qec "$(printf ' %q' "$@")" /dev/null </dev/null | sed 's/\r*$//; s/.*\r//; s/\x1b\[[0-9;]*[A-Za-z]//g' | tail -n 1
}

# Each command that writes a file for another one names that on a terminal, and only there.
suggests_next()
{
	local made=$tmp/next command pattern

	cp "$tmp/n.trace" "$made.trace" && $READER text "$made.trace" -o "$made.txt" && $READER pack "$made.trace" -o "$made.pack" || return 1
	while IFS='|' read -r command pattern; do
		last_line $READER $command --force >"$tmp/line" && grep -q "^gotrace: next: $pattern$" "$tmp/line" || { echo "$command: $(cat "$tmp/line")"; return 1; }
		! grep -q 'next: ' "$tmp/err" || { echo "$command: on a pipe"; return 1; }
	done <<-END
		cut $made.trace --from 100ms --to 200ms -o $made.cut|'gotrace latency $made.cut', 'gotrace view $made.cut' .*
		convert $made.trace -o $made.cut|.* or 'go tool trace $made.cut'
		anonymize $made.trace -o $made.cut|'gotrace latency $made.cut', .*
		assemble $made.txt -o $made.cut|'gotrace latency $made.cut', .*
		unpack $made.pack -o $made.cut|'gotrace latency $made.cut', .*
		export perfetto $made.trace -o $made.out|open $made.out in https://ui.perfetto.dev
		export chrome $made.trace -o $made.out|open $made.out in chrome://tracing .*
		export speedscope $made.trace -o $made.out|open $made.out in https://www.speedscope.app
		export folded $made.trace -o $made.out|open $made.out in .*
		export ndjson $made.trace -o $made.out|'jq -r .kind $made.out .*'
		profile wall $made.trace -o $made.out|'go tool pprof -http=: $made.out' .*
		report $made.trace -o $made.html|open $made.html in a browser
	END
	last_line $READER pack "$made.trace" -o "$made.pack" --force >"$tmp/line" && ! grep 'next: ' "$tmp/line" || return 1
	last_line $READER convert "$made.trace" -o - >"$tmp/line" && ! grep -a 'next: ' "$tmp/line"
}

# Each time that these verbs print can be used with --from: the first line is that of the same time.
times_as_printed()
{
	local time first

	for time in $($READER events "$tmp/n.trace" | awk 'NR == 100 || NR == 2000 { print $1 }'); do
		first=$($READER events --from "$time" "$tmp/n.trace" | awk 'NR == 1 { print $1 }')
		[ "$first" = "$time" ] || { echo "events: $time, $first"; return 1; }
		[ "$first" = "$($READER events --from "${time}s" "$tmp/n.trace" | awk 'NR == 1 { print $1 }')" ] || return 1
	done
	goroutine=$($READER goroutines --all "$tmp/n.trace" | awk 'NR == 2 { print $1 }')
	time=$($READER path --goroutine "$goroutine" "$tmp/n.trace" | awk '/^ +[0-9]+\.[0-9]+ / { print $1 }' | tail -n 1)
	$READER path --goroutine "$goroutine" --from "$time" "$tmp/n.trace" | grep -q ": ${time}s + " || { echo "path: $time"; return 1; }
	$READER latency --from "$time" "$tmp/n.trace" >/dev/null && $READER cut --from 0.1 --to 0.2 "$tmp/n.trace" -o "$tmp/cut.trace" &&
		$READER check "$tmp/cut.trace" &&
		$READER events --from 0 "$tmp/n.trace" | cmp - <($READER events "$tmp/n.trace") &&
		$READER events --from -0.000000100 "$tmp/n.trace" | cmp - <($READER events "$tmp/n.trace") &&
		says 2 "events: invalid time '1.2.3' for --from: .*" $READER events --from 1.2.3 "$tmp/n.trace" &&
		says 2 "events: invalid time '-' for --from: .*" $READER events --from - "$tmp/n.trace"
}

unified() # --all, and the older name that latency has for it
{
	$READER latency --all "$tmp/n.trace" >"$tmp/1" && $READER latency --goroutines "$tmp/n.trace" | cmp - "$tmp/1" &&
		run $READER latency --help && grep -q -- '--all' "$tmp/out" && ! grep -q -- '--goroutines' "$tmp/out"
}

perf_still_written()
{
	perf sched record -k CLOCK_MONOTONIC -o "$tmp/perf.data" -- sleep 30 >"$tmp/perf.out" 2>&1 &
	background+=($!)
	wait_until 20 test -s "$tmp/perf.data" && sleep 0.5 &&
		says 1 '.*perf.data: incomplete: perf is still recording .*' \
			$READER align "$tmp/n.trace" --perf "$tmp/perf.data" -o "$tmp/joined.trace"
	status=$?
	kill -INT $(pgrep -P "${background[-1]}") 2>/dev/null
	return $status
}

whole_version() # of experiments: some 100 characters, longer than the module's description
{
	local version='go1.26.8 X:arenas,boringcrypto,cacheprog,coverageredesign,fieldtrack,heapminimum512kib,loopvar'

	python3 - "$tiny" "$tmp/experiments" "$version" <<'END' && chmod +x "$tmp/experiments" || return 1
import sys
data = bytearray(open(sys.argv[1], 'rb').read())
at = data.index(b'\xff Go buildinf:')
version = sys.argv[3].encode()
new = bytes([len(version)]) + version + b'\0' # and an empty module
data[at + 32:at + 32 + len(new)] = new
open(sys.argv[2], 'wb').write(data)
END
	run $GOTRACE probes --exe "$tmp/experiments"
	cat "$tmp/out"
	[ "$(head -n 1 "$tmp/out" | cut -d, -f1-7)" = "$version" ]
}

ktap_start
build_reader >"$tmp/build" 2>&1 || { tail -n 20 "$tmp/build" >&2; exit 1; }
for verb in $(verbs_of READER); do
	try "gotrace $verb -h" helps $READER $verb
done
for verb in $(verbs_of RECORDER); do
	try "gotrace-bpf $verb -h" helps $GOTRACE $verb
done

here="; see 'gotrace --help'"
try "no command" says 2 "missing command$here" $READER
try "a mistyped command" says 2 "unknown command 'goroutine'; the most similar command is 'goroutines'$here" $READER goroutine
try "another mistyped command" says 2 "unknown command 'evetns'; the most similar command is 'events'$here" $READER evetns
try "an unknown command" says 2 "unknown command 'frobnicate'$here" $READER frobnicate
try "a command of the other program" says 2 "'record' is a command of gotrace-bpf: gotrace-bpf record$here" $READER record
try "a file instead of a command" says 2 "'Makefile' is a file, not a command$here" $READER Makefile
try "gotrace-bpf: a mistyped command" says 2 "unknown command 'recrod'; the most similar command is 'record'; see 'gotrace-bpf --help'" $GOTRACE recrod
try "gotrace-bpf: a command of the other program" says 2 "'stat' is a command of gotrace: gotrace stat; .*" $GOTRACE stat
try "gotrace-bpf: a PID instead of a command" says 2 "unknown command '1234'; to specify a process, use 'record -p 1234'; .*" $GOTRACE 1234
there="; see 'gotrace stat --help'"
try "an unknown option" says 2 "stat: unrecognized option '--frobnicate'$there" $READER stat --frobnicate x
try "a mistyped option" says 2 "stat: unrecognized option '--jsn'; the most similar option is '--json'$there" $READER stat --jsn x
try "an unknown short option" says 2 "stat: unrecognized option '-x'$there" $READER stat -x x
try "an unknown short option in a cluster" says 2 "record: unrecognized option '-x'; see 'gotrace-bpf record --help'" $GOTRACE record -vxv 1
try "an unexpected value" says 2 "stat: option '--json' takes no argument$there" $READER stat --json=1 x
try "a missing value" says 2 "cut: option '--from' requires an argument: T; see 'gotrace cut --help'" $READER cut x --from
try "a missing value of a short option" says 2 "record: option '-p' requires an argument: PID.NAME; .*" $GOTRACE record -p
try "an ambiguous option" says 2 "record: option '--st' is ambiguous: --stack-depth, --stats; .*" $GOTRACE record --st 1
try "an unknown option without a command" says 2 "record: unrecognized option '--frob'; see 'gotrace-bpf record --help'" $GOTRACE --frob
try "no FILE" says 2 "stat: missing argument FILE$there" $READER stat
for verb in check text assemble events goroutines latency tasks regions requests "path --goroutine 1" waits alloc "profile net" "export ndjson" "histogram --of gc" "cut -o $tmp/x" "convert -o $tmp/x" index; do
	try "$verb: no FILE" says 2 "${verb%% *}: missing argument FILE; see 'gotrace ${verb%% *} --help'" $READER $verb
done
try "goroutines: an unknown column" says 2 "goroutines: unknown column 'tea': must be exec, sched, .*, count or id; .*" \
	$READER goroutines --sort tea x
try "latency: an unknown part" says 2 "latency: unknown part 'tea': must be total, oncpu, .*, count or id; .*" \
	$READER latency --sort tea x

try "-p NAME" by_name
try "-p NAME, longer than comm" long_name
try "-p NAME, several processes" several
try "-p NAME, no process" says 1 "no process is named 'no-such-name-at-all'" $GOTRACE record -p no-such-name-at-all
try "-p NAME, mistyped" says 1 "no process is named 'habits-oen'; the most similar name is 'habits-one'" $GOTRACE record -p habits-oen
try "-p 0" says 2 "record: invalid PID '0'; .*" $GOTRACE record -p 0
try "record PID, doctor PID, probes PID" operands
try "record PID CMD is rejected" says 2 "record: -p PID cannot be combined with a command: 'true'; .*" $GOTRACE record 1 true
try "record -- NUMBER is a command" says 127 '12345: no such program' $GOTRACE record -o "$tmp/x.trace" -- 12345
in_all try "--cpu-profile with and without HZ" rates

try "a trace that is still being recorded" being_recorded
try "a trace is recorded" long_trace
for verb in stat events goroutines latency tasks regions requests check text "path --goroutine 1" waits alloc "profile net" "export ndjson" "histogram --of sched" "cut --to 0.1 -o -" "convert -o -"; do
	try "$verb of a pipe, without FILE" through_stdin $verb
done
try "stat does not read from a terminal" of_a_terminal stat
try "events does not read from a terminal" of_a_terminal events
for verb in events text "events --json" "convert -o -"; do
	try "$verb | head" ends_with_head $READER $verb "$tmp/n.trace"
done
try "probes | head" ends_with_head $GOTRACE probes --exe "$tiny"
try "doctor | head" ends_with_head $GOTRACE doctor
try "describe | head" ends_with_head $READER describe
try "the next command is named on a terminal" suggests_next
try "times in the form in which they are printed" times_as_printed
try "--all" unified
try "a perf.data that is still being written" perf_still_written
try "a long version is not truncated" whole_version
ktap_end
