#!/bin/bash
# Programs with C: calls of C, callbacks on the goroutine's thread, and threads that C made which call
# Go. The runtime traces the same run, and the target's counts are exact. Also with the recorder coming
# later, when the runtime has met threads of C already.
# beside others
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# One of 80 goroutines may be out of step: a thread that waits for a CPU between our probe and the
# tracer's stamp for longer than the judge takes for the same moment. And of 14 stacks one is of a
# callback, where ours ends: the runtime's goes on with the frames of the Go code that called C.
same_run() # GO ARGUMENT...
{
	local go=$1
	shift

	record_target cgo "$go" "" -trace "$tmp/own.trace" "$@" &&
		build/reference/validate "$RECORDED" &&
		build/reference/truth "$RECORDED" "$tmp/cgo.done" || return 1
	has_no_trace "$go" ||
		build/reference/compare -min-goroutines 70 -min-transitions 5000 -reasons '' -identical 95 \
			-stacks 90 -time-p99 1h "$tmp/own.trace" "$RECORDED"
}

# Up to 1.21 the runtime's own trace of such a program is one that Go refuses ("no consistent ordering").
has_no_trace() # GO
{
	[[ $1 == go1.19* || $1 == go1.2[01]* ]]
}

# Threads of C come and go, in the file as in the program: as often.
threads_of_c()
{
	local ours own

	ours=$(build/gotrace text "$RECORDED" | grep -c '^GoCreateSyscall ')
	own=$(build/gotrace text "$tmp/own.trace" | grep -c '^GoCreateSyscall ')
	echo "$ours threads, the runtime says $own"
	[ "$own" -ge 400 ] && [ "$ours" -eq "$own" ]
}

ktap_start
for go in $TARGET_GOS; do
	try "$go: calls, callbacks and threads of C, as runtime/trace has them" same_run "$go" &&
		! has_no_trace "$go" && try "$go: as many threads of C" threads_of_c
	try "$go: the same of a program that has met threads of C before" same_run "$go" -warm
done
ktap_end
