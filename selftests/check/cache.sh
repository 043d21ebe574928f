#!/bin/bash
# beside others
# timeout: 120
# What is kept of an analysis: the second recording uses it and is as good as the first, another user's
# folder is not used, --no-cache keeps nothing.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

before='was analysed before'

recorded() # OPTION...: a valid trace, with the goroutines and the names of their functions
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
	local program=build/targets/$JUDGE_GO/pingpong

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
	recorded && ! grep "$before" "$tmp/c.out" && grep 'others can use it' "$tmp/c.out"
}

a_started_program()
{
	cache=$(realpath "$tmp")/started
	for _ in 1 2; do
		XDG_CACHE_HOME=$cache timeout 60 $GOTRACE record -v -o "$tmp/c.trace" -- \
			"build/targets/$JUDGE_GO/tiny" >"$tmp/c.out" 2>&1 &&
			build/gotrace check "$tmp/c.trace" || return 1
	done
	grep "$before" "$tmp/c.out"
}

ktap_start
start_target pingpong "$JUDGE_GO" -duration 60s || exit 1
tell_target start
try "the second time nothing is analysed" second_time
try "the probes are the same" same_probes
try "--no-cache" without_cache
try "a folder that others can write to is not used" open_to_others
try "a program that is started" a_started_program
ktap_end
