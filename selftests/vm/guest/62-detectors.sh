#!/bin/bash
# kernels: kasan
# timeout: 5400
# module: loaded
# Random requests with failing allocations and copies (selftests/kmod/fuzz.c), with a new seed in each run, for 20
# minutes. In the first two runs a recorder writes records and stacks of a Go program through the module. At the
# end, memory that nothing refers to (kmemleak).
. "$(dirname "$0")/../../lib.sh"
. selftests/record.lib.sh

# Failures are requested by the thread that they concern (fail-nth); none is random, and none is printed.
enable_failures()
{
	local at

	for at in /sys/kernel/debug/{failslab,fail_page_alloc,fail_usercopy}; do
		[ ! -e $at/ignore-gfp-wait ] || echo N >$at/ignore-gfp-wait || return 1
		[ ! -e $at/min-order ] || echo 0 >$at/min-order || return 1
		echo 0 >$at/verbose || return 1
	done
}

fuzz() # SEED [RESULT]: the only result that may fail
{
	local status

	build/selftests/kmod/fuzz 20000 "$1" fail >"$tmp/fuzz" 2>&1
	status=$?
	sed -n 's/, successful//p; s/^# requests with.*/&: -/p' "$tmp/fuzz" >>"$tmp/counts"
	[ $status -eq 0 ] || { [ -n "${2-}" ] && [ "$(grep '^not ok' "$tmp/fuzz")" = "$2" ]; } || {
		cat "$tmp/fuzz"
		return 1
	}
}

# The module's memory changes during a run, because the recorder writes checkpoints.
fuzz_while_recording()
{
	local changes="not ok 3 nothing is left behind"

	start_target pingpong "$ORACLE_GO" -duration 1h -rate 20 &&
		start_background $GOTRACE record -p "$TARGET_PID" --blackbox fuzzed && recorder_is_live &&
		tell_target start && fuzz 1 "$changes" && fuzz 2 "$changes" || { cat "$tmp/background.out"; return 1; }
	kill -KILL "$BACKGROUND_PID" "$TARGET_PID"
	wait "$BACKGROUND_PID" "$TARGET_PID"
	$GOTRACE recover fuzzed -o "$tmp/fuzzed.trace" && build/gotrace check "$tmp/fuzzed.trace"
}

fuzz_for_minutes()
{
	local seed=3

	while fuzz $seed; do
		[ $SECONDS -lt 1200 ] || return 0
		seed=$((seed + 1))
	done
	return 1
}

# Of all runs together, in columns: requests, and how many of them were successful
show_counts()
{
	awk -F': ' '{ tried[$1] += $2; done[$1] += $3 } END { for (kind in tried) print kind ": " tried[kind] ", " done[kind] }' \
		"$tmp/counts" | sort
}

# An object is reported by a scan that does not find it if it is older than 5 s.
nothing_leaked()
{
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak && sleep 6 && echo scan >/sys/kernel/debug/kmemleak &&
		! grep . /sys/kernel/debug/kmemleak
}

ktap_start
try "failures can be requested" enable_failures
try "random requests while a recorder writes through the module" fuzz_while_recording
try "random requests" fuzz_for_minutes
show_counts
try "no memory is leaked" nothing_leaked
ktap_end
