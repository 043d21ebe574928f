#!/bin/bash
# gotrace-bpf serve and status: every figure of the state of a target has a second source, which is the
# kernel's, the target's own or a snapshot; the control socket serves only root and its own user, and
# survives floods, garbage, killed daemons and other files in its place.
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh
. selftests/terminal.lib.sh

# PATH OPTION...: starts a daemon with this control socket
serving()
{
	local path=$1
	shift

	CONTROL=$path
	start_background $GOTRACE serve --control "$path" "$@"
	wait_until 20 test -S "$path" && kill -0 "$BACKGROUND_PID"
}

state() { $GOTRACE status --json --control "$CONTROL"; }
figure() { state | jq -e ".[0].$1"; }
holds() { jq -e "$@" >/dev/null; } # CONDITION FILE
is_recording() { [ "$(figure state)" = '"recording"' ]; }
generations_ended() { figure "rates_over_s >= $1"; }
recorder_of() { jq '.[0].recorder.pid' "$1"; }
cpu_of() # PID: ns, of the process and threads that have ended
{
	awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); printf "%.0f\n", ($12 + $13) * 1e9 / hz }' "/proc/$1/stat"
}

# A daemon with a flight recorder that keeps everything, of a target that has begun to work.
begun()
{
	start_target pingpong "$ORACLE_GO" -duration 60s -rate 5000 -procs 2 && DIR=$tmp/snapshots || return 1
	cpu_before=$(cpu_of "$TARGET_PID") date_before=$(date -u +%FT%TZ)
	serving "$tmp/run/control" -p "$TARGET_PID" -o "$DIR" --window 5m --events sched && recorder_is_live &&
		cpu_live=$(cpu_of "$TARGET_PID") && date_live=$(date -u +%FT%TZ) && tell_target start &&
		wait_until 30 generations_ended 3
}

# The name and the times are those of the process and of the clock.
who_and_when()
{
	state >"$tmp/state.json" && cat "$tmp/state.json" && holds --arg before "$date_before" --arg live "$date_live" --argjson pid "$TARGET_PID" \
		'length == 1 and (.[0] | .pid == $pid and .name == "pingpong" and .state == "recording" and .since >= $before and .since <= $live)' \
		"$tmp/state.json"
}

# Both processes, by /proc, whose clock ticks every 10 ms; the recorder reads that of the target every 200 ms.
cpu_times()
{
	local recorder before after slack=300000000

	recorder=$(figure recorder.pid) && before=$(cpu_of "$recorder") && target=$(cpu_of "$TARGET_PID") && state >"$tmp/cpu.json" || return 1
	after=$(cpu_of "$recorder")
	jq -c '.[0] | .target_cpu_ns, .recorder' "$tmp/cpu.json"
	echo "recorder $before to $after, target $cpu_before, $cpu_live, $target"
	holds --argjson before "$before" --argjson after "$after" \
		'.[0].recorder.cpu_ns | . >= $before - 20000000 and . <= $after + 20000000' "$tmp/cpu.json" &&
		holds --argjson least $((target - cpu_live - slack)) --argjson most $((target - cpu_before + slack)) \
		'.[0].target_cpu_ns | . > 0 and . >= $least and . <= $most' "$tmp/cpu.json"
}

