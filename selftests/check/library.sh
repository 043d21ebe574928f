#!/bin/bash
# Tests Go code in a C program: as a shared library that it loads (-buildmode=c-shared), or as one of
# two, and linked into it (c-archive); and a library in a Go program. The runtime traces the same run, and the
# counts of the target are exact. Libraries are loaded before and during the recording, deleted and replaced.
# tier: all
# parallel
# timeout: 900
# long: 2400
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

build_go() # GO MODE FILE PACKAGE [OPTION...]
{
	(cd selftests/targets && CGO_ENABLED=1 GOTOOLCHAIN=$1 "${GO:-go}" build -buildvcs=false -buildmode="$2" -o "$3" "${@:5}" "./$4")
}

build_library() # GO MODE: sets HOST, the folder of the program `library`
{
	local sources=selftests/targets/library

	HOST=$PWD/$tmp/$1-$2
	mkdir -p "$HOST" && build_go "$1" "$2" "$HOST/libgocode.$([ "$2" = c-shared ] && echo so || echo a)" library &&
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
	build_library "$ORACLE_GO" c-shared && build_go "$ORACLE_GO" c-shared "$HOST/libother.so" library -ldflags=-s &&
		mkdir -p "$HOST/two" && printf '#!/bin/sh\nexec env LD_PRELOAD=%s %s "$@"\n' "$HOST/libother.so" "$HOST/library" >"$HOST/two/library" &&
		chmod +x "$HOST/two/library" && opens
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
		grep -qE '^not recorded: the Go code of [^,]*/lib(other|gocode).so: see --library$' "$tmp/probes" &&
		jq -e 'any(.checks[]; .what == "libraries" and (.text | test("^not recorded: the Go code of [^,]*/lib(other|gocode).so: see --library$")))' \
			"$tmp/doctor" &&
		refused 1 "has no Go library 'libnone.so', but .*/lib(other.so, .*/libgocode|gocode.so, .*/libother).so" \
			$GOTRACE record -p "$TARGET_PID" --library libnone.so -o "$tmp/x.trace" && tell_target start && expect_target done && stop_target
}

# A program in another language that loads its first argument at once, and the others while it works.
opens()
{
	cat >"$HOST/opens" <<-'EOF'
		#!/usr/bin/env python3
		import ctypes, os, sys
		def load(path):
		    library = ctypes.CDLL(path)
		    for _ in range(100):
		        library.Work()
		if sys.argv[1]:
		    load(sys.argv[1])
		print("ready", os.getpid(), flush=True)
		sys.stdin.readline()
		for path in sys.argv[2:]:
		    load(path)
		print("done {}", flush=True)
		sys.stdin.readline()
	EOF
	chmod +x "$HOST/opens"
}

# A program in another language whose threads compute in the library for a short time and sleep otherwise.
naps()
{
	cat >"$HOST/naps" <<-'EOF'
		#!/usr/bin/env python3
		import ctypes, json, os, sys, threading, time
		library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libgocode.so"))
		computed = []
		def run():
		    for _ in range(2):
		        before = time.thread_time_ns()
		        library.Compute(3000000)
		        computed.append(time.thread_time_ns() - before)
		        time.sleep(4)
		print("ready", os.getpid(), flush=True)
		sys.stdin.readline()
		before = time.process_time_ns()
		threads = [threading.Thread(target=run) for _ in range(4)]
		for thread in threads:
		    thread.start()
		    time.sleep(1) # they do not compete
		for thread in threads:
		    thread.join()
		print("done", json.dumps({"computed_ns": sum(computed), "cpu_ns": time.process_time_ns() - before}), flush=True)
		sys.stdin.readline()
	EOF
	chmod +x "$HOST/naps"
}

# The goroutines of these threads are the program's: `latency` has them, and `report` what they computed, by the clocks of the threads.
napping()
{
	naps && record_target naps "$HOST" "" && build/gotrace latency "$RECORDED" >"$tmp/latency" &&
		build/gotrace report --json "$RECORDED" >"$tmp/report.json" || return 1
	head -n 3 "$tmp/latency"
	jq -r '.findings[] | "\(.text) \(.detail)"' "$tmp/report.json"
	cat "$tmp/naps.done"
	grep -q '^ *4 .* runtime.cgocallback$' "$tmp/latency" &&
		jq -e --slurpfile own "$tmp/naps.done" '[.findings[] | select(.text | endswith(" was on a CPU.")).ns] as $ns | $own[0] |
			($ns | length) == 1 and $ns[0] >= .computed_ns * 0.95 and $ns[0] <= .cpu_ns * 1.02' "$tmp/report.json"
}

