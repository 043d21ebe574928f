#!/bin/bash
# Tests the process that answers HTTP clients of `gotrace-bpf serve` with a supervisor that sends made
# results (selftests/service/front.c): its pages, which requests it refuses, its sandbox, and hostile
# clients (selftests/reference/cmd/hostile), during which it answers a fair one. A system call that the
# sandbox does not permit kills it here.
# parallel
# timeout: 600
# depends on: Makefile include userspace selftests/reference selftests/service
. "$(dirname "$0")/../lib.sh"

metrics_size=3000000

started() # ADDRESS [MILLISECONDS]: clients have this time for a request. Sets FRONT, the process, PORT and URL
{
	start_background serve_made "$1" "${2-2000}" && wait_until 30 grep -q '^front ' "$tmp/background.out" || return 1
	FRONT=$(sed -n 's/^front //p' "$tmp/background.out")
	PORT=$(sed -n 's,.*http://.*:\([0-9]*\)/$,\1,p' "$tmp/background.out")
	URL=http://127.0.0.1:$PORT
	wait_until 30 confined
}

# Its stdin stays open until it is to end.
serve_made() # ADDRESS MILLISECONDS
{
	exec build/selftests/front "$1" $metrics_size "$2" < <(exec sleep 1000)
}

confined() { [ "$(status_of Seccomp)" = 2 ]; }
status_of() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$FRONT/status"; }
fds() { find "/proc/$FRONT/fd" -mindepth 1 | wc -l; }
memory() { status_of VmRSS; }
requests() { grep -c "^request ${1-}" "$tmp/background.out"; } # [KIND]
ends() { grep -c "^end $1 [0-9]* -32\$" "$tmp/background.out"; } # PID: traces that the client did not read to the end
has_ends() { [ "$(ends "$1")" -ge "$2" ]; } # PID NUMBER

fetch() # CURL-ARGUMENT...: head in $tmp/head, body in $tmp/body; prints the status
{
	curl -sS -m 60 -D "$tmp/head" -o "$tmp/body" -w '%{http_code}\n' "$@"
}

header() # NAME VALUE: the response has it
{
	tr -d '\r' <"$tmp/head" | grep -qixF "$1: $2"
}

answers() # STATUS CURL-ARGUMENT...
{
	local status

	status=$(fetch "${@:2}")
	[ "$status" = "$1" ] || { echo "status $status"; head -c 300 "$tmp/body"; return 1; }
	header X-Content-Type-Options nosniff && header Cache-Control no-store && ! grep -qi '^access-control' "$tmp/head"
}

body_is() # TEXT: the body is this line
{
	printf '%s\n' "$1" | diff - "$tmp/body"
}

pages()
{
	answers 200 "$URL/" && header Content-Type 'text/html; charset=utf-8' && grep -q '/debug/pprof/' "$tmp/body" &&
		answers 200 "$URL/debug/pprof/" && answers 200 "$URL/debug/pprof" &&
		answers 200 "$URL/targets" && header Content-Type application/json && jq -e 'length == 2' "$tmp/body" &&
		answers 404 "$URL/nothing" && body_is '404 page not found' &&
		answers 404 "$URL/metrics/" && answers 404 "$URL//metrics" && answers 404 --path-as-is "$URL/../etc/passwd"
}

metrics()
{
	answers 200 "$URL/metrics" && header Content-Type 'text/plain; version=0.0.4; charset=utf-8' &&
		[ "$(stat -c %s "$tmp/body")" -eq $metrics_size ] &&
		answers 200 -H 'Accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3' "$URL/metrics" &&
		header Content-Type 'application/openmetrics-text; version=1.0.0; charset=utf-8' &&
		[ "$(stat -c %s "$tmp/body")" -eq $metrics_size ]
}

heads() # no recording is started for a HEAD
{
	local before

	answers 200 -I "$URL/metrics" && header Content-Length $metrics_size && answers 404 -I "$URL/nothing" || return 1
	before=$(requests 3)
	answers 200 -I "$URL/debug/pprof/trace?seconds=60&pid=1" &&
		header Content-Disposition 'attachment; filename="trace"' && [ "$(requests 3)" -eq "$before" ]
}

