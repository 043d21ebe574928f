#!/bin/bash
# Faults of the recorded program: it exits, crashes, executes another program, starts children without
# pause, is stopped or frozen, or loses its file, in each mode of the recorder. The recorder ends or goes
# on with it, no probe and no corrupt file is left, and one line names the fault. See faults.lib.sh.
# tier: all
# parallel
# timeout: 600
# long: 1800
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/inline
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh
. selftests/faults.lib.sh

# A recorder of this one process ends with it; one that waits for others is ended by the row.
ended_by() # SIGNAL
{
	note_memory
	kill "-$1" "$TARGET_PID" && wait_until 30 target_is_gone && wait_until 30 recorder_has_noticed
}

recorder_has_noticed() { is_gone "$(recorder_of_target)"; }

exits() # normally
{
	note_memory
	answers_are_right && wait_until 30 recorder_has_noticed
}

executes() # itself: another program in the same process
{
	note_memory
	kill -USR1 "$TARGET_PID" && wait_until 30 recorder_has_noticed && goes_on
}

# It is recorded again, and so ends as it does without an exec.
executes_and_is_recorded()
{
	kill -USR1 "$TARGET_PID" && wait_until 30 recorded_twice && goes_on
}

file_is_deleted() { rm "$PROGRAM" && sleep 1; }
file_is_replaced() { cp "build/targets/$ORACLE_GO/tiny" "$PROGRAM.new" && mv "$PROGRAM.new" "$PROGRAM" && sleep 1; }

# The recording begins while it is stopped: the recorder attaches nevertheless, or refuses.
attached_while_stopped()
{
	kill -STOP "$TARGET_PID" && record_as "$mode" && sleep 0.5
	kill -CONT "$TARGET_PID"
	sleep 0.5
}

children_without_pause() { sleep 1.5; }

# --- the cgroup freezer, of either version

freezer_group()
{
	local root=/sys/fs/cgroup/freezer

	if [ -e $root/cgroup.procs ]; then
		FREEZER=$root/gotrace-faults.$$ FROZEN=FROZEN THAWED=THAWED FREEZER_STATE=freezer.state
	else
		root=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
		FREEZER=$root/gotrace-faults.$$ FROZEN=1 THAWED=0 FREEZER_STATE=cgroup.freeze
	fi
	mkdir -p "$FREEZER"
}

leave_freezer() { [ ! -e "${FREEZER-/nowhere}" ] || { echo "$THAWED" >"$FREEZER/$FREEZER_STATE"; wait_until 20 rmdir "$FREEZER"; }; }

frozen() # PID...: for a second
{
	local pid before

	for pid; do echo "$pid" >"$FREEZER/cgroup.procs" || return 1; done
	echo "$FROZEN" >"$FREEZER/$FREEZER_STATE" && sleep 0.2 && before=$(answers) && sleep 1 &&
		[ "$(answers)" -eq "$before" ] && echo "$THAWED" >"$FREEZER/$FREEZER_STATE" && goes_on
}
target_frozen() { frozen "$TARGET_PID"; }
all_frozen() { frozen "$TARGET_PID" "${RECORDERS[@]}"; }

modes=(record inline ${LONG:+flight sample rotate})
daemons=(flights ${LONG:+rotates})
end='process [0-9]+ ended|recorded process'
on='recorded .* s'
ktap_start
trap 'leave_freezer; ktap_cleanup' EXIT
locked make --no-print-directory $soak >/dev/null
for mode in "${modes[@]}" "${daemons[@]}"; do
	ENDED=2 row "the target crashes: SIGSEGV" $mode 0 "$end" ended_by SEGV
	ENDED=137 row "the target is killed" $mode 0 "$end" ended_by KILL
	ENDED=0 row "the target exits" $mode 0 "$end" exits
	TARGET_ARGUMENTS="-storm 4" row "the target starts children without pause" $mode 0 "$on" children_without_pause
	row "the target's file is deleted" $mode 0 "$on" file_is_deleted
	row "the target's file is replaced" $mode 0 "$on" file_is_replaced
done
for mode in "${modes[@]}"; do
	row "the target executes itself" $mode 0 'process [0-9]+ (ended or )?executed another program' executes
done
for mode in "${daemons[@]}"; do
	row "the target executes itself" $mode 0 'recorded process' executes_and_is_recorded
done
for mode in record ${LONG:+flights flight sample rotate rotates}; do
	START=true row "the target is stopped while the recorder attaches" $mode 0 'recording' attached_while_stopped
done
START=true row "the target is stopped while the recorder attaches" inline 1 'stopped' attached_while_stopped
freezer_group
for mode in record inline ${LONG:+flights flight sample rotate rotates}; do
	row "the target is frozen for 1 s" $mode 0 "$on" target_frozen
	row "target and recorder are frozen for 1 s" $mode 0 "$on" all_frozen
done
ktap_end
