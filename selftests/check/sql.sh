#!/bin/bash
# Tests `gotrace sql` and `gotrace export parquet`: the rows of each table are those that other commands
# print, in traces and in Parquet files alike; named queries equal the same figures computed by jq;
# queries can do nothing but read the tables, within their limits; and names and files may be hostile.
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace docs/tables.md selftests/deps-engine.sh selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh
. selftests/sql.lib.sh

recorded() # a trace with kernel events, of a program with several threads
{
	record_target pingpong "$ORACLE_GO" "--events sched,syscall,gc,kernel" -rate 3000 -duration 400ms &&
		mkdir "$tmp/in" && mv "$RECORDED" "$tmp/in/web1-pingpong-77-20261127T040000.000Z-test.trace" &&
		cp "$short" "$tmp/in/short.trace"
	kernel=$tmp/in/web1-pingpong-77-20261127T040000.000Z-test.trace
}

# --- tables

# Each event with its time, place, transition, name, message, value and task
same_events() # TRACE
{
	# The two events behind a switch are derived from it, and syncs are none.
	$READER events --json "$1" | jq -c -S -n 'foreach inputs as $e ({skip: 0}; if .skip > 0 then {skip: (.skip - 1)} else
		{e: $e, skip: (if $e.event == "GoSwitch" or $e.event == "GoSwitchDestroy" then 2 else 0 end)} end; .e | values) |
		select(.event != "Sync" and .kind != "Experimental") | {time_ns: .time, type: .event, thread: .m, p, g,
		goroutine: .goroutine, from_state: .from, to_state: .to,
		name: ((.reason // .name // .label // .type // .category) as $n | if $n == "" then null else $n end),
		message: (if .message == "" then null else .message end), task: .task}' >"$tmp/events.other"
	sql 'SELECT time_ns, type, thread, p, g, goroutine, from_state, to_state, name, message, task FROM events ORDER BY time_ns' "$1" >"$tmp/events.sql"
	same events 1000 && $READER stat --json "$1" | jq .events >"$tmp/runs.other" && sql 'SELECT events FROM runs' "$1" | jq .events >"$tmp/runs.sql" && same runs &&
		sql 'SELECT COUNT(*) AS events FROM events' "$1" | jq .events >"$tmp/runs.sql" && same runs
}

# The parts of each goroutine, which slices add up to, without gaps and overlaps
same_goroutines() # TRACE
{
	local parts='oncpu_ns, go_runnable_ns, kernel_runnable_ns, throttled_ns, kernel_blocked_ns, syscall_blocked_ns, go_blocked_ns, total_ns, syscall_oncpu_ns, gc_assist_ns, unknown_ns'

	sql "SELECT g, function, $parts FROM goroutines ORDER BY g" "$1" >"$tmp/goroutines.sql" &&
		$READER latency --all --json "$1" | jq -c -S "[.goroutines[] | . + .of_which | {g: .id,
			function: (if .name == \"\" then null else .name end), $parts}] | sort_by(.g)[]" >"$tmp/goroutines.other" && same goroutines 4 || return 1
	sql 'SELECT g, created_ns FROM goroutines ORDER BY g' "$1" >"$tmp/created.sql" &&
		$READER goroutines --all --json "$1" | jq -c -S '[.goroutines[] | {g: .id, created_ns: .created}] | sort_by(.g)[]' >"$tmp/created.other" &&
		same created 4 || return 1
	# `gotrace goroutines` counts what blocks for ever as an end.
	sql 'SELECT g, ended_ns FROM goroutines WHERE ended_ns IS NOT NULL ORDER BY ended_ns' "$1" >"$tmp/ended.sql" &&
		$READER events --json "$1" | jq -c -S 'select(.goroutine and .to == "NotExist") | {g: .goroutine, ended_ns: .time}' >"$tmp/ended.other" &&
		same ended || return 1
	sql 'SELECT g, part, SUM(ns) AS ns FROM slices GROUP BY g, part ORDER BY g, part' "$1" >"$tmp/slices.sql" &&
		jq -c -S '.g as $g | to_entries | map(select(.key | IN("oncpu_ns", "go_runnable_ns", "kernel_runnable_ns", "throttled_ns",
			"kernel_blocked_ns", "syscall_blocked_ns", "go_blocked_ns")) | select(.value > 0) |
			{g: $g, ns: .value, part: (.key | sub("_ns$"; "") | gsub("_"; "-"))}) | sort_by(.part)[]' "$tmp/goroutines.sql" >"$tmp/slices.other" && same slices 4 || return 1
	sql 'WITH s AS (SELECT g, start_ns, ns, LEAD(start_ns) OVER (PARTITION BY g ORDER BY start_ns) AS next FROM slices)
		SELECT COUNT(*) AS wrong FROM s WHERE next <> start_ns + ns OR ns <= 0' "$1" | jq -e '.wrong == 0'
}

