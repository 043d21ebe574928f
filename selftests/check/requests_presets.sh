#!/bin/bash
# tier: all
# parallel
# long: 1800
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/servers
# Requests of libraries other than net/http servers (record --requests): each name has as many requests
# and errors as the program itself has counted, and the trace has no literal of a statement. Of stripped
# programs, for which the offsets of structs are in a table, the oldest and the newest release is here,
# and check-long has all.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/programs.lib.sh
. selftests/releases.lib.sh
. selftests/field.lib.sh
. selftests/requests.lib.sh

supported=$(last_gos_since 20)
RELEASES="$(by_tier "${supported%% *}" "${supported%% *}" "$supported") ${LAST_GOS##* }" # with the newest, whose libraries are known, too

sql()
{
	counted statements "$1" "--requests sql $2" && no_secret "$RECORDED"
}

# The programs are kept for the next time.
sql_release()
{
	build_programs "$1" stripped statements && counted statements "$PROGRAMS" "--requests sql" &&
		no_secret "$RECORDED"
}

outgoing()
{
	counted outgoing "$1" "--requests http-client,dns $2" && no_secret "$RECORDED"
}

outgoing_release()
{
	build_programs "$1" stripped outgoing && counted outgoing "$PROGRAMS" "--requests http-client,dns" &&
		no_secret "$RECORDED"
}

# All kinds of requests that the program has: its server and client are one program.
all_kinds()
{
	record_target outgoing "$ORACLE_GO" "--requests all" || return 1
	local server client

	jq '[.requests | to_entries[] | select(.key | test("^[A-Z]+ ")) | .value | to_entries[] |
		select(.key != "error") | .value] | add' "$tmp/outgoing.done" >"$tmp/client"
	build/gotrace tasks --json "$RECORDED" >"$tmp/names"
	server=$(jq '[.tasks[] | select(.name | test("^[A-Z]+ /") and . != "GET /abort") | .count] | add' "$tmp/names")
	client=$(cat "$tmp/client")
	echo "$server requests of the server, $client of the client"
	[ "$server" = "$client" ]
}

# What would be found without one kind of call: the comparison fails.
detects_missing()
{
	record_target statements "$ORACLE_GO" "--requests sql" || return 1
	jq '.requests["DELETE FROM db"].error -= 1' "$tmp/statements.done" >"$tmp/wrong"
	! requests_equal "$RECORDED" "$tmp/wrong" >/dev/null
}

sqlite()
{
	build_field sqlite "${ORACLE_GO#go}" || return 1
	# shellcheck disable=SC2153
	cp "$SERVER" "$tmp/sqlite"
	counted sqlite "$PWD/$tmp" "--requests sql" && no_secret "$RECORDED"
}

# Names beyond the limit are "other".
limited()
{
	record_target statements "$ORACLE_GO" "--requests sql --max-names 10" -names 1000 || return 1
	build/gotrace tasks --json "$RECORDED" | jq -e '[.tasks[].name] | length == 11 and any(. == "other")' &&
		build/gotrace tasks --json "$RECORDED" | jq -e '[.tasks[].count] | add == 1000'
}

# REASON TARGET OPTIONS
not_recorded()
{
	start_target "$2" "$ORACLE_GO" || return 1
	refused 1 "$1" $GOTRACE record -p "$TARGET_PID" -o "$tmp/no.trace" $3
	local status=$?
	kill "$TARGET_PID"
	[ $status -eq 0 ] && [ ! -e "$tmp/no.trace" ]
}

ktap_start
for go in $TARGET_GOS; do
	try "sql, $go" sql "$go" ""
done
for go in $RELEASES; do
	try "sql, $go, stripped" sql_release "$go"
done
try "sql with perf uprobes" sql "$ORACLE_GO" --force-perf-uprobes
try "sql: a difference is detected" detects_missing
try "sql: modernc.org/sqlite" sqlite
try "sql: too many names" limited
for go in $TARGET_GOS; do
	try "clients, $go" outgoing "$go" ""
done
for go in $RELEASES; do
	try "clients, $go, stripped" outgoing_release "$go"
done
try "clients with perf uprobes" outgoing "$ORACLE_GO" --force-perf-uprobes
try "all kinds" all_kinds
try "a program without the library" not_recorded "sql cannot record this program: the program has no call of database/sql" \
	pingpong "--requests sql"
ktap_end
