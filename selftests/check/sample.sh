#!/bin/bash
# Duty cycle (record --sample): each window is valid alone and begins when it should, nothing is attached
# in between, alignment by the wall clock, what ends the recording, kill -9, privileges, memory.
# tier: all
# parallel
# timeout: 600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh

ns_of() { case $1 in *ms) echo $((${1%ms} * 1000000)) ;; *) echo $((${1%s} * 1000000000)) ;; esac; } # 300ms or 5s

# NAME WINDOW/PERIOD [OPTION...]: starts a recorder of the target into $tmp/NAME
sampling()
{
	DIR=$tmp/$1 PERIOD=$(ns_of "${2#*/}")
	start_background $GOTRACE record -v -p "$TARGET_PID" -o "$DIR" --stats "$tmp/$1.json" --sample "$2" "${@:3}" && recorder_is_live
}

# NAME DURATION: the recorder has ended with 0. Each window that was due in that time since the first one was recorded,
# or counted as missed: on a busy machine an attach may take longer than a period, but not most of the time.
ended()
{
	landed && nothing_left && each_is_valid && is_complete "$1" || return 1
	jq -e --argjson due $((($(ns_of "$2") + PERIOD - 1) / PERIOD)) \
		'([.windows, .windows_missed, $due] | debug) as $_ | .windows + .windows_missed == $due and .windows * 2 >= $due' "$tmp/$1.json"
}

is_complete() # NAME: nothing of any window is lost or missing
{
	jq -e --argjson n "$(index | wc -l)" '.windows == $n and .lost == 0 and .holes == 0 and .stack_misses == 0 and .text_misses == 0' \
		"$tmp/$1.json" && text_is_clean "$TARGET_PID"
}

periodic() { sampling periodic 200ms/800ms -d 5s && ended periodic 5s; }

# PERIOD LATE: the distance of two windows is a multiple of it (ns); one may begin so late (ns).
begin_in_periods()
{
	local first from to
	first=$(index | head -n 1 | cut -f 5)
	while read -r from to; do
		echo "$(((from - first) % $1)) ns after its time"
		[ $(((from - first) % $1)) -lt "$2" ] || return 1
	done < <(index | cut -f 5,6)
}

# The first event of a file is at the start of its window by the index, and its last one at the end. The reader adds a
# Sync event 1 ns later: like Go's, it gives no two events the same time.
as_the_index_says()
{
	local name bytes events start from to
	while IFS=$'\t' read -r name bytes events start from to; do
		build/gotrace stat --json "$DIR/$name" >"$tmp/stat.json" || return 1
		[ "$(jq .start "$tmp/stat.json")" = "$from" ] && jq -e --argjson length $((to - from)) '.duration == $length + 1' "$tmp/stat.json" &&
			[ $((to - from)) -ge 200000000 ] || { echo "$name is not from $from to $to"; return 1; }
	done < <(index)
}

# The target counts its own meetings. Each blocks one of two goroutines; in a window there are as many blocks as its
# rate gives, whichever window: what one window leaves behind would be in the next one.
contents_are_alike()
{
	local file least='' most=0 blocks
	for file in $(traces); do
		blocks=$(blocks_in "$file") || return 1
		[ -n "$least" ] && [ "$blocks" -ge "$least" ] || least=$blocks
		[ "$blocks" -le "$most" ] || most=$blocks
	done
	echo "$least to $most blocks per window"
	[ "$least" -ge 100 ] && [ "$most" -le 900 ] # 200 ms of 1000 meetings a second, two blocks each
}

# Stacks are sent once per window: those of the first one are unknown to a reader of another.
have_their_stacks()
{
	local file
	for file in $(traces); do
		build/gotrace events --json "$file" | jq -s '[.[] | select(.event == "GoBlock")] | { all: length, bare: map(select(.frame.func == null)) | length }' >"$tmp/blocks"
		jq -e '.all >= 50 and .bare == 0' "$tmp/blocks" || { cat "$tmp/blocks"; return 1; }
	done
}

