#!/bin/bash
# gotrace-bpf serve: traces by HTTP of programs without net/http/pprof are complete and valid, also several at
# the same time and while other clients do not read; targets that end and start; metrics are those of a
# trace of the same window; nothing remains in the targets, and no process has what it does not need.
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/servers.lib.sh
. selftests/files.lib.sh
. selftests/launched.lib.sh

FIRST=0 SECOND=0 FRONT=0
serve() # OPTION...: sets URL
{
	start_background $GOTRACE serve --http 127.0.0.1:0 --control none "$@" && wait_until 20 messages 'listening on' &&
		URL=$(sed -n 's,.*listening on \(http.*\)/$,\1,p' "$tmp/background.out") && [ -n "$URL" ]
}

get() { curl -sS --max-time 60 -o "$2" -w '%{http_code}\n' "$URL$1"; } # PATH FILE: prints the status
ok_get() { [ "$(get "$1" "$2")" = 200 ]; } # PATH FILE
start_get() # PATH FILE: in the background; sets GET. Returns when the trace has begun.
{
	rm -f "$2"
	curl -sSN --max-time 200 -f -o "$2" "$URL$1" &
	GET=$!
	background+=("$GET")
	wait_until 20 test -s "$2"
}

targets_are() # PID...: they are recorded, and no others
{
	get /targets "$tmp/targets" && [ "$(jq -c '[.[].pid] | sort' "$tmp/targets")" = "$(printf '%s\n' "$@" | sort -n | jq -sc .)" ] &&
		jq -e 'all(.[]; .state == "recording")' "$tmp/targets"
}

is_trace() { check_trace "$1" && build/reference/validate -strict "$1"; } # FILE
adds_up() { are_all_blocks "$(blocks_in "$2")" <(result_of "$1"); } # PID FILE
# The times are those of the first and the last event; an idle process has at least one in each second.
lasts() { build/gotrace stat --json "$1" | jq -e --argjson ns "$2" '.end - .start >= $ns'; } # FILE NS
recorder_of() { awk -v target="$1" '$1 == "Pid:" && $2 == target { split(FILENAME, path, "/"); print path[3] }' \
	$(children "$BACKGROUND_PID" | tr ' ' '\n' | sed '/./s,.*,/proc/&/fdinfo/*,'); } # PID: of the target

# Both play while their traces are taken.
two_at_once()
{
	local first second gets=() seconds=$((4 * stretch))
	program served && launch "$tmp/bin/served" -duration 1500ms -rate 3000 && first=$PID || return 1
	serve --exe served && is_recorded "$first" && launch "$tmp/bin/served" -duration 1500ms -rate 3000 && second=$PID && is_recorded "$second" || return 1
	start_get "/debug/pprof/trace?seconds=$seconds&pid=$first" "$tmp/first.trace" && gets+=("$GET") &&
		start_get "/debug/pprof/trace?seconds=$seconds&pid=$second" "$tmp/second.trace" && gets+=("$GET") &&
		send "$first" start && play "$second" && wait_until 60 is_done "$first" && wait "${gets[0]}" && wait "${gets[1]}" &&
		is_trace "$tmp/first.trace" && is_trace "$tmp/second.trace" && adds_up "$first" "$tmp/first.trace" &&
		adds_up "$second" "$tmp/second.trace" && lasts "$tmp/first.trace" $((seconds - 1))000000000 && targets_are "$first" "$second" &&
		FIRST=$first SECOND=$second
}

# Of the same process, each with its own length.
overlapping()
{
	local long name
	start_get "/debug/pprof/trace?seconds=2.5&pid=$FIRST" "$tmp/long.trace" && long=$GET &&
		ok_get "/debug/pprof/trace?seconds=0.2&pid=$FIRST" "$tmp/short.trace" &&
		ok_get "/debug/pprof/trace?pid=$FIRST" "$tmp/default.trace" && wait "$long" &&
		for name in long short default; do is_trace "$tmp/$name.trace" || return 1; done &&
		lasts "$tmp/long.trace" 1500000000 && ! lasts "$tmp/default.trace" 1500000000 && ! lasts "$tmp/short.trace" 700000000
}

which_process()
{
	[ "$(get '/debug/pprof/trace?seconds=1' "$tmp/answer")" = 400 ] &&
		[ "$(tail -n +2 "$tmp/answer" | jq -c '[.[].pid] | sort')" = "$(printf '%s\n' "$FIRST" "$SECOND" | sort -n | jq -sc .)" ] &&
		[ "$(get '/debug/pprof/trace?seconds=1&pid=1' "$tmp/answer")" = 404 ] && cat "$tmp/answer" && [ "$(get /none "$tmp/answer")" = 404 ]
}