# States of goroutines, from single events: a wait begins and ends with an event
same_waits() # TRACE
{
	sql "SELECT COALESCE(reason, '') AS name, SUM(ns) AS ns FROM slices WHERE part = 'go-blocked' GROUP BY 1 HAVING SUM(ns) > 0 ORDER BY 1" "$1" >"$tmp/waits.sql" &&
		$READER events --json "$1" | jq -c -S -n 'reduce inputs as $e ({in: {}, sum: {}, first: {}, last: 0}; .last = $e.time |
			if $e.event == "Sync" and .sync == null then .sync = $e.time else . end |
			if $e.kind != "StateTransition" or $e.goroutine == null or $e.from == $e.to then . else ($e.goroutine | tostring) as $g |
			.in[$g] as $in | (if $in and $e.from == "Waiting" then .sum[$in.reason] += $e.time - $in.time else . end) |
			if $e.to == "Waiting" then .in[$g] = {reason: ($e.reason // ""), time: (if $e.from == "Undetermined" then .sync else $e.time end)} else .in[$g] = null end end) |
			.last as $last | reduce (.in[] | values) as $in (.; .sum[$in.reason] += $last - $in.time) | .sum | to_entries | sort_by(.key)[] |
			select(.value > 0) | {name: .key, ns: .value}' >"$tmp/waits.other" && same waits 3
}

same_requests() # TRACE
{
	sql "SELECT name, COUNT(*) AS count, SUM(ns) AS total_ns, MIN(ns) AS min_ns, MAX(ns) AS max_ns, SUM(failed) AS errors, SUM(oncpu_ns) AS oncpu_ns,
		SUM(go_blocked_ns) AS go_blocked_ns FROM requests WHERE kind = 'task' AND ns IS NOT NULL GROUP BY name ORDER BY name" "$1" >"$tmp/tasks.sql" &&
		$READER requests --json "$1" | jq -c -S '[.requests[] | select(.count > 0) | {name, count, total_ns, min_ns, max_ns, errors,
			oncpu_ns: .time.oncpu_ns, go_blocked_ns: .time.go_blocked_ns}] | sort_by(.name)[]' >"$tmp/tasks.other" && same tasks 2 || return 1
	sql "SELECT name, COUNT(*) AS count, SUM(ns) AS total_ns, MAX(ns) AS max_ns FROM requests WHERE kind = 'region' AND ns IS NOT NULL
		GROUP BY name ORDER BY name" "$1" >"$tmp/regions.sql" &&
		$READER regions --json "$1" | jq -c -S '[.regions[] | select(.count > 0) | {name, count, total_ns, max_ns}] | sort_by(.name)[]' >"$tmp/regions.other" && same regions 2 || return 1
	sql "SELECT COUNT(*) AS n FROM requests WHERE kind = 'task' AND end_ns IS NULL" "$1" >"$tmp/open.sql" &&
		$READER requests --json "$1" | jq -c '{n: ([.requests[].unfinished] | add)}' >"$tmp/open.other" && same open
}

# GC cycles, pauses and mark assists, from single events
same_gc() # TRACE
{
	sql "SELECT name, COUNT(*) AS count, SUM(ns) AS ns FROM gc WHERE end_ns IS NOT NULL GROUP BY name ORDER BY name" "$1" >"$tmp/gc.sql" &&
		$READER events --json "$1" | jq -c -S -n 'reduce inputs as $e ({open: {}, sum: {}}; if $e.kind == "RangeBegin" then
			.open["\($e.name) \($e.goroutine // $e.proc)"] = $e.time elif $e.kind == "RangeEnd" then "\($e.name) \($e.goroutine // $e.proc)" as $key |
			.open[$key] as $begin | del(.open[$key]) | .sum[$e.name].count += 1 | if $begin then .sum[$e.name].ns += $e.time - $begin else . end
			else . end) | .sum | to_entries | sort_by(.key)[] | {name: .key, count: .value.count, ns: .value.ns}' >"$tmp/gc.other" && same gc 3
}

same_syscalls() # TRACE: of Go, by its histogram; of the kernel, from single events
{
	sql "SELECT COUNT(ns) AS count, SUM(ns) AS total_ns, MAX(ns) AS max_ns FROM syscalls WHERE source = 'go'" "$1" | jq -c .count,.total_ns,.max_ns >"$tmp/calls.sql"
	$READER events --json "$1" | jq -c -n 'reduce inputs as $e ({in: {}, all: []}; if $e.kind == "StateTransition" and $e.goroutine != null and $e.from != $e.to then
		($e.goroutine | tostring) as $g | .in[$g] as $since | (if $e.from == "Syscall" and $since then .all += [$e.time - $since] else . end) |
		.in[$g] = (if $e.to == "Syscall" and $e.from != "Undetermined" then $e.time else null end) else . end) |
		.all | length, add, max' >"$tmp/calls.other" && same calls 3
}

