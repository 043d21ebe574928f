#!/bin/bash
# Decodes the timeline that `gotrace view` serves, and compares it with other commands and with sums
# over single events; sends requests to the server that it must refuse, from clients that disturb others.
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/report selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

decode() { python3 selftests/report/timeline.py "$@"; }

# TRACE: the states of each goroutine, the heap, arrows and the utilization; and that merged spans
# have the same exact times
compares()
{
	$READER view --json "$1" >"$tmp/data" && $READER view --spans 1000 --json "$1" >"$tmp/merged" &&
		$READER goroutines --all --json "$1" >"$tmp/goroutines" && $READER events --json "$1" >"$tmp/events" &&
		decode states "$tmp/data" "$tmp/goroutines" && decode events "$tmp/data" "$tmp/events" && decode mmu "$tmp/data" "$tmp/events"
}

runs()
{
	local go

	for go in $READER_GOS; do
		compares "$CORPUS/runs/short-$go.trace" || { echo "$go"; return 1; }
	done
}

merges()
{
	local trace=$CORPUS/runs/long-$ORACLE_GO.trace

	$READER view --json "$trace" >"$tmp/data" && $READER view --spans 1000 --json "$trace" >"$tmp/merged" &&
		decode same "$tmp/data" "$tmp/merged"
}

golden() # each valid trace of all formats
{
	local trace n=0

	for trace in "$CORPUS/$ORACLE_GO"/v2/*.trace "$CORPUS/$ORACLE_GO"/v1/*; do
		$READER check "$trace" >"$tmp/result" 2>&1 || continue
		n=$((n + 1))
		$READER view --json "$trace" >"$tmp/data" && decode lanes "$tmp/data" || { echo "$trace"; return 1; }
	done
	[ $n -gt 10 ]
}

# --- the server

serve() # [OPTION...], of a copy, which tests change, without merged spans: sets url and port
{
	cp "$CORPUS/runs/long-$ORACLE_GO.trace" "$tmp/trace" && $READER index "$tmp/trace" && rm -f "$tmp/url" || return 1
	$READER view --spans 10000000 "$@" "$tmp/trace" >"$tmp/url" 2>"$tmp/log" </dev/null &
	server=$!
	background+=("$server")
	wait_until 20 test -s "$tmp/url" || return 1
	url=$(cat "$tmp/url")
	port=${url#http://127.0.0.1:} port=${port%%/*}
}

# STATUS PATH-AND-QUERY [CURL ARGUMENT...]: the answer has this status; the body is in $tmp/body
answers()
{
	local want=$1 path=$2 got
	shift 2

	got=$(curl -s -m 30 -o "$tmp/body" -w '%{http_code}' "$@" "http://127.0.0.1:$port$path")
	[ "$got" = "$want" ] || { echo "$path: $got, expected $want"; return 1; }
}

parts() # of the whole, at the begin, in the middle, at the end, and of two lanes
{
	local base=/${url#http://*/} range ns

	answers 200 "${base}data.json" && cp "$tmp/body" "$tmp/data" && ns=$(jq .trace.ns "$tmp/data") || return 1
	for range in "0 1000000" "$((ns / 2)) $((ns / 2 + 2000000))" "$((ns - 1000000)) $ns"; do
		# shellcheck disable=SC2086 # two words
		set -- $range
		answers 200 "${base}range.json?from=$1&to=$2" && decode part "$tmp/data" "$tmp/body" "$1" "$2" || return 1
	done
	answers 200 "${base}range.json?from=0&to=$ns&lanes=p:0,gc" &&
		[ "$(jq -c '[.lanes[].id] | sort' "$tmp/body")" = '["gc","p:0"]' ]
}

