#!/bin/bash
# Programs that use cgo: calls of C, callbacks on the goroutine's thread, and threads created by C
# that call Go. The runtime traces the same run, and the counts of the target are exact. Also with a
# recorder that attaches later, when the runtime has already seen threads of C.
# tier: all
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/cgo.lib.sh

ktap_start
for go in $TARGET_GOS; do
	try "$go: calls, callbacks and threads of C match runtime/trace" same_cgo_run "$go" &&
		! has_no_cgo_trace "$go" && try "$go: the number of C threads matches" threads_of_c
	try "$go: the same, with C threads from before the recording" same_cgo_run "$go" -warm
done
ktap_end
