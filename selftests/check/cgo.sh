#!/bin/bash
# Programs that use cgo: calls of C, callbacks on the goroutine's thread, and threads created by C
# that call Go. The runtime traces the same run, and the counts of the target are exact. Also with a
# recorder that attaches later, when the runtime has already seen threads of C.
# tier: all
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/cgo.lib.sh

# Goroutines that C threads enter are the program's: each of their waits is listed, as the events have them.
callbacks_wait()
{
	local ids shown events

	ids=$(build/gotrace goroutines --all --json "$RECORDED" | jq -c '[.goroutines[] | select(.name == "runtime.cgocallback").id]')
	shown=$(build/gotrace waits --kind block --longest 10000 --json "$RECORDED" |
		jq '[.waits[] | select(.function == "runtime.cgocallback" and (.began_before | not))] | length')
	events=$(build/gotrace events --json "$RECORDED" | jq -n --argjson ids "$ids" '[inputs | select(.kind == "StateTransition" and
		.from == "Running" and .to == "Waiting" and (.goroutine | IN($ids[])))] | length')
	echo "$shown waits of $events of the goroutines $ids"
	[ "$events" -ge 50 ] && [ "$shown" -eq "$events" ]
}

ktap_start
for go in $TARGET_GOS; do
	try "$go: calls, callbacks and threads of C match runtime/trace" same_cgo_run "$go" &&
		! has_no_cgo_trace "$go" && try "$go: the number of C threads matches" threads_of_c
	[ "$go" != "$ORACLE_GO" ] || try "$go: the waits of goroutines that C threads enter" callbacks_wait
	try "$go: the same, with C threads from before the recording" same_cgo_run "$go" -warm
done
ktap_end
