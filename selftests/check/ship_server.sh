#!/bin/bash
# Sends 1,000 traces with `gotrace ship` to a real S3-compatible server (VersityGW), through a proxy that
# makes faults, while the server is killed and started again; and the spool of a recorder whose server
# cannot be reached for a while. The server's own listing and bytes are compared with the files.
# tier: long
# timeout: 1200
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh
. selftests/servers.lib.sh
. selftests/field.lib.sh
. selftests/ship.lib.sh

builds()
{
	build_field versitygw 1.26.8 github.com/versity/versitygw/cmd/versitygw && VERSITYGW=$SERVER &&
		mkdir -p "$tmp/buckets/traces" && PORT=$(free_port) && start_server
}

start_server()
{
	ROOT_ACCESS_KEY=$AWS_ACCESS_KEY_ID ROOT_SECRET_KEY=$AWS_SECRET_ACCESS_KEY \
		serve_on "$PORT" "$VERSITYGW" --quiet --port "127.0.0.1:$PORT" posix "$tmp/buckets" && GATEWAY_PID=$SERVER_PID
}

# Two restarts, with a pause in which nothing listens, and the end of a process that sends
restarts()
{
	local i
	for i in 1 2; do
		wait_until 60 eval "[ \$(wc -l <'$tmp/faults') -ge $((300 * i)) ]" || return 1
		end_server "$GATEWAY_PID"
		sleep 1
		start_server || return 1
	done
}

survives()
{
	expected "$tmp/spool" fleet/a >"$tmp/want" || return 1
	start_proxy -rate 0.05 || return 1
	ship "$tmp/spool" "$PROXY" --concurrency 8 >"$tmp/out" 2>&1 &
	SHIP=$!
	background+=("$SHIP")
	restarts && wait "$SHIP" || { tail "$tmp/out"; return 1; }
	end_server "$PROXY_PID"
	tail -n 1 "$tmp/out"
	awk '{ print $1, $2, $4 }' "$tmp/faults" | sort | uniq -c
	grep -q '^1000 files sent' "$tmp/out" && has_all "$tmp/want" && each_was_stored_once
}

denied() # VARIABLE=VALUE REASON
{
	! env "$1" build/gotrace ship "$tmp/spool" --to s3://traces/fleet/b --journal "$tmp/denied.journal" \
		--endpoint "http://127.0.0.1:$PORT" >"$tmp/out" 2>&1 && grep -q "$2" "$tmp/out"
}

checks_keys()
{
	make_spool "$tmp/spool" 1000 300000 && denied AWS_SECRET_ACCESS_KEY=wrong SignatureDoesNotMatch && denied AWS_ACCESS_KEY_ID=other 'access key ID' &&
		! stored | grep -q ' fleet/b/'
}

spool_size() { find "$DIR" -name '*.trace' -printf '%s\n' 2>/dev/null | awk '{ n += $1 } END { printf "%d", n }'; }

# The server is away for a part of the recording: the recorder removes the oldest files, which are counted.
keeps_the_limit()
{
	local most=0 now lost sent all
	DIR=$tmp/limited
	start_target pingpong "$ORACLE_GO" -duration 16s -rate 10000 || return 1
	start_background $GOTRACE record -p "$TARGET_PID" -o "$DIR" --rotate 1s --keep 4M
	recorder_is_live || return 1
	RECORDER=$BACKGROUND_PID
	end_server "$GATEWAY_PID"
	build/gotrace ship "$DIR" --to s3://traces/limited --endpoint "http://127.0.0.1:$PORT" --follow --delete \
		>"$tmp/follow.out" 2>&1 </dev/null &
	SHIP=$!
	background+=("$SHIP")
	tell_target start
	while ! grep -q '^done' "$TARGET_OUT"; do
		now=$(spool_size)
		[ "$now" -le "$most" ] || most=$now
		find "$DIR" -name '*.trace' -printf '%f\n' >>"$tmp/seen" 2>/dev/null # each is there for seconds, or is stored
		sleep 0.2
	done
	start_server && kill -INT "$RECORDER" && wait "$RECORDER" && stop_target || return 1
	wait_until 60 eval '[ "$(spool_size)" -eq 0 ]' && sleep 1.5 && kill -TERM "$SHIP" && wait "$SHIP"
	cat "$tmp/follow.out"
	stored | sed -n 's, limited/.*/, ,p' | cut -d ' ' -f 2 >"$tmp/names"
	sent=$(wc -l <"$tmp/names")
	all=$(sort -u "$tmp/seen" "$tmp/names" | wc -l)
	lost=$(sed -n 's/.* \([0-9]*\) removed before they were sent.*/\1/p' "$tmp/follow.out")
	echo "at most $most bytes; $sent stored, $lost lost, $all were seen"
	[ "$most" -le $(((4 << 20) + 512 * 1024)) ] && [ "$sent" -gt 0 ] && [ "$lost" -gt 0 ] &&
		grep -q "^$sent files sent" "$tmp/follow.out" &&
		[ $((sent + lost)) -eq "$all" ]
}

ktap_start
try "the server builds and starts" builds
try "wrong keys are refused by the server" checks_keys
try "1,000 files arrive once, bit for bit, despite faults and restarts" survives
try "the spool keeps its limit while the server is away" keeps_the_limit
ktap_end