same_kernel() # TRACE
{
	sql "SELECT name, COUNT(ns) AS count, SUM(ns) AS ns FROM syscalls WHERE source = 'kernel' AND ns IS NOT NULL GROUP BY name ORDER BY name" "$1" >"$tmp/kernel.sql" &&
		$READER events --kernel --json "$1" | jq -c -S -n 'reduce (inputs | select(.kind == "Kernel")) as $e ({in: {}, sum: {}};
			if $e.event == "sys_enter" then .in["\($e.m)"] = $e.time elif $e.event == "sys_exit" then .in["\($e.m)"] as $since | .in["\($e.m)"] = null |
			if $since then .sum[$e.syscall].count += 1 | .sum[$e.syscall].ns += $e.time - $since else . end else . end) |
			.sum | to_entries | sort_by(.key)[] | {name: .key, count: .value.count, ns: .value.ns}' >"$tmp/kernel.other" && same kernel 2
}

# The stack of an event, by its number: each has the frames that `gotrace events` prints
same_stacks() # TRACE
{
	sql "SELECT e.time_ns AS time, s.function AS func, s.source AS file, s.line, s.pc FROM events e JOIN stacks s ON e.stack = s.stack
		ORDER BY e.time_ns, s.depth" "$1" >"$tmp/stacks.sql" &&
		$READER events --stacks --json "$1" | jq -c -S 'select(.stack and .event != "Sync") | .time as $time | .stack[] | {time: $time, func, file, line, pc}' >"$tmp/stacks.other" && same stacks 1000
}

same_run() # TRACE
{
	sql 'SELECT format, start_ns AS start, "end_ns" AS "end", goroutines AS seen, present, ended, most_alive, threads, procs, gomaxprocs, generations, kernel_events, lost, clock_synchronized, clock_max_error_ns, clock_error_ns, clock_shift_ns FROM runs' "$1" >"$tmp/run.sql" &&
		$READER stat --json "$1" | jq -c -S '{format, start, "end": .["end"], seen: .goroutines.seen, present: .goroutines.present, ended: .goroutines.ended,
			most_alive: .goroutines.most_alive, threads, procs, gomaxprocs, generations: (.generations | length), kernel_events: (.kernel.items // 0), lost: (.private.lost // 0), clock_synchronized: (.private.host_clock.synchronized | if . == null then null elif . then 1 else 0 end),
			clock_max_error_ns: .private.host_clock.max_error_ns, clock_error_ns: .private.host_clock.error_ns, clock_shift_ns: .private.host_clock.shift_ns}' >"$tmp/run.other" && same run
}

# --- Parquet

# Every table, and the answer of every named query, is the same from traces and from Parquet.
same_parquet()
{
	local table name

	rm -rf "$tmp/out"
	(cd "$tmp" && timeout 100 "$OLDPWD/$READER" export parquet in -o out) && [ -z "$(find "$tmp/out" -name '.*' -o -size 0)" ] || return 1
	for table in $($READER sql --schema | sed -n 's/^\([a-z]*\): .*/\1/p'); do
		(cd "$tmp" && "$OLDPWD/$READER" sql "SELECT * FROM $table ORDER BY ALL" in) >"$tmp/$table.sql" &&
			$READER sql "SELECT * FROM $table ORDER BY ALL" "$tmp/out" >"$tmp/$table.other" && same "$table" || { echo "$table"; return 1; }
	done
	for name in $(named); do
		(cd "$tmp" && "$OLDPWD/$READER" sql --run "$name" in) >"$tmp/$name.sql" && $READER sql --run "$name" "$tmp/out" >"$tmp/$name.other" &&
			same "$name" || { echo "$name"; return 1; }
	done
	[ -d "$tmp/out/events/date=$(date -u +%Y-%m-%d)" ] || find "$tmp/out/events" -maxdepth 1
	ls -d "$tmp"/out/slices/date=*/hour=*/host=web1/service=pingpong/file=in%2Fweb1-*/ >/dev/null
}

again() # An export of the same traces replaces the files.
{
	local before

	before=$(find "$tmp/out" | sort)
	(cd "$tmp" && timeout 100 "$OLDPWD/$READER" export parquet in -o out) && [ "$before" = "$(find "$tmp/out" | sort)" ]
}

