# The same-run comparison with runtime/trace, for `make fidelity` and the tests; read after lib.sh
# and record.lib.sh.
#
# Compared programs: the target selftrace, which drives every kind of transition, also in a variant
# with idle pauses, so that times can be compared; and third-party servers under load. A server is
# built from its project's unchanged source plus one file in its package main (servers/selftrace),
# which starts and stops the runtime's tracer on a signal. The recording starts before that tracer
# and ends after it. Each run leaves in $REPORTS
#
#     VERSION.PROGRAM.N.json   compare's report        VERSION.PROGRAM.N.use   the machine's use, per cent
#     VERSION.truth.N.txt      the known-truth target's counts, with tracing off
#
# which build/reference/fidelity summarizes.

. selftests/servers.lib.sh

FIDELITY_GOS=${FIDELITY_GOS:-$(last_gos_since 21)}
SERVER_SECONDS=${SERVER_SECONDS:-8}
SELF_SECONDS=${SELF_SECONDS:-15}
REPORTS=${REPORTS:-build/fidelity}
LIMITS=${LIMITS:-} # flags of compare
RECORD=${RECORD:-$EVERY_EVENT,sweep} # options of record

# NAME: the server's package, its command line and its load; $PORT and the next two ports are free.
# Sets PACKAGE, MODULE, COMMAND, LOAD.
describe_server()
{
	local at=127.0.0.1

	case $1 in
	nats-server)
		MODULE=github.com/nats-io/nats-server/v2 PACKAGE=$MODULE
		COMMAND=(-a "$at" -p "$PORT")
		LOAD="-connections 12 -think 1ms nats $at:$PORT" ;;
	go-httpbin)
		MODULE=github.com/mccutchen/go-httpbin/v2 PACKAGE=$MODULE/cmd/go-httpbin
		COMMAND=(-host "$at" -port "$PORT")
		LOAD="-connections 8 -think 3ms -requests 4 http $at:$PORT /get /uuid /bytes/4096 /gzip /delay/0.01" ;;
	mochi-mqtt)
		MODULE=github.com/mochi-mqtt/server/v2 PACKAGE=$MODULE/cmd
		COMMAND=(-tcp "$at:$PORT" -ws "$at:$((PORT + 1))" -info "$at:$((PORT + 2))")
		LOAD="-connections 12 -think 1ms -requests 20 mqtt $at:$PORT" ;;
	node_exporter)
		MODULE=github.com/prometheus/node_exporter PACKAGE=$MODULE
		COMMAND=(--web.listen-address="$at:$PORT" --log.level=error --web.disable-exporter-metrics)
		LOAD="-connections 2 -think 30ms http $at:$PORT /metrics /" ;;
	esac
}

# The servers that a release can build: the pinned modules are those of selftests/servers/go1.21 or
# go1.22.
servers_of() # VERSION
{
	case $(minor_of "$1") in
	19 | 20) ;;
	21) echo nats-server mochi-mqtt ;;
	*) echo nats-server go-httpbin mochi-mqtt node_exporter ;;
	esac
}