# Ranges with more spans than an answer has: merged ones, with exact sums
sums()
{
	local base=/${url#http://*/} range ns width

	answers 200 "${base}data.json" && cp "$tmp/body" "$tmp/data" && ns=$(jq .trace.ns "$tmp/data") || return 1
	for range in "0 $ns" "$((ns / 7 + 3)) $((ns / 2 + 77777))" "$((ns / 3)) $ns"; do
		# shellcheck disable=SC2086 # two words
		set -- $range
		for width in 1 1000; do
			answers 200 "${base}range.json?from=$1&to=$2&width=$width" &&
				decode sums "$tmp/data" "$tmp/body" "$1" "$2" >"$tmp/sums" && note "$(cat "$tmp/sums")" || return 1
		done
	done
}

# What is served is what --json prints, and what the page of `report` contains.
data_of_report()
{
	answers 200 "/${url#http://*/}data.json" && cp "$tmp/body" "$tmp/served" &&
		$READER view --spans 10000000 --json "$tmp/trace" | cmp - "$tmp/served" &&
		$READER view --json "$tmp/trace" | jq -S 'del(.live)' >"$tmp/a" &&
		$READER report --json "$tmp/trace" | jq -S 'del(.live)' >"$tmp/b" && cmp "$tmp/a" "$tmp/b" &&
		jq -e '(.findings | length > 0) and (.goroutines.list | length > 0) and (.profiles | length > 0) and (.mmu | length > 0)' "$tmp/b" >/dev/null
}

# With little memory, the file is read for what has been merged.
small_cache()
{
	local base ns

	serve --cache 64K && base=/${url#http://*/} && answers 200 "${base}data.json" && ns=$(jq .trace.ns "$tmp/body") &&
		jq -e 'any(.limits[]; contains("are merged"))' "$tmp/body" >/dev/null && decode same "$tmp/data" "$tmp/body" &&
		answers 200 "${base}range.json?from=$((ns / 2))&to=$((ns / 2 + 1000000))" &&
		decode part "$tmp/data" "$tmp/body" $((ns / 2)) $((ns / 2 + 1000000)) &&
		answers 200 "${base}range.json?from=0&to=$ns&width=10" && decode sums "$tmp/data" "$tmp/body" 0 "$ns"
}

refuses()
{
	local base=/${url#http://*/} query

	answers 403 / && answers 403 /data.json && answers 403 "/${base//[0-9a-f]/0}data.json" &&
		answers 403 "$base" -H "Host: example.com:$port" && answers 400 "$base" -H "Host:" &&
		answers 403 "$base" -H "Origin: http://example.com" && answers 403 "$base" -H "Sec-Fetch-Site: cross-site" &&
		answers 405 "$base" -X DELETE && answers 404 "${base}../etc/passwd" --path-as-is || return 1
	answers 200 "${base}range.json?from=0&to=5&lanes=%00,g:99999999999999999999,,p:,%ff" && [ "$(jq -c .lanes "$tmp/body")" = '[]' ] &&
		answers 400 "${base}range.json?from=0&to=5&lanes=$(printf 'p:0,%.0s' {1..1025})" || return 1
	for query in '' from=1 'from=2&to=1' 'from=-1&to=5' 'from=a&to=b' 'from=0&to=99999999999999999999' 'from=0&to=5&width=0' \
		'from=0&to=5&width=100000000' 'from=%00&to=%ff' 'from=0x1&to=5'; do
		answers 400 "${base}range.json?$query" || return 1
	done
}

many_connections() # more than it accepts, idle ones; it answers when they are gone
{
	local base=/${url#http://*/} i fds=() fd

	for ((i = 0; i < 100; i++)); do
		exec {fd}<>"/dev/tcp/127.0.0.1/$port" && fds+=("$fd")
	done
	for fd in "${fds[@]}"; do
		exec {fd}>&-
	done
	answers 200 "${base}data.json" && kill -0 $server
}

# Others that send nothing, read nothing or send random bytes do not keep a client from its answers.
disturbed()
{
	local clients

	for clients in "idle 400" "stalled 100" "slow 30" "garbage 300"; do
		# shellcheck disable=SC2086 # two words
		timeout 150 python3 selftests/report/clients.py "$url" $clients 2>"$tmp/err" || { tail -n 1 "$tmp/err"; return 1; }
	done
	kill -0 $server
}

port_in_use() { refused 1 "cannot listen on 127.0.0.1:$port: Address already in use" --port "$port" "$tmp/trace"; }

changed() # a file that changes while it is served
{
	local base=/${url#http://*/}

	truncate -s 100000 "$tmp/trace" && answers 409 "${base}range.json?from=0&to=1000000" &&
		grep -qx ".*trace has changed since it was read: start 'gotrace view' again" "$tmp/body" &&
		answers 200 "${base}data.json" && rm "$tmp/trace" && answers 409 "${base}range.json?from=0&to=1000000"
}

ends() { kill $server && wait $server; }

refused() # STATUS PATTERN ARGUMENT...
{
	local want=$1 pattern=$2
	shift 2

	timeout 30 $READER view "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	[ $? -eq "$want" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && [ ! -s "$tmp/out" ] && grep -qE "^gotrace: .*($pattern)" "$tmp/err"
}

arguments()
{
	head -c 5000 "$CORPUS/runs/long-$ORACLE_GO.trace" >"$tmp/cut"
	mkfifo "$tmp/fifo"
	refused 2 'invalid port' --port 65536 x && refused 2 'invalid size' --cache 1K x &&
		refused 1 'not a regular file' "$tmp/fifo" && refused 1 'not a regular file' "$tmp" && refused 2 'invalid number' --spans 10 x && refused 2 'FILE must be a file' - &&
		refused 1 'No such file' "$tmp/none" && refused 1 . "$tmp/cut"
}

ktap_start
if try "the reader builds" build_reader && try "there are traces" eval 'extract_corpus "$ORACLE_GO" && trace_short_runs && trace_long_runs'; then
	try "lanes, curves, arrows and the utilization equal those of other commands" runs
	try "merged spans keep the exact times" merges
	in_all try "the golden traces have a timeline" golden
	if try "the server starts" serve; then
		try "parts of the timeline are those of the whole" parts
		in_all try "sums of merged parts are exact" sums
		try "its data are those of a report" data_of_report
		try "requests of others and invalid ones are refused" refuses
		try "many connections do not end it" many_connections
		try "clients that disturb do not keep others out" disturbed
		try "a port in use is an error" port_in_use
		try "a file that has changed is an error" changed
		try "it ends with SIGTERM" ends
	fi
	try "parts that were merged are read from the file" small_cache
	try "errors in the command line and in the file are one line" arguments
fi
ktap_end
