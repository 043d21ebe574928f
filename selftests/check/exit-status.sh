#!/bin/bash
# Tests the exit status of `gotrace-bpf record -- CMD`: that of CMD, as with perf, strace and time,
# when the recording succeeded; 1 and an error when it failed; 126 or 127 when CMD cannot be
# executed. Also tests what --follow reports of programs that ended before they could be recorded.
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
tiny=$PWD/build/targets/$ORACLE_GO/tiny

# STATUS PATTERN OPTIONS... -- CMD...: the exit status is STATUS, and one line on stderr matches
# PATTERN; with an empty PATTERN no line mentions the end of the command
ends_with()
{
	local want=$1 pattern=$2 status
	shift 2

	rm -f "$tmp"/x.trace*
	timeout 60 $GOTRACE record -o "$tmp/x.trace" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	echo "exit $status: $(cat "$tmp/err")"
	[ $status -eq "$want" ] || return 1
	if [ -n "$pattern" ]; then
		grep -qE "^gotrace-bpf: .*$pattern" "$tmp/err"
	else
		! grep -qE ' (exited with status|was terminated by signal) ' "$tmp/err"
	fi
}

recorded_and() # STATUS PATTERN...: the same, with a valid trace
{
	ends_with "$@" && check_trace "$tmp/x.trace"
}

refused_and() # STATUS PATTERN...: the same, with one line and no trace
{
	ends_with "$@" && [ "$(wc -l <"$tmp/err")" -eq 1 ] && ! ls "$tmp"/x.trace* >/dev/null 2>&1
}

by_a_signal() # SIGNAL STATUS NAME: sent to the command only
{
	local signal=$1 want=$2 name=$3 status

	rm -f "$tmp"/x.trace*
	start_background $GOTRACE record -o "$tmp/x.trace" -- "$tiny" -duration 60s
	recorder_is_live && sleep 0.2 || return 1
	kill -"$signal" "$(sed -n 's/^pid \([0-9]*\)$/\1/p' "$tmp/background.out")"
	wait "$BACKGROUND_PID"
	status=$?
	echo "exit $status"; cat "$tmp/background.out"
	[ $status -eq "$want" ] && check_trace "$tmp/x.trace" &&
		grep -qE "tiny \(process [0-9]+\) was terminated by signal $name" "$tmp/background.out"
}

# As -p does, it reports that it did not record what the process executed then.
executed_another()
{
	recorded_and 7 'exited with status 7' -- "$tiny" -duration 50ms -exec "$tmp/seven" &&
		grep -qE '^gotrace-bpf: process [0-9]+ executed another program, which is not recorded: see --follow' "$tmp/err" &&
		recorded_and 7 'exited with status 7' --follow -- "$tiny" -duration 1s -exec "$tmp/seven" &&
		! grep -q 'not recorded: see' "$tmp/err" && recorded_and 0 '' -- "$tiny" -duration 50ms && ! grep -q 'executed another' "$tmp/err"
}

# The recording ends long before the command, but its exit status is still awaited.
after_the_recording()
{
	local begin=$SECONDS

	recorded_and 7 'exited with status 7' -d 200ms -- "$tiny" -duration 4s -exec "$tmp/seven" &&
		[ $((SECONDS - begin)) -ge 3 ]
}

full_disk() # a write error is a failure of the recorder, whatever the status of the command
{
	timeout 60 $GOTRACE record -o /dev/full -- "$tiny" -duration 300ms -exec "$tmp/seven" >"$tmp/out" 2>"$tmp/err"
	status=$?
	echo "exit $status: $(cat "$tmp/err")"
	[ $status -eq 1 ] && grep -q 'No space left' "$tmp/err"
}

# Programs that run a few milliseconds: each one is recorded, or listed with its PID.
too_short()
{
	local n=0 pid

	printf '#!/bin/bash\nfor i in 1 2 3 4 5; do %s -duration 1ms; done; exit 0\n' "$tmp/short-lived" >"$tmp/script"
	cp "$tiny" "$tmp/short-lived" && chmod +x "$tmp/script" || return 1
	rm -f "$tmp"/f.trace*
	timeout 60 $GOTRACE record --follow -o "$tmp/f.trace" -- "$tmp/script" >"$tmp/out" 2>"$tmp/err" </dev/null
	echo "exit $?: $(cat "$tmp/err")"
	# shellcheck disable=SC2013 # PIDs: a line is a word
	for pid in $(sed -n 's/^pid //p' "$tmp/out"); do
		n=$((n + 1))
		grep -qE "because they ended .*short-lived \($pid\)|recorded process $pid " "$tmp/err" ||
			{ echo "$pid is not mentioned"; return 1; }
	done
	[ $n -eq 5 ] && grep -q 'because they ended' "$tmp/err"
}

hostile_name() # control characters in a program's name are escaped
{
	local name=$'a\e[31m\nb'

	cp "$tiny" "$tmp/$name" && ln -sf "$name" "$tmp/evil" || return 1
	timeout 60 $GOTRACE record --follow -o "$tmp/f.trace" -- sh -c "for i in 1 2 3; do $tmp/a*b -duration 1ms; done" \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	cat -v "$tmp/err"
	! grep -q $'\e' "$tmp/err" && grep -qE '\ba\?' "$tmp/err"
}

ktap_start
printf '#!/bin/sh\nexit 7\n' >"$tmp/seven" && chmod +x "$tmp/seven"
printf '#!/bin/sh\nkill -SEGV $$\n' >"$tmp/segv" && chmod +x "$tmp/segv"
printf 'no program\n' >"$tmp/text" && chmod +x "$tmp/text"
: >"$tmp/plain"
try "exit status 0" recorded_and 0 '' -- "$tiny" -duration 50ms
try "exit status of the program itself" recorded_and 2 'tiny \(process [0-9]+\) exited with status 2' -- "$tiny" -nonsense
try "exit status of a program that it executes" executed_another
try "139 for SIGSEGV" recorded_and 139 'signal 11' -- "$tiny" -duration 50ms -exec "$tmp/segv"
try "137 for SIGKILL" by_a_signal KILL 137 '9 \(Killed\)'
try "143 for SIGTERM" by_a_signal TERM 143 '15 \(Terminated\)'
try "the recording ends before the command" after_the_recording
try "1 when writing the trace fails" full_disk
try "1 when there is nothing to record" refused_and 1 'executed no Go program' -- sh -c 'true; exit 7'
try "127: no such program" refused_and 127 'no such program' -- no-such-program
try "127: no such file" refused_and 127 'no such program' -- "$tmp/no-such-file"
try "126: not executable" refused_and 126 'not an executable' -- "$tmp/plain"
try "126: not an ELF file" refused_and 126 'not an ELF program' -- "$tmp/text"
try "2: usage error" ends_with 2 'expected|duration' -d 5parsecs -- "$tiny"
try "--follow: exit status 0" recorded_and 0 '' --follow -- "$tiny" -duration 50ms
try "--follow: exit status of the command" recorded_and 7 'exited with status 7' \
	--follow -- sh -c "$tiny -duration 3s; exit 7"
try "--follow: 127" refused_and 127 'no such program' --follow -- no-such-program
try "--follow: 126" refused_and 126 'not an executable' --follow -- "$tmp/plain"
try "--follow: 1 when there is nothing to record" ends_with 1 'no Go program' --follow -- sh -c 'true; exit 7'
try "--follow lists programs that ended too early" too_short
try "--follow: a program name with control characters" hostile_name
ktap_end
