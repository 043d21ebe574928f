#!/bin/bash
# Tests failures: each gives one clear line on stderr and exit status 1 (failed) or 2 (usage error).
# No partial file is left, and the target is not affected.
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

refused_cleanly() # like refused(), and no partial file is left
{
	refused "$@" && ! ls "$tmp"/x.trace* >/dev/null 2>&1
}

full_disk()
{
	timeout 30 $GOTRACE record -p "$TARGET_PID" -d 500ms -o /dev/full >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 1 ] && [ "$(grep -c . "$tmp/err")" -le 2 ] && grep -q 'No space left' "$tmp/err"
}

# A program for another architecture: the recorder rejects it by its ELF header.
foreign_program()
{
	cp build/targets/"$ORACLE_GO"/tiny "$tmp/foreign" && printf '\xb7' |
		dd of="$tmp/foreign" bs=1 seek=18 conv=notrunc status=none
}

old_program()
{
	sed 's/go1\.26\.8/go1.15.8/g' build/targets/"$ORACLE_GO"/tiny >"$tmp/old"
}

unknown_program()
{
	sed 's/go1\.26\.8/go1.99.8/g' build/targets/"$ORACLE_GO"/tiny >"$tmp/unknown"
}

warned() # TEXT PROGRAM: its probes are found, and TEXT is printed
{
	timeout 30 $GOTRACE probes --exe "$2" >"$tmp/out" && grep -E "$1" "$tmp/out" && grep 'runtime\.execute' "$tmp/out"
}

pie_program() # a PIE that executes itself, each time at another address
{
	(cd selftests/targets && CGO_ENABLED=0 GOTOOLCHAIN=$ORACLE_GO \
		"${GO:-go}" build -buildvcs=false -buildmode=pie -o "$OLDPWD/$tmp/pie" ./tiny)
}

# attach_ms is plausible, not a difference to a clock that was never read; and there is a goroutine,
# unless the target exited before its goroutines were read for the second time: the file then has
# kernel events only.
sane_window()
{
	jq -e '.window_ns > 0 and .window_ns < 5e9 and (.goroutines >= 1 or .snapshot2_ms == 0)' "$tmp/tiny.json" ||
		{ cat "$tmp/tiny.json"; return 1; }
}

# The target exits or executes another program while the probes are attached: at any moment the
# result is a valid trace and exit status 0, or one line and exit status 1.
while_attaching() # PROGRAM [ARGUMENT...]: a copy of tiny
{
	local program=$1 delay pid status
	shift

	for delay in 0 5 20 50 80 120 160 220; do
		rm -f "$tmp"/tiny.*
		"$program" -duration ${delay}ms "$@" >/dev/null </dev/null &
		pid=$!
		timeout 30 $GOTRACE record -p $pid -d 300ms -o "$tmp/tiny.trace" \
			--stats "$tmp/tiny.json" 2>"$tmp/err"
		status=$?
		echo "delay $delay ms: exit $status: $(cat "$tmp/err")"
		wait $pid || { echo "the target failed"; return 1; }
		case $status in
		0) check_trace "$tmp/tiny.trace" && sane_window || return 1 ;;
		1) [ "$(grep -c '^gotrace-bpf: [^r]' "$tmp/err")" -eq 1 ] || return 1 ;;
		*) return 1 ;;
		esac
	done
}

other_files_are_kept()
{
	echo precious >"$tmp/notes"
	for option in -o --save-input --stats; do
		refused 1 "cannot write $tmp/notes: it exists and is not .*; use --force to replace it" \
			$GOTRACE record -p "$TARGET_PID" -d 300ms $option "$tmp/notes" \
			$([ $option = -o ] || echo "-o $tmp/f.trace") && [ "$(cat "$tmp/notes")" = precious ] || return 1
	done
	timeout 30 $GOTRACE record -p "$TARGET_PID" -d 300ms --force -o "$tmp/notes" --save-input "$tmp/f.raw" \
		--stats "$tmp/f.json" && check_trace "$tmp/notes" || return 1
	stat -c '%a %n' "$tmp/notes" "$tmp/f.raw" "$tmp/f.json" &&
		[ "$(stat -c %a "$tmp/notes" "$tmp/f.raw" "$tmp/f.json" | sort -u)" = 600 ]
}

# This holds independent of the setting of fs.protected_symlinks.
planted_link()
{
	mkdir "$tmp/shared" && chmod 1777 "$tmp/shared" && echo precious >"$tmp/victim" &&
		ln -s ../victim "$tmp/shared/p.trace" && chown -h 65534 "$tmp/shared/p.trace" || return 1
	refused 1 'a symbolic link in the path belongs to another user' \
		$GOTRACE record -p "$TARGET_PID" -d 300ms --force -o "$tmp/shared/p.trace" &&
		[ "$(cat "$tmp/victim")" = precious ] && [ ! -e "$tmp/victim.partial" ]
}

