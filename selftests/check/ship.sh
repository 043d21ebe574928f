#!/bin/bash
# Sends traces with `gotrace ship` to a server that checks each signature, checksum and condition by an
# implementation of its own (selftests/reference/cmd/s3), directly and through a proxy that makes faults.
# What the server then has is compared with the files. ship_server.sh uses a real server.
# parallel
# timeout: 600
# depends on: Makefile include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh
. selftests/servers.lib.sh
. selftests/ship.lib.sh

start_server()
{
	PORT=$(free_port)
	mkdir -p "$tmp/buckets/traces"
	serve_on "$PORT" $S3 serve -listen "127.0.0.1:$PORT" "$tmp/buckets"
}

# The summary has the numbers of files and bytes of the spool.
sends_all()
{
	make_spool "$tmp/first" 40 3000000 && expected "$tmp/first" fleet/a >"$tmp/first.want" || return 1
	echo "no trace" >"$tmp/first/web1-app0-1-20261127T000000.000Z.trace.partial"
	echo "no trace" >"$tmp/first/other.trace"
	ship "$tmp/first" "$PORT" >"$tmp/out" 2>"$tmp/err" || { cat "$tmp/out" "$tmp/err"; return 1; }
	rm "$tmp/first/other.trace"
	grep -q ' 1 files are not sent' "$tmp/err" && has_all "$tmp/first.want" &&
		grep -qx "40 files sent, $(cat "$tmp"/first/*.trace | wc -c) bytes; 0 waiting, .* 0 failures" "$tmp/out"
}

sends_none_again()
{
	ship "$tmp/first" "$PORT" | grep -q '^0 files sent' && [ "$(stat -c %a "$tmp/first/ship.journal")" = 600 ] &&
		[ "$(wc -l <"$tmp/first/ship.journal")" -eq 41 ]
}

# Without the journal, and with half of its last line, the server is asked: it has them.
finds_what_is_there()
{
	truncate -s -50 "$tmp/first/ship.journal"
	ship "$tmp/first" "$PORT" | grep -q '^1 files sent' || return 1
	rm "$tmp/first/ship.journal"
	ship "$tmp/first" "$PORT" | grep -q '^40 files sent' && has_all "$tmp/first.want"
}

never_replaces()
{
	local name=web1-app0-100-20261127T000010.000Z.trace
	echo more >>"$tmp/first/$name"
	! ship "$tmp/first" "$PORT" --delete >"$tmp/out" 2>&1 && grep -q 'the server has an object with this key' "$tmp/out" &&
		grep -q ' 1 refused' "$tmp/out" && [ -s "$tmp/first/$name" ] && has_all "$tmp/first.want"
}

# A journal of another destination, one that others can write, and one that is in use
respects_the_journal()
{
	! timeout 20 build/gotrace ship "$tmp/first" --to s3://other/x --endpoint "http://127.0.0.1:$PORT" 2>"$tmp/err" &&
		grep -q 'another destination' "$tmp/err" || return 1
	chmod 622 "$tmp/first/ship.journal"
	! ship "$tmp/first" "$PORT" 2>"$tmp/err" && grep -q 'only this user can write' "$tmp/err" || return 1
	chmod 600 "$tmp/first/ship.journal"
	! flock "$tmp/first/ship.journal" build/gotrace ship "$tmp/first" --to s3://traces/fleet/a \
		--endpoint "http://127.0.0.1:$PORT" 2>"$tmp/err" && grep -q "another 'gotrace ship'" "$tmp/err"
}

