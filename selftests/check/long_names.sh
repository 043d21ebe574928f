#!/bin/bash
# tier: all
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/targets
# A program that supplies 1 MiB in each text: names of functions and of source files, types of tasks,
# regions, categories and messages of logs, labels, requests, the name of a mapping, and its build
# information. Each is cut in the trace, and the memory of the recorder does not grow by more than a few of them.
#
#     RECORDER=build/san/gotrace-bpf selftests/check/long_names.sh
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

recorder=${RECORDER:-$GOTRACE}
MIB=1048576
TEXT=1024 # bytes of a text in a trace: GT_TEXT_MAX
ALLOWED_KB=65536
export ASAN_OPTIONS=exitcode=99:detect_leaks=0 UBSAN_OPTIONS=exitcode=99

repeated() { head -c $MIB /dev/zero | tr '\0' "$1"; } # CHARACTER

# The target with the name of a function, and the file that it is in, of 1 MiB each. Sets LENGTHY.
build_lengthy()
{
	local function

	LENGTHY=$PWD/$tmp/programs
	mkdir -p "$tmp/src" "$LENGTHY" && cp -r selftests/targets/{go.mod,internal,lengthy} "$tmp/src" || return 1
	function=$(repeated f)
	cat >"$tmp/src/lengthy/named.go" <<-END
		package main

		//line /$(repeated s).go:1
		//go:noinline
		func named() { $function() }

		//go:noinline
		func $function() {
			done := make(chan bool)
			go func() { close(done) }()
			<-done
		}
	END
	(cd "$tmp/src" && with_settings lengthy ./lengthy) && mv "$tmp/src/lengthy/lengthy" "$LENGTHY/" &&
		[ "$(go version -m "$LENGTHY/lengthy" | wc -c)" -gt $MIB ]
}

# FOLDER PACKAGE: the settings are in the build information; a variable or argument has at most 128 KiB. No C is compiled.
with_settings()
{
	local value

	value=$(head -c 131000 /dev/zero | tr '\0' v)
	CGO_ENABLED=1 CGO_CFLAGS=-D$value CGO_CPPFLAGS=-D$value CGO_CXXFLAGS=-D$value CGO_LDFLAGS=-L$value GOTOOLCHAIN=$ORACLE_GO \
		go build -buildvcs=false -tags "netgo,osusergo,$value" -ldflags "-X main.unused=$value" -asmflags "-D $value" \
		-gcflags "-trimpath=$value" -o "$1/" "$2"
}

peak_kb() # PID: of the recorder
{
	sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$1/status"
}

# FOLDER OPTION...: sets PEAK_KB of a recording of the target in that folder
recorded_in()
{
	local folder=$1
	shift

	rm -rf "$tmp/deep" && mkdir "$tmp/deep" && start_target lengthy "$folder" "$PWD/$tmp/deep" || return 1
	[ "$(grep -c 'dddd/mapped$' "/proc/$TARGET_PID/maps")" -eq 1 ] &&
		[ "$(wc -c <"/proc/$TARGET_PID/maps")" -gt $MIB ] || return 1
	start_background "$recorder" record -p "$TARGET_PID" -o "$tmp/long.trace" --force "$@"
	recorder_is_live || return 1
	tell_target start
	expect_target done 60 && PEAK_KB=$(peak_kb "$BACKGROUND_PID") && stop_recorder && stop_target &&
		build/gotrace check "$tmp/long.trace"
}

# KEY LETTER: the texts of that key which begin so are there, and each has the size of the limit
cut() # KEY CHARACTER
{
	jq -e --arg key "$1" --arg begin "$2" -n "[inputs | .. | objects | .[\$key]? | strings |
		select(startswith(\$begin * 8) or startswith(\"/\" + \$begin * 8) or startswith(\"main.\" + \$begin * 8)) |
		utf8bytelength] | length > 0 and all(. == $TEXT)" "$tmp/long.json" || { echo "$1: $2"; return 1; }
}

each_is_cut()
{
	build/gotrace events --json "$tmp/long.trace" >"$tmp/long.json" || return 1
	cut type n && cut category n && cut message n && cut func f && cut file s || return 1
	jq -e -n "[inputs | .. | strings | utf8bytelength] | max <= $TEXT" "$tmp/long.json"
}

# The names of requests have a limit of their own: REQUEST_NAME_MAX.
requests_are_cut()
{
	build/gotrace requests --json "$tmp/long.trace" >"$tmp/requests.json" &&
		jq -e '[.. | strings | select(startswith("GET /nnn")) | utf8bytelength] | length > 0 and all(. <= 256)' \
			"$tmp/requests.json"
}

long_names() # OPTION...
{
	local peak

	recorded_in "$ORACLE_GO" "$@" || return 1 # with names of functions of a usual length
	peak=$PEAK_KB
	recorded_in "$LENGTHY" "$@" && each_is_cut || return 1
	echo "the recorder's memory: $PEAK_KB KiB, with shorter names of functions $peak KiB"
	[ "$PEAK_KB" -lt $((peak + ALLOWED_KB)) ]
}

probes_are_found()
{
	$recorder probes --no-cache --exe "$LENGTHY/lengthy" --json | jq -e '.probes | length > 0'
}

ktap_start
try "a program with names of 1 MiB" build_lengthy
try "its probes" probes_are_found
try "uprobes: each text is cut" long_names --requests=http && note "$(tail -n 1 "$tmp/try.out")"
try "names of requests are cut" requests_are_cut
try "inline probes: each text is cut" long_names --probes=inline && note "$(tail -n 1 "$tmp/try.out")"
ktap_end
