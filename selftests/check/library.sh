#!/bin/bash
# Tests Go code in a C program: as a shared library that it loads (-buildmode=c-shared), or as one of
# two, and linked into it (c-archive). The runtime traces the same run, and the counts of the target are exact.
# tier: all
# parallel
# timeout: 900
# long: 2400
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

build_go() # GO MODE FILE [OPTION...]
{
	(cd selftests/targets && CGO_ENABLED=1 GOTOOLCHAIN=$1 "${GO:-go}" build -buildvcs=false -buildmode="$2" -o "$3" "${@:4}" ./library)
}

build_library() # GO MODE: sets HOST, the folder of the program `library`
{
	local sources=selftests/targets/library

	HOST=$PWD/$tmp/$1-$2
	mkdir -p "$HOST" && build_go "$1" "$2" "$HOST/libgocode.$([ "$2" = c-shared ] && echo so || echo a)" &&
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

# Two libraries, each with a runtime. The C program calls the preloaded one, and the other one is idle.
two_libraries()
{
	build_library "$ORACLE_GO" c-shared && build_go "$ORACLE_GO" c-shared "$HOST/libother.so" -ldflags=-s &&
		mkdir -p "$HOST/two" && printf '#!/bin/sh\nexec env LD_PRELOAD=%s %s "$@"\n' "$HOST/libother.so" "$HOST/library" >"$HOST/two/library" &&
		chmod +x "$HOST/two/library"
}

# LIBRARY: prints the message about the other library, and whether the trace has what the program claims
chosen()
{
	record_target library "$HOST/two" "$EVERY_EVENT --library $1" && check_trace "$RECORDED" || return 1
	grep 'not recorded' "$tmp/background.out"
	build/reference/truth "$RECORDED" "$tmp/library.done" >"$tmp/counts" && echo exact
}

the_called_one() { chosen libother.so >"$tmp/said" && cat "$tmp/said" && grep -q '^exact$' "$tmp/said" && names_other libgocode.so; }

names_other() # FILE: and no other one
{
	grep -qE "^gotrace-bpf: not recorded: the Go code of [^,]*/$1 in process [0-9]+: see --library$" "$tmp/said"
}

# By its path. Its runtime has four goroutines or more, and none of the program's.
the_idle_one()
{
	chosen "$HOST/libgocode.so" >"$tmp/said"
	cat "$tmp/said"
	! grep -q '^exact$' "$tmp/said" && names_other libother.so && build/gotrace goroutines --json "$RECORDED" >"$tmp/goroutines" &&
		[ "$(wc -l <"$tmp/goroutines")" -ge 4 ] && ! grep -q 'selftests/targets/library' "$tmp/goroutines"
}

both_are_listed()
{
	start_target library "$HOST/two" && $GOTRACE probes -p "$TARGET_PID" >"$tmp/probes" && $GOTRACE doctor -p "$TARGET_PID" --json >"$tmp/doctor" &&
		grep -qE '^other libraries with Go code: [^,]*/lib(other|gocode).so$' "$tmp/probes" &&
		jq -e 'any(.checks[]; .what == "libraries" and (.text | test("^not recorded: the Go code of [^,]*/lib(other|gocode).so: see --library$")))' \
			"$tmp/doctor" &&
		refused 1 "has no Go library 'libnone.so', but .*/lib(other.so, .*/libgocode|gocode.so, .*/libother).so" \
			$GOTRACE record -p "$TARGET_PID" --library libnone.so -o "$tmp/x.trace" && tell_target start && expect_target done && stop_target
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
if try "two libraries build" two_libraries; then
	try "of two libraries the one that is chosen by name is recorded" the_called_one
	try "of two libraries the one that is chosen by its path is recorded" the_idle_one
	try "both libraries are listed" both_are_listed
fi
try "a plugin is rejected by name" plugin
ktap_end
