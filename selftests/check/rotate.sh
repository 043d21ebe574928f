#!/bin/bash
# Continuous recording (record --rotate): short files that are valid alone and follow each other
# without a gap, whose contents add up to what the program did; the index; the limit of --keep, which
# removes only files of the index; constant memory.
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh

# NAME "OPTIONS" [ARGUMENT...]: $program, or pingpong, is recorded to $tmp/NAME while it works
rotated()
{
	local name=$1 options=$2
	shift 2
	DIR=$tmp/$name
	start_target "${program-pingpong}" "$ORACLE_GO" "$@" || return 1
	start_background $GOTRACE record -p "$TARGET_PID" -o "$DIR" --stats "$tmp/$name.json" --rotate 1s $options
	recorder_is_live || return 1
	tell_target start
	${meanwhile-true} && expect_target done 120 && stop_recorder && target_result >"$tmp/$name.done" && stop_target &&
		nothing_left
}

# The memory of the first seconds is not constant yet: tables and rings fill.
sample_memory()
{
	pause 8000
	early=$(resident)
	pause 16000
	late=$(resident)
}

adds_up()
{
	are_all_blocks "$(blocks_in $(traces))" "$tmp/long.done" &&
		[ "$(index | awk '{ n += $3 } END { printf "%d", n }')" -eq "$(stat_of events "$tmp/long.json")" ] &&
		[ "$(stat_of lost "$tmp/long.json")" = 0 ]
}

# The number of Ps is written by the first goroutine that runs in a file: readers accept it from one that runs
# only. The last file may begin between the program's last system call and the loss of the P: then none runs.
runs_goroutines() # FILE: according to Go's reader
{
	build/reference/validate -counts "$1" | tail -n +2 |
		jq -e '.goroutine_transitions | keys | any(test("running"))' >/dev/null
}

each_is_complete()
{
	local file procs

	listed $((seconds * 2 / 5)) && each_is_valid || return 1
	for file in $(traces); do
		runs_goroutines "$file" && procs=1 || procs=0
		[ $procs = 1 ] || [ "$file" = "$(traces | tail -n 1)" ] || return 1
		build/gotrace stat --json "$file" >"$tmp/stat.json" && # the whole state is in each of them
			jq -e --argjson procs $procs '.goroutines.present + .goroutines.created >= 6 and .gomaxprocs == $procs' \
				"$tmp/stat.json" || { echo "$file is incomplete"; return 1; }
	done
}

# The first time in a file is where its window begins, and that is where the one before ends.
without_gaps()
{
	local name bytes events start from to before='' seconds
	while IFS=$'\t' read -r name bytes events start from to; do
		[ -z "$before" ] || [ "$from" = "$before" ] || { echo "$name begins at $from, not $before"; return 1; }
		before=$to
		[ "$(stat -c %s "$DIR/$name")" = "$bytes" ] && [ "$(stat -c %a "$DIR/$name")" = 600 ] || return 1
		[ "$(start_of "$DIR/$name")" = "$from" ] || { echo "$name starts elsewhere"; return 1; }
		seconds=$(date -u -d "${start%.*}Z" +%Y%m%dT%H%M%S)
		[[ $name == *-pingpong-*-$seconds.${start:20:3}Z.trace ]] || { echo "$name does not begin at $start"; return 1; }
	done < <(index) && [ -n "$before" ]
}

memory_is_constant()
{
	echo "$early KiB, then $late KiB"
	[ "$late" -le $((early + early / 20)) ]
}

plant()
{
	DIR=$tmp/small
	mkdir "$DIR" && echo other >"$DIR/other.trace" && echo precious >"$tmp/precious"
}

# The target of a link and what the index does not list stay; the rest takes at most the limit and one generation.
limited()
{
	local most=0 now
	plant || return 1
	meanwhile=watch_size rotated small "--keep 1M" -duration 8s -rate 10000 || return 1
	echo "at most $most bytes"
	[ "$most" -le $(((1 << 20) + 512 * 1024)) ] && [ "$most" -gt $((512 * 1024)) ] && listed 2 &&
		[ "$(find "$DIR" -name '*-pingpong-*.trace' | sort)" = "$(traces | sort)" ] &&
		[ "$(cat "$DIR/other.trace")" = other ] && without_gaps && traces | xargs build/gotrace check
}

