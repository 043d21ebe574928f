#!/bin/bash
# Faults of the recorder: it is stopped, killed, has no memory, or nothing reads its messages. The target
# goes on, no probe and no corrupt file is left, and one line names the fault. See faults.lib.sh.
# tier: all
# parallel
# timeout: 900
# long: 1800
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/inline
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh
. selftests/faults.lib.sh

nothing() { sleep 0.5; }

# --- signals

# Long enough that its rings overflow
stopped() # SECONDS: and continued
{
	local before

	kill -STOP "${RECORDERS[@]}" && before=$(answers) && sleep "$1" && has_more_than $((before + 50)) &&
		kill -CONT "${RECORDERS[@]}" && sleep 1
}

suspended() # SECONDS: target and recorder, and continued
{
	kill -STOP "$TARGET_PID" "${RECORDERS[@]}" && sleep "$1" &&
		kill -CONT "$TARGET_PID" "${RECORDERS[@]}" && sleep 1
}

# After a random time. Children end with it.
killed()
{
	sleep 0.$((RANDOM % 10)) && note_memory && kill -KILL "$BACKGROUND_PID" && wait_until 20 all_are_gone
}

all_are_gone()
{
	local pid

	for pid in "${RECORDERS[@]}"; do
		is_gone "$pid" || return 1
	done
}

# The child of one that records several processes, which starts another one for the target
child_killed()
{
	sleep 0.$((RANDOM % 10)) && note_memory && kill -KILL "$(recorder_of_target)" &&
		wait_until 30 recorded_twice && read -ra RECORDERS <<<"$BACKGROUND_PID $(children_of "$BACKGROUND_PID")"
}

# --- memory

# Sets GROUP to a new cgroup with a memory controller, of either version, and GROUP_LIMIT to its limit.
memory_group()
{
	local root=/sys/fs/cgroup/memory

	if [ -e $root/cgroup.procs ]; then
		GROUP=$root/gotrace-faults.$$
		GROUP_LIMIT=memory.limit_in_bytes GROUP_USAGE=memory.usage_in_bytes
	else
		root=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
		GROUP=$root/gotrace-faults.$$
		GROUP_LIMIT=memory.max GROUP_USAGE=memory.current
		grep -qw memory "$root/cgroup.subtree_control" || echo +memory >"$root/cgroup.subtree_control" || return 1
	fi
	mkdir -p "$GROUP"
}

in_group() { echo "$BASHPID" >"$GROUP/cgroup.procs" && exec "$@"; } # COMMAND...
leave_group() { [ ! -e "${GROUP-/nowhere}" ] || wait_until 10 rmdir "$GROUP"; }

# The limit becomes what the group uses by now, so that what the recorder needs next is too much.
limit_group()
{
	note_memory
	wait_until 20 limit_is_set && wait_until 60 is_gone "$(recorder_of_target)"
}
limit_is_set() { echo $(($(cat "$GROUP/$GROUP_USAGE") + 65536)) >"$GROUP/$GROUP_LIMIT"; }

# malloc() and mmap() fail from now on, for it, or for the child of one that records several processes. It
# goes on until it needs memory, for the end of a file at the latest.
no_memory()
{
	note_memory
	prlimit --pid "$(recorder_of_target)" --as=1000000 && sleep 2
}

# --- its messages

# Standard error is a pipe that is full, and is not read until the end of the row.
unread() # COMMAND...
{
	exec {FULL}<>"$tmp/full" && dd if=/dev/zero of="$tmp/full" bs=4096 count=64 oflag=nonblock status=none 2>/dev/null
	exec "$@" 2>"$tmp/full"
}

no_reader() { exec "$@" 2> >(exit 0); }
closed() { exec "$@" <&- >&- 2>&-; }

# The messages are unknown: its probes are found in the target's code.
code_is_changed() { ! code_is_clean 2>/dev/null; }

quiet_recorder() # METHOD
{
	local with=("$1")

	rm -f "$tmp/full"
	mkfifo "$tmp/full"
	DIR=$tmp/files.$ktap_count
	mkdir -p "$DIR"
	start_background "$1" $GOTRACE record --rotate 1s -p "$TARGET_PID" -o "$DIR"
	RECORDERS=("$BACKGROUND_PID")
	wait_until 30 code_is_changed && wait_until 30 listed 2 && note_memory
}

# --- seeded mistakes, which the rows must detect

detected() # PATTERN ROW...: its columns match, and it fails
{
	local pattern=$1
	shift

	(row "$@") >"$tmp/seeded"
	cat "$tmp/seeded"
	grep -q '^not ok' "$tmp/seeded" && grep -qE "row .* WRONG: $pattern.* FAILED" "$tmp/seeded"
}

other_recorder() # which is not ended
{
	(start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/other.trace" && sleep 1)
}

cut_file() { wait_until 30 listed 1 && truncate -s -1 "$(traces | head -n 1)"; }
unlisted_file() { wait_until 30 listed 1 && cp "$(traces | head -n 1)" "$DIR/unlisted.trace"; }
stopped_target() { kill -STOP "$TARGET_PID"; }
killed_target() { kill -KILL "$TARGET_PID"; }

ktap_start
trap 'leave_group; ktap_cleanup' EXIT
locked make --no-print-directory $soak >/dev/null
for mode in record flights; do
	RECORDER_OPTIONS="--ring-size 16K" row "stopped for 3 s, and continued" $mode 0 'records were lost in [1-9]' stopped 3
done
for mode in rotate inline ${LONG:+flight sample rotates}; do
	row "stopped for 3 s, and continued" $mode 0 'recorded [0-9.]+ s' stopped 3
done
for mode in record inline ${LONG:+flights sample rotate flight rotates}; do
	row "stopped with the target for 2 s, and continued" $mode 0 'recorded.* [0-9.]+ s' suspended 2
done
for mode in rotate inline flights ${LONG:+record flight sample rotates}; do
	PARTIAL=yes row "kill -9" $mode 137 '' killed
done
for mode in flights ${LONG:+rotates}; do
	PARTIAL=yes row "kill -9 of the child" $mode 1 'its recorder was killed' child_killed
done
for mode in record ${LONG:+flight rotate inline}; do
	memory_group && with=(in_group)
	PARTIAL=yes row "out of memory: killed by the kernel" $mode 137 '' limit_group
	leave_group
	with=()
done
for mode in rotate ${LONG:+flights flight sample rotates}; do
	row "out of memory: an allocation fails" $mode 1 'memory' no_memory
done
for how in unread no_reader closed; do
	START="quiet_recorder $how" row "nothing reads its messages: $how" rotate 0 '' sleep 0.5
done
parts=()
try "seeded: probes are left" detected 'uprobes are left' seeded record 0 '' other_recorder
try "seeded: a truncated file" detected invalid seeded rotate 0 '' cut_file
try "seeded: a file that is not listed" detected 'differ from the index' seeded rotate 0 '' unlisted_file
try "seeded: the target is stopped" detected 'does not go on' seeded record 0 '' stopped_target
try "seeded: the target is killed" detected 'does not go on' seeded record 0 '' killed_target
try "seeded: another message" detected 'no line matches' seeded record 0 'no such message' nothing
try "seeded: another exit status" detected 'exit status 0' seeded record 1 'recorded' nothing
ktap_end
