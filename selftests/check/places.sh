#!/bin/bash
# parallel
# timeout: 600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
# Environments: the recorder works wherever the program runs and however it was started: containers,
# deleted and replaced programs, commands that execute the program in the end, children, re-exec.
# What it cannot record is rejected with the name of the reason.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/programs.lib.sh
tiny=$PWD/build/targets/$ORACLE_GO/tiny
other=$PWD/build/targets/${TARGET_GOS##* }/tiny
top=$PWD

# --- processes

# COMMAND...: starts it; sets PID to the process that finally runs $program, itself or a descendant
start_somewhere()
{
	start_background "$@"
	wait_until 20 find_program "$BACKGROUND_PID" || { cat "$tmp/background.out"; return 1; }
	background+=("$PID")
}

program=tiny
find_program() # PID
{
	local child

	case $(readlink "/proc/$1/exe") in
	*"$program"*) PID=$1; return 0 ;;
	esac
	# shellcheck disable=SC2013 # all PIDs are on one line
	for child in $(cat "/proc/$1"/task/*/children 2>/dev/null); do
		find_program "$child" && return 0
	done
	return 1
}

# [OPTION...]: recording the running $PID gives a valid trace, whose thread IDs are those of the
# host
recorded()
{
	rm -f "$tmp/x.trace"
	timeout 60 $GOTRACE record -p "$PID" -d 200ms -o "$tmp/x.trace" "$@" &&
		check_trace "$tmp/x.trace" && threads_are_the_hosts "$tmp/x.trace"
}

threads_are_the_hosts() # FILE
{
	local tid seen=0

	for tid in $(build/gotrace events --json "$1" | jq -r '.m // empty' | sort -u); do
		[ "$tid" -gt 0 ] 2>/dev/null || continue
		seen=1
		[ -d "/proc/$PID/task/$tid" ] || { echo "no thread $tid"; return 1; }
	done
	[ $seen = 1 ]
}

end_it() { kill "$PID" && wait_until 10 is_gone "$PID"; }

in_a_container()
{
	start_somewhere unshare -Urmpnf sh -c "mount -t tmpfs none /mnt && cp $tiny /mnt/inside-tiny &&
		exec chroot /mnt /inside-tiny -duration 60s" &&
		grep -q 'NSpid:.*[[:space:]]1$' "/proc/$PID/status" && [ ! -e /inside-tiny ] &&
		recorded && recorded --force-perf-uprobes && end_it
}

on_an_overlay()
{
	mkdir -p "$tmp/lower" "$tmp/upper" "$tmp/root" && cp "$tiny" "$tmp/lower/inside-tiny" || return 1
	start_somewhere unshare -mpf sh -c "mount -t tmpfs none $tmp/upper &&
		mkdir $tmp/upper/up $tmp/upper/work && mount -t overlay overlay \
			-o lowerdir=$tmp/lower,upperdir=$tmp/upper/up,workdir=$tmp/upper/work $tmp/root &&
		exec chroot $tmp/root /inside-tiny -duration 60s" &&
		recorded && recorded --force-perf-uprobes && end_it
}

deleted()
{
	cp "$tiny" "$tmp/short-lived-tiny" && start_somewhere "$tmp/short-lived-tiny" -duration 60s &&
		rm "$tmp/short-lived-tiny" && recorded && recorded --force-perf-uprobes && end_it
}

replaced()
{
	cp "$tiny" "$tmp/old-tiny" && start_somewhere "$tmp/old-tiny" -duration 60s &&
		cp "$other" "$tmp/new" && mv "$tmp/new" "$tmp/old-tiny" && recorded && end_it
}

hard_linked()
{
	cp "$tiny" "$tmp/one" && ln "$tmp/one" "$tmp/two-tiny" &&
		start_somewhere "$tmp/two-tiny" -duration 60s && rm "$tmp/two-tiny" && recorded && end_it
}

as_memfd='my $name = "tiny"; my $fd = syscall(319, $name, 0); open(my $to, ">&=", $fd);
	open(my $from, "<", shift); local $/; print {$to} <$from>; $to->flush;
	exec { "/proc/self/fd/$fd" } "tiny", @ARGV'

in_memory_only()
{
	program=memfd:
	start_somewhere perl -MIO::Handle -e "$as_memfd" "$tiny" -duration 60s &&
		recorded && recorded --force-perf-uprobes && end_it
}

# --- commands

# COMMAND...: the Go program that it executes is recorded from the start, and no other process
command_recorded()
{
	rm -f "$tmp/x.trace"
	timeout 60 $GOTRACE record -o "$tmp/x.trace" --stats "$tmp/x.json" -- "$@" &&
		check_trace "$tmp/x.trace" && build/reference/summary "$tmp/x.trace" | grep main.main &&
		[ "$(stat_of repairs "$tmp/x.json")" = 0 ]
}

by_a_script()
{
	printf '#!/bin/sh\ntrue\nexec "$@"\n' >"$tmp/script" && chmod +x "$tmp/script" &&
		command_recorded "$tmp/script" "$tiny" -duration 50ms
}

by_a_thread()	# that is not the thread group leader
{
	cat >"$tmp/thread.c" <<'END'
#include <pthread.h>
#include <unistd.h>
static void *run(void *argv) { execv(((char **)argv)[0], argv); return 0; }
int main(int argc, char **argv)
{
	pthread_t thread;

	pthread_create(&thread, 0, run, argv + 1);
	pthread_join(thread, 0);
	return 1;
}
END
	cc -o "$tmp/thread" "$tmp/thread.c" -pthread && command_recorded "$tmp/thread" "$tiny" -duration 50ms
}

# A traced command receives its signals, and can be stopped and continued.
signals_reach_it()
{
	start_background $GOTRACE record -o "$tmp/x.trace" -- \
		sh -c 'trap "exec '"$tiny"' -duration 50ms" TERM; echo began; while :; do sleep 0.05; done'
	wait_until 10 grep -q began "$tmp/background.out" || return 1
	PID=$(cat "/proc/$BACKGROUND_PID"/task/*/children)
	PID=${PID%% *}
	kill -STOP "$PID" && wait_until 10 grep -q '^State:.*[tT] ' "/proc/$PID/status" && sleep 0.2 &&
		kill -CONT "$PID" && sleep 0.2 && kill -TERM "$BACKGROUND_PID" && wait "$BACKGROUND_PID"
	status=$?
	cat "$tmp/background.out"
	[ $status -eq 0 ] && check_trace "$tmp/x.trace"
}

