#!/bin/bash
# parallel
# timeout: 120
# Tests the cache of program analyses: the second recording uses it and is as good as the first, a
# folder of another user is not used, --no-cache stores nothing, and a forged copy of a program does
# not get the original's entry.
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

before='using the cached analysis of this program'

recorded() # OPTION...: records a valid trace with the goroutines and the names of their functions
{
	XDG_CACHE_HOME=$cache timeout 60 $GOTRACE record -v -p "$TARGET_PID" -d 300ms -o "$tmp/c.trace" "$@" \
		>"$tmp/c.out" 2>&1 || { cat "$tmp/c.out"; return 1; }
	build/gotrace check "$tmp/c.trace" && build/gotrace goroutines "$tmp/c.trace" | grep -q 'main\.'
}

second_time()
{
	cache=$(realpath "$tmp")/cache
	recorded && ! grep "$before" "$tmp/c.out" && recorded && grep "$before" "$tmp/c.out"
}

same_probes()
{
	local program=build/targets/$ORACLE_GO/pingpong

	XDG_CACHE_HOME=$cache $GOTRACE probes --exe "$program" >"$tmp/kept" &&
		$GOTRACE probes --no-cache --exe "$program" >"$tmp/found" && cmp "$tmp/kept" "$tmp/found"
}

without_cache()
{
	cache=$(realpath "$tmp")/none
	recorded --no-cache && ! grep "$before" "$tmp/c.out" && [ ! -e "$cache" ]
}

open_to_others()
{
	cache=$(realpath "$tmp")/cache
	chmod 777 "$cache/gotrace-bpf"
	recorded && ! grep "$before" "$tmp/c.out" && grep 'other users own it or can access it' "$tmp/c.out"
}

a_started_program()
{
	cache=$(realpath "$tmp")/started
	for _ in 1 2; do
		XDG_CACHE_HOME=$cache timeout 60 $GOTRACE record -v -o "$tmp/c.trace" -- \
			"build/targets/$ORACLE_GO/tiny" >"$tmp/c.out" 2>&1 &&
			build/gotrace check "$tmp/c.trace" || return 1
	done
	grep "$before" "$tmp/c.out"
}

# A copy with the same build ID, size and time, in which some functions have other names
make_copy() # FILE
{
	local program=build/targets/$ORACLE_GO/pingpong

	sed 's/runtime\.(\*mheap)\.reclaimChunk/runtime.(*mheap).reclaimOther/; s/runtime\.gcStart/runtime.gcOther/' \
		"$program" >"$1" && chmod +x "$1" && touch -r "$program" "$1" && ! cmp "$program" "$1" &&
		[ "$(stat -c '%s %Y' "$program")" = "$(stat -c '%s %Y' "$1")" ]
}

missing() # PID: the probes that its program lacks, from --json
{
	XDG_CACHE_HOME=$cache $GOTRACE probes --json -p "$1" | jq -c '.missing | map(.probe)'
}

forged_copy()
{
	cache=$(realpath "$tmp")/forged
	make_copy "$tmp/copy" || return 1
	start_background "$tmp/copy" -duration 60s
	wait_until 20 grep -q ready "$tmp/background.out" || return 1
	local copy=$BACKGROUND_PID

	[ "$(missing "$copy")" != "[]" ] || { echo "the copy lacks no probe"; return 1; }
	[ "$(missing "$TARGET_PID")" = "[]" ] && recorded && ! grep 'not recorded' "$tmp/c.out" || return 1
	XDG_CACHE_HOME=$cache timeout 60 $GOTRACE record -v --events sched,gc,sweep -p "$copy" -d 300ms \
		-o "$tmp/c.trace" >"$tmp/c.out" 2>&1
	cat "$tmp/c.out"
	kill "$copy"
	grep 'not recorded: .*the program has no function runtime' "$tmp/c.out" && ! grep "$before" "$tmp/c.out"
}

ktap_start
start_target pingpong "$ORACLE_GO" -duration 60s || exit 1
tell_target start
try "the second recording analyzes nothing" second_time
try "the probes are the same" same_probes
try "--no-cache" without_cache
try "a folder that others can write to is not used" open_to_others
try "a program started by record" a_started_program
try "a forged copy of a program" forged_copy
ktap_end
