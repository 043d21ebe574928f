#!/bin/bash
# Tests Go code in a C program: as a shared library that it loads (-buildmode=c-shared), and linked
# into it (c-archive). The runtime traces the same run, and the counts of the target are exact.
# tier: all
# parallel
# timeout: 900
# long: 2400
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

build_library() # GO MODE: sets HOST, the folder of the program `library`
{
	local sources=selftests/targets/library

	HOST=$PWD/$tmp/$1-$2
	mkdir -p "$HOST" && (cd selftests/targets && CGO_ENABLED=1 GOTOOLCHAIN=$1 "${GO:-go}" build \
		-buildvcs=false -buildmode="$2" -o "$HOST/libgocode.$([ "$2" = c-shared ] && echo so || echo a)" ./library) &&
		cc -O1 -o "$HOST/library" "$sources/host/host.c" -L"$HOST" -lgocode -Wl,-rpath,"$HOST" -lpthread
}

# Compares goroutines except the one that C calls on, which the runtime's own trace contains from
# the first call only.
same_run() # GO
{
	record_target library "$HOST" "$EVERY_EVENT" -trace "$tmp/own.trace" &&
		check_trace "$RECORDED" &&
		build/reference/truth "$RECORDED" "$tmp/library.done" || return 1
	[[ $1 == go1.21* ]] || # Go rejects the runtime's own traces of such programs
		build/reference/compare -min-goroutines 1000 -min-transitions 5000 -reasons '' -identical 99.5 \
			-stacks 90 -time-p99 1h "$tmp/own.trace" "$RECORDED"
}

untouched() # the text in memory equals the file; text_is_clean() checks only the program, not the library
{
	start_target library "$HOST" &&
		$GOTRACE record -p "$TARGET_PID" -d 300ms -o "$tmp/x.trace" &&
		$GOTRACE doctor -p "$TARGET_PID" --json >"$tmp/doctor" || return 1
	jq -e --arg go "$1" '.recordable and .target.go == $go' "$tmp/doctor" &&
		text_is_clean "$TARGET_PID" "$HOST/$2" && tell_target start && expect_target done && stop_target
}

plugin()
{
	mkdir -p "$tmp/plugin" && printf 'package main\n\nfunc main() {}\n' >"$tmp/plugin/main.go" &&
		(cd "$tmp/plugin" && CGO_ENABLED=1 GOTOOLCHAIN=$ORACLE_GO GO111MODULE=off "${GO:-go}" build \
			-buildmode=plugin -o plugin.so .) &&
		refused 1 'is a plugin: .*record the program that loads it' $GOTRACE probes --exe "$tmp/plugin/plugin.so"
}

ktap_start
for go in $(by_tier "$ORACLE_GO" "$ORACLE_GO" "$TARGET_GOS"); do
	try "$go: a shared library builds" build_library "$go" c-shared &&
		try "$go: Go code in a shared library matches runtime/trace" same_run "$go" &&
		try "$go: no breakpoint is left in the library" untouched "$go" libgocode.so
	try "$go: an archive builds" build_library "$go" c-archive &&
		try "$go: Go code linked into a C program matches runtime/trace" same_run "$go"
done
try "a plugin is rejected by name" plugin
ktap_end
