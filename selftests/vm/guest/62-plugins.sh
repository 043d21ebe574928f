#!/bin/bash
# kernels: 6.12
# timeout: 240
# module: loaded
# Plugins and the kernel flight recorder: what those execute that are loaded when it begins is in the recovered
# trace, with names and exact counts. One that is loaded later is named at once, and the trace is valid.
. "$(dirname "$0")/../../lib.sh"
. selftests/record.lib.sh
HOST=$PWD/build/plugins # of vm/run

named_late() { grep -q 'not recorded: what the plugin second.so executes: it was loaded during the recording' "$tmp/background.out"; }

# NAME "COMMAND" ARGUMENT...: records the target until it has done its work and COMMAND is true
recorded()
{
	start_target plugins "$HOST" "${@:3}" && start_background $GOTRACE record --blackbox "$1" -p "$TARGET_PID" &&
		wait_until 60 grep -q 'recording process' "$tmp/background.out" && tell_target start && expect_target done 120 || return 1
	$2 && stop_recorder && cat "$tmp/background.out" && stop_target &&
		$GOTRACE recover "$1" -o "$tmp/$1.trace" && cp "$tmp/$1.trace" "$VM_SHARE/"
}

loaded_before()
{
	recorded plugins true -duration 200ms "$HOST/first.so" "$HOST/second.so" && target_result >"$VM_SHARE/plugins.done" &&
		build/gotrace goroutines "$tmp/plugins.trace" | grep 'plugins/second\.helper'
}

loaded_late()
{
	recorded late-plugin "wait_until 30 named_late" -duration 200ms -pause 100ms -late "$HOST/second.so" "$HOST/first.so"
}

ktap_start
try "plugins that are loaded before match their counts" loaded_before
try "a plugin that is loaded meanwhile is named" loaded_late
ktap_end
