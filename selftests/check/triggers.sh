#!/bin/bash
# Triggers of the flight recorder: each kind of wait that the target provokes leads to a snapshot, whose
# cause is found a second way in its events, and a load with short waits leads to none.
# parallel
# timeout: 600
# long: 3600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/files.lib.sh selftests/overdue.lib.sh
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh
. selftests/overdue.lib.sh

# Network and timer waits longer than any limit, and of each kind one that is too short
quiet()
{
	local i count

	count=$(by_tier 2 2 215)

	start_target overdue "$ORACLE_GO" -case quiet -for 700ms &&
		start_background $GOTRACE flight -p "$TARGET_PID" -o "$tmp/quiet" --trigger runnable:1s --trigger blocked:1s \
			--trigger syscall:1s:nanosleep --trigger stw:1s --trigger gc:1s --trigger runqueue:1s \
			--trigger goroutines:900 --trigger heap:48M &&
		recorder_is_live && tell_target start && expect_target begun || return 1
	for ((i = 0; i < count; i++)); do
		tell_target next
	done
	tell_target done && expect_target done $((count * 2 + 60)) && stop_recorder && stop_target &&
		[ ! -e "$tmp/quiet/index.tsv" ] && [ -z "$(ls "$tmp/quiet")" ]
}

needs() { refused 2 "$1" $GOTRACE flight -p 1 -o "$tmp/x" --trigger "${@:2}"; } # PATTERN CONDITION [OPTION...]

ktap_start
for kind in runnable blocked syscall stw gc runqueue goroutines heap; do
	try "$kind: provoked" provoke "$kind" "$(by_tier 3 5 100)"
	try "$kind: snapshots are valid, and their causes true" causes_are_true "$kind"
	try "$kind: a snapshot of each" each_has_a_snapshot "$kind"
done
try "no snapshot of a quiet load" quiet
try "an unknown reason" needs "invalid trigger 'blocked:5ms:coffee': REASON must be one of: .*, chan send, chan receive, .*, synctest; see" \
	blocked:5ms:coffee
try "an unknown system call" needs "unknown system call 'reed'" syscall:5ms:reed
try "names of system calls without kernel events" needs 'requires set kernel' syscall:5ms:read --events sched,syscall
try "a trigger without its events" needs 'requires set heap' heap:1G --events sched,gc
ktap_end
