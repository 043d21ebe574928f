# Real servers of the Go module proxy: etcd, and Caddy as a proxy of its own. Read after lib.sh.
# Each calls field() of the script, with the name, the URL of the server's own trace, and its
# command.

. selftests/servers.lib.sh

at=127.0.0.1 READY='' # READY: an address that answers when the server is ready
LOAD=()			# arguments of the load

# NAME VERSION [PACKAGE]: sets SERVER to the program of selftests/servers/field/NAME, built with
# that Go release
build_field()
{
	local name=$1 version=$2 package=${3:-.} key folder

	key=$({
		echo "$version $package"
		cat selftests/servers/field/"$name"/*
	} | sha256sum)
	folder=$PROGRAM_CACHE/field-${key:0:16}
	SERVER=$folder/$name
	[ ! -x "$SERVER" ] || return 0
	mkdir -p "$folder" && (cd selftests/servers/field/"$name" && CGO_ENABLED=0 GOFLAGS=-mod=readonly \
		GOTOOLCHAIN=go$version nice -n 10 "${GO:-go}" build -p 2 -buildvcs=false -o "$SERVER.new" "$package") &&
		mv "$SERVER.new" "$SERVER"
}

etcd()
{
	PORT=$(free_port)
	LOAD=(http "$at:$PORT" '/v3/kv/put {"key":"Zm9v","value":"YmFy"}'
		'/v3/kv/range {"key":"Zm9v"}' /version)
	try "etcd builds" build_field etcd 1.24.13 go.etcd.io/etcd/server/v3 &&
		field etcd "http://$at:$PORT/debug/pprof/trace" "$SERVER" --data-dir "$tmp/etcd" --enable-pprof \
			--log-level error --listen-client-urls "http://$at:$PORT" \
			--advertise-client-urls "http://$at:$PORT" --listen-peer-urls "http://$at:$((PORT + 1))"
}

caddy()
{
	PORT=$(free_port)
	LOAD=(http "$at:$PORT" / /a /b)
	jq -n --arg at "$at" --argjson port "$PORT" '{
		admin: {listen: "\($at):\($port + 2)", config: {persist: false}},
		apps: {http: {servers: {
			front: {listen: ["\($at):\($port)"], automatic_https: {disable: true}, routes: [{handle:
				[{handler: "reverse_proxy", upstreams: [{dial: "\($at):\($port + 1)"}]}]}]},
			back: {listen: ["\($at):\($port + 1)"], automatic_https: {disable: true}, routes: [{handle:
				[{handler: "static_response", body: "hello", status_code: 200}]}]}}}}}' >"$tmp/caddy.json"
	try "caddy builds" build_field caddy 1.26.11 &&
		field caddy "http://$at:$((PORT + 2))/debug/pprof/trace" env HOME="$PWD/$tmp" "$SERVER" run \
			--config "$tmp/caddy.json"
}