# docs/tables.md has the tables of --schema.
documented()
{
	$READER sql --schema | awk '
		/^schema/ { next }
		/^[a-z]+: / { name = $1; sub(/:$/, "", name); what = $0; sub(/^[a-z]+: /, "", what)
			printf "\n## %s\n\nOne row: %s.\n\n| column | type | content |\n|---|---|---|\n", name, what; next }
		/^  / { column = $1; type = $2; what = $0; sub(/^  [a-z_]+ +[A-Z]+ */, "", what); print "| `" column "` | " type " | " what " |" }' >"$tmp/doc.sql" &&
		{ echo; sed -n '/^## runs$/,$p' docs/tables.md; } >"$tmp/doc.other" && same doc 100 &&
		[ "$(sed -n 's/^This is version .*//; s/.*This is version \([0-9]*\) of$/\1/p' docs/tables.md)" = "$($READER sql --schema | sed -n 's/^schema version //p')" ]
}

# --- named queries

named()
{
	$READER sql --list | sed 's/ .*//'
}

described() # Each has a description, and can be printed and run as a query.
{
	local name

	[ "$(named | wc -l)" -eq "$(find userspace/sql/queries -name '*.sql' | wc -l)" ] && ! $READER sql --list | grep -qE '^[a-z-]+ *$' || return 1
	for name in $(named); do
		$READER sql --run "$name" --list | cmp - "userspace/sql/queries/$name.sql" &&
			$READER sql -- "$(cat "userspace/sql/queries/$name.sql")" "$short" >"$tmp/a" && $READER sql --run "$name" "$short" | cmp - "$tmp/a" || return 1
	done
}

# NAME FILTER: the answer for $short equals FILTER of the lines of $tmp/goroutines.sql and the like
answer()
{
	sql --run "$1" "$short" >"$tmp/$1.sql" && jq -c -S -s "$2" "$tmp/$3" >"$tmp/$1.other" && same "$1"
}

answers()
{
	sql 'SELECT * FROM goroutines' "$short" >"$tmp/g" && sql 'SELECT * FROM requests' "$short" >"$tmp/r" && sql 'SELECT * FROM gc' "$short" >"$tmp/gcs" &&
		sql 'SELECT * FROM slices' "$short" >"$tmp/s" && sql 'SELECT * FROM syscalls' "$short" >"$tmp/c" || return 1
	answer tail-latency 'def rank($n; $d): sort_by(.total_ns)[((length * $n + $d - 1) / $d | floor) - 1].total_ns;
		map(select(.ended_ns)) | group_by(.function) | map((length * 99 / 100 | floor) as $from | sort_by([.total_ns, .created_ns, .g]) | .[$from:] as $tail | {function: .[0].function, goroutines: length,
		p50_ns: rank(1; 2), p90_ns: rank(9; 10), p99_ns: rank(99; 100), max_ns: (map(.total_ns) | max), tail_oncpu_ns: ($tail | map(.oncpu_ns) | add),
		tail_go_runnable_ns: ($tail | map(.go_runnable_ns) | add), tail_cpu_wait_ns: ($tail | map(.kernel_runnable_ns + .throttled_ns) | add),
		tail_syscall_blocked_ns: ($tail | map(.syscall_blocked_ns) | add), tail_go_blocked_ns: ($tail | map(.go_blocked_ns) | add)}) | sort_by([-.p99_ns, .function])[:50][]' g &&
		answer slow-requests 'map(select(.kind == "task" and .ns)) | sort_by([-.ns, .start_ns, .task])[:5] | to_entries[] | .key as $k | .value | {place: ($k + 1),
			date, hour, host, service, name, ns, failed, oncpu_ns, go_runnable_ns, kernel_runnable_ns, syscall_blocked_ns, go_blocked_ns, file, task, start_ns}' r &&
		answer run-queue-delay 'map(select(.part | endswith("runnable") or . == "throttled")) | sort_by([-.ns, .start_ns, .g])[:50][] |
			{part, ns, reason, function, g, thread, start_ns, host, service, file}' s &&
		answer slow-syscalls 'group_by([.source, .host, .name])[] | {source: .[0].source, host: .[0].host, name: .[0].name, calls: length,
			total_ns: (map(.ns) | add), max_ns: (map(.ns // 0) | max), over_1ms: (map(select(.ns >= 1000000)) | length), over_10ms: (map(select(.ns >= 10000000)) | length),
			over_100ms: (map(select(.ns >= 100000000)) | length), errors: 0}' c &&
		outliers 10 0 && outliers 1 1
}

