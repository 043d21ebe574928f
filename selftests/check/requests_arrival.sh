#!/bin/bash
# When requests begin and end (record --requests http): their durations are those that a client with blocking sockets
# measures, also if the handler begins late, because the world is stopped or the only P is busy.
# timeout: 900
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/files.lib.sh
. selftests/triggers.lib.sh

export GODEBUG=asyncpreemptoff=1

# Our figures differ from those of the client by at most what it needs for a round trip itself, and a share or a time: a sum
# by 3 %, a quantile by 10 % or 100 us.
within='
	def near($ours; $its; $own; $share; $least): ($its - $ours) as $d |
		$d <= $own + ([$its * $share, $least] | max) and -$d <= ([$its * $share, $least] | max);
	near(.ours.sum; .client.sum; .client.own * .client.count; 0.03; 0) and
	near(.ours.p50; .client.p50; .client.own; 0.1; 100000) and
	near(.ours.p99; .client.p99; .client.own; 0.1; 100000)'

# CASE [ARGUMENT...]
arriving()
{
	record_target arriving "$ORACLE_GO" "--requests http" -case "$1" "${@:2}" && check_trace "$RECORDED" || return 1
	build/gotrace requests --json "$RECORDED" | jq -c --slurpfile client "$tmp/arriving.done" '.requests[0] | {
		ours: {count, sum: .total_ns, p50: .p50_ns, p99: .p99_ns, before_handler_ns, after_handler_ns, begin_at},
		client: $client[0] }' >"$tmp/both.json"
	note "$*: $(cat "$tmp/both.json")"
	jq -e ".ours.count == .client.count and .ours.begin_at.arrival == .ours.count and ($within)" \
		"$tmp/both.json" >/dev/null
}

# CASE [ARGUMENT...]: each request begins while its client writes it, and has ended when the client has the answer, or, since
# the client may run before the write of the answer has returned, a round trip later. On a busy machine the kernel may deliver
# what was sent a little later, in a thread of its own: 1 in 20 may. 64 ns are a tick.
begins()
{
	record_target arriving "$ORACLE_GO" "--requests http" -case "$1" -n 40 "${@:2}" && check_trace "$RECORDED" || return 1
	build/gotrace requests --worst 40 --json "$RECORDED" | jq -c --slurpfile client "$tmp/arriving.done" '
		[.worst | sort_by(.begin), $client[0].sent] | transpose | map({
			late: (.[0].begin - .[1][1]), early: (.[1][0] - .[0].begin), ended: (.[0].end - .[1][2]),
			begin_at: .[0].begin_at, own: $client[0].own })' >"$tmp/begins"
	jq -e 'length == 40 and all(.begin_at == "arrival" and .early <= 64 and .ended <= .own) and
		(map(select(.late > 64)) | length <= 2)' "$tmp/begins" || { cat "$tmp/begins"; return 1; }
}

