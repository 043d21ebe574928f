#!/bin/bash
# tier: long
# timeout: 3600
# Real-world programs: esbuild from npm (stripped, without build information), etcd, Caddy and
# CoreDNS from the Go module proxy, each built with another Go release, and Debian's Prometheus (Go
# 1.19). Each is recorded under load.
#
# A server with an HTTP endpoint for its own trace (package net/http/pprof) is asked for it during
# the recording, and the two traces are compared goroutine by goroutine, as in
# selftests/fidelity.lib.sh. For esbuild the numbers of goroutines are known: it starts one per
# file. When it serves, SIGQUIT makes it print the start functions of its goroutines.
. "$(dirname "$0")/../lib.sh"
. selftests/npm.lib.sh
. selftests/fidelity.lib.sh
. selftests/field.lib.sh
. selftests/terminal.lib.sh

READER=build/gotrace
FIELD_SECONDS=${FIELD_SECONDS:-6}
FILES=300 # that esbuild bundles
ESBUILD=0.28.0
ESBUILD_SHA256=aafacdf135322bf47c882a4ea4db33d0375583f5b9c3fd2d4e12258e470568be
RECORD=$EVERY_EVENT
LIMITS='-identical 99.9 -diffs 20'

unpack_esbuild() # sets SERVER to it
{
	unpack_npm @esbuild/linux-x64 "$ESBUILD" bin/esbuild "$ESBUILD_SHA256" && SERVER=$NPM_PACKAGE/bin/esbuild
}

# --- esbuild

# m0.js imports two files, each of which imports two, and so on.
make_files()
{
	local i k

	mkdir -p "$tmp/js" || return 1
	for ((i = 0; i < FILES; i++)); do
		for k in $((2 * i + 1)) $((2 * i + 2)); do
			[ $k -ge $FILES ] || echo "import { f$k } from './m$k.js'; console.log(f$k(1))"
		done
		for ((k = 0; k < 20; k++)); do
			echo "export const c${i}_$k = (a, b) => a > $k ? a * b : [a, b, $k].map(v => v + $i)"
		done
		echo "export function f$i(x) { return x + c${i}_0(x, 1) }"
	done | awk -v folder="$tmp/js" -v files="$FILES" '
		BEGIN { file = folder "/m0.js" }
		{ print >file }
		/^export function/ { close(file); file = folder "/m" ++n ".js" }
		END { exit n != files }'
}

started() # FUNCTION: the number of goroutines of the trace that started with it
{
	jq --arg function "$1" '[.goroutines[] | select(.name == $function)] | length' "$tmp/goroutines"
}

# The linker processes one more file, that of esbuild's own functions.
bundled()
{
	local of=github.com/evanw/esbuild/internal name want got

	timeout 120 $GOTRACE record -o "$tmp/esbuild.trace" --stats "$tmp/esbuild.json" -- "$SERVER" \
		"$tmp/js/m0.js" --bundle --sourcemap --outfile="$tmp/js/out/bundle.js" || return 1
	check_trace "$tmp/esbuild.trace" && [ "$(stat_of lost "$tmp/esbuild.json")" = 0 ] &&
		[ -s "$tmp/js/out/bundle.js" ] &&
		build/gotrace goroutines --all --json "$tmp/esbuild.trace" >"$tmp/goroutines" || return 1
	while read -r want name; do
		got=$(started "$of/$name")
		echo "$name: $got, expected $want"
		[ "$got" -eq "$want" ] || return 1
	done <<-END
		$FILES bundler.parseFile
		$((FILES + 1)) graph.CloneLinkerGraph.func1
		$((FILES + 1)) linker.(*linkerContext).scanImportsAndExports.func1
	END
	SUMMARY="$(jq '.goroutines | length' "$tmp/goroutines") goroutines, one of each of three kinds per file"
}

esbuild()
{
	try "esbuild is unpacked" unpack_esbuild && try "files to bundle" make_files || return
	try "esbuild has no build information" no_build_information
	try "esbuild bundles: valid, one goroutine per file" bundled && note "$SUMMARY"
	PORT=$(free_port)
	mkfifo "$tmp/open" # it serves as long as its input is open
	server "esbuild, which serves," 3 "net/http.(*conn).serve" "-think 5ms http $at:$PORT /m0.js" \
		sh -c "exec \"\$@\" 0<>$tmp/open" sh "$SERVER" "$tmp/js/m0.js" --bundle --outdir="$tmp/js/out" \
		--serve="$at:$PORT"
}

no_build_information()
{
	readelf -SW "$SERVER" >"$tmp/sections" && grep -q gopclntab "$tmp/sections" &&
		! grep -q buildinfo "$tmp/sections"
}

# --- servers that provide their own trace