# A file that is named by mistake stays as it is: one line without an end, and more than a journal has
keeps_other_files()
{
	local file
	printf 'no journal' >"$tmp/mistake.1" && truncate -s 40M "$tmp/mistake.2" || return 1
	for file in "$tmp/mistake.1" "$tmp/mistake.2"; do
		chmod 600 "$file" && sha256sum "$file" >"$tmp/mistake.sum"
		! ship "$tmp/first" "$PORT" --journal "$file" 2>"$tmp/err" && grep -q 'or another file' "$tmp/err" &&
			sha256sum --status -c "$tmp/mistake.sum" || return 1
	done
	head -c 20 "$tmp/first/ship.journal" >"$tmp/begun" && chmod 600 "$tmp/begun"
	ship "$tmp/first" "$PORT" --journal "$tmp/begun" >"$tmp/out" 2>&1
	[ "$(head -n 1 "$tmp/begun")" = "$(head -n 1 "$tmp/first/ship.journal")" ]
}

# VARIABLE=VALUE REASON: nothing is sent
is_denied()
{
	rm -f "$tmp/denied.journal"
	! env "$1" build/gotrace ship "$tmp/denied" --to "s3://${bucket-traces}/denied" --journal "$tmp/denied.journal" --endpoint "http://127.0.0.1:$PORT" \
		>"$tmp/out" 2>&1 && grep -q "$2" "$tmp/out" && ! grep -q 'wrong+secret' "$tmp/out" && ! stored | grep -q denied
}

keys_are_checked()
{
	make_spool "$tmp/denied" 3 1000
	is_denied AWS_SECRET_ACCESS_KEY=wrong+secret SignatureDoesNotMatch && is_denied AWS_ACCESS_KEY_ID=other InvalidAccessKeyId &&
		is_denied AWS_SESSION_TOKEN=other InvalidAccessKeyId && is_denied AWS_SECRET_ACCESS_KEY= 'credentials are missing' &&
		bucket=missing is_denied A=B NoSuchBucket
}

keys_from_a_file()
{
	printf '[other]\naws_access_key_id = x\naws_secret_access_key = y\n[default]\naws_access_key_id = %s\naws_secret_access_key=%s\n' \
		"$AWS_ACCESS_KEY_ID" "$AWS_SECRET_ACCESS_KEY" >"$tmp/keys"
	chmod 644 "$tmp/keys"
	make_spool "$tmp/keyed" 2 1000
	local with=(env -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY build/gotrace ship "$tmp/keyed" --to s3://traces/keyed
		--endpoint "http://127.0.0.1:$PORT" --credentials "$tmp/keys")
	! "${with[@]}" 2>"$tmp/err" && grep -q 'other users may read it' "$tmp/err" || return 1
	chmod 600 "$tmp/keys"
	"${with[@]}" --host node-7 --service shop --delete | grep -q '^2 files sent' &&
		[ "$(stored | grep -c ' keyed/.*/host=node-7/service=shop/')" -eq 2 ] && [ -z "$(find "$tmp/keyed" -name '*.trace')" ]
}

# Each fault often, and the server is killed meanwhile. No file is stored twice, and none is missing.
survives_faults()
{
	make_spool "$tmp/faulty" 60 200000 web2 || return 1
	{ cat "$tmp/first.want"; expected "$tmp/faulty" fleet/a; } | sort -k 2 >"$tmp/faulty.want"
	start_proxy -rate 0.3 && ship "$tmp/faulty" "$PROXY" --concurrency 8 >"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
	end_server "$PROXY_PID"
	tail -n 1 "$tmp/out"
	awk '{ print $1, $2, $4 }' "$tmp/faults" | sort | uniq -c
	grep -q '^60 files sent' "$tmp/out" && has_all "$tmp/faulty.want" && each_was_stored_once &&
		[ "$(puts_that_stored | wc -l)" -eq 60 ] && ! grep -q $'\e' "$tmp/out"
}