# BEGINS [ARGUMENT...]: without system calls reads are not those of goroutines, and a request begins when its goroutine was
# made runnable, was created, or ended the task before, whatever was last. The difference is within the ticks and 1 ms.
polled()
{
	record_target arriving "$ORACLE_GO" "--requests http --events sched,gc,user" -case quiet "${@:2}" && check_trace "$RECORDED" ||
		return 1
	build/gotrace events --json --type UserTaskBegin,UserTaskEnd,GoUnblock,GoCreate "$RECORDED" | jq -n '
		reduce inputs as $e ({ before: 0 };
			if $e.event == "UserTaskBegin" then .before += $e.time - .last[$e.g | tostring]
			else .last[$e.goroutine // $e.g | tostring] = $e.time end) | .before' >"$tmp/before"
	build/gotrace requests --json "$RECORDED" | jq -c '.requests[0] | { count, before_handler_ns, begin_at, after_handler_ns }' \
		>"$tmp/ours.json"
	note "$(cat "$tmp/ours.json") before: $(cat "$tmp/before")"
	jq -e --slurpfile before "$tmp/before" ".begin_at.$1 * 100 >= .count * 95 and .after_handler_ns == 0 and .begin_at.arrival == 0 and
		(.before_handler_ns - \$before[0] | . * . <= 1e12)" "$tmp/ours.json"
}

# Calls of a function: tasks of which nothing else is known.
called()
{
	record_target arriving "$ORACLE_GO" "--task main.score" -n 20 && check_trace "$RECORDED" &&
		build/gotrace requests --json "$RECORDED" | jq -e '.requests[0] | .count == 20 and .begin_at.task == 20 and
			.begin_at.arrival + .begin_at.runnable + .begin_at.read + .before_handler_ns + .after_handler_ns == 0'
}

# The slowest request alone has the times of the sum, if it is the only one, and so have the metrics.
single()
{
	record_target arriving "$ORACLE_GO" "--requests http" -n 1 && check_trace "$RECORDED" &&
		build/gotrace requests --worst 1 --json "$RECORDED" | jq -e '.requests[0] as $all | .worst[0] |
			.begin_at == "arrival" and .duration_ns == $all.total_ns and .end - .begin == .duration_ns and
			.before_handler_ns == $all.before_handler_ns and .after_handler_ns == $all.after_handler_ns and
			.before_handler_ns > 0 and .after_handler_ns > 0' &&
		[ "$(build/gotrace metrics "$RECORDED" | awk '/^gotrace_request_duration_seconds_sum/ { printf "%.0f", $NF * 1e9 }')" = \
			"$(build/gotrace requests --json "$RECORDED" | jq '.requests[0].total_ns')" ]
}

# The program whose clients wait longer is not better in any figure of the durations of its requests.
compared()
{
	record_target arriving "$ORACLE_GO" "--requests http" -case quiet -n 300 && mv "$RECORDED" "$tmp/quiet.trace" &&
		record_target arriving "$ORACLE_GO" "--requests http" -case stw -n 300 &&
		build/gotrace diff --json "$tmp/quiet.trace" "$RECORDED" | jq -c '
			[.figures[] | select(.group == "request" and .name == "GET /score") | { figure, result, a: .a.value, b: .b.value }]' \
			>"$tmp/diff.json"
	note "$(cat "$tmp/diff.json")"
	jq -e 'map(select(.figure | IN("mean", "p50", "p99"))) | length == 3 and all(.result != "better") and any(.figure == "mean" and .b > 2 * .a)' "$tmp/diff.json"
}

# TRIGGER SNAPSHOTS [ARGUMENT...]: whether there are snapshots because of it
triggered()
{
	DIR=$tmp/flown
	rm -rf "$DIR"
	start_target arriving "$ORACLE_GO" "${@:3}" || return 1
	start_background $GOTRACE flight -p "$TARGET_PID" -o "$DIR" --requests http --tail 100ms --trigger "$1"
	recorder_is_live && tell_target start && expect_target done 120 && flown_to_the_end || return 1
	causes >"$tmp/causes"
	note "$1: $(grep -c 'request GET /score open for' "$tmp/causes") snapshots"
	[ "$(grep -c 'request GET /score open for' "$tmp/causes" | sed 's/^[1-9].*/some/')" = "$2" ]
}

ktap_start
for new in "" -new -h2; do
	for case in $(by_tier stw "quiet stw busy" "quiet stw busy"); do
		try "$case $new: requests begin when their client sends them" begins "$case" $new
	done
done
for new in "" -new; do
	for case in $(by_tier stw "quiet stw busy idle" "quiet stw busy idle"); do
		try "$case $new: durations are what the client waits" arriving "$case" -n 300 $new
	done
done
in_all try "without the kernel's arrival, kept alive" polled runnable
in_all try "without the kernel's arrival, a connection each" polled read -new
try "other tasks" called
try "one request" single
try "diff" compared
try "a trigger on requests that wait before their handlers" triggered request:8ms some -case stw -n 100
in_all try "the idle time of a connection meets no condition" triggered request:300ms 0 -case idle -pause 400ms -n 5
ktap_end
