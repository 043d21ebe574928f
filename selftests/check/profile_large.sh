#!/bin/bash
# A trace of more than 230 MB: `gotrace profile` needs less than 256 MiB, and its profile of the blocked goroutines is
# that of `go tool trace -pprof`, which needs more than 10 GB. Prints the time and memory of both.
# tier: long
# timeout: 1800
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

measure() # FILE COMMAND...: writes "SECONDS CPU_SECONDS CPU_SECONDS_IN_KERNEL KIB" to FILE
{
	timeout 1500 /usr/bin/time -f '%e %U %S %M' -o "$@"
}

long_trace()
{
	local seconds

	for seconds in 8 16 32 64; do
		build/targets/"$ORACLE_GO"/pingpong -trace "$trace" -rate 0 -procs 2 -duration ${seconds}s </dev/null >"$tmp/out" || return 1
		[ "$(stat -c %s "$trace")" -lt 230000000 ] || return 0
	done
	return 1
}

ours()
{
	measure "$tmp/ours" $READER profile sync "$trace" -o "$tmp/ours.pb.gz" && [ "$(cut -d ' ' -f 4 "$tmp/ours")" -lt $((256 << 10)) ]
}

same_result()
{
	GOTOOLCHAIN=$ORACLE_GO "${GO:-go}" tool trace -h >"$tmp/out" 2>&1 # builds it
	GOTOOLCHAIN=$ORACLE_GO measure "$tmp/theirs" "${GO:-go}" tool trace -pprof=sync "$trace" >"$tmp/theirs.pb.gz" &&
		$REFERENCE/profiles "$tmp/ours.pb.gz" "$tmp/theirs.pb.gz"
}

figures() # WHO: prints them
{
	local seconds user kernel kib

	read -r seconds user kernel kib <"$tmp/$1"
	echo "$1: $seconds s, $user + $kernel s of CPU time, $((kib >> 10)) MiB"
}

ktap_start 4
trace=$tmp/long.trace
try "the reader builds" build_reader
try "a trace of 230 MB" long_trace && note "$(stat -c %s "$trace") bytes, $($READER stat --json "$trace" | jq .events) events"
try "gotrace profile needs less than 256 MiB" ours
note "$(figures ours)"
try "go tool trace -pprof has the same result" same_result
note "$(figures theirs)"
ktap_end