metrics_of_both()
{
	ok_get /metrics "$tmp/metrics" && for pid in "$FIRST" "$SECOND"; do
		grep -qx "gotrace_up{pid=\"$pid\",program=\"served\"} 1" "$tmp/metrics" || return 1
		[ "$(sed -n "s/^gotrace_recorded_seconds_total{pid=\"$pid\",program=\"served\"} \([0-9]*\).*/\1/p" "$tmp/metrics")" -ge 5 ] || return 1
	done && [ "$(sort "$tmp/metrics" | uniq -d | wc -l)" -eq 0 ]
}

query() { curl -sG http://127.0.0.1:9394/api/v1/query --data-urlencode "query=$1" | jq -r '.data.result[] | "\(.metric.pid) \(.value[1])"' | sort; }
is_scraped() { [ "$(query gotrace_up | wc -l)" -eq 2 ]; }

# Both processes have created their goroutines, and are idle.
read_by_prometheus()
{
	printf 'scrape_configs: [{job_name: serve, scrape_interval: 1s, static_configs: [{targets: ["%s"]}]}]\n' "${URL#http://}" >"$tmp/prometheus.yml"
	unpack_server prometheus usr/bin/prometheus || return 1
	"$SERVER" --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/tsdb" --web.listen-address=127.0.0.1:9394 >"$tmp/prometheus.out" 2>&1 &
	background+=("$!")
	wait_until 60 is_scraped && query gotrace_created_goroutines_total >"$tmp/scraped" && ok_get /metrics "$tmp/metrics" &&
		sed -n 's/^gotrace_created_goroutines_total{pid="\([0-9]*\)",.*} /\1 /p' "$tmp/metrics" | sort | diff "$tmp/scraped" - &&
		[ "$(wc -l <"$tmp/scraped")" -eq 2 ] && ! grep -q ' 0$' "$tmp/scraped"
	local status=$?
	kill $!
	return $status
}

has_sockets() { [ "$(fds "$1" | grep -c '^socket:')" -eq "$2" ]; } # PID NUMBER
fds() { find "/proc/$1/fd" -type l -printf '%l\n'; } # PID

# The front, which is not root, and the recorders have only their own descriptors, and the front no memory
# of others.
little_is_shared()
{
	local pid front=
	for pid in $(children "$BACKGROUND_PID"); do
		[ "$(stat -c %u "/proc/$pid")" -eq 0 ] || front=$pid
	done
	grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):' "/proc/$front/status"
	[ "$(children "$BACKGROUND_PID" | wc -w)" -eq 3 ] && grep -q '^CapEff:[[:space:]]*0*$' "/proc/$front/status" &&
		grep -q '^Seccomp:[[:space:]]*2$' "/proc/$front/status" && ! fds "$front" | grep -E '^anon_inode:.*(bpf|perf|signalfd)' && ! grep -E '^[^ ]* ...s ' "/proc/$front/maps" || return 1
	for pid in $(recorder_of "$FIRST") $(recorder_of "$SECOND"); do
		echo "recorder $pid" && fds "$pid" | sort | uniq -c
		has_sockets "$pid" 1 || return 1
	done
	[ -n "$(recorder_of "$FIRST")" ] && FRONT=$front
}

# Another process takes its place.
front_is_replaced()
{
	kill -KILL "$FRONT" && wait_until 20 targets_are "$FIRST" "$SECOND" && messages 'was terminated by signal 9' &&
		ok_get "/debug/pprof/trace?seconds=0.2&pid=$FIRST" "$tmp/again.trace" && is_trace "$tmp/again.trace"
}

# So does another recorder, whose figures begin at 0.
recorder_is_replaced()
{
	local before
	before=$(recorder_of "$FIRST") && kill -KILL "$before" && wait_until 20 is_replaced "$before" && messages "process $FIRST: its recorder was killed" &&
		wait_until 20 targets_are "$FIRST" "$SECOND" &&
		ok_get "/debug/pprof/trace?seconds=0.2&pid=$FIRST" "$tmp/again.trace" && is_trace "$tmp/again.trace"
}
is_replaced() { local now && now=$(recorder_of "$FIRST") && [ -n "$now" ] && [ "$now" != "$1" ]; } # PID: of the one before

# The events that the recorder had in memory are lost, which is a failure.
stopped_after_failure()
{
	stop_recorder
	[ $? -eq 1 ]
}

# It has begun to play when its trace ends with it.
one_ends()
{
	local pid
	program leaver && serve --exe leaver && launch "$tmp/bin/leaver" -duration 1200ms -rate 2000 && pid=$PID && is_recorded "$pid" || return 1
	start_get "/debug/pprof/trace?seconds=60" "$tmp/leaver.trace" && play "$pid" && leave "$pid" && wait "$GET" &&
		is_trace "$tmp/leaver.trace" && adds_up "$pid" "$tmp/leaver.trace" && wait_until 20 targets_are &&
		[ "$(get '/debug/pprof/trace?seconds=1' "$tmp/answer")" = 404 ] && cat "$tmp/answer" &&
		launch "$tmp/bin/leaver" -duration 1s -rate 500 && is_recorded "$PID" && targets_are "$PID" &&
		ok_get "/debug/pprof/trace?seconds=0.5" "$tmp/next.trace" && is_trace "$tmp/next.trace" && play "$PID" && leave "$PID"
}

# Clients that request a trace and read nothing do not affect others.
readers_that_stop()
{
	local i fd clients=() host recorder
	program busy && launch "$tmp/bin/busy" -duration 4s && serve -p "$PID" && is_recorded "$PID" && recorder=$(recorder_of "$PID") &&
		host=${URL#http://} && [ -n "$recorder" ] || return 1
	for i in 1 2; do
		exec {fd}<>"/dev/tcp/${host%:*}/${host#*:}" && clients+=("$fd") || return 1
		printf 'GET /debug/pprof/trace?seconds=60 HTTP/1.1\r\nHost: %s\r\n\r\n' "$host" >&"$fd"
	done
	send "$PID" start && ok_get '/debug/pprof/trace?seconds=2' "$tmp/beside.trace" && is_trace "$tmp/beside.trace" && targets_are "$PID" &&
		wait_until 60 is_done "$PID" && has_sockets "$recorder" 3 || return 1
	for fd in "${clients[@]}"; do
		exec {fd}>&-
	done
	wait_until 20 has_sockets "$recorder" 1 &&
		ok_get '/debug/pprof/trace?seconds=0.2' "$tmp/after.trace" && is_trace "$tmp/after.trace" && leave "$PID" && landed &&
		grep -q ' 0 lost' "$tmp/background.out"
}

# More than the limit of a process: the others are complete.
too_many()
{
	local i gets=()
	program many && launch "$tmp/bin/many" -duration 1s -rate 100 && serve -p "$PID" && is_recorded "$PID" || return 1
	for i in 1 2 3 4; do
		start_get '/debug/pprof/trace?seconds=2' "$tmp/many.$i" && gets+=("$GET") || return 1
	done
	get '/debug/pprof/trace?seconds=2' "$tmp/answer" && cat "$tmp/answer" && grep -q 'too many' "$tmp/answer" || return 1
	for i in 1 2 3 4; do
		wait "${gets[i - 1]}" && is_trace "$tmp/many.$i" || return 1
	done
	play "$PID" && leave "$PID" && landed
}

plain() { sed -n 's/{\(pid="[0-9]*",program="[^"]*"\),\?/{/; s/{}//; /^#/!p' "$1" | grep -v '^gotrace_up'; } # FILE: without the labels of the target
generations_in() { sed -n 's/^gotrace_generations_total //p'; }

# NUMBER: a snapshot, the last of NUMBER; meanwhile reads the metrics, one file for each number of generations
snapshot_and_scrape()
{
	local late=0 deadline=$((SECONDS + 60))

	$GOTRACE snapshot -p "$PID" || return 1
	while ((late < 50 && SECONDS < deadline)); do # some answers of after the snapshot
		ok_get /metrics "$tmp/scrape" && plain "$tmp/scrape" >"$tmp/scrape.$(plain "$tmp/scrape" | generations_in)" && sleep 0.02 || return 1
		late=$((late + 1))
		snapshots_are "$1" || late=0
	done
	snapshots_are "$1"
}

# The window of a flight recorder has the generations that the metrics have when its snapshot is written. If two
# generations end between two answers, the metrics of the first one were never read, and another snapshot is made.
metrics_of_the_window()
{
	local i n file
	DIR=$tmp/window
	program measured && launch "$tmp/bin/measured" -duration 1500ms -rate 3000 && serve -p "$PID" -o "$DIR" --window 5m --tail 100ms &&
		is_recorded "$PID" && play "$PID" || return 1
	for ((i = 1; i <= 5; i++)); do
		snapshot_and_scrape $i || return 1
		file=$(traces | sort | tail -n 1) && build/gotrace metrics "$file" >"$tmp/file" && plain "$tmp/file" | sort >"$tmp/expected" &&
			n=$(generations_in <"$tmp/expected") && echo "snapshot $i: $n generations" || return 1
		[ ! -e "$tmp/scrape.$n" ] || break
	done
	[ "$n" -gt 1 ] && [ "$(wc -l <"$tmp/expected")" -gt 30 ] && diff "$tmp/expected" <(sort "$tmp/scrape.$n") &&
		adds_up "$PID" "$file" && leave "$PID" && landed && each_is_valid
}

ended_by() # SIGNAL
{
	local first second processes status
	program "stop$1" && launch "$tmp/bin/stop$1" -duration 1s -rate 500 && first=$PID && launch "$tmp/bin/stop$1" -duration 1s -rate 500 && second=$PID &&
		serve --exe "stop$1" && is_recorded "$first" && is_recorded "$second" && processes=$(children "$BACKGROUND_PID") &&
		[ "$(wc -w <<<"$processes")" -eq 3 ] && ! text_is_clean "$first" || return 1
	start_get "/debug/pprof/trace?seconds=60&pid=$first" "$tmp/cut.trace" && kill "-$1" "$BACKGROUND_PID"
	wait "$BACKGROUND_PID"
	status=$?
	echo "status $status"
	[ $status -eq 0 ] && none_runs $processes && wait "$GET" && is_trace "$tmp/cut.trace" && text_is_clean "$first" && text_is_clean "$second" && play "$first" && leave "$first" && play "$second" && leave "$second"
}

# The recorders and the front do not outlive a supervisor that was killed.
killed()
{
	local processes
	program orphan && launch "$tmp/bin/orphan" -duration 1s -rate 500 && serve --exe orphan && is_recorded "$PID" &&
		processes=$(children "$BACKGROUND_PID") && kill -KILL "$BACKGROUND_PID" && wait_until 20 none_runs $processes &&
		text_is_clean "$PID" && play "$PID" && leave "$PID"
}

# The front has it; a second service may not.
given_user()
{
	local user=60$((RANDOM % 900 + 100)) pid

	serve --exe "no-such-program-$$" --user "$user" && wait_until 20 ok_get / "$tmp/page" || return 1
	read -r pid < <(children "$BACKGROUND_PID")
	grep '^[UG]id:' "/proc/$pid/status"
	grep -qE "^Uid:(.$user){4}$" "/proc/$pid/status" && grep -qE "^Gid:(.$user){4}$" "/proc/$pid/status" &&
		refused 1 "user $user cannot answer HTTP requests: it runs process $pid" $GOTRACE serve --exe x --http 127.0.0.1:0 --control none --user "$user" &&
		stop_recorder
}

wrong_options()
{
	refused 2 'user requires --http' $GOTRACE serve --exe x --user bin &&
		refused 1 'not root or nobody' $GOTRACE serve --exe x --http 127.0.0.1:0 --control none --user nobody &&
		refused 1 'there is no user x y' $GOTRACE serve --exe x --http 127.0.0.1:0 --control none --user 'x y' || return 1
	refused 2 'no process given' $GOTRACE serve --http 127.0.0.1:0 &&
		refused 2 'expected --http HOST:PORT, or a control socket' $GOTRACE serve --exe x --control none &&
		refused 2 'window requires -o DIR' $GOTRACE serve --exe x --http 127.0.0.1:0 --window 5s &&
		refused 1 'loopback' $GOTRACE serve --exe x --http 0.0.0.0:0 --control none &&
		refused 1 'not an address' $GOTRACE serve --exe x --http example.com:80 --control none &&
		refused 1 'loopback' $GOTRACE serve --exe x --http '[::]:0' --control none
}

ktap_start
try "two processes at the same time" two_at_once
try "several traces of one process" overlapping
try "the process of a trace" which_process
try "metrics of both" metrics_of_both
in_all try "a Prometheus reads the metrics" read_by_prometheus
try "what the processes have" little_is_shared
try "a front that was killed" front_is_replaced
try "a recorder that was killed" recorder_is_replaced
try "SIGTERM during nothing" stopped_after_failure
try "a process that ends, and another that starts" one_ends
try "the end of the service" stop_recorder
in_all try "readers that stop" readers_that_stop
try "more traces than the limit" too_many
try "metrics equal those of a trace of the same window" metrics_of_the_window
try "SIGTERM" ended_by TERM
try "SIGINT" ended_by INT
try "SIGKILL" killed
try "the user of the front" given_user
try "options that are refused" wrong_options
ktap_end