watch_size()
{
	while ! grep -q '^done' "$TARGET_OUT"; do
		now=$(find "$DIR" -name '*-pingpong-*' -printf '%s\n' | awk '{ n += $1 } END { printf "%d", n }')
		[ "$now" -le "$most" ] || most=$now
		sleep 0.1
	done
}

# Files begin while garbage is collected: mark assists, sweeps and pauses that are open there stay so.
in_collections()
{
	program=stress rotated stress "--events=sched,syscall,gc,heap,user,kernel,sweep" -duration 6s || return 1
	listed 5 && each_is_valid || return 1
	traces | xargs -n 1 build/reference/validate -counts | grep -q 'GC incremental sweep\|GC mark assist'
}

# With a command, whose first instruction is in the first file.
command_is_rotated()
{
	DIR=$tmp/command
	printf 'start\nexit\n' | timeout 60 $GOTRACE record --rotate 1s -o "$DIR" -- \
		"build/targets/$ORACLE_GO/pingpong" -duration 2500ms -rate 1000 >/dev/null &&
		listed 2 && traces | xargs build/reference/validate -strict && without_gaps
}

hostile_index()
{
	mkdir "$tmp/planted" && echo precious >"$tmp/precious" && ln -s ../precious "$tmp/planted/index.tsv" &&
		refused 1 'index.tsv' $GOTRACE record --rotate 1s -o "$tmp/planted" -- \
			"build/targets/$ORACLE_GO/pingpong" && [ "$(cat "$tmp/precious")" = precious ]
}

# Whatever file they were set in: the program logs all the time which labels its goroutines have. The
# first file lacks the log of those that inherit them.
keeps_labels()
{
	local file files=0
	program=labels rotated labels "" -steady 4s && traces | xargs build/gotrace check >/dev/null || return 1
	for file in $(traces | tail -n +2); do
		build/gotrace events --json "$file" >"$tmp/events.json" || return 1
		[ -z "$(jq -n 'first(inputs | select(.category == "still")) | 1' "$tmp/events.json")" ] || files=$((files + 1))
		jq -n -e 'reduce (inputs | select(.category or .kind == "Label")) as $e ({ set: {}, wrong: 0 };
			if $e.kind == "Label" then .set["\($e.g)"] = $e.label
			elif $e.category == "still" and .set["\($e.g)"] != $e.message then .wrong += 1 else . end) | .wrong == 0' "$tmp/events.json" ||
			return 1
	done
	[ $files -ge 2 ]
}

ktap_start
seconds=$(by_tier 6 26 26) rate=$(by_tier 2000 16000 16000)
try "a recording in files" eval "meanwhile=$(by_tier true sample_memory sample_memory) rotated long '' -duration ${seconds}s -rate $rate"
try "each file is valid and complete" each_is_complete
try "there is no gap between the windows" without_gaps
try "the files add up to what the program did" adds_up
in_all try "memory is constant" memory_is_constant
in_all try "the limit of the directory" limited
in_all try "files that begin during garbage collections" in_collections
try "a command" command_is_rotated
in_all try "labels in each file" keeps_labels
try "a link in place of the index" hostile_index
try "without a directory" refused 2 'requires a directory' $GOTRACE record -p 1 --rotate 1s
try "too short" refused 2 'at least 1s' $GOTRACE record -p 1 --rotate 10ms -o "$tmp/x"
try "too small" refused 2 'at least 1M' $GOTRACE record -p 1 --rotate 1s --keep 1K -o "$tmp/x"
try "a limit without files" refused 2 'requires --rotate' $GOTRACE record -p 1 --keep 1G -o "$tmp/x"
try "with --follow" refused 2 'cannot be combined' $GOTRACE record -p 1 --rotate 1s --follow -o "$tmp/x"
ktap_end
