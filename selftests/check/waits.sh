#!/bin/bash
# tier: all
# parallel
# long: 1800
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
# Compares the output of `gotrace path`, `gotrace latency`, `gotrace waits` and `gotrace histogram`,
# member by member, with that of a second implementation which reads `gotrace events --kernel --json`:
# selftests/reference/internal/waits shares no code with them. check/path.sh and check/latency.sh
# compare with measurements of the targets.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# TRACE [OPTION...]
agrees()
{
	local trace=$1 status
	shift

	timeout 300 build/reference/waits "$@" build/gotrace "$trace" >"$tmp/result"
	status=$?
	cut -c 1-1000 "$tmp/result"
	[ $status -eq 0 ] && functions_agree "$trace"
}

# TRACE: the start functions of goroutines in waits, their causes and paths are those that `gotrace goroutines` finds.
# A cause has as many segments as the path of the goroutine has between the bounds of the wait.
functions_agree()
{
	local id from to

	build/gotrace goroutines --all --json "$1" >"$tmp/all.json" && build/gotrace waits --longest 200 --json "$1" >"$tmp/waits.json" || return 1
	jq -e --slurpfile all "$tmp/all.json" '($all[0].goroutines | map({ key: "\(.id)", value: .name }) | from_entries) as $names |
		[.waits[] | (., .causes[]?) | ([.goroutine, .function], [.by_goroutine, .by_function])] | unique |
		map(select(.[0] != null and (.[1] // "") != $names["\(.[0])"])) | if . == [] then true else debug | false end' "$tmp/waits.json" || return 1
	while read -r id from to; do
		build/gotrace path --json --goroutine "$id" --from "@$from" --to "@$to" "$1" >"$tmp/path.json" &&
			jq -e --argjson from "$from" --slurpfile waits "$tmp/waits.json" --argjson id "$id" '(.segments | length) as $n |
				[$waits[0].waits[] | select(.goroutine == $id and .from_ns == $from and (.causes | length) < 8)] |
				all(([.causes[].count] | add) == $n)' "$tmp/path.json" || { echo "causes of a wait of $id at $from"; return 1; }
	done < <(jq -r '[.waits[] | select(.causes and (.goes_on or .began_before | not))][:5][] | "\(.goroutine) \(.from_ns) \(.to_ns)"' "$tmp/waits.json")
}

# An HTTP server and its clients, in one process
http_pair()
{
	local status

	"build/targets/$ORACLE_GO/server" -duration 20s >"$tmp/server.out" 2>&1 </dev/null &
	background+=("$!")
	wait_until 20 grep -q '^ready' "$tmp/server.out" &&
		$GOTRACE record -p $! -d "$(by_tier 700ms 700ms 4s)" -o "$tmp/server.trace" --stats "$tmp/server.json"
	status=$?
	kill -TERM "${background[-1]}"
	[ $status -eq 0 ] && [ "$(stat_of lost "$tmp/server.json")" = 0 ] && agrees "$tmp/server.trace" -n "$(by_tier 25 25 200)"
}

# NAME [ARGUMENT...]
target()
{
	record_target "$1" "$ORACLE_GO" "" "${@:2}" && [ "$(stat_of lost "$tmp/$1.json")" = 0 ] && agrees "$RECORDED" -n 15
}

# COMPETITORS NAME [ARGUMENT...]: beside so many processes that use a CPU
beside()
{
	local i competitors=() status

	for ((i = 0; i < $1; i++)); do
		sh -c 'while :; do :; done' &
		background+=($!)
		competitors+=($!)
	done
	target "${@:2}"
	status=$?
	kill "${competitors[@]}"
	return $status
}

# NAME COMMAND...: one test, with its counts
counted()
{
	try "$@"
	note "$(grep -h '^path: \|^holders \|^latency, \|^waits: \|^histogram: ' "$tmp/result" 2>/dev/null)"
}

ktap_start
counted "an HTTP server and its clients" http_pair
counted "a chain of waits" target chain -rounds 4
counted "system calls" target calls
counted "calls of C, with threads of its own" target cgo
counted "every kind of transition" target selftrace -duration 300ms
for case in go raw pipe gc; do
	counted "latency's target: $case" target latency -case $case -duration 200ms
done
if [ "$TIER" = long ]; then
	for run in "1 requests -n 8" "2 selftrace -duration 300ms -between 20000" "2 pair -requests 300 -connections 8" \
			"2 many -duration 200ms -goroutines 200 -threads 6 -rate 10000" "2 spin -duration 500ms" "1 tasked -n 10" \
			"2 latency -case go -duration 200ms" "2 varied -n 20 -work 5ms" "1 storm -kind together -n 200"; do
		# shellcheck disable=SC2086 # words
		counted "beside competitors: $run" beside $run
	done
fi
ktap_end