# FACTOR LINES: the query stw-outliers with another factor of the median, at which there certainly are rows
outliers()
{
	sql "$($READER sql --list --run stw-outliers | grep -v ^-- | sed "s/median_ns \* 10$/median_ns * $1/")" "$short" >"$tmp/outliers.sql" &&
		jq -c -S -s --argjson factor "$1" 'map(select(.kind == "stw" and .ns)) | group_by(.name) | map(sort_by(.ns) | .[((length + 1) / 2 | floor) - 1].ns as $m |
			.[] | select(.ns >= $factor * $m) | {name, ns, median_ns: $m, start_ns, g, host, service, file}) | sort_by([-.ns, .name, .start_ns])[:50][]' \
			"$tmp/gcs" >"$tmp/outliers.other" && same outliers "$2"
}

# Sums of several tables: the same by the commands that print them
costs()
{
	sql --run gc-cost "$short" >"$tmp/cost.sql" && jq -s -c '(map(select(.kind == "gc")) | length, (map(.ns) | add)),
		(map(select(.kind == "stw")) | length, (map(.ns) | add), (map(.ns) | max)), (map(select(.kind == "assist")) | length)' "$tmp/gcs" >"$tmp/cost.other" &&
		$READER latency --all --json "$short" | jq '[.goroutines[].of_which.gc_assist_ns] | add' >>"$tmp/cost.other" &&
		jq .cycles,.mark_ns,.pauses,.stw_ns,.max_stw_ns,.assists,.assist_ns "$tmp/cost.sql" >"$tmp/costs" && mv "$tmp/costs" "$tmp/cost.sql" && same cost 7 || return 1
	sql --run capacity "$kernel" | jq -c .recorded_ns,.used_millicpus,.waiting_for_p_milli,.waiting_for_cpu_milli,.gomaxprocs_permille >"$tmp/use.sql" &&
		$READER stat --json "$kernel" | jq '.duration, .gomaxprocs' >"$tmp/n" && $READER latency --all --json "$kernel" | jq --slurpfile n "$tmp/n" '[.goroutines[]] | $n[0],
			(map(.oncpu_ns, .go_runnable_ns, .kernel_runnable_ns | .) | empty), ((map(.oncpu_ns) | add) * 1000 / $n[0] | floor), ((map(.go_runnable_ns) | add) * 1000 / $n[0] | floor),
			((map(.kernel_runnable_ns) | add) * 1000 / $n[0] | floor), ((map(.oncpu_ns) | add) * 1000 / ($n[0] * $n[1]) | floor)' >"$tmp/use.other" && same use 5
}

# Two versions of a service: shares of the older and the newer trace
versions()
{
	local old=$CORPUS/runs/short-go1.22.12.trace file

	for file in "$old" "$short"; do
		$READER latency --json "$file" | jq -c '([.functions[].total_ns] | add) as $all | reduce (.functions[].by_reason.go_blocked[]) as $r ({}; .[$r.name] += $r.ns) |
			map_values(. * 1000000 / $all | floor)'
	done | jq -s -c -S '.[0] as $old | .[1] as $new | ($old + $new | keys)[] | {reason: (if . == "" then "(none)" else . end), old_ppm: ($old[.] // 0), new_ppm: ($new[.] // 0)}' |
		sort >"$tmp/versions.other"
	sql --run block-reasons --service web "$old" "$short" | jq -c -S '{reason, old_ppm, new_ppm}' | sort >"$tmp/versions.sql"
	same versions 5 && sql --run block-reasons --service web "$old" "$short" | jq -s -e 'map(.change_ppm | fabs) as $c | $c == ($c | sort | reverse) and .[0].change_ppm == .[0].new_ppm - .[0].old_ppm'
}

# --- limits and hostile input

