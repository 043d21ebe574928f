#!/bin/bash
# tier: all
# parallel
# long: 1800
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/servers
# Requests of grpc-go servers and clients (record --requests grpc, grpc-client): each method has as many
# calls of each outcome as the program itself has counted, in the newest version of the module and the
# oldest one with these structs, with DWARF and without; check-long has those in between, too.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/programs.lib.sh
. selftests/field.lib.sh
. selftests/requests.lib.sh

MODULES=$(by_tier v1.65.mod v1.65.mod "v1.65.mod v1.68.mod v1.76.mod")

# MODULES [strip]: copies the program, built with the modules of that file, to $tmp
build_grpc()
{
	build_field grpc "${ORACLE_GO#go}" "-modfile=$1" && cp "$SERVER" "$tmp/grpc" || return 1
	[ -z "${2-}" ] || strip "$tmp/grpc"
}

clients()
{
	build_grpc go.mod && counted grpc "$PWD/$tmp" "--requests grpc-client" && no_secret "$RECORDED"
}

# OPTIONS: the calls by the code that the clients received
served()
{
	record_target grpc "$PWD/$tmp" "--requests grpc $1" && check_trace "$RECORDED" || return 1
	jq '.requests = .served' "$tmp/grpc.done" >"$tmp/served.done"
	requests_equal "$RECORDED" "$tmp/served.done" && nothing_lost "$tmp/grpc.json" && no_secret "$RECORDED"
}

servers() # MODULES OPTIONS [strip]
{
	build_grpc "$1" "${3-}" && served "$2"
}

# gotrace requests: all codes but 0 are errors
errors()
{
	build/gotrace requests --json "$RECORDED" | jq '[.requests[] | {(.name): [.count, .errors]}] | add' >"$tmp/errors"
	jq '.served | map_values([add, (to_entries | map(select(.key != "0").value) | add // 0)])' "$tmp/grpc.done" |
		jq -e --slurpfile found "$tmp/errors" '. == $found[0]' >"$tmp/equal" && return
	jq -c . "$tmp/errors"
	return 1
}

detects_missing()
{
	jq '.requests["/test.Streams/Large"]["8"] -= 1' "$tmp/served.done" >"$tmp/wrong"
	! requests_equal "$RECORDED" "$tmp/wrong" >/dev/null
}

# REASON SCRIPT: a stripped program with another list of modules in its build information, of which sed's
# SCRIPT keeps the length. Without a known version the offsets of structs are not known.
refused_version()
{
	build_grpc go.mod strip && sed -i "$2" "$tmp/grpc" && start_target grpc "$PWD/$tmp" || return 1
	refused 1 "$1" $GOTRACE record -p "$TARGET_PID" -o "$tmp/no.trace" --requests grpc
	local status=$?
	kill "$TARGET_PID" && wait "$TARGET_PID"
	[ $status -eq 0 ] && [ ! -e "$tmp/no.trace" ]
}

ktap_start
try "clients" clients
try "servers" servers go.mod ""
try "servers: errors" errors
try "servers: a difference is detected" detects_missing
try "servers with perf uprobes" served --force-perf-uprobes
try "servers, stripped" servers go.mod "" strip
for modules in $MODULES; do
	try "servers, $modules" servers $modules ""
	try "servers, $modules, stripped" servers $modules "" strip
done
try "no version" refused_version "its build information has no version of google.golang.org/grpc" \
	's,\tgoogle.golang.org/grpc\t,\tgoogle.golang.org/grpd\t,'
try "a later version" refused_version "google.golang.org/grpc v1.95.0 is not supported, only v1.37 to v1.85" \
	's,\tgoogle.golang.org/grpc\tv1.85,\tgoogle.golang.org/grpc\tv1.95,'
try "a later version of the status" refused_version "is later than those whose structs were examined" \
	's,googleapis/rpc\tv0.0.0-2026,googleapis/rpc\tv0.0.0-2096,'
ktap_end
