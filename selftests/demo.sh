#!/bin/bash
# `make demo`, after the building: starts our Go server with its own load, records it from outside for
# three seconds, has Go's own reader judge the file, and shows what came out and what it cost. Where the
# kernel's side cannot be recorded, the table of the machine has Go's alone.
. "$(dirname "$0")/lib.sh"
server=build/targets/$JUDGE_GO/server
folder=build/demo
trace=$folder/demo.trace
stats=$folder/stats.json

die()
{
	echo "demo: $*" >&2
	exit 1
}

newest_format() # that the Go on PATH opens
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

# It stops by itself, even if this script cannot stop it.
$server -duration 60s >$folder/server.out 2>$folder/server.err </dev/null &
server_pid=$!
server_answered() { grep -q . $folder/server.out || ! kill -0 "$server_pid"; }
wait_until 20 server_answered && kill -0 "$server_pid" || {
	cat $folder/server.err >&2
	die "the server did not start"
}
echo
echo "A Go server ($JUDGE_GO, process $server_pid) is busy: $(head -n 1 $folder/server.out)"

format=$(newest_format)
command=("$GOTRACE" record -p "$server_pid" -d 3s -o "$trace"
	--format-version "$format" --stats "$stats")
echo "\$ ${command[*]}"
"${command[@]}" || die "gotrace-bpf failed"
kill -0 "$server_pid" 2>/dev/null || die "the server did not outlive the recording"

echo
echo "Go's own reader:"
build/reference/validate $trace || die "the trace is not valid"
echo
build/reference/summary $trace || die "no summary"
echo
echo "And on the machine, by the kernel (gotrace latency):"
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
	"daemon       \(.daemon_cpu_ns / 1e6 | round) ms of CPU (\(share(.daemon_cpu_ns; 3e9)) % of a core), \(.peak_memory_bytes / 1048576 | round) MiB at most"
' $stats || die "no statistics"
echo
echo "Open it:     go tool trace $trace"