# The process is killed at any moment, until one reaches the end. Files are removed as they are confirmed.
survives_kills()
{
	local runs=0 status=137
	make_spool "$tmp/killed" 40 50000 web3
	{ cat "$tmp/faulty.want"; expected "$tmp/killed" fleet/a; } | sort -k 2 >"$tmp/killed.want"
	start_proxy -rate 0.1 -kinds lose-answer,cut-answer,500 || return 1
	for ((; status == 137 && runs < 300; runs++)); do
		build/gotrace ship "$tmp/killed" --to s3://traces/fleet/a --endpoint "http://127.0.0.1:$PROXY" --delete \
			>"$tmp/out" 2>&1 </dev/null &
		sleep "0.$(printf %03d $((20 + RANDOM % 150)))"
		kill -KILL $! 2>/dev/null
		wait $! 2>/dev/null
		status=$?
	done
	end_server "$PROXY_PID"
	echo "$runs runs, all but the last one killed; $(wc -l <"$tmp/faults") requests"
	[ $status -eq 0 ] && [ $runs -gt 1 ] && has_all "$tmp/killed.want" && each_was_stored_once &&
		[ -z "$(find "$tmp/killed" -name '*.trace')" ]
}

is_fatal() # KIND REASON: the proxy always makes this fault; nothing is repeated
{
	start_proxy -kinds "$1"
	! ship "$tmp/denied" "$PROXY" --concurrency 1 >"$tmp/out" 2>&1
	local status=$?
	end_server "$PROXY_PID"
	[ $status -eq 0 ] && grep -q "$2" "$tmp/out" && [ "$(wc -l <"$tmp/faults")" -eq 1 ]
}

