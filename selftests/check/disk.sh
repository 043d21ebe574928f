#!/bin/bash
# Failures of the disk during continuous recording (record --rotate) and in the flight recorder: a full
# disk, a removed directory, one that cannot be written. Each gives one line that names file and reason,
# the recorder continues and writes again when it can, nothing incomplete is left, and the exit status is 1.
# tier: all
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh

DISK=
has_said() { [ "$(messages "$1")" -ge "${2-1}" ]; } # PATTERN [TIMES]

small_disk() # SIZE: an empty file system of this size at $DISK
{
	leave_disk
	DISK=$tmp/disk DIR=$tmp/disk/traces
	mkdir -p "$DISK" && mount -t tmpfs -o "size=$1,mode=700" none "$DISK"
}

leave_disk()
{
	[ -z "$DISK" ] || umount -l "$DISK"
	DISK=
}

fill() { dd if=/dev/zero of="$DISK/filler" bs=64k status=none 2>/dev/null || true; }

# VERB "OPTIONS" [ARGUMENT...]: pingpong starts, and the verb records it into $DIR
recording()
{
	local verb=$1 options=$2
	shift 2
	start_target pingpong "$ORACLE_GO" "$@" && start_background $GOTRACE "$verb" -p "$TARGET_PID" -o "$DIR" $options &&
		recorder_is_live && tell_target start
}

# Everything on the disk is complete, listed and valid; there is nothing else.
whole()
{
	[ "$(find "$DIR" -type f ! -name index.tsv ! -name .index.lock | sort)" = "$(traces | sort)" ] || { ls -la "$DIR"; cat "$DIR/index.tsv"; return 1; }
	each_is_valid
}

# The windows of the index are those of the files, in order; prints the gaps between them, in ns. Callers see only
# the output: a line that is no number makes their comparison fail.
gaps()
{
	local name bytes events start from to before=''
	while IFS=$'\t' read -r name bytes events start from to; do
		[ "$(start_of "$DIR/$name")" = "$from" ] && [ "$from" -ge "${before:-0}" ] ||
			{ echo "$name: not from $from"; return 1; }
		[ -z "$before" ] || echo $((from - before))
		before=$to
	done < <(index)
}

ended() # STATUS PATTERN: after SIGINT the recorder exits with this status, and its last line matches
{
	stop_recorder
	[ $? -eq "$1" ] && tail -n 1 "$tmp/background.out" | grep -q "$2" && kill "$TARGET_PID"
}

# --- record --rotate

# The disk is smaller than --keep: the oldest files of the index make room, and nothing else does.
oldest_make_room()
{
	small_disk 3M && mkdir "$DIR" && echo other >"$DIR/other.trace" &&
		recording record "--rotate 1s" -duration 14s -rate 15000 && expect_target done 60 && ended 0 'recorded\|cost' || return 1
	[ "$(cat "$DIR/other.trace")" = other ] && rm "$DIR/other.trace" && ! has_said 'cannot\|again' && listed 2 && whole || return 1
	[ "$(gaps | sort -u)" = 0 ] && [ "$(index | wc -l)" -lt 14 ]
}

