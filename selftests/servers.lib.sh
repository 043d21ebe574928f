# Third-party servers: three from the Go module proxy, built as their projects build them, each with
# another Go release, and two of Debian's packages (Go 1.19 in Debian 12; stripped). Read after
# lib.sh. Except in check-long the largest one, which Debian has too, is left out, and the others are built
# with a release and a mode for which other tests have compiled net/http already.
#
# Each is recorded under load. The names of its goroutines are compared with the server's own
# output: SIGQUIT makes any Go program print the stacks of all its goroutines and exit; each
# goroutine that is also in the trace must have the same start function.
#
# A package is only unpacked: installing it would start its service.

. selftests/record.lib.sh
. selftests/programs.lib.sh

LOAD_SECONDS=${LOAD_SECONDS:-$(by_tier 2 2 15)}
all_servers=$(by_tier "" "" yes)
PID='' LOAD_PID='' BACKGROUND_PID='' # processes that stop_server ends

# VERSION PACKAGE OPTION...: sets SERVER to a program of the module selftests/servers
build_server()
{
	local version=$1 package=$2 key folder
	shift 2

	key=$({
		echo "$version $package $*"
		cat selftests/servers/go.mod selftests/servers/go.sum
		[ "$package" != ./load ] || cat selftests/servers/load/*
	} | sha256sum)
	folder=$PROGRAM_CACHE/server-${key:0:16}
	SERVER=$folder/$(basename "$package")
	[ ! -x "$SERVER" ] || return 0
	mkdir -p "$folder" && (cd selftests/servers && CGO_ENABLED=0 GOFLAGS=-mod=readonly \
		GOTOOLCHAIN=go$version "${GO:-go}" build -buildvcs=false -o "$SERVER.new" "$@" "$package") &&
		mv "$SERVER.new" "$SERVER"
}

# PACKAGE PROGRAM: sets SERVER to a program of a Debian package, of the version that was first
# downloaded
unpack_server()
{
	local folder

	for SERVER in "$PROGRAM_CACHE/$1"_*/"$2"; do
		[ ! -x "$SERVER" ] || return 0
	done
	folder=$(mktemp -d "$PROGRAM_CACHE/unpacking.XXXXXX") && chmod 755 "$folder" || return 1
	(cd "$folder" && { apt-get -q download "$1" ||
		{ apt-get -q update && apt-get -q download "$1"; }; } && dpkg-deb -x ./*.deb .) || return 1
	SERVER=$(basename "$folder"/*.deb .deb)
	mv -T "$folder" "$PROGRAM_CACHE/$SERVER"
	SERVER=$PROGRAM_CACHE/$SERVER/$2
	[ -x "$SERVER" ]
}

# An unused loopback port, followed by two more.
free_port()
{
	local port

	while port=$((10000 + RANDOM % 20000)); do
		ss -Hltn "sport >= :$port and sport <= :$((port + 2))" | grep -q . || break
	done
	echo $port
}

is_listening() # PORT
{
	: <"/dev/tcp/127.0.0.1/$1"
}

# LOAD ARGUMENTS: records $SERVER, which listens on $PORT and whose PID is $PID, under load
record_under_load()
{
	local status

	build_server "${ORACLE_GO#go}" ./load || return 1
	"$LOADER" "$@" >"$tmp/load.out" 2>"$tmp/load.err" &
	LOAD_PID=$!
	background+=("$LOAD_PID")
	start_background $GOTRACE record -p "$PID" -o "$tmp/server.trace" --stats "$tmp/server.json"
	recorder_is_live || return 1
	sleep "$LOAD_SECONDS"
	stop_recorder || return 1
	kill -0 "$LOAD_PID" || { cat "$tmp/load.err"; return 1; }
}

# All goroutines of the server's final dump: "ID FUNCTION CALLED", its start function and the
# function that this called. A dump may or may not show the runtime's own frames.
began_with() # FILE
{
	awk '
		function finish() { if (id && last) print id, last, called ? called : "-"; id = last = called = "" }
		/^goroutine [0-9]+ .*:$/ { finish(); id = $2; next }
		/^created by / || /^$/ { finish(); next }
		id && /\)$/ && !/^\t/ {
			name = $0
			sub(/\([^()]*\)$/, "", name)
			if (name == "runtime.goexit" || name == "runtime.main") next
			if (name == "runtime.mcall") { id = ""; next }
			called = last
			last = name
		}
		END { finish() }' "$1"
}

# The same for those in the trace; runtime.main calls main.main.
named_in() # TRACE
{
	build/gotrace goroutines --all --json "$1" |
		jq -r '.goroutines[] | "\(.id) \(.name)"' | sed 's/ runtime\.main$/ main.main/'
}

names_agree() # TRACE DUMP LEAST: at least LEAST goroutines are in both, with the same names
{
	named_in "$1" | LC_ALL=C sort >"$tmp/named"
	began_with "$2" | LC_ALL=C sort >"$tmp/began"
	LC_ALL=C join "$tmp/named" "$tmp/began" >"$tmp/both"
	# the wrapper of a go statement with arguments, or of a method value, has the name of its callee
	awk '$2 != $3 && !($2 == $4 && $3 ~ /((gowrap|dwrap|func)[^.]*[0-9]|-fm)$/) {
			print "goroutine " $1 " is named " $2 ", but began with " $3
			bad = 1
		}
		END { exit bad }' "$tmp/both" || return 1
	[ "$(wc -l <"$tmp/both")" -ge "$3" ] || {
		echo "only $(wc -l <"$tmp/both") of $(wc -l <"$tmp/began") goroutines are in the trace"
		return 1
	}
}

# LEAST FUNCTION "LOAD ARGUMENTS" COMMAND...: starts a server, records it, checks the trace; LEAST
# goroutines at its end must have names, and some of the trace start with FUNCTION
check_server()
{
	local least=$1 function=$2 load=$3 n
	shift 3

	GOTRACEBACK=all "$@" >"$tmp/server.out" 2>&1 &
	PID=$!
	background+=("$PID")
	wait_until 20 is_listening "$PORT" || { tail -n 5 "$tmp/server.out"; return 1; }
	record_under_load $load || return 1
	kill -QUIT "$PID"
	wait "$PID" 2>/dev/null
	wait "$LOAD_PID" 2>/dev/null
	check_trace "$tmp/server.trace" || return 1
	[ "$(stat_of lost "$tmp/server.json")" = 0 ] || { echo "records were lost"; return 1; }
	n=$(cat "$tmp/load.out")
	[ "${n:-0}" -ge $((10 * LOAD_SECONDS)) ] || { echo "only ${n:-0} requests"; return 1; }
	names_agree "$tmp/server.trace" "$tmp/server.out" "$least" || return 1
	grep -qF " $function" "$tmp/named" || { echo "no goroutine started with $function"; return 1; }
	SUMMARY="$n requests, $(wc -l <"$tmp/named") goroutines, $(wc -l <"$tmp/both") names compared"
}

stop_server() # in any state
{
	kill -KILL "$PID" "$LOAD_PID" "$BACKGROUND_PID" 2>/dev/null
	wait "$PID" "$LOAD_PID" "$BACKGROUND_PID" 2>/dev/null
}

server() # NAME ARGUMENTS OF check_server
{
	local name=$1
	shift

	if try "$name under load: its goroutines have the correct names" check_server "$@"; then
		note "$SUMMARY"
	else
		stop_server
	fi
}

all_servers()
{
	local nats=github.com/nats-io/nats-server/v2/server httpbin_go=${ORACLE_GO#go} pie=()

	[ -z "$all_servers" ] || { httpbin_go=1.25.14; pie=(-buildmode=pie); }
	try "the load builds" build_server "${ORACLE_GO#go}" ./load || return
	LOADER=$SERVER
	PORT=$(free_port)
	[ -n "$all_servers" ] && try "nats-server builds" build_server 1.26.11 github.com/nats-io/nats-server/v2 -trimpath "-ldflags=-s -w" &&
		server "nats-server (Go 1.26, stripped)" 10 "$nats.(*Server).startGoRoutine.func1" "nats 127.0.0.1:$PORT" \
			"$SERVER" -a 127.0.0.1 -p "$PORT"
	PORT=$(free_port)
	try "go-httpbin builds" build_server "$httpbin_go" github.com/mccutchen/go-httpbin/v2/cmd/go-httpbin &&
		server "go-httpbin (Go $httpbin_go)" 5 "net/http.(*conn).serve" \
			"http 127.0.0.1:$PORT /get /uuid /bytes/4096 /gzip /base64/aGVsbG8=" \
			"$SERVER" -host 127.0.0.1 -port "$PORT"
	PORT=$(free_port)
	try "mochi-mqtt builds" build_server 1.24.9 github.com/mochi-mqtt/server/v2/cmd "${pie[@]}" "-ldflags=-s -w" &&
		server "mochi-mqtt (Go 1.24, stripped${pie:+ PIE})" 10 "github.com/mochi-mqtt/server/v2.(*Client).WriteLoop" \
			"mqtt 127.0.0.1:$PORT" "$SERVER" -tcp "127.0.0.1:$PORT" \
			-ws "127.0.0.1:$((PORT + 1))" -info "127.0.0.1:$((PORT + 2))"
	PORT=$(free_port)
	try "Debian's nats-server is unpacked" unpack_server nats-server usr/sbin/nats-server &&
		server "Debian's nats-server" 10 "github.com/nats-io/nats-server/server.(*Server)." "nats 127.0.0.1:$PORT" \
			"$SERVER" -a 127.0.0.1 -p "$PORT"
	PORT=$(free_port)
	try "Debian's prometheus-node-exporter is unpacked" \
			unpack_server prometheus-node-exporter usr/bin/prometheus-node-exporter &&
		server "Debian's prometheus-node-exporter" 5 "net/http.(*conn).serve" \
			"-connections 2 http 127.0.0.1:$PORT / / / /metrics" "$SERVER" \
			--web.listen-address="127.0.0.1:$PORT" --log.level=error
}