# A certificate that nobody signed is accepted only if it is named.
tls_is_verified()
{
	local with=(timeout 20 build/gotrace ship "$tmp/denied" --to s3://traces/tls --journal "$tmp/tls.journal")
	start_proxy -rate 0 -cert "$tmp/cert" || return 1
	! "${with[@]}" --endpoint "https://127.0.0.1:$PROXY" 2>"$tmp/err" && grep -qi certificate "$tmp/err" && [ ! -s "$tmp/faults" ] || return 1
	rm -f "$tmp/tls.journal"
	"${with[@]}" --endpoint "https://127.0.0.1:$PROXY" --ca "$tmp/cert" | grep -q '^3 files sent'
	local status=$?
	end_server "$PROXY_PID"
	return $status
}

# While no answer arrives, too: long before the request is repeated, after 30 s.
ends_at_once()
{
	local started
	start_proxy -kinds stall
	start_background build/gotrace ship "$tmp/denied" --to s3://traces/stalled --endpoint "http://127.0.0.1:$PROXY" \
		--journal "$tmp/stalled.journal" --follow
	wait_until 20 test -s "$tmp/faults" || return 1
	started=${EPOCHREALTIME/./}
	kill -TERM "$BACKGROUND_PID" && wait "$BACKGROUND_PID" || return 1
	echo "after $((${EPOCHREALTIME/./} - started)) us"
	[ $((${EPOCHREALTIME/./} - started)) -lt $((10000000 * stretch)) ] && grep -q ' 3 waiting' "$tmp/background.out"
	local status=$?
	end_server "$PROXY_PID"
	return $status
}

# Too long, endless or slow: the reason says so, and nothing is kept in memory
bounds_answers()
{
	local kind reason

	for kind in 'large-error body exceeds' 'many-headers header exceeds' 'long-header .' 'drip .'; do
		read -r kind reason <<<"$kind"
		start_proxy -kinds "$kind"
		! timeout 60 /usr/bin/time -f %M -o "$tmp/memory" build/gotrace ship "$tmp/denied" --to s3://traces/bounded --journal "$tmp/bounded.journal" \
			--endpoint "http://127.0.0.1:$PROXY" --timeout 1s --give-up 2s >"$tmp/out" 2>&1
		local status=$?
		end_server "$PROXY_PID"
		echo "$kind: $(tail -n 1 "$tmp/memory") KiB; $(head -n 1 "$tmp/out")"
		[ $status -eq 0 ] && grep -q "$reason" "$tmp/out" && [ "$(tail -n 1 "$tmp/memory")" -lt 60000 ] || return 1
	done
}

# A small file that becomes gigabytes when it is read for the metadata
bounds_traces()
{
	mkdir -m 700 "$tmp/bombs" &&
		selftests/fuzz/crafted strings 600000 | gzip -1 >"$tmp/bombs/web1-app-1-20261127T000000.000Z.trace" || return 1
	timeout 100 /usr/bin/time -f %M -o "$tmp/memory" build/gotrace ship "$tmp/bombs" --to s3://traces/bombs \
		--endpoint "http://127.0.0.1:$PORT" >"$tmp/out" 2>&1 && grep -q '^1 files sent' "$tmp/out" || return 1
	echo "$(stat -c %s "$tmp"/bombs/*.trace) bytes: $(tail -n 1 "$tmp/memory") KiB"
	[ "$(tail -n 1 "$tmp/memory")" -le $((256 << 10)) ]
}

# Neither links, nor files of other users, nor a directory that they can write
refuses_planted_files()
{
	make_spool "$tmp/planted" 1 1000 && echo secret >"$tmp/secret" || return 1
	ln -s ../secret "$tmp/planted/web1-app0-1-20261127T100000.000Z.trace"
	mkfifo "$tmp/planted/web1-app0-1-20261127T100001.000Z.trace"
	echo "no trace" >"$tmp/planted/"$'web1-a\npp0-1-20261127T100001.000Z.trace'
	echo "no trace" >"$tmp/planted/"$'web1-a\e[2Jpp0-1-20261127T100001.000Z.trace'
	ship "$tmp/planted" "$PORT" --host planted | grep -q '^1 files sent' && [ "$(stored | grep -c host=planted)" -eq 1 ] || return 1
	cp "$tmp/secret" "$tmp/planted/web1-app0-1-20261127T100002.000Z.trace"
	chown 65534 "$tmp/planted/web1-app0-1-20261127T100002.000Z.trace"
	! ship "$tmp/planted" "$PORT" --host planted >"$tmp/out" 2>&1 && grep -q 'belong to different users' "$tmp/out" || return 1
	chmod 777 "$tmp/planted"
	! ship "$tmp/planted" "$PORT" >"$tmp/out" 2>&1 && grep -q 'other users can put files' "$tmp/out"
}

# A recorder, whose limit the spool keeps, and ship --follow beside it
ships_a_recording()
{
	DIR=$tmp/live
	start_target pingpong "$ORACLE_GO" -duration 5s -rate 2000 || return 1
	start_background $GOTRACE record -p "$TARGET_PID" -o "$DIR" --rotate 1s
	recorder_is_live || return 1
	RECORDER=$BACKGROUND_PID
	build/gotrace ship "$DIR" --to s3://traces/fleet/a --endpoint "http://127.0.0.1:$PORT" --follow \
		>"$tmp/follow.out" 2>&1 </dev/null &
	SHIP=$!
	background+=("$SHIP")
	tell_target start
	expect_target done 60 && kill -INT "$RECORDER" && wait "$RECORDER" && stop_target || return 1
	wait_until 20 all_are_noted && kill -TERM "$SHIP" && wait "$SHIP" || return 1
	cat "$tmp/follow.out"
	host=$(basename "$(traces | head -n 1)") && host=${host%%-*}
	listed 4 && each_is_valid && stored | grep "/host=$host/" >"$tmp/live.got" && expected "$DIR" fleet/a | diff - "$tmp/live.got"
}

all_are_noted() { [ "$(tail -n +2 "$DIR/ship.journal" | wc -l)" -eq "$(index | wc -l)" ]; }

# The metadata is that of the trace, by gotrace stat.
has_metadata()
{
	local file key
	file=$(traces | head -n 1)
	key=$(expected "$DIR" fleet/a | head -n 1 | cut -d ' ' -f 2)
	$S3 head -at "http://127.0.0.1:$PORT" -bucket traces "$key" | tr -d '\r' >"$tmp/head"
	cat "$tmp/head"
	build/gotrace stat --json "$file" >"$tmp/stat.json"
	meta_is build-id "$(build/gotrace stat "$file" | sed -n 's/.*build_id[^0-9a-f]*\([0-9a-f]*\).*/\1/p')" &&
		meta_is go-version "$ORACLE_GO" && meta_is service pingpong && meta_is sha256 "$(sha256sum <"$file" | cut -d ' ' -f 1)" &&
		meta_is recorder "gotrace-bpf_$(our_version)"
}

# A packed trace has the same, which is read from its first generation.
packed_has_metadata()
{
	local file key name
	file=$(traces | head -n 1)
	mkdir -m 700 "$tmp/packed" && build/gotrace pack "$file" -o "$tmp/packed/$(basename "$file")" &&
		ship "$tmp/packed" "$PORT" --host packed | grep -q '^1 files sent' || return 1
	key=$(stored | sed -n 's,.* \(.*/host=packed/.*\),\1,p')
	$S3 head -at "http://127.0.0.1:$PORT" -bucket traces "$key" | tr -d '\r' >"$tmp/packed.head"
	for name in build-id go-version service recorder program pid start; do
		grep -i "^x-amz-meta-$name: " "$tmp/head" | diff - <(grep -i "^x-amz-meta-$name: " "$tmp/packed.head") || return 1
	done
	[ "$(grep -ic '^x-amz-meta-' "$tmp/packed.head")" -ge 9 ]
}

# The clock's state is that of adjtimex, which grows with time; the recorder's clock was not set since it began.
has_clock()
{
	local state before after
	meta_of() { sed -n "s/^x-amz-meta-$1: //ip" "$tmp/head"; }
	read -r state _ _ < <($S3 clock)
	meta_is clock-state "$state" && before=$(meta_of clock-max-error-us) || return 1
	after=$($S3 clock | cut -d ' ' -f 2)
	echo "$before us, then $after us; shift $(meta_of clock-shift-us) us"
	[ "$before" -gt 0 ] && [ -n "$(meta_of clock-error-us)" ] && [ -n "$(meta_of clock-shift-us)" ] &&
		{ [ "$before" -le "$after" ] || [ "$state" = synchronized ]; }
}

# "SYNCHRONIZED MAX-ERROR ERROR" in ns, by the C library
adjtimex()
{
	python3 - <<'END'
import ctypes

class Timex(ctypes.Structure):
    _fields_ = [("modes", ctypes.c_uint), ("offset", ctypes.c_long), ("freq", ctypes.c_long),
                ("maxerror", ctypes.c_long), ("esterror", ctypes.c_long), ("status", ctypes.c_int), ("rest", ctypes.c_byte * 256)]

t = Timex()
state = ctypes.CDLL(None).adjtimex(ctypes.byref(t))
print(int(state != 5 and not t.status & 0x40), t.maxerror * 1000, t.esterror * 1000)
END
}

# The trace itself has the state at the time of the recording, in each generation.
trace_has_clock()
{
	local synchronized most error

	read -r synchronized most error < <(adjtimex)
	jq '.private.host_clock' "$tmp/stat.json"
	echo "now: $synchronized $most $error"
	jq -e --argjson synchronized "$synchronized" --argjson most "$most" --argjson error "$error" '
		(.private.host_clock.generations == (.generations | length)) and (.private.host_clock |
			(.synchronized | if . then 1 else 0 end) == $synchronized and .max_error_ns > 0 and
			($synchronized == 1 or (.max_error_ns <= $most and .error_ns == $error)) and
			(.shift_ns | fabs) < 1e9)' "$tmp/stat.json" &&
		build/gotrace stat "$(traces | head -n 1)" | grep -q '^host clock  *\(not \)\{0,1\}synchronized, error at most '
}

meta_is() { grep -qix "x-amz-meta-$1: $2" "$tmp/head"; }

usage() # REASON ARGUMENT...
{
	timeout 20 build/gotrace ship "${@:2}" >"$tmp/out" 2>&1 </dev/null
	[ $? -eq 2 ] && grep -q "$1" "$tmp/out" || { cat "$tmp/out"; return 1; }
}

# As a user of its own, with the one capability that reads files of other users, as in docs/fleet.md
ship_roots() # OPTION...: by another user, with a capability that lets it read what is root's
{
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all,+dac_read_search --ambient-caps=-all,+dac_read_search \
		--bounding-set=-all,+dac_read_search --no-new-privs build/gotrace ship "$tmp/roots" --to s3://traces/roots \
		--endpoint "http://127.0.0.1:$PORT" "$@"
}

needs_no_root()
{
	make_spool "$tmp/roots" 3 1000 && chmod -R go-rwx "$tmp/roots" && mkdir -m 755 "$tmp/state" && chown 65534 "$tmp/state" || return 1
	chmod 755 "$tmp"
	ship_roots --journal "$tmp/state/journal" >"$tmp/out" 2>&1
	cat "$tmp/out"
	grep -q '^3 files sent' "$tmp/out" && [ "$(stored | grep -c ' roots/')" -eq 3 ]
}

# Its files in /proc are root's, because nothing of that user may read its memory; and there is no core dump.
hides_keys()
{
	local pid job
	ship_roots --journal "$tmp/state/other" --follow >"$tmp/out" 2>&1 &
	job=$!
	wait_until 20 test -s "$tmp/state/other" && pid=$(pgrep -f "gotrace ship $tmp/roots .*--journal $tmp/state/other") &&
		stat -c 'belongs to %u' "/proc/$pid/mem" && [ "$(stat -c %u "/proc/$pid/mem")" = 0 ] && grep '^Max core file size *0 *0 ' "/proc/$pid/limits"
	local status=$?
	kill -TERM "$pid" && wait "$job"
	return $status
}

no_directory()
{
	local path
	: >"$tmp/file"
	for path in "$tmp/nowhere" "$tmp/file" ''; do
		! ship "$path" "$PORT" >"$tmp/out" 2>&1 && grep -qx "gotrace: cannot open the directory $path: .*" "$tmp/out" &&
			[ "$(wc -l <"$tmp/out")" -eq 1 ] || return 1
	done
}

wrong_usage()
{
	usage 'missing DIR' --to s3://traces && usage 'missing destination' "$tmp" && usage 'invalid bucket' "$tmp" --to s3://A &&
		usage 'invalid prefix' "$tmp" --to s3://traces/a//b && usage 'invalid prefix' "$tmp" --to s3://traces/a/../b &&
		usage 'without encryption' "$tmp" --to s3://traces --endpoint http://s3.example.com &&
		usage 'invalid endpoint' "$tmp" --to s3://traces --endpoint https://user:word@host &&
		usage 'invalid number' "$tmp" --concurrency 65 && usage 'invalid name' "$tmp" --host a/b
}

ktap_start
try "the server starts" start_server
try "all complete files are stored, with the keys of their names" sends_all
try "what the journal has is not sent again" sends_none_again
try "without the journal, nothing is stored twice" finds_what_is_there
try "an object with other bytes is never replaced, and the file stays" never_replaces
try "a journal of another place, of others, or in use is refused" respects_the_journal
try "a file that is no journal stays" keeps_other_files
try "wrong keys are refused, and never printed" keys_are_checked
try "keys are read from a file of this user alone" keys_from_a_file
try "with faults of the network and the server, each file is stored once" survives_faults
try "killed at any moment, each file is stored once, and then removed" survives_kills
try "redirects are not followed" is_fatal redirect 'status 307'
try "a certificate that is not trusted is refused" tls_is_verified
try "SIGTERM ends it at once" ends_at_once
try "answers are bounded" bounds_answers
in_all try "compressed traces are bounded" bounds_traces
try "links, and files of other users, are not sent" refuses_planted_files
try "the files of a running recorder are stored" ships_a_recording
try "objects have the metadata of their traces" has_metadata
try "so do those of packed traces" packed_has_metadata
try "objects have the state of the host's clock" has_clock
try "the trace has the state of the clock when it was recorded" trace_has_clock
try "one capability suffices, as another user" needs_no_root
try "its user cannot read its memory, where the keys are" hides_keys
try "a directory that does not exist, or is none" no_directory
try "mistakes in the command line" wrong_usage
ktap_end
