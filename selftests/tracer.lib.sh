# Functions of the benchmarks: starts and stops a tracer of the target. The caller defines
# tracer_command() and has the target running.
# shellcheck shell=bash

tracer_is_live()
{
	grep -qE 'recording|^Attaching' "$tmp/background.out" || ! kill -0 "$BACKGROUND_PID" 2>/dev/null
}

# Some rows have no tracer.
start_tracer() # ROW [ARGUMENT OF tracer_command...]
{
	local command

	BACKGROUND_PID=''
	read -ra command < <(tracer_command "$@")
	[ ${#command[@]} -gt 0 ] || return 0
	start_background "${command[@]}"
	wait_until 30 tracer_is_live || return 1
	[ "$1" != bpftrace-count ] || sleep 1
}

stop_tracer() # ROW; bpftrace sometimes ignores its first SIGINT
{
	[ -n "$BACKGROUND_PID" ] || return 0
	kill -INT "$BACKGROUND_PID"
	wait_until 15 is_gone "$BACKGROUND_PID" || kill -KILL "$BACKGROUND_PID"
	wait "$BACKGROUND_PID" || [ "$1" = bpftrace-count ] ||
		{ tail -n 3 "$tmp/background.out" >&2; return 1; }
}