links_of_recorder() # number of BPF links that the recorder holds
{
	grep -l '^link_type:' "/proc/$BACKGROUND_PID"/fdinfo/* 2>/dev/null | wc -l
}

perf_events_of_recorder() { find "/proc/$BACKGROUND_PID/fd" -lname '*perf_event*' 2>/dev/null | wc -l; }

# Between two windows, and in one: the text of the target, and the links and perf events of the recorder. The
# recorder has one link to itself, by which it measures what a trap takes.
nothing_in_between()
{
	local inside between events before after
	sampling between 2s/600s --events=sched,syscall,gc,heap,user,kernel,cpu || return 1
	inside=$(links_of_recorder) events=$(perf_events_of_recorder)
	! text_is_clean "$TARGET_PID" && wait_until 20 listed 1 && pause 1000 && text_is_clean "$TARGET_PID" || return 1
	between=$(links_of_recorder)
	echo "in a window $inside links and $events perf events; in between $between and $(perf_events_of_recorder)"
	[ "$inside" -ge 10 ] && [ "$events" -ge 1 ] && [ "$between" -le 1 ] && [ "$(perf_events_of_recorder)" -eq 0 ] || return 1
	# it sleeps: neither CPU time nor voluntary switches for a second
	before=$(activity)
	pause 1000
	after=$(activity)
	echo "switches: $before, then $after"
	[ "$before" = "$after" ] && stop_recorder
}

activity() { awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }' "/proc/$BACKGROUND_PID"/task/*/status; }

# Starts by the index's wall clock, computed from the text of the date, at multiples of 700 ms since 1970. The first
# attach may be late; on a busy machine others, too.
aligned()
{
	local start ns late=0 n=0
	sampling aligned 50ms/700ms --align-start -d 6s && ended aligned 6s || return 1
	while read -r start; do
		ns=$(date -u -d "${start%Z}Z" +%s%N)
		echo "$start: $((ns % 700000000)) ns late"
		n=$((n + 1))
		[ $((ns % 700000000)) -lt $((2000000 * stretch)) ] || late=$((late + 1))
	done < <(index | cut -f 4)
	echo "$late of $n are late"
	[ $late -le $((n / 3)) ]
}

all_sets()
{
	sampling sets 300ms/900ms --events=sched,syscall,gc,heap,user,kernel,sweep,cpu,fault -d 3s && ended sets 3s
}

# Tracepoints are attached again, too, and the threads that are present then are listed again.
kernel_events_in_each()
{
	local file
	for file in $(traces); do
		build/gotrace stat --json "$file" | jq -e '.kernel.threads >= 2 and .kernel.kinds.on_cpu >= 2 and .kernel.kinds.sys_enter >= 2' || return 1
	done
}

# A program that uses its CPUs is sampled in each window.
cpu_samples_in_each()
{
	local file
	start_target stress "$ORACLE_GO" -duration 10s && tell_target start &&
		sampling stress 500ms/1200ms --events=sched,syscall,gc,heap,user,kernel,sweep,cpu,fault -d 4s && ended stress 4s || return 1
	for file in $(traces); do
		build/gotrace stat --json "$file" | jq -e '.samples >= 5 and .kernel.kinds.fault_begin >= 1' || return 1
	done
	expect_target done && stop_target
}

perf_uprobes()
{
	sampling perf 100ms/3s --events=sched --force-perf-uprobes && wait_until 60 listed 2 && stop_recorder && nothing_left &&
		each_is_valid && is_complete perf
}

killed() # WINDOW/PERIOD SECONDS: in the window, then between two
{
	sampling "killed-${1%/*}" "$1" && sleep "$2" && kill -KILL "$BACKGROUND_PID"
	wait "$BACKGROUND_PID" 2>/dev/null
	wait_until 20 text_is_clean "$TARGET_PID" && ! target_is_gone
}

keeps_files_when_killed() { killed 100ms/500ms 2.3 && listed 2 && each_is_valid; }

interrupted_in_between() { sampling between2 50ms/60s && wait_until 20 listed 1 && pause 200 && stop_recorder && snapshots_are 1 && each_is_valid; }

target_ends_in_between()
{
	start_target pingpong "$ORACLE_GO" -duration 1s -rate 1000 && sampling ends 50ms/60s && wait_until 20 listed 1 &&
		tell_target start && expect_target done && stop_target && landed &&
		grep -q "process $TARGET_PID ended or executed another program" "$tmp/background.out" && snapshots_are 1 && each_is_valid
}

# WINDOW/PERIOD: the target becomes cat, which waits for its standard input
target_executes()
{
	rm -f "$tmp/cat.in" "$tmp/tiny.out" # of the test before
	mkfifo "$tmp/cat.in"
	exec {hold}<>"$tmp/cat.in"
	"build/targets/$ORACLE_GO/tiny" -duration "$(stretched 5s)" -exec "$(command -v cat)" <"$tmp/cat.in" >"$tmp/tiny.out" {hold}<&- &
	TARGET_PID=$!
	background+=("$TARGET_PID")
	wait_until 20 grep -q pid "$tmp/tiny.out" && sampling "executes-${1%/*}" "$1" && landed &&
		grep -q "process $TARGET_PID ended or executed another program" "$tmp/background.out" && listed 1 && each_is_valid &&
		kill "$TARGET_PID" && exec {hold}>&-
}

