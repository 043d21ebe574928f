#!/bin/bash
# Tests the line of gotrace that shows how much of a trace has been read: on a terminal, for each
# command that reads a whole trace, slowed down until it takes more than a second. The figures are
# compared with the size of the file, the output with that without a terminal.
# tier: all
# parallel
# timeout: 200
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

# A library with which reading a file takes 3 s, in ten calls
build_slow_read()
{
	cat >"$tmp/slow.c" <<-'EOT'
		#define _GNU_SOURCE
		#include <sys/stat.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		ssize_t read(int fd, void *to, size_t size)
		{
			struct stat st;

			if (!fstat(fd, &st) && S_ISREG(st.st_mode) && size > (size_t)st.st_size / 10) {
				size = (size_t)st.st_size / 10 + 1;
				usleep(300000);
			}
			return syscall(SYS_read, fd, to, size);
		}
	EOT
	cc -shared -fPIC -o "$tmp/slow.so" "$tmp/slow.c"
}

# NAME WHERE COMMAND...: runs the command on a terminal with slow reads. WHERE is that of standard
# output: tty, or a file. The terminal's contents are in $tmp/NAME.typed, the seconds in NAME.seconds.
slowly()
{
	local name=$1 where=$2
	shift 2

	timeout 60 env -u NO_COLOR COLUMNS=500 python3 - "$tmp/$name.typed" "$where" "$tmp/slow.so" "$@" \
			>"$tmp/$name.seconds" <<-'EOT'
		import os, pty, sys, time
		to, where, preload = sys.argv[1:4]
		started = time.time()
		pid, fd = pty.fork()
		if not pid:
		    if where != "tty":
		        os.dup2(os.open(where, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
		    os.environ["LD_PRELOAD"] = preload
		    os.execvp(sys.argv[4], sys.argv[4:])
		with open(to, "wb") as out:
		    while True:
		        try:
		            data = os.read(fd, 65536)
		        except OSError:
		            break
		        out.write(data)
		print(time.time() - started)
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	EOT
}

# NAME FILE: what was typed shows the progress of reading it, and ends with the line cleared
shows_progress()
{
	python3 - "$tmp/$1.typed" "$(basename "$2")" "$(stat -c %s "$2")" "$(cat "$tmp/$1.seconds")" <<-'EOT'
		import re, sys
		typed = open(sys.argv[1], "rb").read().decode()
		name, size, seconds = sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
		mib = f"{size / 2**20:.1f}"
		shown = [l for l in re.findall(r"\r\x1b\[K([^\r\n]*)", typed) if l.startswith(name + ": ")]
		read = [l for l in shown if l.endswith("processing")]
		reading = [re.fullmatch(re.escape(name) + r": (\d+)% of ([\d.]+) MiB, ([\d.]+) MiB/s, (\d+)s left", l)
		           for l in shown if l not in read]
		assert reading and all(reading), typed
		assert all(m[2] == mib and int(m[1]) <= 99 for m in reading), (mib, shown)
		assert all(l == f"{name}: {mib} MiB read, processing" for l in read), shown
		for m in reading: # the time that is left, from the other figures, which are rounded
		    left = size / 2**20 * (100 - int(m[1])) / 100
		    rate = float(m[3])
		    longest = left / (rate - 0.06) + 2 if rate > 0.07 else float("inf") # 0.0 MiB/s may be any slow rate
		    assert left / (rate + 0.06) - size / 2**20 / 100 / 0.05 - 1 < int(m[4]) < longest, m[0]
		assert len(shown) <= 5 * seconds, (len(shown), seconds)
		after = typed[typed.rindex(shown[-1]) + len(shown[-1]):]
		assert after.startswith("\r\x1b[K"), repr(after[:40])
	EOT
}

# NAME: what is left on the screen
screen()
{
	sed ':again; s/\r\x1b\[K[^\r]*\(\r\x1b\[K\)/\1/; t again; s/\r\x1b\[K//g; s/\r$//; s/\x1b\[[0-9;]*m//g' \
		"$tmp/$1.typed"
}

# All commands run at the same time: they sleep.
VERBS="goroutines stat tasks waits latency check profile-sync-text requests histogram path diff"
WRITERS="cut convert anonymize export report profile index"

arguments_of() # VERB: sets ARGUMENTS
{
	local file=$tmp/$1.out

	case $1 in
	profile-sync-text) ARGUMENTS=(profile sync --text "$trace") ;;
	check) ARGUMENTS=(check -j 1 "$trace") ;;
	histogram) ARGUMENTS=(histogram --of block "$trace") ;;
	path) ARGUMENTS=(path --goroutine 1 "$trace") ;;
	diff) ARGUMENTS=(diff "$trace" "$second") ;;
	cut) ARGUMENTS=(cut --from 1ms "$trace" -o "$file") ;;
	export) ARGUMENTS=(export perfetto "$trace" -o "$file") ;;
	profile) ARGUMENTS=(profile sync "$trace" -o "$file") ;;
	index) ARGUMENTS=(index "$tmp/index.trace") ;;
	convert | anonymize | report) ARGUMENTS=("$1" "$trace" -o "$file") ;;
	*) ARGUMENTS=("$1" "$trace") ;;
	esac
}

