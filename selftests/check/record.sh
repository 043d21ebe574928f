#!/bin/bash
# parallel
# timeout: 900
# long: 3600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
# Every target, built with each Go release and recorded RUNS times (check: once, check-long: 20),
# gives a trace that both of Go's readers accept, with nothing lost, and the target is not affected.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
RUNS=${RUNS:-$(by_tier 1 1 20)}

# NAME ARGUMENTS: one run with each Go release
recorded()
{
	local name=$1 go
	shift

	for go in $TARGET_GOS; do
		record_target "$name" "$go" "" "$@" && check_trace "$RECORDED" &&
			build/reference/validate -strict "$RECORDED" &&
			[ "$(stat_of lost "$tmp/$name.json")" = 0 ] || return 1
	done
}

repeated() # NAME ARGUMENTS
{
	for ((run = 1; run <= RUNS; run++)); do
		recorded "$@" || { echo "run $run with $*"; return 1; }
	done
}

# The server does not support the protocol of the targets: it runs until a signal.
serve()
{
	local go run pid

	for go in $TARGET_GOS; do
		for ((run = 1; run <= RUNS; run++)); do
			: >"$tmp/server.out" # here, not in the child, so that no old line is found
			build/targets/$go/server -duration 60s >"$tmp/server.out" 2>&1 &
			pid=$!
			background+=("$pid")
			wait_until 20 grep -q ready "$tmp/server.out" || return 1
			$GOTRACE record -p $pid -d 1s -o "$tmp/server.trace" --stats "$tmp/server.json" &&
				check_trace "$tmp/server.trace" &&
				[ "$(stat_of lost "$tmp/server.json")" = 0 ] || return 1
			kill -TERM $pid && wait $pid || return 1
		done
	done
}

ktap_start
try "server: $RUNS runs per Go release" serve
try "selftrace: $RUNS runs per Go release" repeated selftrace -trace "$tmp/own.trace" -duration $(by_tier "300ms $FEW_SYSCALLS" 1s 1s)
try "truth: $RUNS runs per Go release" repeated truth
in_all try "pingpong: $RUNS runs per Go release" repeated pingpong -duration 500ms -rate 20000
in_all try "many: $RUNS runs per Go release" repeated many -duration 1s
try "parked: $RUNS runs per Go release" repeated parked -duration 300ms
ktap_end