is_held() # the recorder has stopped $tiny at its exec
{
	PID=$(cat "/proc/$BACKGROUND_PID"/task/*/children 2>/dev/null) && PID=${PID%% *} &&
		[ "$(readlink "/proc/$PID/exe")" = "$tiny" ] && grep -q '^State:.*t ' "/proc/$PID/status"
}

# kill -9 of the recorder while it holds the program at its exec: the program continues, with no
# breakpoint left in it. It is held for some milliseconds only, which a busy machine may not show at
# the first attempt.
killed_while_it_holds()
{
	for _ in 1 2 3 4 5; do
		start_background $GOTRACE record -o "$tmp/x.trace" -- sh -c "exec $tiny -duration 500ms"
		until is_held; do
			kill -0 "$BACKGROUND_PID" 2>/dev/null || break
		done
		kill -KILL "$BACKGROUND_PID" 2>/dev/null || continue
		wait "$BACKGROUND_PID" 2>/dev/null
		wait_until 5 text_is_clean "$PID" && wait_until 20 is_gone "$PID" && grep -q '^pid' "$tmp/background.out"
		return
	done
	return 1
}

refused() # PATTERN COMMAND...: one line on stderr matches, exit status $want (default 1), no file
{
	local pattern=$1 status
	shift

	rm -f "$tmp"/x.trace*
	timeout 30 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	echo "exit $status: $(cat "$tmp/err")"
	[ $status -eq "${want-1}" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -qE "$pattern" "$tmp/err" &&
		! ls "$tmp"/x.trace* >/dev/null 2>&1
}

# A minimal ELF file (84 bytes of headers) for i386, that sleeps forever in pause(2).
i386_program()
{
	printf '\x7fELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0\x54\x80\4\x08\x34\0\0\0\0\0\0\0\0\0\0\0' &&
		printf '\x34\0\x20\0\1\0\0\0\0\0\0\0' &&
		printf '\1\0\0\0\0\0\0\0\0\x80\4\x08\0\x80\4\x08\x5b\0\0\0\x5b\0\0\0\5\0\0\0\0\x10\0\0' &&
		printf '\xb8\x1d\0\0\0\xcd\x80'
}

running_386()
{
	i386_program >"$tmp/foreign-tiny" && chmod +x "$tmp/foreign-tiny" || return 1
	start_somewhere "$tmp/foreign-tiny" &&
		refused 'for 386; only linux/amd64' $GOTRACE record -p "$PID" -o "$tmp/x.trace" && end_it
}

shared_library()
{
	echo 'int go_code[4] __attribute__((section(".go.buildinfo"))); int f(void) { return 0; }' >"$tmp/l.c"
	echo '#include <unistd.h>
int f(void);
int main(void) { f(); pause(); }' >"$tmp/c-tiny.c"
	cc -shared -fPIC -o "$tmp/libofgo.so" "$tmp/l.c" &&
		cc -o "$tmp/c-tiny" "$tmp/c-tiny.c" "$tmp/libofgo.so" -Wl,-rpath,"$top/$tmp" || return 1
	start_somewhere "$tmp/c-tiny" && sleep 0.3 &&
		refused 'its Go code is in a shared library, .*libofgo' \
			$GOTRACE record -p "$PID" -o "$tmp/x.trace" && end_it
}

# Like the releases of esbuild: stripped, and without what `go version -m` reads.
without_build_information()
{
	objcopy --strip-all --remove-section .go.buildinfo "$tiny" "$tmp/bare-tiny" &&
		! readelf -SW "$tmp/bare-tiny" | grep -q buildinfo &&
		start_somewhere "$tmp/bare-tiny" -duration 60s && recorded &&
		$GOTRACE doctor -p "$PID" --json | jq -e --arg go "$ORACLE_GO" '.target.go == $go' && end_it
}

# SECTION NAME: a program with the mark of another Go compiler
of_another_compiler()
{
	echo "int mark[4] __attribute__((section(\"$1\"))); int tinygo_startTask; int main(void) { return mark[0]; }" |
		sed "$([ "$2" = TinyGo ] || echo 's/int tinygo_startTask;//')" >"$tmp/other.c" &&
		cc -o "$tmp/other" "$tmp/other.c" &&
		refused "programs built with $2 are not supported" $GOTRACE probes --exe "$tmp/other" &&
		refused "programs built with $2 are not supported" $GOTRACE record -o "$tmp/x.trace" -- "$tmp/other"
}

without_sections() # as sstrip leaves it, and with the mark of UPX
{
	cp "$tiny" "$tmp/stripped" && printf '\0\0\0\0\0\0\0\0' |
		dd of="$tmp/stripped" bs=1 seek=40 conv=notrunc status=none && printf '\0\0\0\0' |
		dd of="$tmp/stripped" bs=1 seek=60 conv=notrunc status=none &&
		refused 'its section headers were removed' $GOTRACE probes --exe "$tmp/stripped" &&
		printf 'UPX!' | dd of="$tmp/stripped" bs=1 seek=500 conv=notrunc status=none &&
		refused 'it is packed.*upx -d' $GOTRACE probes --exe "$tmp/stripped"
}

for_arm64()
{
	cp "$tiny" "$tmp/arm" && printf '\xb7' | dd of="$tmp/arm" bs=1 seek=18 conv=notrunc status=none &&
		want=126 refused 'for arm64' $GOTRACE record -o "$tmp/x.trace" -- "$tmp/arm"
}

# --- --follow

follow() # ARGUMENT...: its messages go to $tmp/follow.err
{
	rm -f "$tmp"/f.trace*
	timeout 90 $GOTRACE record --follow -o "$tmp/f.trace" "$@" 2>"$tmp/follow.err"
	local status=$?
	cat "$tmp/follow.err"
	ls "$tmp"/f.*
	return $status
}

good_files() # NUMBER: expects so many traces, FILE and FILE.PID..., all valid
{
	local file n=0

	for file in "$tmp"/f.trace*; do
		check_trace "$file" && n=$((n + 1)) || return 1
	done
	[ $n -eq "$1" ] && [ -e "$tmp/f.trace" ]
}

children()
{
	follow --stats "$tmp/f.json" -- sh -c "$tiny -duration 4s & $other -duration 4s; wait" &&
		good_files 2 && grep -q 'recorded 2 programs' "$tmp/follow.err" &&
		jq -e '.missed_ms > 0' "$tmp/f.json"
}

child_and_itself() # the first program of the first process gets FILE
{
	follow -- sh -c "exec $top/build/targets/$ORACLE_GO/tiny -duration 300ms -exec $tmp/then" &&
		grep -q "f.trace$" "$tmp/follow.err" && good_files 2
}

of_a_running_shell()
{
	sh -c "sleep 2; $tiny -duration 4s; true" &
	background+=($!)
	follow -p $! && good_files 1
}

ends_by_signal()
{
	rm -f "$tmp"/f.trace*
	start_background $GOTRACE record --follow -o "$tmp/f.trace" -- sh -c "$tiny -duration 60s & $tiny -duration 60s"
	wait_until 30 eval '[ $(grep -c ": recording" "$tmp/background.out") -eq 2 ]' &&
		sleep 0.3 && kill -TERM "$BACKGROUND_PID"
	wait "$BACKGROUND_PID"
	status=$?
	cat "$tmp/background.out"
	[ $status -eq 143 ] && good_files 2 # of the shell, to which the signal was forwarded
}

by_duration()
{
	follow -d 1s -- sh -c "$tiny -duration 6s & exec $tiny -duration 3s" && [ -e "$tmp/f.trace" ]
}

# A child that shares its parent's memory is not the parent: with uprobe_multi the kernel filters
# it, with perf uprobes the probes do.
shared_memory() # GO OPTIONS
{
	record_spawn "$1" "$2" || return 1
	[ -z "$2" ] || [ "$(stat_of foreign_hits "$tmp/spawn.json")" -ge 240 ]
}

ktap_start
try "all namespaces unshared, and a root in a tmpfs" in_a_container
try "a program on an overlay file system" on_an_overlay
try "a deleted program" deleted
try "a replaced program" replaced
try "a program with two names, one deleted" hard_linked
try "a program in a memfd" in_memory_only
program=tiny
try "sh -c, exec" command_recorded sh -c "true; exec $tiny -duration 50ms"
try "a chain of wrappers" command_recorded env A=1 nice -n 1 taskset -c 0 "$tiny" -duration 50ms
try "a script" by_a_script
try "a program in a memfd, from its start" \
	command_recorded perl -MIO::Handle -e "$as_memfd" "$tiny" -duration 50ms
try "a non-leader thread that calls exec" by_a_thread
try "signals reach a traced command" signals_reach_it
try "kill -9 of the recorder at the program's exec" killed_while_it_holds
try "a command that executes no Go program" refused 'executed no Go program.*--follow' \
	$GOTRACE record -o "$tmp/x.trace" -- sh -c 'true; true'
want=127 try "a missing command" refused 'no-such-program: no such program' \
	$GOTRACE record -o "$tmp/x.trace" -- no-such-program
try "a command for another machine" for_arm64
try "a running 386 program" running_386
try "Go code in a shared library" shared_library
try "a program without section headers" without_sections
try "a program without build information" without_build_information
try "a program built with gccgo" of_another_compiler .go_export gccgo
try "a program built with TinyGo" of_another_compiler .mark TinyGo
try "--follow: children" children

printf '#!/bin/sh\nexec %s -duration 4s\n' "$other" >"$tmp/then" && chmod +x "$tmp/then"
try "--follow: a program that the recorded process executes later" child_and_itself
try "--follow: children of a running shell" of_a_running_shell
try "--follow: SIGTERM ends all recordings" ends_by_signal
try "--follow: -d ends all recordings" by_duration
try "--follow: nothing to record" refused 'nothing was recorded: no Go program' \
	$GOTRACE record --follow -o "$tmp/x.trace" -- sh -c 'true; true'
try "children that share memory" shared_memory "$ORACLE_GO" ""
# System calls of Go 1.22 have probes, which the children hit
build_programs 1.22.12 plain spawn && go22=$PROGRAMS
try "children that share memory, perf uprobes" shared_memory "$go22" \
	"--force-perf-uprobes --events=sched,syscall"
ktap_end