# A FIFO without a reader: the recorder must not block forever, and signals must still end it.
fifo_without_reader()
{
	local status

	rm -f "$tmp/fifo"
	mkfifo "$tmp/fifo" || return 1
	timeout -k 1 20 $GOTRACE record -p "$TARGET_PID" -d 500ms -o "$tmp/fifo" >"$tmp/out" 2>"$tmp/err"
	status=$?
	echo "exit $status: $(cat "$tmp/err")"
	[ $status -eq 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q 'it has no reader' "$tmp/err"
}

fifo_and_sigterm()
{
	rm -f "$tmp/fifo"
	mkfifo "$tmp/fifo" || return 1
	start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/fifo"
	sleep 0.5
	kill -TERM "$BACKGROUND_PID" # it may have exited already
	wait_until 5 is_gone "$BACKGROUND_PID" && text_is_clean "$TARGET_PID"
}

ktap_start
try "no such process" refused_cleanly 1 'process 999999999|no process' $GOTRACE record -p 999999999 -o "$tmp/x.trace"
sleep 60 & not_go=$!
background+=("$not_go")
try "not a Go program" refused_cleanly 1 'not a Go program' $GOTRACE record -p "$not_go" -o "$tmp/x.trace"
try "a kernel thread" refused_cleanly 1 'PID 2 is a kernel thread' $GOTRACE record -p 2 -o "$tmp/x.trace"
try "no process given" refused_cleanly 2 'no process or command given' $GOTRACE record -o "$tmp/x.trace"
try "no arguments" refused_cleanly 2 'missing command' $GOTRACE
try "one file for two outputs" refused_cleanly 2 'same file' \
	$GOTRACE record -p 1 -o "$tmp/x.trace" --stats "$tmp/x.trace"
try "an unknown option" refused_cleanly 2 "unrecognized option '--frobnicate'" $GOTRACE record --frobnicate
try "an unknown verb" refused_cleanly 2 "unknown command 'frobnicate'" $GOTRACE frobnicate
try "a bad duration" refused_cleanly 2 'duration|-d' $GOTRACE record -p 1 -d 5parsecs -o "$tmp/x.trace"
try "a bad format version" refused_cleanly 2 "unknown trace format '1\.21': must be 1\.22, " \
	$GOTRACE record -p 1 --format-version 1.21
try "replay: a bad format version" refused_cleanly 2 "unknown trace format '1\.2': must be 1\.22, " \
	$GOTRACE replay "$tmp/x.raw" --format-version 1.2
try "an unknown event set" refused_cleanly 2 'tea' $GOTRACE record -p 1 --events tea
foreign_program
try "a program for another architecture" refused_cleanly 1 'arm64' $GOTRACE probes --exe "$tmp/foreign"
old_program
try "an unsupported old Go release" refused_cleanly 1 'go1\.15' $GOTRACE probes --exe "$tmp/old"
unknown_program
try "an unknown new Go release gives a warning" warned 'go1\.99\.8 is newer than the known releases' "$tmp/unknown"
head -c 5000 build/targets/"$ORACLE_GO"/tiny >"$tmp/cut"
try "a truncated program" refused_cleanly 1 'not a Go program: it has no Go build information' $GOTRACE probes --exe "$tmp/cut"

start_target parked "$ORACLE_GO" -duration 100ms
try "a missing directory" refused_cleanly 1 'No such file' $GOTRACE record -p "$TARGET_PID" -d 1s -o "$tmp/no/where.trace"
try "a directory as the output file" refused_cleanly 1 'directory' $GOTRACE record -p "$TARGET_PID" -d 1s -o "$tmp"
try "a full disk" full_disk
try "other existing files are kept, and outputs are private" other_files_are_kept
try "a symbolic link of another user" planted_link
install -m 755 $GOTRACE "$tmp/gotrace-bpf" && chmod 755 "$tmp" build build/tmp
try "missing privileges" refused_cleanly 1 'CAP_BPF|permission|root' \
	setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/gotrace-bpf" record -p "$TARGET_PID" -d 1s -o /tmp/x.trace
try "an invalid raw file" refused_cleanly 1 'is not a file of gotrace-bpf record --save-input' $GOTRACE replay build/targets/"$ORACLE_GO"/tiny -o "$tmp/x.trace"
try "a FIFO without a reader" fifo_without_reader
try "a FIFO without a reader, and SIGTERM" fifo_and_sigterm
try "no breakpoint is left in the target" text_is_clean "$TARGET_PID"
tell_target start
try "the target continues to work" expect_target done
try "the target exits normally" stop_target
tiny=build/targets/$ORACLE_GO/tiny
try "a target that exits during the attach" while_attaching "$tiny"
try "a target that executes another program during the attach" while_attaching "$tiny" -exec /bin/true
try "a target that executes itself during the attach" while_attaching "$tiny" -exec "$tiny"
try "a PIE is built" pie_program &&
	try "a PIE that executes itself during the attach" while_attaching "$tmp/pie" -exec "$tmp/pie"
ktap_end