# Like the handler of net/http/pprof; see pprof.Trace of src/net/http/pprof/pprof.go.
trace_arguments()
{
	answers 200 "$URL/debug/pprof/trace?seconds=0.25&pid=1" && header Content-Type application/octet-stream &&
		header Content-Disposition 'attachment; filename="trace"' &&
		grep -qx 'request 3 1 250000000' "$tmp/background.out" &&
		answers 200 "$URL/debug/pprof/trace?pid=1" && answers 200 "$URL/debug/pprof/trace?pid=1&seconds=x" &&
		answers 200 "$URL/debug/pprof/trace?pid=1&seconds=-3" &&
		[ "$(grep -cx 'request 3 1 1000000000' "$tmp/background.out")" -eq 3 ] &&
		answers 400 "$URL/debug/pprof/trace?seconds=601&pid=1" && header X-Go-Pprof 1 &&
		body_is 'profile duration exceeds the limit of 600 s' &&
		answers 400 "$URL/debug/pprof/trace?pid=x" && body_is 'invalid pid: expected a process ID that /targets lists'
}

trace_failures()
{
	answers 400 "$URL/debug/pprof/trace" && [ "$(head -n 1 "$tmp/body")" = 'several targets: add pid=PID of one of these' ] &&
		tail -n +2 "$tmp/body" | jq -e 'length == 2' &&
		answers 404 "$URL/debug/pprof/trace?pid=101" && body_is 'no such target' && header X-Go-Pprof 1 &&
		answers 500 "$URL/debug/pprof/trace?pid=7" && body_is 'Could not enable tracing: not permitted here' &&
		answers 500 "$URL/debug/pprof/trace?pid=5" && body_is 'Could not enable tracing: the recorder sent no trace' &&
		answers 503 "$URL/debug/pprof/trace?pid=8" && header Retry-After 1 &&
		answers 504 "$URL/debug/pprof/trace?pid=2&seconds=0.1" && body_is 'the recorder did not answer in time'
}

# PID: the response ends before its last chunk, which curl reports (18: partial file)
incomplete()
{
	fetch "$URL/debug/pprof/trace?seconds=0.1&pid=$1"
	[ $? -eq 18 ] && [ "$(stat -c %s "$tmp/body")" -eq 4096 ]
}

whole_traces()
{
	local before

	before=$(wc -l <"$tmp/background.out")
	attack -n 8 -path '/debug/pprof/trace?seconds=0.5&pid=1' traces >"$tmp/traces" || { cat "$tmp/traces"; return 1; }
	sed -n 's/^trace //p' "$tmp/traces" | sort >"$tmp/read"
	tail -n +$((before + 1)) "$tmp/background.out" | sed -n 's/^end 1 \([0-9]*\) 0$/\1/p' | sort | diff - "$tmp/read" &&
		[ "$(wc -l <"$tmp/read")" -eq 8 ]
}

left_early() # PID: the stream ends long before the trace would
{
	local before

	before=$(ends "$1")
	! curl -sS -m 0.5 -o "$tmp/body" "$URL/debug/pprof/trace?seconds=600&pid=$1" && wait_until 20 has_ends "$1" $((before + 1))
}

has_requests() { [ "$(requests "$1")" -ge "$2" ]; } # KIND NUMBER

# They were requested for the longest time, and the client does not read what it gets.
long_traces_give_way()
{
	local i pids=() before status=0

	before=$(requests 3)
	for ((i = 0; i < 8; i++)); do
		curl -sS -N -m 60 "$URL/debug/pprof/trace?seconds=600&pid=1" 2>&1 | { sleep 30; cat >/dev/null; } &
		pids+=($!)
	done
	wait_until 5 has_requests 3 $((before + 8)) || return 1
	for ((i = 0; i < 12; i++)); do
		answers 200 "$URL/debug/pprof/trace?seconds=0.1&pid=1" || status=1
	done
	kill "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	return $status
}

too_many_traces()
{
	local i pids=() pid status before

	before=$(requests 3)
	for ((i = 0; i < 8; i++)); do
		curl -sS -m 60 -o "$tmp/trace$i" "$URL/debug/pprof/trace?seconds=3&pid=1" &
		pids+=($!)
	done
	wait_until 2 has_requests 3 $((before + 8)) && answers 503 "$URL/debug/pprof/trace?seconds=1&pid=1" &&
		body_is 'too many traces are being recorded' && answers 200 "$URL/metrics"
	status=$?
	for pid in "${pids[@]}"; do
		wait "$pid" || status=1
	done
	return $status
}