run_all()
{
	local verb pids=() pid status=0

	for verb in $VERBS $WRITERS; do
		arguments_of "$verb"
		slowly "$verb" tty $READER "${ARGUMENTS[@]}" &
		pids+=($!)
	done
	slowly gzip tty $READER goroutines "$packed" & pids+=($!)
	slowly file "$tmp/stdout" $READER goroutines "$trace" & pids+=($!)
	slowly stderr tty sh -c "exec $READER goroutines $trace 2>$tmp/stderr" & pids+=($!)
	slowly pipe tty sh -c "cat $trace | $READER goroutines" & pids+=($!)
	slowly pager tty sh -c "$READER text $trace | tail -n 1" & pids+=($!)
	slowly events tty $READER events "$trace" & pids+=($!)
	slowly dumb tty env TERM=dumb $READER goroutines "$trace" & pids+=($!)
	for pid in "${pids[@]}"; do
		wait "$pid" || status=1
	done
	return $status
}

# Without the line, the screen is that of a command that is quick.
tables()
{
	local verb

	for verb in $VERBS; do
		shows_progress "$verb" "$trace" || { echo "$verb"; return 1; }
		arguments_of "$verb"
		printf ' %q' $READER "${ARGUMENTS[@]}" >"$tmp/command"
		env -u NO_COLOR COLUMNS=500 script -qec "$(cat "$tmp/command")" /dev/null </dev/null >"$tmp/fast.typed"
		cmp <(screen fast) <(screen "$verb") || { echo "$verb"; return 1; } # if that was slow, it has the line, too
	done
}

writers()
{
	local verb

	for verb in $WRITERS; do
		[ "$verb" = index ] || shows_progress "$verb" "$trace" || { echo "$verb"; return 1; }
	done
	shows_progress index "$tmp/index.trace"
}

not_shown() # NAME...: nothing of the line is on the terminal
{
	local name

	for name; do
		! grep -q $'MiB\|\r\x1b' "$tmp/$name.typed" || { echo "$name"; return 1; }
	done
}

# Its clock stands still in the future, so that no second passes, however slow the machine is.
quick()
{
	cat >"$tmp/still.c" <<-'EOT'
		#include <time.h>
		int clock_gettime(clockid_t clock, struct timespec *now)
		{
			*now = (struct timespec){ .tv_sec = 1ll << 33 };
			return 0;
		}
	EOT
	cc -shared -fPIC -o "$tmp/still.so" "$tmp/still.c" &&
		script -qec "env LD_PRELOAD=$tmp/still.so $READER goroutines $trace" "$tmp/quick.typed" </dev/null && not_shown quick
}

# No byte of it is in a file, whatever the other output is.
not_in_files()
{
	shows_progress file "$trace" && $READER goroutines "$trace" | cmp - "$tmp/stdout" &&
		[ -e "$tmp/stderr" ] && [ ! -s "$tmp/stderr" ] && not_shown stderr
}

ktap_start
try "programs and traces" trace_long_runs
trace=$tmp/a-trace.trace second=$tmp/second.trace packed=$tmp/packed.gz
for copy in "$trace" "$second" "$tmp/index.trace"; do
	cp "$CORPUS/runs/long-$ORACLE_GO.trace" "$copy"
done
gzip -c "$trace" >"$packed"
try "a library with a slow read()" build_slow_read
try "all commands" run_all
try "commands that print tables" tables
try "commands that write files" writers
try "diff: the second file, too" shows_progress diff "$second"
try "a compressed trace" shows_progress gzip "$packed"
try "not shown: a quick command" quick
try "not shown: input from a pipe" not_shown pipe
try "not shown: commands that print while they read" not_shown events pager
try "not shown: TERM=dumb" not_shown dumb
try "nothing in files" not_in_files
ktap_end
