#!/bin/bash
# Programs that use cgo: calls of C, callbacks on the goroutine's thread, and threads created by C
# that call Go. The runtime traces the same run, and the counts of the target are exact. Also with a
# recorder that attaches later, when the runtime has already seen threads of C.
# tier: all
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# One of 80 goroutines may be out of order: a thread that waits for a CPU between the probe and the
# tracer's timestamp for longer than compare's tolerance. One of 14 stacks is that of a callback,
# where ours ends; the runtime's continues with the frames of the Go code that called C.
same_run() # GO ARGUMENT...
{
	local go=$1
	shift

	record_target cgo "$go" "$EVERY_EVENT" -trace "$tmp/own.trace" "$@" &&
		build/reference/validate "$RECORDED" &&
		build/reference/truth "$RECORDED" "$tmp/cgo.done" || return 1
	has_no_trace "$go" ||
		build/reference/compare -min-goroutines 70 -min-transitions 5000 -reasons '' -identical 95 \
			-stacks 90 -time-p99 1h "$tmp/own.trace" "$RECORDED"
}

# Up to 1.21, Go rejects the runtime's own trace of such a program ("no consistent ordering").
has_no_trace() # GO
{
	[[ $1 == go1.19* || $1 == go1.2[01]* ]]
}

# The trace shows as many created and destroyed threads of C as the program had.
threads_of_c()
{
	local ours own

	ours=$(build/gotrace text "$RECORDED" | grep -c '^GoCreateSyscall ')
	own=$(build/gotrace text "$tmp/own.trace" | grep -c '^GoCreateSyscall ')
	echo "$ours threads, the runtime reports $own"
	[ "$own" -ge 400 ] && [ "$ours" -eq "$own" ]
}

ktap_start
for go in $TARGET_GOS; do
	try "$go: calls, callbacks and threads of C match runtime/trace" same_run "$go" &&
		! has_no_trace "$go" && try "$go: the number of C threads matches" threads_of_c
	try "$go: the same, with C threads from before the recording" same_run "$go" -warm
done
ktap_end
