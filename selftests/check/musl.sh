#!/bin/bash
# Programs with cgo that are linked with musl, dynamically and statically, as in Alpine images: their
# traces equal those that they write themselves, and all counts are exact. Attached to and started
# by the recorder, with uprobes and with inline probes, and with callbacks from C. Then programs linked
# with glibc whose stacks have no limit, or one of 8 GiB. docs/go-runtime.md lists the stack bounds of both.
# parallel
# timeout: 1200
# long: 3600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
SELF_DURATION=700ms
. selftests/matrix.lib.sh
. selftests/cgo.lib.sh

OLDEST=${LAST_GOS%% *} NEWEST=${LAST_GOS##* }
VERSIONS=${VERSIONS:-$(by_tier "$OLDEST $NEWEST" "$OLDEST 1.22.12 1.23.12 $NEWEST" "$LAST_GOS")}
KINDS=${KINDS:-"musl musl-static $(by_tier "" "musl-pie musl-static-stripped" "musl-pie musl-static-stripped")"}
INLINE_GO=${LAST_GOS##* }

# VERSION KIND: dynamic programs name musl's loader, static ones have none
is_of_musl()
{
	local loader

	build_programs "$1" "$2" truth selftrace cgo || return 1
	loader=$(readelf -p .interp "$PROGRAMS/cgo" 2>/dev/null | grep -o '/lib/[^ ]*')
	echo "loader: $loader"
	case $2 in
	musl-static*) [ -z "$loader" ] ;;
	*) [[ $loader == /lib/ld-musl-* ]] ;;
	esac
}

# VERSION KIND: the recorder starts the program
command_counts()
{
	build_programs "$1" "$2" truth selftrace cgo || return 1
	timeout 120 $GOTRACE record -o "$tmp/command.trace" -- "$PROGRAMS/cgo" \
		< <(echo start) >"$tmp/command.out" 2>"$tmp/command.err" || { cat "$tmp/command.err"; return 1; }
	sed -n 's/^done //p' "$tmp/command.out" >"$tmp/command.done"
	build/gotrace check "$tmp/command.trace" && build/reference/validate "$tmp/command.trace" &&
		build/reference/truth "$tmp/command.trace" "$tmp/command.done"
}

inline_counts() # VERSION KIND
{
	build_programs "$1" "$2" truth selftrace cgo || return 1
	record_target cgo "$PROGRAMS" "$EVERY_EVENT --probes=inline" &&
		[ "$(stat_of lost "$tmp/cgo.json")" = 0 ] &&
		build/reference/truth "$RECORDED" "$tmp/cgo.done"
}

# VERSION KIND LIMIT: of the main thread's stack, and by default of those of other threads
with_stack_limit()
{
	local before status

	build_programs "$1" "$2" cgo || return 1
	before=$(ulimit -Ss)
	ulimit -Ss "$3" || return 1
	same_cgo_run "$PROGRAMS"
	status=$?
	ulimit -Ss "$before"
	return $status
}

ktap_start
try "musl is installed" locked selftests/deps.sh musl-tools || ktap_end
for version in $VERSIONS; do
	for kind in $KINDS; do
		try "$version $kind: the programs build" is_of_musl "$version" "$kind" || continue
		run_cell "$version" "$kind"
		build_programs "$version" "$kind" truth selftrace cgo
		try "$version $kind: calls, callbacks and threads of C match runtime/trace" same_cgo_run "$PROGRAMS" &&
			! has_no_cgo_trace "$PROGRAMS" && try "$version $kind: the number of C threads matches" threads_of_c
		in_all try "$version $kind: the same, with C threads from before the recording" same_cgo_run "$PROGRAMS" -warm
		try "$version $kind: every count of a command is exact" command_counts "$version" "$kind"
	done
done
for kind in $KINDS; do
	try "$INLINE_GO $kind: every count with inline probes is exact" inline_counts "$INLINE_GO" "$kind"
done
for limit in unlimited $((8 << 20)); do
	try "$NEWEST, glibc, ulimit -s $limit" with_stack_limit "$NEWEST" external "$limit"
done
print_table "$VERSIONS" "$KINDS"
ktap_end