# A name that is wrong would be waited for in vain, so a library must be there.
not_yet()
{
	start_target opens "$HOST" '' "$HOST/libother.so" &&
		refused 1 'not a Go program' $GOTRACE record -p "$TARGET_PID" -o "$tmp/x.trace" &&
		refused 1 "has no Go library 'libother.so': record it once it is loaded" \
			$GOTRACE record -p "$TARGET_PID" --library libother.so -o "$tmp/x.trace" && tell_target start && expect_target done &&
		$GOTRACE record -p "$TARGET_PID" --library libother.so -d 300ms -o "$tmp/x.trace" && check_trace "$tmp/x.trace" && stop_target
}

loaded_meanwhile() { grep -qE "^gotrace-bpf: not recorded: the Go code of [^,]*/$1 in process [0-9]+, loaded during the recording: see --library$" "$tmp/background.out"; }

# FILE NAME [ARGUMENT...]: the library FILE is named while the program still runs, and once.
loaded_late()
{
	start_target "$2" "$HOST" "${@:3}" && start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/late.trace" && recorder_is_live || return 1
	tell_target start && expect_target done 120 && wait_until 20 loaded_meanwhile "$1" && stop_recorder && target_result >"$tmp/late.done" &&
		stop_target && cat "$tmp/background.out" && check_trace "$tmp/late.trace" && [ "$(grep -c 'not recorded' "$tmp/background.out")" -eq 1 ]
}

second_is_late() { loaded_late libother.so opens "$HOST/libgocode.so" "$HOST/libother.so"; }

late_in_go() { loaded_late libother.so loads -late "$HOST/libother.so" && build/reference/truth "$tmp/late.trace" "$tmp/late.done"; }

# "RECORD OPTIONS" OTHER ARGUMENT...: one runtime of a Go program is recorded, and the OTHER is named.
one_of_go()
{
	record_target loads "$HOST" "$EVERY_EVENT $1" "${@:3}" "$HOST/libother.so" && check_trace "$RECORDED" &&
		build/reference/truth "$RECORDED" "$tmp/loads.done" && grep 'not recorded' "$tmp/background.out" >"$tmp/said" && cat "$tmp/said" && names_other "$2"
}

lists() # FILE [OPTION...]: probes and doctor list this file as not recorded, and no other one
{
	$GOTRACE probes -p "$TARGET_PID" --json "${@:2}" >"$tmp/probes" && jq -e --arg file "$1" '.libraries == [$file]' "$tmp/probes" &&
		$GOTRACE doctor -p "$TARGET_PID" --json "${@:2}" >"$tmp/doctor" &&
		jq -e --arg file "$1" '.recordable and .target.libraries == [$file]' "$tmp/doctor"
}

listed_in_go()
{
	start_target loads "$HOST" "$HOST/libother.so" && lists "$HOST/libother.so" && lists "$HOST/loads" --library libother.so &&
		refused 1 "has no Go library 'libnone.so', but .*/loads, .*/libother.so: record it once" \
			$GOTRACE record -p "$TARGET_PID" --library libnone.so -o "$tmp/x.trace" && tell_target start && expect_target done && stop_target
}

# The process executes the deleted file, not the one that has its name now. PRIVILEGES of the manual: they open it.
replaced()
{
	cp "$HOST/libother.so" "$HOST/libgone.so" && start_target opens "$HOST" "$HOST/libgone.so" && rm "$HOST/libgone.so" &&
		echo 'not a library' >"$HOST/libgone.so" && $GOTRACE record -p "$TARGET_PID" --library libgone.so -d 300ms -o "$tmp/x.trace" &&
		check_trace "$tmp/x.trace" && $GOTRACE record -p "$TARGET_PID" -d 300ms -o "$tmp/x.trace" && check_trace "$tmp/x.trace" || return 1
	tell_target start && expect_target done && stop_target || return 1
	cp "$HOST/libother.so" "$HOST/libgone.so" && start_target loads "$HOST" "$HOST/libgone.so" && rm "$HOST/libgone.so" &&
		lists "$HOST/libgone.so (deleted)" && tell_target start && expect_target done && stop_target
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
	[ "$go" != "$ORACLE_GO" ] || try "$go: threads of C that compute in the library for a short time" napping
	try "$go: an archive builds" build_library "$go" c-archive &&
		try "$go: Go code linked into a C program matches runtime/trace" same_run "$go"
done
if try "two libraries build" two_libraries; then
	try "of two libraries the one that is chosen by name is recorded" the_called_one
	try "of two libraries the one that is chosen by its path is recorded" the_idle_one
	try "both libraries are listed" both_are_listed
	try "a library that is not loaded yet is refused" not_yet
	try "a second library that is loaded meanwhile is named" second_is_late
fi
if try "a Go program that loads a library builds" build_go "$ORACLE_GO" default "$HOST/loads" loads; then
	try "the runtime of the program is recorded, and the library is named" one_of_go '' libother.so
	try "the library is recorded, and the program is named" one_of_go '--library libother.so' loads -library
	try "both runtimes are listed" listed_in_go
	try "a library that a Go program loads meanwhile is named" late_in_go
	try "a library is deleted or replaced" replaced
fi
try "a plugin is rejected by name" plugin
ktap_end