# Another file fills the disk, and removing files does not help, since they have other names there.
fill_for_good()
{
	local file
	kill -STOP "$BACKGROUND_PID"
	for file in "$DIR"/*.trace*; do
		ln "$file" "$DISK/" || return 1
	done
	fill
	kill -CONT "$BACKGROUND_PID"
}

newer() # ROWS NAME: so many follow that file in the index
{
	[ "$(index | awk -F '\t' -v name="$2" 'seen { n++ } $1 == name { seen = 1 } END { print n + 0 }')" -ge "$1" ]
}

# Then events are lost, with one line, until there is space again. The end comes soon afterwards: after some 35
# further files there would be no file from before any more.
space_comes_back()
{
	local lost last
	small_disk 8M && recording record "--rotate 1s" -duration 60s -rate 5000 && wait_until 20 listed 5 && fill_for_good &&
		wait_until 30 has_said "cannot write $DIR/.*trace: No space left on device; recording continues" && pause 3000 &&
		kill -0 "$BACKGROUND_PID" && rm "$DISK/filler" && wait_until 20 has_said "writing to $DIR again" &&
		last=$(index | tail -n 1 | cut -f 1) && wait_until 20 newer 2 "$last" && ended 1 's could not be written to' && [ "$(messages 'cannot write')" = 1 ] && whole || { cat "$tmp/background.out"; return 1; }
	# The message, the index and the files agree on what is missing.
	lost=$(sed -n 's/.*missing (from_ns \([0-9]*\) to \([0-9]*\))/\2 - \1/p' "$tmp/background.out")
	echo "missing: $lost"
	[ "$((lost))" -gt 0 ] && [ "$(gaps | grep -v '^0$')" = "$((lost))" ]
}

is_writing() { [ -n "$(find "$DIR" -name '*.partial')" ]; }

# It is created again, and only the file that was being written is lost.
removed_directory()
{
	small_disk 64M && recording record "--rotate 3s" -duration 60s -rate 2000 && wait_until 20 listed 1 &&
		wait_until 20 is_writing && rm -rf "$DIR" && wait_until 20 listed 2 && has_said "cannot complete $DIR/.*trace: No such file or directory" &&
		[ "$(stat -c %a "$DIR")" = 700 ] && ended 1 '1 of .* files could not be completed' && whole || { cat "$tmp/background.out"; return 1; }
}

# --- flight

snapshot_fails() # REASON: its line names the file and the reason, and nothing is left of it
{
	local before
	before=$(messages 'no snapshot of')
	$GOTRACE snapshot -p "$TARGET_PID" || true
	wait_until 20 has_said 'no snapshot of' $((before + 1)) && kill -0 "$BACKGROUND_PID" && nothing_left "$DISK" &&
		tail -n 1 "$tmp/background.out" | grep -q "no snapshot of the user's request: cannot complete $DIR/.*-signal.trace: $1"
}

snapshot_is_written() # NUMBER: so many are listed then
{
	$GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 listed "$1"
}

# Each failure is reported, and the next request writes a snapshot again.
snapshots_of_a_full_disk()
{
	small_disk 8M && recording flight "" -duration 60s -rate 2000 && pause 2000 && fill &&
		snapshot_fails 'No space left on device' && snapshot_fails 'No space left on device' && rm "$DISK/filler" &&
		snapshot_is_written 1 && mount -o remount,ro none "$DISK" && snapshot_fails 'Read-only file system' &&
		mount -o remount,rw none "$DISK" && snapshot_is_written 2 && ended 1 '3 snapshots could not be written' && whole
}

# The directory is created again, if that is possible.
flight_without_directory()
{
	small_disk 8M && mkdir "$DISK/parent" && DIR=$DISK/parent/traces && recording flight "" -duration 60s -rate 2000 &&
		rm -rf "$DISK/parent" && snapshot_fails 'No such file or directory' && mkdir "$DISK/parent" && snapshot_is_written 1 &&
		[ "$(stat -c %a "$DIR")" = 700 ] && ended 1 '1 snapshots could not be written' && whole
}

# A snapshot stays, although the index is not one of ours, and is listed once that is moved away.
index_of_others()
{
	small_disk 8M && recording flight "" -duration 60s -rate 2000 && echo other >"$DIR/index.tsv" &&
		$GOTRACE snapshot -p "$TARGET_PID" && wait_until 20 has_said "index.tsv is not an index of gotrace-bpf; move it away" &&
		[ "$(cat "$DIR/index.tsv")" = other ] && mv "$DIR/index.tsv" "$DISK" && snapshot_is_written 2 &&
		ended 1 '1 snapshots could not be written' && whole
}

ktap_start
trap 'leave_disk; ktap_cleanup' EXIT
try "rotate: the oldest files make room on a full disk" oldest_make_room
try "rotate: the disk is full for some time" space_comes_back
try "rotate: the directory is removed" removed_directory
try "flight: a full disk, and one that cannot be written" snapshots_of_a_full_disk
try "flight: the directory is removed" flight_without_directory
try "flight: the index is replaced" index_of_others
leave_disk
ktap_end