raw() # LINE...: sends these lines and an empty one; prints the first line of the response
{
	local connection

	exec {connection}<>"/dev/tcp/127.0.0.1/$PORT" || return 1
	printf '%s\r\n' "$@" '' >&"$connection"
	timeout 10 head -n 1 <&"$connection"
	exec {connection}>&-
}

forbidden() # LINE...
{
	raw "$@" | grep '^HTTP/1.[01] 40[03] ' || { printf '%s\n' "$@"; return 1; }
}

hosts()
{
	local host

	for host in "127.0.0.1:$PORT" "localhost:$PORT" "[::1]:$PORT" "LOCALHOST:$PORT"; do
		answers 200 -H "Host: $host" "$URL/targets" || { echo "$host"; return 1; }
	done
	for host in example.com "example.com:$PORT" 127.0.0.1 localhost "127.0.0.1:$((PORT ^ 1))" "10.0.0.1:$PORT" \
		"127.0.0.1.example.com:$PORT" "localhost.:$PORT" "0.0.0.0:$PORT" "x@127.0.0.1:$PORT"; do
		answers 403 -H "Host: $host" "$URL/targets" && [ "$(wc -l <"$tmp/body")" -eq 1 ] || { echo "$host"; return 1; }
	done
	raw 'GET /targets HTTP/1.1' "Host: 127.0.0.1:$PORT" | grep -q ' 200 ' &&
		forbidden 'GET /targets HTTP/1.1' && forbidden 'GET /targets HTTP/1.0' && forbidden 'GET /targets HTTP/1.1' 'Host:' &&
		forbidden 'GET /targets HTTP/1.1' "Host: 127.0.0.1:$PORT" 'Host: example.com' &&
		forbidden 'GET /targets HTTP/1.1' 'Host: example.com' "Host: 127.0.0.1:$PORT" &&
		forbidden "GET http://127.0.0.1:$PORT/targets HTTP/1.1" 'Host: example.com'
}

cross_site()
{
	local before

	before=$(requests)
	answers 403 -H 'Origin: http://example.com' "$URL/metrics" && answers 403 -H 'Origin: null' "$URL/metrics" &&
		answers 403 -H "Origin: http://localhost:$PORT" "$URL/metrics" &&
		answers 403 -H 'Sec-Fetch-Site: cross-site' "$URL/metrics" &&
		answers 403 -H 'Sec-Fetch-Site: same-site' "$URL/debug/pprof/trace?pid=1" &&
		answers 403 -H 'Sec-Fetch-Site: none' -H 'Sec-Fetch-Site: cross-site' "$URL/metrics" &&
		[ "$(requests)" -eq "$before" ] &&
		answers 200 -H "Origin: $URL" -H 'Sec-Fetch-Site: same-origin' "$URL/targets" &&
		answers 200 -H 'Sec-Fetch-Site: none' "$URL/targets"
}

methods()
{
	local method

	for method in POST PUT DELETE PATCH OPTIONS TRACE NONE; do
		answers 405 -X $method "$URL/targets" && header Allow 'GET, HEAD' || { echo $method; return 1; }
	done
	answers 405 -d x=y "$URL/metrics" && answers 413 -X GET -d x=y "$URL/metrics" &&
		answers 413 -X GET -H 'Transfer-Encoding: chunked' -d x=y "$URL/metrics"
}

# The supervisor is stopped: requests are refused in time, and answered again afterwards.
stalled()
{
	local status

	kill -STOP "$BACKGROUND_PID" || return 1
	answers 504 "$URL/metrics" && body_is 'the supervisor did not answer in time' && answers 200 "$URL/"
	status=$?
	kill -CONT "$BACKGROUND_PID"
	[ $status -eq 0 ] && answers 200 "$URL/metrics"
}

# Processes of one user can kill each other, and many services run as the user nobody.
has_a_user_of_its_own()
{
	local user

	user=$(status_of Uid)
	[ "$user" -gt 0 ] && [ "$user" != 65534 ] && [ "$(grep -ls "^Uid:.*\<$user\>" /proc/[0-9]*/status)" = "/proc/$FRONT/status" ] &&
		! setpriv --reuid 65534 --regid 65534 --clear-groups kill -0 "$FRONT"
}

