# The target cgo: calls of C, callbacks, and threads of C; read after lib.sh.

. selftests/record.lib.sh

# One of 80 goroutines may be out of order: a thread that waits for a CPU between the probe and the
# tracer's timestamp for longer than compare's tolerance. One of 14 stacks is that of a callback,
# where ours ends; the runtime's continues with the frames of the Go code that called C. In 1.22, three of
# ten stacks of the runtime lack the innermost frames, or all of them, at system calls in and after callbacks.
same_cgo_run() # GO, or a folder of build_programs(), ARGUMENT...
{
	local go=$1 stacks='-stacks 90'
	shift

	[[ ${go##*/} != *1.22.* ]] || stacks='-frames 65 -stacks 60'

	record_target cgo "$go" "$EVERY_EVENT" -trace "$tmp/own.trace" "$@" &&
		build/reference/validate "$RECORDED" &&
		build/reference/truth "$RECORDED" "$tmp/cgo.done" || return 1
	has_no_cgo_trace "$go" ||
		build/reference/compare -min-goroutines 70 -min-transitions 5000 -reasons '' -identical 95 \
			$stacks -time-p99 1h "$tmp/own.trace" "$RECORDED"
}

# Up to 1.21, Go rejects the runtime's own trace of such a program ("no consistent ordering").
has_no_cgo_trace() # GO, or a folder of build_programs()
{
	local version=${1##*/}

	version=${version#go}
	[[ $version == 1.19.* || $version == 1.2[01].* ]]
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
