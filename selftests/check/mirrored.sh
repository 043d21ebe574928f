#!/bin/bash
# Calls as regions (record --region) are compared with the program's own trace, in which the same
# functions annotate themselves: each call is there, on the same goroutine and in the same nesting.
# check-long has more calls and releases.
# tier: all
# parallel
# long: 3000
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/releases.lib.sh

MIRRORED_GOS=$(by_tier "$NEW_FORMAT_GOS" "$NEW_FORMAT_GOS" "$(every_go_since 22)")
MIRRORED_ROUNDS=$(by_tier 10 10 450)

# Without the event set user, whose probes would delay the program's own annotations; with that of system
# calls, because the program writes its trace: without it, Ps change hands unseen.
REGIONS='--region /^main\.(round|grow|catch|rethrow|throw|leave|move|leaf|choose|pick|odd|even)$/'

mirrored()
{
	build/reference/mirrored -grows grow "$tmp/own.trace" "$RECORDED" "$tmp/mirrored.done"
}

recorded() # GO OPTIONS
{
	record_target mirrored "$1" "$REGIONS --events sched,syscall $2" -trace "$tmp/own.trace" -n "$MIRRORED_ROUNDS" &&
		jq -e '{dropped, lost, repairs} | ., add == 0' "$tmp/mirrored.json" &&
		check_trace "$RECORDED" && mirrored
}

# The comparison itself: a trace from which one function is missing differs.
detects_missing()
{
	record_target mirrored "$ORACLE_GO" "--region /^main\.(round|grow)\$/ --events sched,syscall" -trace "$tmp/own.trace" -n 1 || return 1
	! mirrored >"$tmp/differences" && grep -q '^our trace: 0 calls of leaf, 80 expected' "$tmp/differences" &&
		grep -q '^goroutine .* has 41 regions, in its own trace' "$tmp/differences"
}

# Both returns of main.pick follow one branch, which the kernel emulates; those of main.leaf and others,
# which follow a call, are single-stepped.
kinds() # GO
{
	$GOTRACE probes --exe "build/targets/$1/mirrored" --functions '/^main\.(pick|leaf)$/' --json >"$tmp/functions" &&
		jq -e '.functions | map({(.name): [.probes[1:][] | [.cost, (.instruction | sub(" .*"; ""))]]}) | add | .,
			.["main.leaf"] == [["stepped", "ret"]] and
			(.["main.pick"] | length == 1 and .[0][0] == "emulated" and (.[0][1] | test("^j")))' "$tmp/functions"
}

ktap_start
for go in $MIRRORED_GOS; do
	try "$go: kinds of exits" kinds "$go"
	try "$go: calls are those of the program's own trace" recorded "$go" "" && note "$(cat "$tmp/try.out")"
done
try "with perf uprobes" recorded "$ORACLE_GO" --force-perf-uprobes
try "a missing function is detected" detects_missing
ktap_end
