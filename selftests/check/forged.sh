#!/bin/bash
# tier: all
# parallel
# timeout: 300
# Programs crafted to make the analysis expensive: many equal symbols, sections of gigabytes, with a
# limit on memory. Also, a signal ends an analysis that takes long or waits for a file system.
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/stuck
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
tiny=build/targets/$ORACLE_GO/tiny
LIMIT_KB=$((1500 * 1024)) # of address space

# FILE SECTION SIZE [BYTES]: moves the section to the end of the file and extends it to SIZE bytes:
# BYTES (a perl expression), then a hole
forge='
	my ($file, $name, $size, $bytes) = @ARGV;
	open(my $f, "+<:raw", $file) or die; my ($e, $h) = ("", "");
	read($f, $e, 64); my $shoff = unpack("Q<", substr($e, 40));
	my ($n, $strings) = unpack("v2", substr($e, 60));
	my $header = sub { seek($f, $shoff + 64 * $_[0], 0); read($f, $h, 64); $h };
	my ($at, $length) = unpack("Q<2", substr($header->($strings), 24)); my $texts;
	seek($f, $at, 0); read($f, $texts, $length);
	for my $i (0 .. $n - 1) {
		next if unpack("Z*", substr($texts, unpack("V", $header->($i)))) ne $name;
		my $end = (-s $file) + 4095 & ~4095;
		seek($f, $shoff + 64 * $i + 24, 0); print $f pack("Q<2", $end, $size);
		seek($f, $end, 0); print $f eval($bytes // "qq()"); $f->flush; truncate($f, $end + $size); exit 0;
	}
	exit 1;'

forge() { perl -MIO::Handle -e "$forge" "$@"; }

probes() # FILE: runs within the limit; returns its status, sets $cpu_ms, and leaves messages in $tmp/err
{
	local TIMEFORMAT='%U %S' status user system

	{ time (ulimit -v $LIMIT_KB && timeout 100 $GOTRACE probes --no-cache --exe "$1" >"$tmp/out" \
		2>"$tmp/err"); } 2>"$tmp/time"
	status=$?
	read -r user system <"$tmp/time"
	cpu_ms=$(awk "BEGIN { print int(1000 * ($user + $system)) }")
	echo "exit $status after $cpu_ms ms of CPU time: $(cat "$tmp/err")"
	return $status
}

equal_symbols() # 200,000 of them
{
	cp "$tiny" "$tmp/equal" && forge "$tmp/equal" .symtab 4800000 \
		'pack("V C C v Q< Q<", 1, 0x12, 0, 1, 0x401000, 16) x 200000' || return 1
	probes "$tmp/equal"
	[ $? -le 1 ] && [ "$cpu_ms" -lt 3000 ]
}

refused() # FILE [PATTERN]: fails with one line and exit status 1
{
	probes "$1"
	[ $? -eq 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q "${2-.}" "$tmp/err"
}

large_table()
{
	cp "$tiny" "$tmp/large" && forge "$tmp/large" .gopclntab 3221225472 &&
		refused "$tmp/large" 'section .gopclntab has 3072 MiB; the limit is 512'
}

# A section that a program of this kind does not need costs nothing, however large it is: the result
# is an answer or one line.
large_section() # NAME
{
	cp "$tiny" "$tmp/large" && forge "$tmp/large" "$1" 3221225472 || return 1
	probes "$tmp/large"
	[ $? -le 1 ] && [ "$(wc -l <"$tmp/err")" -le 1 ] && [ "$cpu_ms" -lt 20000 ]
}

# The checksum of a debug file of 8 GB, which is a hole, takes seconds; a signal ends the
# computation. It runs half a second after the start. (On a machine so slow that it does not, this
# tests less.)
ends_by_signal() # SIGNAL COMMAND...
{
	local signal=$1 started status
	shift

	rm -f "$tmp"/s.trace*
	start_background "$@"
	sleep 0.5
	kill -0 "$BACKGROUND_PID" || { echo "the analysis was not slow"; return 1; }
	started=${EPOCHREALTIME/./}
	kill "-$signal" "$BACKGROUND_PID"
	wait "$BACKGROUND_PID"
	status=$?
	echo "exit $status $(((${EPOCHREALTIME/./} - started) / 1000)) ms later: $(cat "$tmp/background.out")"
	[ $status -eq 1 ] && [ $((${EPOCHREALTIME/./} - started)) -lt 1000000 ] &&
		grep -q 'interrupted during the analysis of the program; nothing was recorded' \
			"$tmp/background.out" && ! ls "$tmp"/s.trace* 2>/dev/null
}

slow_program() # builds $tmp/slow
{
	cp "$tiny" "$tmp/slow" && cp "$tiny" "$tmp/slow.debug" && truncate -s 8G "$tmp/slow.debug" &&
		printf 'slow.debug\0\0\0\0\0\0' >"$tmp/link" &&
		objcopy --strip-all --add-section .gnu_debuglink="$tmp/link" "$tmp/slow"
}

running()
{
	start_background "$tmp/slow" -duration 600s
	PID=$BACKGROUND_PID
	sleep 0.2
	ends_by_signal "$1" $GOTRACE record --no-cache -p "$PID" -o "$tmp/s.trace" || return 1
	kill -0 "$PID" && kill "$PID"
}

started()
{
	ends_by_signal TERM $GOTRACE record --no-cache -o "$tmp/s.trace" -- "$tmp/slow" -duration 77s &&
		! pgrep -f "$tmp/slow -duration 77s"
}

runs_program() { [[ $(readlink "/proc/$PID/exe") == */mnt/program ]]; }

# The program's file system stops answering: the recorder waits in the kernel.
on_fuse() # SIGNAL
{
	local status

	modprobe fuse 2>/dev/null
	mkdir -p "$tmp/mnt" && rm -f "$tmp/stop" && cc -o "$tmp/fuse" selftests/stuck/fuse.c || return 1
	start_background "$tmp/fuse" "$tiny" "$tmp/mnt" "$tmp/stop"
	FUSE=$BACKGROUND_PID
	wait_until 10 grep -q mounted "$tmp/background.out" || return 1
	start_background "$tmp/mnt/program" -duration 600s
	PID=$BACKGROUND_PID
	wait_until 10 runs_program || return 1
	# A page that the program itself waits for is locked, and an open() of the file then waits
	# for that page until the server ends, without reacting to signals.
	kill -STOP "$PID" && pause 200
	touch "$tmp/stop"
	ends_by_signal "$1" $GOTRACE record --no-cache -p "$PID" -o "$tmp/s.trace"
	status=$?
	kill -KILL "$FUSE" "$PID"
	umount -l "$tmp/mnt"
	return $status
}

ktap_start
try "200,000 equal symbols" equal_symbols
try "a function table of 3 GB" large_table
for section in .symtab .strtab .shstrtab .noptrdata .data .rodata .go.buildinfo .debug_info \
	.zdebug_info .debug_abbrev .note.go.buildid; do
	readelf -SW "$tiny" | grep -q " $section " && try "a $section section of 3 GB" large_section "$section"
done
slow_program || exit 1
for signal in INT TERM HUP; do
	try "SIG$signal ends a running analysis" running $signal
done
try "SIGTERM ends the analysis of a started program" started
try "SIGINT ends an analysis that waits for FUSE" on_fuse INT
try "SIGTERM ends an analysis that waits for FUSE" on_fuse TERM
ktap_end