# VERSION NAME: sets SERVER to a server that can trace itself. The go command does not allow
# additional files in its module cache, not even with -overlay, so the server's module is copied and
# used as its own replacement.
build_traced_server()
{
	local version=$1 name=$2 pins=selftests/servers/go1.22 key folder source

	describe_server "$name"
	[ "$(minor_of "$version")" -gt 21 ] || pins=selftests/servers/go1.21
	key=$({
		echo "$PWD $version $MODULE"
		declare -f build_traced_server
		cat $pins/go.mod $pins/go.sum selftests/servers/selftrace/*.go
	} | sha256sum)
	folder=$PROGRAM_CACHE/traced-server-${key:0:16}
	SERVER=$folder/$name
	[ ! -x "$SERVER" ] || return 0
	rm -rf "$folder" && mkdir -p "$folder" && cp $pins/go.mod $pins/go.sum "$folder" || return 1
	(
		cd $pins && export CGO_ENABLED=0 GOFLAGS=-mod=mod GOTOOLCHAIN=go$version &&
		"${GO:-go}" mod download "$MODULE" &&
		source=$("${GO:-go}" list -m -f '{{.Dir}}' "$MODULE") &&
		cp -r --no-preserve=mode "$source" "$folder/source" &&
		cp ../selftrace/selftrace.go "$folder/source/${PACKAGE#"$MODULE"}/gotrace_selftrace.go" &&
		"${GO:-go}" mod edit -replace "$MODULE=$folder/source" "$folder/go.mod" &&
		"${GO:-go}" build -modfile="$folder/go.mod" -buildvcs=false -o "$SERVER.new" "$PACKAGE" &&
		mv "$SERVER.new" "$SERVER"
	) || return 1
	rm -rf "$folder/source"
}

cpu_ticks() # busy and total ticks since boot
{
	awk '/^cpu / { for (i = 2; i <= 9; i++) all += $i; print all - $5 - $6, all }' /proc/stat
}

# NAME: writes $REPORTS/NAME.use; without NAME, begins the measurement
measure_use()
{
	local busy all

	read -r busy all < <(cpu_ticks)
	[ -n "${1-}" ] || { USE_BUSY=$busy USE_ALL=$all; return; }
	echo $((100 * (busy - USE_BUSY) / (all - USE_ALL + 1))) >"$REPORTS/$1.use"
}

# NAME GOTRACE OURTRACE: compares them; keeps the report, and the traces if differences are
# unexplained
compare_run()
{
	local status=0

	# word splitting is intended
	build/reference/compare -json -min-goroutines 20 -min-transitions 1000 -min-reason 0 -time-p99 1s \
		$(tolerance) $LIMITS "$2" "$3" >"$REPORTS/$1.json" 2>"$tmp/compare.err" || {
		cat "$tmp/compare.err"
		jq -r '.failures[]?' "$REPORTS/$1.json"
		status=1
	}
	if [ $status -ne 0 ] || jq -e '.classes.unexplained or .whole_stack.equal != .whole_stack.total' \
			"$REPORTS/$1.json" >/dev/null; then
		mkdir -p "$REPORTS/kept"
		cp "$2" "$REPORTS/kept/$1.go.trace"
		cp "$3" "$REPORTS/kept/$1.ours.trace"
	fi
	return $status
}

compared_target() # VERSION N: as much work as the machine can do
{
	compared_selftrace "$1" selftrace "$2" -churn 5 -resizes 20
}

# Times are compared here: the load leaves the machine idle time.
compared_quietly() # VERSION N
{
	compared_selftrace "$1" selftrace-quiet "$2" -churn 1 -slower 4
}

compared_selftrace() # VERSION PROGRAM N ARGUMENT...
{
	local name=$1.$2.$3

	build_programs "$1" plain selftrace truth || return 1
	measure_use
	record_target selftrace "$PROGRAMS" "$RECORD" -trace "$tmp/own.trace" \
		-duration "${SELF_SECONDS}s" "${@:4}" || return 1
	measure_use "$name"
	compare_run "$name" "$tmp/own.trace" "$RECORDED"
}

server_wrote_trace() # or has exited
{
	[ -e "$tmp/own.trace.done" ] || ! kill -0 "$PID" 2>/dev/null
}

# Records the server $PID under the load $LOAD_PID, while it traces itself.
record_tracing_server() # NAME
{
	start_background $GOTRACE record -p "$PID" -o "$tmp/server.trace" --stats "$tmp/server.json" $RECORD
	recorder_is_live || return 1
	measure_use
	kill -40 "$PID"
	sleep "$SERVER_SECONDS"
	kill -41 "$PID"
	wait_until 20 server_wrote_trace
	measure_use "$1"
	sleep 0.1
	stop_recorder || return 1
	[ -e "$tmp/own.trace.done" ] || { tail -n 5 "$tmp/server.out"; return 1; }
	kill -0 "$LOAD_PID" || { cat "$tmp/load.err"; return 1; }
	[ "$(stat_of lost "$tmp/server.json")" = 0 ] || { echo "records were lost"; return 1; }
}

compared_server() # VERSION NAME N
{
	local name=$1.$2.$3 status=0

	PORT=$(free_port)
	build_server "${ORACLE_GO#go}" ./load || return 1
	LOADER=$SERVER
	build_traced_server "$1" "$2" || return 1
	rm -f "$tmp/own.trace" "$tmp/own.trace.done"
	GOTRACE_SELFTRACE=$tmp/own.trace "$SERVER" "${COMMAND[@]}" >"$tmp/server.out" 2>&1 &
	PID=$!
	background+=("$PID")
	wait_until 20 is_listening "$PORT" || { tail -n 5 "$tmp/server.out"; return 1; }
	"$LOADER" $LOAD >"$tmp/load.out" 2>"$tmp/load.err" &
	LOAD_PID=$!
	background+=("$LOAD_PID")
	record_tracing_server "$name" || status=1
	stop_server
	[ $status -eq 0 ] || return 1
	build/gotrace check "$tmp/server.trace" >/dev/null && compare_run "$name" "$tmp/own.trace" "$tmp/server.trace"
}

compared_truth() # VERSION N: known counts, with tracing off
{
	build_programs "$1" plain selftrace truth || return 1
	record_target truth "$PROGRAMS" "" || return 1
	build/reference/truth "$RECORDED" "$tmp/truth.done" >"$REPORTS/$1.truth.$2.txt"
}
