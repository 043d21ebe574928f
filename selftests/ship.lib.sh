# Servers for `gotrace ship`, and a spool with made files; read after lib.sh and servers.lib.sh.

export AWS_ACCESS_KEY_ID=tester AWS_SECRET_ACCESS_KEY=the/secret+of=tests AWS_REGION=us-east-1
unset AWS_SESSION_TOKEN AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3
S3=build/reference/s3

# PORT COMMAND...: starts a server in the background, and waits until it listens. Sets SERVER_PID.
serve_on()
{
	local port=$1
	shift
	"$@" >>"$tmp/server.out" 2>&1 </dev/null &
	SERVER_PID=$!
	background+=("$SERVER_PID")
	wait_until 30 is_listening "$port"
}

# A proxy that makes faults, in front of the server at $PORT. Sets PROXY, its port.
start_proxy() # OPTION...
{
	# shellcheck disable=SC2153 # PORT: the script
	PROXY=$((PORT + 1))
	serve_on "$PROXY" $S3 proxy -listen "127.0.0.1:$PROXY" -to "http://127.0.0.1:$PORT" "$@" "$tmp/faults" ||
		return 1
	PROXY_PID=$SERVER_PID
}

end_server() # PID
{
	kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
	return 0
}

# DIR FILES BYTES [HOST]: traces of two programs on a host, of different sizes up to BYTES, one of them empty
make_spool()
{
	local i name
	mkdir -m 700 "$1"
	for ((i = 0; i < $2; i++)); do
		printf -v name '%s-app%d-%d-20261127T%02d%02d%02d.%03dZ.trace' "${4-web1}" $((i % 2)) $((100 + i % 2)) \
			$((i / 3600 % 24)) $((i / 60 % 60)) $((i % 60)) 0
		head -c $((i * i * 7919 % $3)) /dev/urandom >"$1/$name"
	done
}

# DIR PREFIX: what a server must have, "SHA256 KEY" of each file in DIR
expected()
{
	(cd "$1" && sha256sum -- *.trace) | while read -r sum name; do
		IFS=- read -r host service _ start _ <<<"$name"
		echo "$sum $2/date=${start:0:4}-${start:4:2}-${start:6:2}/hour=${start:9:2}/host=$host/service=$service/$name"
	done | sort -k 2
}

ship() # DIR PORT OPTION...
{
	timeout 200 build/gotrace ship "$1" --to s3://traces/fleet/a --endpoint "http://127.0.0.1:$2" --timeout 1s "${@:3}"
}

stored() { $S3 list -at "http://127.0.0.1:$PORT" -bucket traces; }
has_all() { stored | grep " ${2-fleet}/" | diff "$1" -; } # FILE [PREFIX]: of expected()
puts_that_stored() { awk '$2 == "PUT" && $4 == 200 { print $3 }' "$tmp/faults" | sort; } # the keys
each_was_stored_once() { [ -z "$(puts_that_stored | uniq -d)" ]; }