# PATTERN QUERY: fails with one line on stderr and no output
refused()
{
	timeout 60 $READER sql "$2" "${3-$short}" >"$tmp/out.csv" 2>"$tmp/err"
	[ $? -eq 1 ] && [ ! -s "$tmp/out.csv" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -qE "$1" "$tmp/err" && return
	cat "$tmp/err"
	return 1
}

only_reads()
{
	echo secret >"$tmp/secret.csv"
	refused 'operations are disabled' "COPY (SELECT 1) TO '$tmp/x.csv'" && refused 'operations are disabled' "SELECT * FROM read_text('$tmp/secret.csv')" &&
		refused 'operations are disabled' "SELECT * FROM '$tmp/secret.csv'" && refused 'only queries|disabled' "ATTACH '$tmp/x.db'" &&
		refused 'only queries' "SET threads = 9" && refused 'only queries' "CREATE TABLE t (a INTEGER)" && refused 'only queries' "EXPLAIN SELECT 1" &&
		refused 'only queries|disabled' "INSTALL httpfs" && refused 'only queries|disabled' "LOAD '$tmp/x.so'" && refused 'multiple statements' "SELECT 1; SELECT 2" &&
		refused 'operations are disabled' "SELECT * FROM glob('/etc/*')" && refused 'operations are disabled' "SELECT * FROM read_blob('/proc/self/environ')" &&
		refused 'does not exist' "SELECT GETENV('HOME')" && refused 'single SELECT' "SELECT * FROM query('COPY (SELECT 1) TO ''$tmp/x.csv''')" &&
		refused 'named parameter' "SELECT * FROM gotrace_events(trace := NULL)" && ! grep -q 'Stack Trace' "$tmp/err" &&
		refused 'syntax error' "SELEC" && refused 'does not exist' "SELECT * FROM nothing" && refused 'not printed' "SELECT [1, 2]" && [ ! -e "$tmp/x.csv" ] && [ ! -e "$tmp/x.db" ] && parquet_only_reads
}

# Parquet files are read, but not written, and no other files are.
parquet_only_reads()
{
	refused 'only queries' "COPY (SELECT 1) TO '$(find "$tmp/out/runs" -name '*.parquet' | head -n 1)'" "$tmp/out" &&
		refused 'disabled' "SELECT * FROM read_text('$tmp/secret.csv')" "$tmp/out"
}

# A plan is printed, of a query only, and the query is not run.
plans()
{
	$READER sql --explain --run runs "$short" >"$tmp/plan" && grep -q ORDER_BY "$tmp/plan" && grep -q GOTRACE_RUNS "$tmp/plan" &&
		$READER sql --explain "SELECT CHR(27)" "$short" >"$tmp/plan" && grep -q PROJECTION "$tmp/plan" &&
		! grep -q $'\x1b' "$tmp/plan" && grep -qF '\x1b' "$tmp/plan" || { cat -v "$tmp/plan"; return 1; }
	! $READER sql --explain "COPY (SELECT 1) TO '$tmp/x.csv'" "$short" 2>"$tmp/err" && grep -qE 'only queries|disabled' "$tmp/err" &&
	[ ! -e "$tmp/x.csv" ]
}

limited() # memory, and nothing of it is left
{
	local folder=$tmp/spilled

	mkdir "$folder" && export TMPDIR=$PWD/$folder
	refused 'Out of Memory.*use a larger --max-memory' "SELECT LENGTH(STRING_AGG(REPEAT(CAST(a.range AS VARCHAR), 100000), '')) FROM range(100000) a" &&
		[ "$($READER sql --max-memory=3G 'SELECT LEN(LIST(a.range)) AS n FROM range(40000000) a' "$short")" = $'n\n40000000' ] &&
		$READER sql "SELECT COUNT(*) FROM events" "$short" >/dev/null && [ -z "$(ls "$folder")" ] &&
		$READER sql "SELECT * FROM events" "$short" | head -n 1 >/dev/null && [ -z "$(ls "$folder")" ]
	local status=$?
	unset TMPDIR
	return $status
}

# What a query needs beyond memory is removed also when a signal ends it.
interrupted()
{
	local folder=$tmp/interrupted
	mkdir "$folder" || return 1
	TMPDIR=$PWD/$folder $READER sql "SELECT MAX(r) FROM (SELECT ROW_NUMBER() OVER (ORDER BY z DESC) AS r, z FROM
		(SELECT MD5(CAST(a.range AS VARCHAR)) || REPEAT('y', 300) AS z FROM range(20000000) a)) WHERE z <> 'q'" "$short" >"$tmp/out.csv" 2>&1 </dev/null &
	local pid=$!
	background+=("$pid")
	wait_until 30 has_spilled "$folder" && kill -TERM "$pid" || return 1
	wait "$pid"
	[ $? -eq 143 ] && [ -z "$(ls "$folder")" ] || { ls -R "$folder"; return 1; }
}

# What killed queries left is removed by the next one, but not what others use, and nothing else.
killed()
{
	local folder=$tmp/dead

	mkdir -p "$folder"/gotrace-sql.{abcdef,locked,subdir/x,longer-name} "$folder/other-abcdef" "$tmp/elsewhere" && touch "$folder/gotrace-sql.abcdef/x" "$tmp/elsewhere/x" &&
		ln -s "$PWD/$tmp/elsewhere" "$folder/gotrace-sql.linked" || return 1
	TMPDIR=$PWD/$folder flock "$folder/gotrace-sql.locked" timeout 60 $READER sql 'SELECT 1' "$short" >/dev/null && [ -e "$tmp/elsewhere/x" ] &&
		cmp <(ls "$folder") <(printf '%s\n' gotrace-sql.{linked,locked,longer-name,subdir} other-abcdef) || { ls "$folder"; return 1; }
}

# The part of the query that an error is about
places()
{
	refused 'syntax error.*; in line 1, at: SELEC 1$' 'SELEC 1' && refused '; in line 3, at: nope, 2$' $'SELECT\n1,\n  \'\u00e4\u6f22\', nope, 2' &&
		refused 'multiple statements at once!$' 'SELECT 1; SELECT 2'
}

