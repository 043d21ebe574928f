#!/bin/bash
# Runs as a unit of systemd in the guest of selftests/check/systemd.sh: starts gotrace-bpf.service as
# an administrator would, and checks what it does.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh
. selftests/launched.lib.sh

# `snapshot` sends a signal only to a recorder of the same file.
GOTRACE=/usr/bin/gotrace-bpf NAME=gotrace-bpf HTTP=/run/gotrace-bpf/http SOCKET=/run/gotrace-bpf/control

property() { systemctl show -P "$1" "$NAME"; } # NAME
state() { $GOTRACE status --json --control $SOCKET; }
records() { state | jq -e --argjson pid "$PID" 'any(.[]; .pid == $pid and .state == "recording" and .hits > 0)'; }
get() { curl -sS -f --max-time 120 --unix-socket $HTTP "$@"; } # [OPTION...] URL
has_metrics() { get http://localhost/metrics >"$tmp/metrics" && grep "pid=\"$PID\"" "$tmp/metrics" >"$tmp/own" && [ "$(wc -l <"$tmp/own")" -gt 20 ]; }

has_restarted() { [ "$(property NRestarts)" -gt "$1" ] && [ "$(property ActiveState)" = active ]; } # COUNT

configure() # LINE...
{
	printf '%s\n' "$@" >/etc/gotrace-bpf.conf && chmod 600 /etc/gotrace-bpf.conf
}

# It is not tried again, because it would fail again.
refuses_a_bad_configuration()
{
	configure "exe = target" "windows = 5s" && ! systemctl start $NAME && [ "$(property ActiveState) $(property NRestarts)" = "failed 0" ] &&
		grep "unknown option 'windows'" "$LOG" && systemctl reset-failed $NAME
}

# It is active only after the recording of a program that runs can be asked for.
starts()
{
	program target && launch "$tmp/bin/target" -duration 400s -rate 200 && send "$PID" start &&
		configure "exe = target" "http = unix:$HTTP" "output = /var/lib/gotrace-bpf" "window = 20s" &&
		systemctl start $NAME && [ "$(property ActiveState)" = active ] && [ -S $SOCKET ] && wait_until 60 records
}

has_fewer_rights() # the service's unit has limited it
{
	local main
	main=$(property MainPID)
	grep -E '^(NoNewPrivs|Seccomp|CapBnd)' "/proc/$main/status"
	grep -q '^NoNewPrivs:	1' "/proc/$main/status" && grep -q '^Seccomp:	2' "/proc/$main/status" &&
		! nsenter -t "$main" -m touch /etc/x 2>/dev/null
}

answers()
{
	wait_until 60 has_metrics && get -o "$VM_SHARE/http.trace" "http://localhost/debug/pprof/trace?seconds=2" &&
		build/gotrace check "$VM_SHARE/http.trace" && ! text_is_clean "$PID"
}

# The supervisor notices that the process that answers HTTP requests does not go on.
http_hangs()
{
	local process
	process=$(http_process) && kill -STOP "$process" && wait_until 90 http_is_replaced "$process" && grep 'has not reported for 30 s' "$LOG" &&
		wait_until 60 has_metrics && [ "$(property NRestarts)" = 0 ]
}
http_process() # the one that is not root's
{
	cat /proc/[0-9]*/status 2>/dev/null |
		awk -v name=$NAME '/^Name:/ { ours = $2 == name } /^Pid:/ { pid = $2 } /^Uid:/ && ours && $2 { print pid }' | grep .
}
http_is_replaced() { local now && now=$(http_process) && [ "$now" != "$1" ]; } # PID

snapshot_is_there() { [ -n "$(find /var/lib/gotrace-bpf -name '*.trace')" ]; }
writes_a_snapshot()
{
	$GOTRACE snapshot -p "$PID" && wait_until 60 snapshot_is_there &&
		cp /var/lib/gotrace-bpf/*.trace "$VM_SHARE/snapshot.trace" && build/gotrace check "$VM_SHARE/snapshot.trace"
}

# Its watchdog ends a main process that does nothing, and a new one records the same target.
hangs()
{
	local main restarts
	main=$(property MainPID)
	restarts=$(property NRestarts)
	kill -STOP "$main" && wait_until 120 has_restarted "$restarts" &&
		[ "$(property MainPID)" != "$main" ] && wait_until 60 records && ! is_gone "$PID"
}

is_killed()
{
	local restarts
	restarts=$(property NRestarts)
	kill -KILL "$(property MainPID)" && wait_until 60 has_restarted "$restarts" && wait_until 60 records && wait_until 60 has_metrics
}

# No probe, process or socket remains, and the target goes on.
stops()
{
	systemctl stop $NAME && [ "$(property Result)" = success ] && ! pgrep -x $NAME && [ ! -e $SOCKET ] && text_is_clean "$PID" && ! is_gone "$PID" &&
		! bpftool -j link list | jq -e --argjson pid "$PID" '.[] | select(.pid? == $pid)'
}

# The lines of the example configuration; without them the reason says where they are.
listens_at_loopback()
{
	local lines
	lines=$(sed -n 's/^#   //p' /etc/gotrace-bpf.conf.example)
	configure "exe = target" "http = 127.0.0.1:6070" && ! systemctl start $NAME && grep 'a service of systemd may use Unix sockets only' "$LOG" &&
		echo "$lines" >"$VM_SHARE/units/$NAME.service.d/http.conf" &&
		systemctl daemon-reload && systemctl reset-failed $NAME && systemctl start $NAME && wait_until 60 curl -sS -f http://127.0.0.1:6070/targets
}

starts_again() { systemctl start $NAME && wait_until 60 records && systemctl stop $NAME; }

ktap_start 11
LOG=$VM_SHARE/service.log
try "a wrong configuration is refused with the reason" refuses_a_bad_configuration
try "it starts, and records a running program" starts
try "it has only what its unit allows" has_fewer_rights
try "metrics and traces by HTTP" answers
try "an HTTP process that hangs is replaced" http_hangs
try "a snapshot in its directory" writes_a_snapshot
try "a service that hangs is replaced" hangs
try "a service that was killed is replaced" is_killed
try "it stops, and nothing remains" stops
try "it starts once more" starts_again
try "HTTP at a loopback address" listens_at_loopback
ktap_end