in_sandbox()
{
	[ "$(status_of Seccomp)" = 2 ] && [ "$(status_of NoNewPrivs)" = 1 ] && [ "$(status_of CapEff)" = 0000000000000000 ] &&
		[ "$(status_of CapPrm)" = 0000000000000000 ] && has_a_user_of_its_own &&
		[ -z "$(ls -A "/proc/$FRONT/root/")" ] && [ "$(fds)" -eq 6 ]
}

attack() { timeout 120 build/reference/hostile -address "127.0.0.1:$PORT" "$@"; }

# Each body must be answered: with the fair client, and connections of the attack before that are not closed yet, 64
# would be more than the service has (CONNECTIONS_MAX), and one of them would be replaced without an answer.
attacks()
{
	attack -n 500 idle && attack -n 100 partial && attack -n 500 garbage && attack -n 60 headers &&
		attack -n 32 bodies && attack -n 99 pipeline && attack -n 60 unread &&
		attack -n 60 -path '/debug/pprof/trace?seconds=60&pid=1' abort &&
		attack -n 60 -path /metrics abort && attack -n 8 -path '/debug/pprof/trace?seconds=60&pid=4' unread
}

only_its_own() { [ "$(fds)" -eq 6 ]; } # files: standard ones, both sockets, epoll

# The first rounds show how much memory the process takes: how many clients it has at once depends on how busy
# the machine is. A later round must not add to it, as each would if memory were leaked.
resists()
{
	local before now=0 round

	for round in 1 2 3 4; do
		before=$now
		attacks && wait_until 30 only_its_own && now=$(memory) || return 1
		echo "round $round: memory: $now kB"
		[ "$now" -gt $((before + 1024)) ] || break
	done
	[ "$now" -le $((before + 1024)) ] && answers 200 "$URL/targets"
}

# Signals to all processes of the service are for the supervisor, which ends the front by closing the
# channel.
ignores_signals()
{
	kill -TERM "$FRONT" && kill -INT "$FRONT" && kill -HUP "$FRONT" && answers 200 "$URL/targets" &&
		! is_gone "$FRONT"
}

ends_with_supervisor()
{
	kill -KILL "$BACKGROUND_PID" && wait_until 10 is_gone "$FRONT"
}

# Connections that do nothing and would last for an hour: others can only be answered instead of them.
crowded()
{
	started 127.0.0.1:0 3600000 && attack -n 5000 idle && wait_until 30 only_its_own && ends_with_supervisor
}

in_a_unix_socket()
{
	local socket=$PWD/$tmp/socket

	started "unix:$socket" && [ "$(stat -c %a "$socket")" = 600 ] &&
		answers 200 --unix-socket "$socket" http://localhost/targets &&
		answers 200 --unix-socket "$socket" http://gotrace/targets &&
		answers 403 --unix-socket "$socket" -H 'Origin: http://example.com' http://gotrace/targets &&
		! setpriv --reuid 65534 --regid 65534 --clear-groups curl -sS -m 5 --unix-socket "$socket" http://localhost/targets &&
		ends_with_supervisor
}

ktap_start
if try "the front starts" started 127.0.0.1:0; then
	try "it is confined" in_sandbox
	try "pages" pages
	try "metrics" metrics
	try "HEAD" heads
	try "arguments of a trace" trace_arguments
	try "failures of a trace" trace_failures
	try "a trace that breaks off" incomplete 3
	try "a trace without an answer" incomplete 6
	try "traces at the same time are complete" whole_traces
	try "a client that leaves ends its trace" left_early 1
	try "a client that leaves before its trace begins" left_early 2
	try "the number of traces is limited" too_many_traces
	try "long traces give way to short ones" long_traces_give_way
	try "names of other hosts are refused" hosts
	try "requests of other sites are refused" cross_site
	try "methods and bodies" methods
	try "a supervisor that does not answer" stalled
	try "hostile clients" resists
	try "signals do not end it" ignores_signals
	try "it ends with its supervisor" ends_with_supervisor
fi
try "5,000 idle connections" crowded
try "a Unix socket" in_a_unix_socket
ktap_end