# An export that a signal ends leaves complete files only.
interrupted_export()
{
	local i
	mkdir "$tmp/many" || return 1
	for i in {1..400}; do
		ln "$short" "$tmp/many/$i.trace" || cp "$short" "$tmp/many/$i.trace" || return 1
	done
	$READER export parquet "$tmp/many" -o "$tmp/some" >"$tmp/out.csv" 2>&1 </dev/null &
	local pid=$!
	background+=("$pid")
	wait_until 30 has_staged && kill -TERM "$pid" || return 1
	wait "$pid"
	[ $? -eq 143 ] && [ -z "$(find "$tmp/some" -name '.gotrace-*')" ] || { find "$tmp/some" -path '*.gotrace-*'; return 1; }
}

# A file that cannot be written: the reason, and nothing is left.
failed_export()
{
	! (ulimit -f 4 && trap '' XFSZ && timeout 60 $READER export parquet "$kernel" -o "$tmp/limited" >"$tmp/out.csv" 2>"$tmp/err" </dev/null) &&
		[ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q 'File too large' "$tmp/err" && [ -z "$(ls -A "$tmp/limited")" ] || { cat "$tmp/err"; return 1; }
}

has_staged() { [ -n "$(find "$tmp/some" -path '*/.gotrace-*/*' 2>/dev/null)" ]; }
has_spilled() { [ -n "$(find "$1" -name '*.tmp')" ]; } # FOLDER

# CSV is for programs, but on a terminal no name may control it.
csv_on_a_terminal()
{
	local query="SELECT CHR(27) || '[31m' || CHR(34) || ',' AS x"
	script -qec "$READER sql --csv \"$query\" $short" /dev/null </dev/null | tr -d '\r' >"$tmp/screen"
	cmp "$tmp/screen" <(printf 'x\n"\\x1b[31m"","\n') && $READER sql --csv "$query" "$short" | cmp - <(printf 'x\n"\e[31m"","\n')
}

# Names with everything that CSV, JSON, SQL and paths treat specially
hostile_names()
{
	local file="$tmp/a' OR '1'='1,\"%_
b.trace"

	# of the same length, since the batch of the strings has a size
	$READER text "$short" | sed 's/data="sleep"/data=",\\"\\n\\xff'"'"'"/' | $READER assemble - -o "$file" || return 1
	sql "SELECT DISTINCT reason FROM slices WHERE reason LIKE ',%'" "$file" | jq -r '.reason | @json' >"$tmp/name" &&
		[ "$(cat "$tmp/name")" = '",\"\n�'"'"'"' ] || { cat "$tmp/name"; return 1; }
	$READER sql "SELECT DISTINCT reason FROM slices WHERE reason LIKE ',%'" "$file" | tail -n +2 | cmp - <(printf '",""\n\xef\xbf\xbd'"'"'"\n') &&
		$READER sql --table "SELECT file FROM runs" "$file" | tail -n 1 | grep -qF '%_\nb.trace' || return 1
	sql 'SELECT file FROM runs' "$file" | jq -r .file | cmp - <(echo "$file") &&
		timeout 60 $READER export parquet "$file" -o "$tmp/odd" --host '../../x' --service 'a/b=c' &&
		[ "$(find "$tmp/odd/runs" -name '*.parquet' | wc -l)" -eq 1 ] && sql 'SELECT host, service FROM runs' "$tmp/odd" >"$tmp/odd.json" &&
		jq -e '.host == "../../x" and .service == "a/b=c"' "$tmp/odd.json" && [ "$(find "$tmp/odd" -maxdepth 1 | wc -l)" -gt 5 ] &&
		timeout 60 $READER export parquet "$short" -o "$tmp/null" --host NULL --service __HIVE_DEFAULT_PARTITION__ &&
		[ "$($READER sql 'SELECT host, service FROM runs' "$tmp/null" | tail -n 1)" = NULL,__HIVE_DEFAULT_PARTITION__ ]
}

corrupt() # A corrupt trace: no file of it, and no directory is left
{
	head -c 30000 "$short" >"$tmp/cut.trace" && refused "cut.trace: " 'SELECT COUNT(*) FROM events' "$tmp/cut.trace" &&
		! timeout 60 $READER export parquet "$tmp/cut.trace" -o "$tmp/none" 2>"$tmp/err" && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q cut.trace "$tmp/err" &&
		[ -z "$(ls -A "$tmp/none")" ] || { cat "$tmp/err"; return 1; }
	echo nonsense >"$tmp/out/runs/bad.parquet"
	refused 'bad.parquet' 'SELECT * FROM runs' "$tmp/out"
}

# Mutants of a trace: no crash, and an error is one line
mutants()
{
	local i status size

	size=$(stat -c %s "$short")
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		cp "$short" "$tmp/m.trace" && printf '\xff\x80\x07' | dd of="$tmp/m.trace" bs=1 seek=$((size * i / 13)) conv=notrunc status=none
		timeout 30 $SANITIZED_OR_READER sql 'SELECT (SELECT COUNT(*) FROM events), (SELECT COUNT(*) FROM slices), (SELECT COUNT(*) FROM requests),
			(SELECT COUNT(*) FROM stacks), (SELECT SUM(ns) FROM gc), (SELECT SUM(ns) FROM syscalls), (SELECT MAX(command) FROM runs)' "$tmp/m.trace" >"$tmp/m.out" 2>"$tmp/err"
		status=$?
		[ $status -le 1 ] && [ "$(wc -l <"$tmp/err")" -eq $status ] || { echo "mutant $i: $status"; cat "$tmp/err"; return 1; }
	done
}

without_engine()
{
	! $READER sql --engine "$tmp/none.so" 'SELECT 1' "$short" 2>"$tmp/err" && grep -q 'cannot load the SQL engine' "$tmp/err" &&
		cp $READER "$tmp/alone" && ! "$tmp/alone" sql 'SELECT 1' "$short" 2>"$tmp/err" && grep -q "run 'make deps'" "$tmp/err" &&
		cp build/lib/libduckdb.so "$tmp/open.so" && chmod 666 "$tmp/open.so" && ! $READER sql --engine "$tmp/open.so" 'SELECT 1' "$short" 2>"$tmp/err" &&
		grep -q 'can be written by others' "$tmp/err"; local status=$?
	rm -f "$tmp/open.so"
	return $status
}

# --engine names a file, not a library to search for; and a pipe does not block.
engine_is_a_file()
{
	mkdir "$tmp/planted" && echo none >"$tmp/planted/libduckdb.so" && mkfifo "$tmp/pipe.so" || return 1
	(cd build/lib && LD_LIBRARY_PATH=$OLDPWD/$tmp/planted timeout 20 "../../$READER" sql --engine libduckdb.so 'SELECT 1' "$OLDPWD/$short" >/dev/null) &&
		! timeout 20 $READER sql --engine "$tmp/pipe.so" 'SELECT 1' "$short" 2>"$tmp/err" && grep -q 'not a regular file' "$tmp/err"
}

pipes() # each table reads the file again
{
	mkfifo "$tmp/pipe.trace" && refused 'pipe.trace: not a regular file' 'SELECT 1' "$tmp/pipe.trace" &&
		! timeout 20 $READER export parquet "$tmp/pipe.trace" -o "$tmp/none" 2>"$tmp/err" && grep -q 'not a regular file' "$tmp/err" || return 1
	timeout 20 $READER export parquet - -o "$tmp/none" <"$short" 2>"$tmp/err"
	[ $? -eq 2 ] && grep -q 'does not accept standard input' "$tmp/err" && [ ! -e "$tmp/none/runs" ]
}

ktap_start
short=$CORPUS/runs/short-$ORACLE_GO.trace
SANITIZED_OR_READER=$READER
try "build" build_reader
try "the engine is installed" selftests/deps-engine.sh
try "traces" trace_short_runs
try "without the engine: what to do" without_engine
try "the engine is a file" engine_is_a_file
try "a trace with kernel events" recorded
for trace in $(in_all echo "$short" "$CORPUS/runs/short-go1.22.12.trace") "$kernel"; do
	name=$(basename "$trace" .trace)
	try "events: $name" same_events "$trace"
	try "goroutines and slices: $name" same_goroutines "$trace"
	try "waits: $name" same_waits "$trace"
	try "system calls of Go: $name" same_syscalls "$trace"
	try "runs: $name" same_run "$trace"
	try "stacks: $name" same_stacks "$trace"
done
try "tasks and regions" same_requests "$short"
try "garbage collector" same_gc "$short"
try "system calls in the kernel" same_kernel "$kernel"
try "Parquet has the same rows, and gives the same answers" same_parquet
try "an export replaces the one before" again
try "the documentation has the tables" documented
try "named queries are described" described
try "answers of named queries" answers
try "costs and capacity" costs
try "two versions of a service" versions
try "queries only read" only_reads
try "errors have a place" places
try "plans" plans
try "memory is limited" limited
try "an interrupted query leaves nothing" interrupted
try "what a killed query left is removed" killed
try "an interrupted export leaves nothing unfinished" interrupted_export
try "a failed export leaves nothing" failed_export
try "hostile names" hostile_names
try "CSV on a terminal" csv_on_a_terminal
try "pipes are refused" pipes
try "corrupt files" corrupt
in_all try "mutants" mutants
ktap_end