# NAME URL: the server runs as $PID, its load as $LOAD_PID
record_and_ask()
{
	start_background $GOTRACE record -p "$PID" -o "$tmp/server.trace" --stats "$tmp/server.json" \
		${RECORD:+$RECORD}
	recorder_is_live || return 1
	measure_use
	rm -f "$tmp/own.trace"
	curl -sSf --max-time $((FIELD_SECONDS * 10)) -o "$tmp/own.trace" "$2?seconds=$FIELD_SECONDS" || return 1
	measure_use "$1"
	sleep 0.1
	stop_recorder || return 1
	kill -0 "$LOAD_PID" || { cat "$tmp/load.err"; return 1; }
	[ "$(stat_of lost "$tmp/server.json")" = 0 ] || { echo "records were lost"; return 1; }
}

# NAME URL COMMAND...: URL serves its trace; LOAD has the arguments of the load, READY the address
# that answers when it is ready
compared_field()
{
	local name=$1 url=$2 status=0
	shift 2

	"$@" >"$tmp/server.out" 2>&1 &
	PID=$!
	background+=("$PID")
	wait_until 30 curl -sf -o "$tmp/ready" "$READY" || { tail -n 5 "$tmp/server.out"; return 1; }
	"$LOADER" -connections 8 -think 2ms "${LOAD[@]}" >"$tmp/load.out" 2>"$tmp/load.err" &
	LOAD_PID=$!
	background+=("$LOAD_PID")
	sleep 1
	record_and_ask "$name" "$url" || status=1
	stop_server
	[ $status -eq 0 ] && check_trace "$tmp/server.trace" >"$tmp/checked" &&
		compare_run "$name" "$tmp/own.trace" "$tmp/server.trace" || return 1
	SUMMARY=$(jq -r '"\(.goroutines.equal) of \(.goroutines.total) goroutines, \(.transitions.equal) of " +
		"\(.transitions.total) transitions, \(.whole_stack.equal) of \(.whole_stack.total) stacks, " +
		"\(.waker.equal) of \(.waker.total) wakers; \(.classes) \(.stack_classes)"' "$REPORTS/$name.json")
	jq -e '(.classes.unexplained // 0) == 0 and .goroutines.total >= 20' "$REPORTS/$name.json" ||
		{ echo "$SUMMARY"; return 1; }
}

# With the long names of its packages
tables_fit()
{
	verbs_fit 80 "$tmp/server.trace" && verbs_fit 120 "$tmp/server.trace"
}

field() # NAME, ARGUMENTS OF compared_field
{
	local name=$1
	shift

	READY=${READY:-${1%/trace}/cmdline}
	if try "$name: matches its own trace" compared_field "$name" "$@"; then
		note "$SUMMARY"
		try "$name: tables fit on a terminal" tables_fit
	fi
	READY=''
}

coredns()
{
	PORT=$(free_port)
	LOAD=(-connections 6 -requests 200 -think 1ms dns "$at:$PORT" example.test a.example.test b.example.test)
	cat >"$tmp/Corefile" <<-END
		.:$PORT {
			pprof $at:$((PORT + 1))
			errors
			cache 2
			template IN A test {
				answer "{{ .Name }} 1 IN A 127.0.0.1"
			}
		}
	END
	try "coredns builds" build_field coredns 1.25.14 &&
		field coredns "http://$at:$((PORT + 1))/debug/pprof/trace" "$SERVER" -conf "$tmp/Corefile"
}

prometheus()
{
	local query="/api/v1/query?query" now

	PORT=$(free_port) now=$(date +%s)
	READY=http://$at:$PORT/-/ready
	LOAD=(-connections 6 -requests 20 -think 5ms http "$at:$PORT" "$query=up" /metrics
		"$query=sum(rate(prometheus_http_requests_total[30s]))by(handler)"
		"/api/v1/query_range?query=rate(go_goroutines[1m])&start=$((now - 300))&end=$now&step=1")
	printf 'global:\n  scrape_interval: 200ms\nscrape_configs:\n- job_name: self\n  static_configs:\n' \
		>"$tmp/prometheus.yml"
	echo "  - targets: ['$at:$PORT']" >>"$tmp/prometheus.yml"
	try "Debian's prometheus is unpacked" unpack_server prometheus usr/bin/prometheus &&
		field prometheus "http://$at:$PORT/debug/pprof/trace" "$SERVER" --log.level=error \
			--config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/tsdb" \
			--web.listen-address="$at:$PORT"
}

ktap_start
REPORTS=$tmp/reports
mkdir -p "$REPORTS"
if try "the load builds" build_server "${ORACLE_GO#go}" ./load; then
	LOADER=$SERVER
	for program in ${FIELD:-esbuild etcd caddy coredns prometheus}; do
		$program
	done
fi
ktap_end
