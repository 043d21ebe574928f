#!/bin/bash
# The file of `record --stats`, compared with other sources: the kernel's counts of runs of BPF programs, its figures of
# memory, the system calls of the recorder, and the raw input. Losses are compared by losses.sh and inline.sh.
# timeout: 300
# depends on: Makefile bpf include userspace selftests/targets selftests/rawfile.py selftests/recorder_calls.py
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh

counting=/proc/sys/kernel/bpf_stats_enabled

# What the recorder has used so far: anonymous and shared memory at this moment; at most, with its program; its maps
note_memory()
{
	awk '$1 == "RssAnon:" || $1 == "RssShmem:" { now += $2 } $1 == "VmHWM:" { most = $2 }
		END { print now * 1024, most * 1024 }' "/proc/$BACKGROUND_PID/status"
	cat "/proc/$BACKGROUND_PID"/fdinfo/* 2>/dev/null |
		awk '$1 == "memlock:" { size = $2 } $1 == "map_id:" && !seen[$2]++ { n += size } END { print n + 0 }'
}

# How often the kernel has run the programs that the recorder attaches to instructions
count_runs()
{
	cat "/proc/$BACKGROUND_PID"/fdinfo/* | awk '$1 == "prog_id:" { print $2 }' | sort -un | while read -r id; do
		bpftool -j prog show id "$id"
	done | jq -s '[.[] | select(.type == "kprobe" and .name != "count_hit").run_cnt // 0] | add'
}

# The target is done before the runs are counted.
recorded()
{
	local status=0

	start_target pingpong "$ORACLE_GO" -duration 1s -rate 5000 -procs 2 || return 1
	echo 1 >$counting
	start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/hits.trace" --stats "$tmp/hits.json" --events sched,syscall,gc
	recorder_is_live && tell_target start && expect_target done 60 && count_runs >"$tmp/runs" && note_memory >"$tmp/memory" &&
		stop_recorder || status=1
	echo 0 >$counting
	stop_target && return $status
}

# Each hit of a probe is a run of its program. Those of system calls are by tracepoints here. A thread of the runtime
# may wake up between the count and the end.
hits()
{
	jq -e --argjson runs "$(cat "$tmp/runs")" '.probe_hits - ([.records_by_kind | .go_sys_enter, .go_sys_exit, .sys_enter, .sys_exit] | map(. // 0) | add) |
		([., $runs] | debug) as $_ | . > 10000 and . >= $runs - 20 and . <= $runs + 20' "$tmp/hits.json"
}

# The maps are also a part of the recorder's memory. What the kernel needs to manage a map differs.
memory()
{
	local now most maps

	{ read -r now most; read -r maps; } <"$tmp/memory"
	echo "at the end $now, at most $most with the program, maps $maps; $(stat_of peak_memory_bytes "$tmp/hits.json")"
	jq -e --argjson now "$now" --argjson most "$most" --argjson maps "$maps" \
		'.peak_memory_bytes | . >= $now + $maps * 0.95 and . <= $most + $maps * 1.05 and $maps > 16e6' "$tmp/hits.json"
}

# The recorder under strace, with pauses at each read of the target's memory, so that these can be told from the rest.
attached()
{
	local recorder

	start_target pingpong "$ORACLE_GO" -duration 500ms -rate 1000 -procs 2 || return 1
	start_background $straced -e trace=execve,openat,pread64,process_vm_readv,bpf -e inject=process_vm_readv:delay_enter=2000 \
		$GOTRACE record --no-cache -p "$TARGET_PID" -o "$tmp/calls.trace" --stats "$tmp/calls.json" --save-input "$tmp/calls.raw"
	recorder_is_live && recorder=$(pgrep -P "$BACKGROUND_PID") && tell_target start && expect_target done 60 && kill -INT "$recorder" &&
		wait "$BACKGROUND_PID" && stop_target
}

attach_ms() { python3 -B selftests/recorder_calls.py attach "$tmp/calls" "$tmp/calls.json" "$tmp/calls.raw"; }
initial_state() { python3 -B selftests/rawfile.py initial "$tmp/calls.raw" "$tmp/calls.json"; }
records() { python3 -B selftests/rawfile.py stats "$tmp/calls.raw" "$tmp/calls.json"; }

windows()
{
	DIR=$tmp/windows
	start_target pingpong "$ORACLE_GO" -duration 60s -rate 1000 -procs 2 && tell_target start || return 1
	$straced -e trace=execve,bpf,poll $GOTRACE record -p "$TARGET_PID" -o "$DIR" --stats "$tmp/windows.json" \
		--sample 50ms/500ms -d 3s 2>"$tmp/err" && kill "$TARGET_PID" && cat "$DIR/index.tsv" &&
		python3 -B selftests/recorder_calls.py windows "$tmp/calls" "$tmp/windows.json" "$DIR/index.tsv"
}

# The shell prints the time before it executes the program, which then prints a line. The trace has the time at which its
# window begins on both clocks.
missed_ms()
{
	local before after start

	$GOTRACE record --follow -o "$tmp/follow.trace" --stats "$tmp/follow.json" -- bash -c \
		'echo "before $EPOCHREALTIME"; "$0" -duration 3s; echo done' "build/targets/$ORACLE_GO/tiny" |
		while read -r line; do echo "$line $EPOCHREALTIME"; done >"$tmp/follow" || return 1
	before=$(awk '$1 == "before" { print $2 }' "$tmp/follow") && after=$(awk '$1 == "pid" { print $3 }' "$tmp/follow") &&
		start=$(build/gotrace stat --json "$tmp/follow.trace" | jq '.start as $start | .generations[0].clock |
			.wall_sec + (.wall_nsec + $start - .mono) / 1e9') || return 1
	jq -e --argjson start "$start" --argjson before "$before" --argjson after "$after" '
		[.missed_ms, ($start - $after) * 1e3, ($start - $before) * 1e3] | debug |
		.[0] > 0 and .[0] >= .[1] - 0.1 and .[0] <= .[2] + 0.1' "$tmp/follow.json"
}

ktap_start
straced="strace -f -T --absolute-timestamps=format:unix,precision:ns -o $tmp/calls"
if try "a recording whose hits the kernel counts" recorded; then
	try "hits of probes" hits && note "$(grep DEBUG "$tmp/try.out")"
	try "memory" memory && note "$(head -n 1 "$tmp/try.out")"
fi
if try "a recording whose system calls are traced" attached; then
	try "the parts of the attach are those of the calls" attach_ms && note "$(cat "$tmp/try.out")"
	try "the initial state is known after its snapshots" initial_state && note "$(cat "$tmp/try.out")"
	try "records are those of the raw input" records
fi
try "the attaches of windows are those of the calls" windows && note "$(grep window_attach "$tmp/try.out")"
try "the time before the probes of a program that is followed" missed_ms && note "$(grep DEBUG "$tmp/try.out")"
ktap_end
