#!/bin/bash
# `gotrace diff` finds that a function is 20 % slower in traces and recordings of a real program, and its
# figures are those of the second implementation. It runs alone: what else the machine does makes programs
# slower, too.
# tier: all
# timeout: 400
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh
. selftests/diff.lib.sh

# Each program takes at least the given CPU time. What else runs on this machine may make
# any recording slower, so they are repeated. FIGURES: of these at least one is found, and none of them in
# two recordings of the same load.
real_load() # FIGURES RECORDER
{
	local try figures

	for try in 1 2 3 4; do
		"$2" base 300us && "$2" same 300us && "$2" slow 360us || return 1
		$READER diff --json --threshold 10 "$tmp/base.trace" "$tmp/same.trace" >"$tmp/same.json" 2>"$tmp/err"
		$READER diff --json --threshold 5 "$tmp/base.trace" "$tmp/slow.trace" >"$tmp/slow.json" 2>"$tmp/err"
		figures=".figures[] | select(.figure + \": \" + .name | IN($1))"
		jq -se "(.[0] | [$figures | .exceeds_threshold] | any | not) and
			(.[1] | [$figures | .exceeds_threshold and .result == \"worse\" and .b.value > 1.1 * .a.value] | any)" \
			"$tmp/same.json" "$tmp/slow.json" && return
		echo "try $try"
		jq -c "$figures" "$tmp/same.json" "$tmp/slow.json"
	done
	return 1
}

by_itself() # NAME WORK
{
	timeout 60 build/targets/"$ORACLE_GO"/varied -trace "$tmp/$1.trace" -work "$2" </dev/null >/dev/null
}

by_gotrace() # NAME WORK
{
	record_target varied "$ORACLE_GO" "" -work "$2" && mv "$RECORDED" "$tmp/$1.trace"
}

ktap_start
if try "the reader builds" build_reader; then
	try "a program that traces itself" real_load '"running: main.work", "p50: request"' by_itself
	try "its figures" agrees "$tmp/base.trace" "$tmp/slow.trace"
	try "a program that is recorded" real_load '"on CPU: request"' by_gotrace
	try "its figures" agrees "$tmp/base.trace" "$tmp/slow.trace"
fi
ktap_end
