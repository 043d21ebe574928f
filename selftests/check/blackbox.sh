#!/bin/bash
# Tests the kernel flight recorder without its kernel module: which commands are rejected and why,
# and how accurate a recovered trace is. The records of a real program are written to rings that
# wrap around (selftests/blackbox/pack.c); the events of the window must equal those of the complete
# recording. For tests with the module see selftests/vm/guest/50-recover.sh.
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/blackbox
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

box="$GOTRACE record --blackbox box"

cannot_be_had_together()
{
	refused 2 'requires a running process: -p PID' $box -- true && refused 2 'no process or command given' $box &&
		refused 2 '^gotrace-bpf: record: --blackbox cannot be combined with --follow' $box -p 1 --follow &&
		refused 2 'combined with CPU samples' $box -p 1 --cpu-profile 100 && refused 2 'combined with CPU samples' $box -p 1 --events sched,cpu &&
		refused 2 'cannot be combined with -o: .gotrace-bpf recover box' $box -p 1 -o x &&
		refused 2 'combined with --save-input' $box -p 1 --save-input x && refused 2 'combined with --stats' $box -p 1 --stats x &&
		refused 2 'combined with --tick or --format-version' $box -p 1 --tick 64ns && refused 2 'at least 64K' $box -p 1 --ring-size 16K &&
		refused 2 "invalid timeout '31days'" $box -p 1 --timeout 31days && refused 2 "buffer name 'a/b'" $box -p 1 --blackbox a/b &&
		refused 2 'daemonize requires --blackbox' $GOTRACE record -p 1 --daemonize &&
		refused 2 'timeout requires --blackbox' $GOTRACE record -p 1 --timeout 1h
}

recover_what()
{
	refused 2 'no flight recorder buffer given' $GOTRACE recover && refused 2 'missing option -o FILE' $GOTRACE recover box &&
		refused 2 "more than one NAME given: 'other'" $GOTRACE recover box other -o x && refused 2 'discard cannot be combined with -o or --save-input' $GOTRACE recover box -o x --discard &&
		refused 2 'list cannot be combined with NAME' $GOTRACE recover box --list && refused 2 'json requires --list' $GOTRACE recover box --json &&
		refused 2 'same file' $GOTRACE recover box -o x --save-input x
}

no_module() # each command prints the remedy, also when it starts a daemon
{
	local why='the kernel module is not loaded: modprobe gotrace'

	refused 1 "$why" $box -p "$TARGET_PID" && refused 1 "$why" $box -p "$TARGET_PID" --daemonize &&
		refused 1 "$why" $GOTRACE recover box -o x && refused 1 "$why" $GOTRACE recover box --discard &&
		refused 1 "$why" $GOTRACE recover --list && refused 1 "$why" $GOTRACE flight --blackbox box -p "$TARGET_PID" -o "$tmp/flight"
}

recorded()
{
	start_target selftrace "$ORACLE_GO" -duration 3s && tell_target start &&
		timeout 60 $GOTRACE record -p "$TARGET_PID" -d 2s --ring-size=64M -o "$tmp/all.trace" --save-input "$tmp/all.raw" \
			--stats "$tmp/all.json" && [ "$(stat_of lost "$tmp/all.json")" = 0 ] &&
		build/gotrace events --canonical "$tmp/all.trace" >"$tmp/all"
}

# SUBBUF SUBBUFS: sets window; the trace is $tmp/part.trace
packed()
{
	read -ra window < <(build/selftests/blackbox "$tmp/all.raw" "$1" "$2" 524288 "$tmp/part.raw") &&
		$GOTRACE replay "$tmp/part.raw" -o "$tmp/part.trace" && check_trace "$tmp/part.trace"
}

