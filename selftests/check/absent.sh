#!/bin/bash
# Recording a target with memory pages that cannot be read yet. A userfaultfd handler that
# replies late simulates a FUSE file system that hangs. Neither the target nor the recorder may block
# on such a page.
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# The texts of six annotations are in such pages, which the handler fills after ten seconds.
texts_are_not_waited_for()
{
	record_target absent "$ORACLE_GO" "$1" -after 10s && cat "$tmp/absent.done" "$tmp/absent.json" &&
		[ "$(stat_of 'longest_ms < 5000' "$tmp/absent.done")" = true ] &&
		[ "$(stat_of 'records_by_kind.log' "$tmp/absent.json")" = 6 ] &&
		[ "$(stat_of 'text_misses' "$tmp/absent.json")" = 6 ] &&
		[ "$(stat_of 'read_errors' "$tmp/absent.json")" -ge 6 ] && check_trace "$RECORDED" &&
		[ "$(build/gotrace events "$RECORDED" | grep -c '(text not recorded)')" = 6 ]
}

start_without_runtime()
{
	: >"$tmp/target.out"
	"build/targets/$ORACLE_GO/absent" -runtime >"$tmp/target.out" 2>"$tmp/target.err" </dev/null &
	TARGET_PID=$!
	background+=("$TARGET_PID")
	wait_until 30 grep -q absent "$tmp/target.out"
	sleep 0.5
}

end_target()
{
	kill -KILL "$TARGET_PID"
	wait "$TARGET_PID" 2>/dev/null
	true
}

# 90 s: enough for a slow machine, where each of the steps above takes long.
refused_before_any_probe()
{
	local status

	start_without_runtime || return 1
	timeout -k 5 90 $GOTRACE record -p "$TARGET_PID" -d 1s -o "$tmp/refused.trace" >"$tmp/refused.out" 2>&1
	status=$?
	cat "$tmp/refused.out"
	end_target
	[ $status -eq 1 ] && grep -q "memory of process $TARGET_PID: a page of it did not arrive within" "$tmp/refused.out"
}

# SIGNAL: the recorder exits on it while it waits for the page, long before its own timeout.
ended_by()
{
	local begin

	start_without_runtime || return 1
	start_background $GOTRACE record -p "$TARGET_PID" -o "$tmp/ended.trace"
	wait_until 30 waits_for_a_page "$BACKGROUND_PID" || return 1
	begin=${EPOCHREALTIME/./}
	kill "-$1" "$BACKGROUND_PID"
	wait "$BACKGROUND_PID"
	echo "took $((${EPOCHREALTIME/./} - begin)) us"
	[ $((${EPOCHREALTIME/./} - begin)) -lt 3000000 ] && end_target
}

waits_for_a_page() # PID: one of its threads is in process_vm_readv
{
	grep -q '^310 ' "/proc/$1"/task/*/syscall
}

# Its recording of 2 s has ended, and it now waits for the command.
waits_for_a_page_or_has_read() # PID
{
	waits_for_a_page "$1" || grep -q '^gotrace-bpf: recorded' "$tmp/background.out"
}

# The target is killed when the probes are already attached. If that happens before the recorder has
# checked the runtime, the recording fails; if it happens before the snapshots, the recording
# completes. In both cases no probe stays in the program.
# The recorder reads the memory of a program twice in the first 40 ms. On a busy machine the program may
# not have removed the page by then: that run shows nothing, and another one follows.
a_command()
{
	local status try

	for try in 1 2 3 4 5; do
		start_background $GOTRACE record -d 2s -o "$tmp/command.trace" --force -- \
			"build/targets/$ORACLE_GO/absent" -runtime
		wait_until 60 waits_for_a_page_or_has_read "$BACKGROUND_PID"
		status=$?
		if [ $status -ne 0 ] || waits_for_a_page "$BACKGROUND_PID"; then
			break
		fi
		echo "run $try: both snapshots were taken before the page was absent"
		pkill -KILL -P "$BACKGROUND_PID"
		wait "$BACKGROUND_PID"
		status=1
	done
	TARGET_PID=$(pgrep -P "$BACKGROUND_PID")
	background+=("$TARGET_PID")
	[ $status -eq 0 ] && grep 'recording process' "$tmp/background.out" &&
		wait_until 30 text_is_clean "$TARGET_PID"
	status=$?
	cat "$tmp/background.out"
	kill -KILL "$TARGET_PID"
	wait "$BACKGROUND_PID"
	return $status
}

ktap_start
try "annotation texts on missing pages do not delay the target" texts_are_not_waited_for ""
try "the same with perf uprobes" texts_are_not_waited_for --force-perf-uprobes
try "runtime data on a missing page: rejected in time" refused_before_any_probe
for signal in INT TERM KILL; do
	try "SIG$signal while the recorder waits for a page" ended_by $signal
done
try "a command whose page is missing after the probes are attached" a_command
ktap_end
