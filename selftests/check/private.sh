#!/bin/bash
# tier: all
# parallel
# depends on: Makefile bpf include userspace selftests/private.py selftests/targets
# What gotrace shows of private data - facts about the recording, losses, kernel events, the event table - is what
# a second decoder, written by gotrace-private(5), reads from the bytes of the file: of recordings with all event sets
# and with little to record, and of copies with records of all kinds, unknown and corrupt ones.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

decoded() # VERB TRACE [ARGUMENT...]
{
	python3 -B selftests/private.py "$1" $READER "${@:2}"
}

# VERB TRACE SED-SCRIPT [ARGUMENT...]: the decoder does not agree with output that is changed
detects()
{
	cat >"$tmp/other" <<-EOF
		#!/bin/bash
		$PWD/$READER "\$@" | sed '$3'
	EOF
	chmod +x "$tmp/other"
	! python3 -B selftests/private.py "$1" "$tmp/other" "$2" "${@:4}" >"$tmp/out" && [ -s "$tmp/out" ] && ! grep Traceback "$tmp/out"
}

recorded()
{
	record_target selftrace "$ORACLE_GO" "--events sched,syscall,gc,heap,user,kernel,fault --cpu-profile=997 --min-duration syscall:2us" \
		-duration 60ms $FEW_SYSCALLS && mv "$RECORDED" "$tmp/busy.trace" &&
		start_target parked "$ORACLE_GO" -n 5 -threads 2 -duration 600s && $GOTRACE record -p "$TARGET_PID" -d 1500ms -o "$tmp/parked.trace" && stop_parked
}

stop_parked() { kill "$TARGET_PID"; }

# With losses, and the corrections after them
with_losses()
{
	record_target lossy "$ORACLE_GO" "--ring-size=16K --events=sched,kernel" -load 500ms -quiet 2s && decoded stat "$RECORDED" &&
		decoded recorder "$RECORDED" "$tmp/lossy.json" &&
		$READER stat --json "$RECORDED" | jq -e '.private | .lost > 0 and .corrections.count > 0 and (.losses | length) > 0'
}

# Times of inline probes have an error, which the recorder knows.
inline()
{
	record_target pingpong "$ORACLE_GO" --probes=inline -duration 100ms -rate 1000 && decoded stat "$RECORDED" &&
		decoded recorder "$RECORDED" "$tmp/pingpong.json" && [ "$(stat_of inline_clock_error_ns "$tmp/pingpong.json")" -gt 0 ]
}

# The version of the recording, and the oldest one
more_records() # TRACE
{
	python3 -B selftests/private.py add "$1" "$tmp/more" && $READER check "$tmp/more" && decoded stat "$tmp/more" && decoded items "$tmp/more" &&
		[ "$($READER events --kernel --json "$tmp/more" | grep -c '"event":"cpu"')" -eq 3 ] &&
		$READER convert --format-version 1.22 "$1" -o "$tmp/old" --force && python3 -B selftests/private.py add "$tmp/old" "$tmp/more" &&
		decoded stat "$tmp/more"
}

# TRACE VERSION STARTS: converted to an older format, whose clocks and stacks of statuses are private data
older()
{
	$READER convert --format-version "$2" "$1" -o "$tmp/old" --force && decoded older "$tmp/old" 1 "$3"
}

ktap_start
if try "recordings" recorded; then
	source=$(GOTOOLCHAIN=$ORACLE_GO "${GO:-go}" env GOROOT)/src/internal/trace/tracev2/events.go
	for name in busy parked; do
		trace=$tmp/$name.trace
		try "$name: stat" decoded stat "$trace" && note "$(cat "$tmp/try.out")"
		[ $name = parked ] || { try "$name: kernel events" decoded items "$trace" && note "$(cat "$tmp/try.out")"; }
		try "$name: the event table" decoded table "$trace" && note "$(cat "$tmp/try.out")"
		try "$name: types" decoded types "$trace" "$source" && note "$(cat "$tmp/try.out")"
		try "$name: with records of all kinds" more_records "$trace"
		try "$name: in format 1.23" older "$trace" 1.23 0 && note "$(cat "$tmp/try.out")"
		try "$name: in format 1.22" older "$trace" 1.22 5 && note "$(cat "$tmp/try.out")"
	done
	trace=$tmp/busy.trace
	try "another mean is detected" detects stat "$trace" 's/^\(GoBlock .* \)\([0-9.]*\)$/\11\2/'
	try "another share is detected" detects stat "$trace" 's/^\(GoBlock  *[0-9]*  *\)\([0-9.]*%\)/\11\2/'
	try "another type is detected" detects types "$trace" 's/"type": 2,/"type": 202,/' "$source"
	try "other kernel bytes are detected" detects stat "$trace" '/"kernel": {/,/}/s/"bytes": /&1/'
	try "another delay is detected" detects items "$trace" 's/"delay_ns":/&1/'
	try "another duration is detected" detects items "$trace" 's/"duration_ns":/&1/'
	try "another goroutine is detected" detects items "$trace" 's/\("by":{"m":[0-9]*,"g":\)/\11/'
fi
try "losses and corrections" with_losses && note "$(cat "$tmp/try.out")"
try "inline probes" inline && note "$(cat "$tmp/try.out")"
ktap_end