# RAW OUT: the same recording without the state of the host's clock, which the buffer does not have
without_host_clock()
{
	python3 -c '
import struct, sys
data = open(sys.argv[1], "rb").read()
at = struct.unpack_from("<I", data, 12)[0]  # userspace/rawfile/rawfile.h
out = [data[:at]]
while at < len(data):
    kind, size = struct.unpack_from("<II", data, at)
    end = at + 8 + (size + 7 & ~7)
    if kind != 9:
        out.append(data[at:end])
    at = end
open(sys.argv[2], "wb").write(b"".join(out))' "$1" "$2"
}

nothing_overwritten()
{
	without_host_clock "$tmp/all.raw" "$tmp/clockless.raw" && $GOTRACE replay "$tmp/clockless.raw" -o "$tmp/clockless.trace" &&
		packed 1048576 64 && cmp "$tmp/part.trace" "$tmp/clockless.trace" && same_events
}

same_events() # as those of the recorder
{
	build/gotrace events --canonical "$tmp/part.trace" | cmp - "$tmp/all"
}

# Filters the events of the window: drops those that restate the state at its start, and those that
# depend on earlier events: earlier names, absent Ps, an unchanged GOMAXPROCS, an STW pause or a
# task that had begun.
certain()
{
	awk -F '\t' -v from="$((window[0] + 1000000))" -v to="${window[1]}" \
		'$1 >= from && $1 < to && $2 != "Sync" && $2 != "RangeActive"' |
		grep -v -e 'name="stop-the-world' -e 'Undetermined->' -e 'name="/sched/gomaxprocs' |
		sed -E 's/(\tproc=[0-9]+ )[A-Za-z]*->/\1->/; s/(\tTaskEnd\t.*)\tid=([0-9]+) .*\t/\1\tid=\2\t/
			s/ (type|category)="[^"]*"//; s/(goroutine=[0-9]+ NotExist.*)\t.*/\1/'
}

# SUBBUF SUBBUFS AT_LEAST PERCENT: requires AT_LEAST events, PERCENT of which are equal. The
# checkpoint is that of the start of the recording, older than in any real flight recorder: a
# goroutine created later is known only from the first record that names it.
overwritten()
{
	packed "$1" "$2" && [ "${window[0]}" -gt "$(head -n 1 "$tmp/all" | cut -f 1)" ] &&
		certain <"$tmp/all" >"$tmp/want" || return 1
	build/gotrace events --canonical "$tmp/part.trace" | certain >"$tmp/have"
	diff "$tmp/want" "$tmp/have" | grep '^[<>]' >"$tmp/differences"
	head -n 20 "$tmp/differences" | cut -c 1-200
	echo "$(wc -l <"$tmp/want") events, $(wc -l <"$tmp/differences") differences"
	[ "$(wc -l <"$tmp/want")" -gt "$3" ] &&
		[ "$(wc -l <"$tmp/differences")" -le "$(($(wc -l <"$tmp/want") * (100 - $4) / 100))" ]
}

flight_options()
{
	local flight="$GOTRACE flight --blackbox box -p 1 -o $tmp/flight"

	refused 2 'combined with --ring-size: --max-size is the size of all rings' $flight --ring-size 1M &&
		refused 2 'combined with --probes=inline' $flight --probes inline && refused 2 'combined with CPU samples' $flight --events sched,cpu &&
		refused 2 "buffer name 'a/b'" $GOTRACE flight -p 1 -o "$tmp/flight" --blackbox a/b &&
		refused 2 'timeout requires --blackbox' $GOTRACE flight -p 1 -o "$tmp/flight" --timeout 1h && [ ! -e "$tmp/flight" ]
}

ktap_start
try "options that cannot be combined" cannot_be_had_together
try "flight: options that cannot be combined" flight_options
try "recover: missing arguments" recover_what
try "a real program is recorded" recorded || { ktap_end; exit 1; }
[ -e /dev/gotrace ] || try "without the module, each command prints the remedy" no_module
try "recovered without any overwritten record: the trace is the same" nothing_overwritten
try "recovered from rings that wrapped a few times" overwritten 65536 32 10000 90
try "recovered from rings that wrapped often: a valid trace" packed 16384 8
ktap_end