# The recorder's anonymous and shared memory, and its rings and all of its maps as the kernel lists them. What the kernel
# needs to manage a map differs.
memory()
{
	local recorder rss rings maps

	state >"$tmp/memory.json" && recorder=$(recorder_of "$tmp/memory.json") || return 1
	rss=$(awk '$1 == "RssAnon:" || $1 == "RssShmem:" { n += $2 } END { print n * 1024 }' "/proc/$recorder/status")
	rings=$(cat "/proc/$recorder"/fdinfo/* | awk '$1 == "map_type:" { type = $2 } $1 == "max_entries:" { size = $2 }
		$1 == "map_id:" && type == 27 && !seen[$2]++ { n += size } END { print n + 0 }') # BPF_MAP_TYPE_RINGBUF
	maps=$(cat "/proc/$recorder"/fdinfo/* | awk '$1 == "memlock:" { size = $2 } $1 == "map_id:" && !seen[$2]++ { n += size } END { print n + 0 }')
	jq -c '.[0].recorder' "$tmp/memory.json"
	echo "resident $rss, rings $rings, maps $maps"
	holds --argjson rss "$rss" --argjson rings "$rings" --argjson maps "$maps" '.[0].recorder | .ring_bytes == $rings and
		.kernel_memory_bytes >= $maps * 0.95 and .kernel_memory_bytes <= $maps * 1.05 and
		(.memory_bytes - $rss | fabs) <= 2097152' "$tmp/memory.json"
}

# A second computation: of events of set sched alone the model has a hit and its stack.
cost()
{
	state >"$tmp/cost.json" && jq -c '.[0] | {hits, hits_per_s, trap_ns, cost_ns, cost_cpu_percent}' "$tmp/cost.json" &&
		holds '.[0] | .trap_ns > 50 and .hits > 10000 and .tracepoint_hits == 0 and .inline_events == 0 and
		(.hits * 2 * .trap_ns * (1 + (130 + 120) / 400)) as $cost | (.cost_ns - $cost | fabs) <= 1 + $cost / 1e9 and
		(.cost_cpu_percent - .hits_per_s * $cost / .hits / 1e7 | fabs) < 0.001' "$tmp/cost.json"
}

# Each round trip of the target blocks both goroutines, which are 2 unblocks, 2 blocks and 2 executions.
rates()
{
	figure 'events_per_s' && figure 'hits_per_s' &&
		state | jq -e '.[0] | .rates_over_s as $s | .events_per_s * .age_s / .events | . > 0.3 and . < 3'
}

# A snapshot contains what the window contained: more than before the request, less than after it.
window()
{
	local file events bytes

	state >"$tmp/before.json" && kill -USR1 "$BACKGROUND_PID" && wait_until 30 snapshots_are 1 &&
		sleep 1.5 && state >"$tmp/after.json" && file=$(traces) && build/gotrace check "$file" || return 1
	bytes=$(stat -c %s "$file")
	events=$(index | cut -f 3)
	echo "the snapshot: $bytes bytes, $events events"
	jq -c '.[0] | .events, .bytes, .window' "$tmp/before.json" "$tmp/after.json"
	holds -s --argjson bytes "$bytes" --argjson events "$events" '(.[0][0].window, .[1][0].window) as $w |
		.[0][0].window.events > 1000 and .[0][0].window.events <= $events and $events <= .[1][0].window.events and
		.[0][0].window.bytes <= $bytes and $bytes <= .[1][0].window.bytes + 16 and
		.[0][0].window.length_s > 1 and .[0][0].window.length_s <= .[1][0].age_s' "$tmp/before.json" "$tmp/after.json"
}

# The number of events in the snapshot's index is that of Go's own reader, but for those that it adds.
events_of_the_reader()
{
	local file counted listed

	file=$(traces) && counted=$(build/reference/count "$file" | grep -o '[0-9]*' | tail -n 1) && listed=$(index | cut -f 3) || return 1
	echo "$listed in the index, $counted by the reader"
	[ "$listed" -ge $((counted * 9 / 10)) ] && [ "$listed" -le $((counted * 11 / 10)) ]
}

causes_and_snapshots()
{
	kill -USR1 "$BACKGROUND_PID" && wait_until 30 snapshots_are 2 && state | jq -c '.[0].window' &&
		figure 'window | .causes == 2 and .snapshots == 2'
}

table()
{
	$GOTRACE status --control "$CONTROL" >"$tmp/table" && cat "$tmp/table" && [ "$(wc -l <"$tmp/table")" -eq 2 ] &&
		head -n 1 "$tmp/table" | grep -q '^ *PID *AGE *EVENTS/S ' && grep -qE "^ *$TARGET_PID .* pingpong$" "$tmp/table"
}

# Columns are left out until there is space for the name.
narrow_table()
{
	fits 80 $GOTRACE status --control "$CONTROL" && grep -qE "^ *$TARGET_PID .* pingpong$" "$tmp/screen" &&
		grep -q '^Not shown (terminal too narrow): .*SNAPSHOTS$' "$tmp/screen" &&
		! head -n 1 "$tmp/screen" | grep SNAPSHOTS && fits 130 $GOTRACE status --control "$CONTROL" &&
		head -n 1 "$tmp/screen" | grep SNAPSHOTS && ! grep 'Not shown' "$tmp/screen"
}

# The totals of the message at the end, shortly after the last state.
totals()
{
	local events bytes lost

	state >"$tmp/last.json" && stop_recorder && cat "$tmp/background.out" && [ ! -e "$CONTROL" ] || return 1
	read -r events bytes lost < <(sed -n 's/.*: \([0-9]*\) events, .* \([0-9]*\) bytes, \([0-9]*\) lost$/\1 \2 \3/p' "$tmp/background.out")
	holds --argjson events "$events" --argjson bytes "$bytes" --argjson lost "$lost" '.[0] | .lost == $lost and
		.events <= $events and .events >= $events * 0.8 and .bytes <= $bytes and .bytes >= $bytes * 0.8' "$tmp/last.json" &&
		kill "$TARGET_PID"
}

# A recorder that is stopped loses records in small rings, and does not answer meanwhile.
losses()
{
	local recorder lost

	start_target pingpong "$ORACLE_GO" -duration 60s -rate 20000 -procs 2 &&
		serving "$tmp/run/control" -p "$TARGET_PID" --ring-size 16K && recorder_is_live && tell_target start &&
		recorder=$(figure recorder.pid) && kill -STOP "$recorder" && sleep 1 || return 1
	state | tee "$tmp/silent.json"
	kill -CONT "$recorder"
	holds '.[0] | .state == "not answering" and (has("events") | not)' "$tmp/silent.json" && wait_until 20 figure 'lost > 0' &&
		wait_until 20 is_recording && state >"$tmp/lost.json" && stop_recorder && cat "$tmp/background.out" || return 1
	lost=$(sed -n 's/.* \([0-9]*\) lost$/\1/p' "$tmp/background.out" | head -n 1)
	echo "lost: $(jq '.[0].lost' "$tmp/lost.json") of $lost"
	holds --argjson lost "$lost" '.[0].lost > 0 and .[0].lost <= $lost' "$tmp/lost.json" && kill "$TARGET_PID"
}

# ---- the socket

# A daemon that waits for a program which does not exist
idle()
{
	serving "$1" --exe "no-such-program-$$" "${@:2}" && wait_until 20 grep -q 'no process to record yet' "$tmp/background.out"
}

no_targets()
{
	idle "$tmp/run/control" && [ "$(state)" = '[]' ] && $GOTRACE status --control "$CONTROL" 2>&1 | grep -q 'no process is being recorded' &&
		[ "$(stat -c %a:%u "$tmp/run" "$CONTROL" | tr '\n' ' ')" = "700:$EUID 600:$EUID " ]
}

second_daemon() { refused 1 'another process listens there' $GOTRACE serve --exe x --control "$CONTROL" && state; }

# The directory keeps others out; if it is opened, the daemon still does.
other_users()
{
	install -d -m 755 "$tmp/nobody" && install -m 755 $GOTRACE "$tmp/nobody/gotrace-bpf" && chmod 755 "$tmp" || return 1
	as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
	refused 1 'permission denied' $as_nobody "$tmp/nobody/gotrace-bpf" status --control "$CONTROL" &&
		chmod 755 "$tmp/run" && chmod 666 "$CONTROL" &&
		refused 1 'closed the connection' $as_nobody "$tmp/nobody/gotrace-bpf" status --control "$CONTROL" &&
		grep -q 'refused: it is of another user' "$tmp/background.out" && state && chmod 700 "$tmp/run"
}

descriptors() { find "/proc/$BACKGROUND_PID/fd" -mindepth 1 | wc -l; }

floods()
{
	local before connected

	before=$(descriptors)
	connected=$(timeout 120 build/reference/service flood "$CONTROL" 3000) && echo "$connected connections" &&
		[ "$connected" -ge 1000 ] && wait_until 20 state && [ "$(state)" = '[]' ] && wait_until 20 eval '[ $(descriptors) -le '"$before"' ]'
}

# It is killed: its socket remains, and the next daemon replaces it.
killed()
{
	kill -KILL "$BACKGROUND_PID" && wait "$BACKGROUND_PID" 2>/dev/null
	[ -S "$CONTROL" ] && refused 1 "no 'gotrace-bpf serve' is running" $GOTRACE status --control "$CONTROL" &&
		idle "$CONTROL" && state && kill "$BACKGROUND_PID" && wait "$BACKGROUND_PID" && [ ! -e "$CONTROL" ]
}

planted()
{
	local target=$tmp/planted/target

	mkdir -m 700 "$tmp/planted" && ln -s target "$tmp/planted/link" && : >"$tmp/planted/file" && ln -s planted "$tmp/linked" &&
		install -d -m 700 -o 65534 "$tmp/theirs" && mkdir -m 750 "$tmp/open" || return 1
	refused 1 'link: not a socket' $GOTRACE serve --exe x --control "$tmp/planted/link" && [ ! -e "$target" ] &&
		refused 1 'file: not a socket' $GOTRACE serve --exe x --control "$tmp/planted/file" && [ -f "$tmp/planted/file" ] &&
		refused 1 'linked: not a directory, or a symbolic link' $GOTRACE serve --exe x --control "$tmp/linked/control" &&
		refused 1 'theirs: belongs to another user' $GOTRACE serve --exe x --control "$tmp/theirs/control" &&
		refused 1 'open: other users can access it' $GOTRACE serve --exe x --control "$tmp/open/control" &&
		[ -z "$(find "$tmp/theirs" "$tmp/open" -name control)" ]
}

ktap_start
if try "a daemon with a flight recorder" begun; then
	try "name, state and times" who_and_when
	try "CPU times are those of the kernel" cpu_times
	try "memory and rings are those of the kernel" memory
	try "the cost is that of the model" cost
	try "rates are of the same size as totals" rates
	try "a table" table
	try "a table on a narrow terminal" narrow_table
	try "the window is that of a snapshot" window
	try "events are counted as by Go's reader" events_of_the_reader
	try "causes and snapshots" causes_and_snapshots
	try "totals" totals
fi
try "losses, and a recorder that does not answer" losses
try "without a daemon" refused 1 "no 'gotrace-bpf serve' is running" $GOTRACE status --control "$tmp/none"
try "without a target" no_targets
try "a second daemon" second_daemon
try "other users" other_users
try "floods and garbage" floods
try "a killed daemon" killed
try "links, files and directories of others" planted
try "an invalid path" refused 1 'expected DIRECTORY/NAME' $GOTRACE serve --exe x --control "$tmp/"
ktap_end
