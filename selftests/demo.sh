#!/bin/bash
# `make demo`, after the build: starts a Go server of this project with its own load, records it for
# three seconds, validates the file with Go's own reader, and shows the results and the overhead.
# Where kernel events are unavailable, the latency table has Go states only.
. "$(dirname "$0")/lib.sh"
server=build/targets/$ORACLE_GO/server
folder=build/demo
trace=$folder/demo.trace
stats=$folder/stats.json

die()
{
	echo "demo: $*" >&2
	exit 1
}

newest_format() # the newest one that the Go on PATH supports
{
	local version

	version=$("${GO:-go}" env GOVERSION | sed 's/^go//; s/ .*//')
	for format in 1.25 1.23; do
		if printf '%s\n' "$format" "$version" | sort -C -V; then
			echo $format
			return
		fi
	done
	echo 1.22
}

stop_server()
{
	[ -z "${server_pid-}" ] && return
	kill "$server_pid" 2>/dev/null
	wait "$server_pid" 2>/dev/null
}

mkdir -p $folder && rm -f $trace $stats || exit 1
trap stop_server EXIT
trap 'exit 130' INT TERM HUP

# It exits by itself, even if this script cannot stop it.
$server -duration 60s >$folder/server.out 2>$folder/server.err </dev/null &
server_pid=$!
server_answered() { grep -q . $folder/server.out || ! kill -0 "$server_pid"; }
wait_until 20 server_answered && kill -0 "$server_pid" || {
	cat $folder/server.err >&2
	die "cannot start the server $server"
}
echo
echo "A Go server ($ORACLE_GO, process $server_pid) is running: $(head -n 1 $folder/server.out)"

format=$(newest_format)
command=("$GOTRACE" record -p "$server_pid" -d 3s -o "$trace"
	--format-version "$format" --stats "$stats")
echo "\$ ${command[*]}"
"${command[@]}" || die "gotrace-bpf record failed"
kill -0 "$server_pid" 2>/dev/null || die "the server exited during the recording"

echo
echo "Validation by Go's own reader:"
build/reference/validate $trace || die "$trace: the trace is invalid"
echo
build/reference/summary $trace || die "$trace: Go's summary failed"
echo
echo "Goroutine time by CPU state (gotrace latency):"
build/gotrace latency $trace >$folder/latency || die "gotrace latency failed"
sed -n 1,9p $folder/latency
echo
jq -r '
	def total: if type == "number" then . else [.[]? | total] | add // 0 end;
	def share(a; b): if b > 0 then 1000 * a / b | round / 10 else 0 end;
	"events       \(.events) in \(.generations) generations, from \(.records) records; \(.bytes) bytes",
	"lost         \(.lost | total)",
	"attaching    \(.attach_ms) ms",
	"probe hits   \(.probe_hits | total)",
	"recorder     \(.daemon_cpu_ns / 1e6 | round) ms of CPU time (\(share(.daemon_cpu_ns; 3e9)) % of a CPU), \(.peak_memory_bytes / 1048576 | round) MiB peak memory"
' $stats || die "$stats: invalid statistics"
echo
echo "To open the trace: go tool trace $trace"