capabilities() { awk '$1 == "CapEff:" { print $2 }' "/proc/$BACKGROUND_PID/status"; }

# CAP_SYS_PTRACE, and CAP_PERFMON with perf events.
privileges()
{
	sampling caps 50ms/500ms -d 2s && wait_until 20 listed 2 && [ "$(capabilities)" = 0000000000080000 ] && ended caps 2s &&
		sampling caps2 50ms/500ms -d 2s --events=sched,cpu && wait_until 20 listed 2 && [ "$(capabilities)" = 0000004000080000 ] &&
		ended caps2 2s
}

# The memory of the first windows is not constant yet.
memory_is_constant()
{
	local early late
	sampling memory 10ms/50ms --keep 1M && wait_until 60 grep -q 'window 40:' "$tmp/background.out" || return 1
	early=$(resident)
	wait_until 120 grep -q 'window 160:' "$tmp/background.out" || return 1
	late=$(resident)
	echo "$early KiB, then $late KiB"
	[ "$late" -le $((early + early / 20)) ] && stop_recorder && each_is_valid && jq -e '.windows >= 160 and .lost == 0' "$tmp/memory.json"
}

suggests() # OPTION...: on a terminal, the recorder names commands that read the file
{
	script -qec "$GOTRACE record -p $TARGET_PID -d 500ms $*" /dev/null </dev/null >"$tmp/typed" && grep -q 'next: ' "$tmp/typed"
}

suggests_for_files_only()
{
	suggests -o "$tmp/next.trace" && ! suggests --sample 100ms/200ms -o "$tmp/next" && [ -e "$tmp/next/index.tsv" ]
}

ktap_start
start_target pingpong "$ORACLE_GO" -duration 150s -rate 1000 || exit 1
tell_target start
try "a recording in windows" periodic
try "windows begin at multiples of the period" begin_in_periods 800000000 $((100000000 * stretch))
try "files begin and end as the index says" as_the_index_says
try "each window contains what happens in it" contents_are_alike
try "each window has its stacks" have_their_stacks
try "nothing is attached in between" nothing_in_between
try "windows aligned by the wall clock" aligned
try "all event sets" all_sets
try "kernel events in each window" kernel_events_in_each
try "perf uprobes" perf_uprobes
try "kill -9 in a window" killed 20s/60s 0.5
try "kill -9 between two windows" killed 50ms/60s 1
try "kill -9 keeps complete files" keeps_files_when_killed
try "interrupted between two windows" interrupted_in_between
try "privileges" privileges
try "memory is constant" memory_is_constant
try "no command is suggested that reads a directory" suggests_for_files_only
kill "$TARGET_PID"
try "CPU samples and page faults in each window" cpu_samples_in_each
try "the target ends between two windows" target_ends_in_between
try "another program in the process between two windows" target_executes 20ms/8s
try "another program in the process in a window" target_executes 60s/600s
try "without a directory" refused 2 'requires a directory' $GOTRACE record -p 1 --sample 1s/10s
try "no period" refused 2 'expected WINDOW/PERIOD' $GOTRACE record -p 1 --sample 1s -o "$tmp/x"
try "no window" refused 2 'expected WINDOW/PERIOD' $GOTRACE record -p 1 --sample /1s -o "$tmp/x"
try "a window as long as the period" refused 2 'shorter than the period' $GOTRACE record -p 1 --sample 1s/1s -o "$tmp/x"
try "a short window" refused 2 'at least 1ms' $GOTRACE record -p 1 --sample 999us/1s -o "$tmp/x"
try "a long period" refused 2 'at most 30 days' $GOTRACE record -p 1 --sample 1s/1000h -o "$tmp/x"
try "aligned without windows" refused 2 'requires --sample' $GOTRACE record -p 1 --align-start -o "$tmp/x"
try "with --rotate" refused 2 'cannot be combined' $GOTRACE record -p 1 --rotate 1s --sample 1s/10s -o "$tmp/x"
try "with --follow" refused 2 'cannot be combined' $GOTRACE record -p 1 --follow --sample 1s/10s -o "$tmp/x"
try "with --save-input" refused 2 'cannot be combined' $GOTRACE record -p 1 --save-input "$tmp/y" --sample 1s/10s -o "$tmp/x"
try "with inline probes" refused 2 'cannot be combined' $GOTRACE record -p 1 --probes=inline --sample 1s/10s -o "$tmp/x"
try "with a command" refused 2 'requires a running process' $GOTRACE record --sample 1s/10s -o "$tmp/x" -- true
ktap_end
