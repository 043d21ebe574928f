#!/bin/bash
# Tests `gotrace export parquet` beyond selftests/check/sql.sh: CPU samples and losses, whose traces need recordings of
# their own; named queries about them; files that earlier or killed exports left; names with special characters; and
# tables of many rows, with the numbers and texts that their encodings treat differently; and the memory that many
# goroutines take.
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace selftests/deps-engine.sh selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh
. selftests/sql.lib.sh

export_parquet() # FILE... -o OUT
{
	timeout 100 $READER export parquet "$@"
}

# --- tables

samples() # of a trace and its Parquet files
{
	record_target spin "$ORACLE_GO" "--cpu-profile 1000" -duration "$(by_tier 300ms 1s 1s)" && mv "$RECORDED" "$tmp/samples.trace" &&
		export_parquet "$tmp/samples.trace" -o "$tmp/sampled" &&
		$READER events --stacks --json "$tmp/samples.trace" | jq -c -S 'select(.event == "CPUSample")' >"$tmp/samples.json" || return 1
	for from in "$tmp/samples.trace" "$tmp/sampled"; do
		sql 'SELECT time_ns AS time, thread AS m, p, g FROM samples' "$from" | sort >"$tmp/samples.sql"
		jq -c -S '{time, m, p, g}' "$tmp/samples.json" | sort >"$tmp/samples.other"
		same samples 50 || return 1
		sql 'SELECT time_ns AS time, thread AS m, s.function AS func, s.source AS file, s.line, s.pc, s.depth FROM samples JOIN stacks s ON samples.stack = s.stack' "$from" | sort >"$tmp/frames.sql"
		jq -c -S '.time as $time | .m as $m | .stack // [] | to_entries[] | .key as $depth | .value | {time: $time, m: $m, func, file, line, pc, depth: $depth}' "$tmp/samples.json" | sort >"$tmp/frames.other"
		same frames 100 || return 1
	done
}

losses()
{
	local from

	record_target lossy "$ORACLE_GO" "--ring-size=64K" $(by_tier "-load 400ms -quiet 1s" "" "") && mv "$RECORDED" "$tmp/losses.trace" && export_parquet "$tmp/losses.trace" -o "$tmp/lost" &&
		$READER stat --json "$tmp/losses.trace" | jq -c -S '.private.losses[] | {kind, count, from_ns: .from, to_ns: .to}' | sort >"$tmp/losses.other" || return 1
	for from in "$tmp/losses.trace" "$tmp/lost"; do
		sql 'SELECT kind, CAST(SUM(count) AS BIGINT) AS count, MIN(from_ns) AS from_ns, MAX(to_ns) AS to_ns FROM losses GROUP BY kind' "$from" | sort >"$tmp/losses.sql"
		same losses || return 1
	done
}

# --- named queries

runs()
{
	local file

	for file in "$tmp/samples.trace" "$short"; do
		sql --run runs --host h --service s "$file" >"$tmp/runs.sql"
		$READER stat --json "$file" | jq -c -S '. as $s | .generations[0].clock as $c | {file, host: "h", service: "s", go_version: ([.private.meta[] | select(.name == "go_version") | .value] | first // null),
			duration_ns: .duration, events, goroutines: .goroutines.seen, kernel_events: (.kernel.items // 0), lost: .private.lost}' >"$tmp/runs.other"
		# jq's numbers are not exact enough for this one
		read -r sec nsec time start < <($READER stat --json "$file" | jq -r '.start as $start | .generations[0].clock | "\(.wall_sec) \(.wall_nsec) \(.time) \($start)"')
		[ "$(grep -o '"wall_ns": *[0-9]*' "$tmp/sql.json" | grep -o '[0-9]*$')" = $((sec * 1000000000 + nsec - (time - start))) ] || return 1
		jq -c -S 'del(.wall_ns)' "$tmp/runs.sql" >"$tmp/runs" && mv "$tmp/runs" "$tmp/runs.sql"
		same runs || return 1
	done
}

# Cycles, pauses, sweeps and assists from single events; shares from `gotrace latency`
gc_cost()
{
	sql --run gc-cost "$short" | jq -c -S 'del(.date, .hour, .host, .service)' >"$tmp/gc-cost.sql"
	$READER stat --json "$short" >"$tmp/stat" && $READER latency --all --json "$short" >"$tmp/latency" || return 1
	$READER events --json "$short" | jq -c -S -n --slurpfile s "$tmp/stat" --slurpfile l "$tmp/latency" '
		reduce (inputs | select(.kind == "RangeBegin" or .kind == "RangeEnd")) as $e ({open: {}, all: []}; "\($e.name) \($e.goroutine // $e.proc)" as $key |
			if $e.kind == "RangeBegin" then .open[$key] = $e else .all += [{name: $e.name, ns: ($e.time - .open[$key].time)}] | del(.open[$key]) end) |
		# what is open at the end counts, but has no duration
		.all + [.open[] | {name, ns: null}] |
		def of(f): map(select(.name | f) | .ns);
		of(startswith("GC concurrent")) as $gc | of(startswith("stop-the-world")) as $stw | of(startswith("GC incremental sweep")) as $sweep | of(startswith("GC mark assist")) as $assist |
		([$l[0].goroutines[].of_which.gc_assist_ns] | add) as $assist_ns | ([$l[0].goroutines[].oncpu_ns] | add) as $oncpu |
		{recorded_ns: $s[0].duration, cycles: ($gc | length), mark_ns: ($gc | add), pauses: ($stw | length), stw_ns: ($stw | add), max_stw_ns: ($stw | max),
		sweep_ns: ($sweep | add // 0), assists: ($assist | length), assist_ns: $assist_ns, assist_ppm: ($assist_ns * 1000000 / $oncpu | floor)}' >"$tmp/gc-cost.other"
	same gc-cost
}

# Programs that compete for one CPU with the target: its waits by `gotrace latency`, and how many and how long from single slices
noisy_neighbours()
{
	local cpu status busy=()

	for cpu in $(seq "$(nproc)"); do
		setpriv --pdeathsig KILL bash -c 'while :; do :; done' &
		busy+=($!)
	done
	record_target pingpong "$ORACLE_GO" "--events sched,syscall,gc,kernel" -rate 3000 -duration 1s
	status=$?
	kill "${busy[@]}"
	[ $status -eq 0 ] || return 1
	sql --run noisy-neighbours "$RECORDED" >"$tmp/noisy" && [ "$(wc -l <"$tmp/noisy")" -gt 0 ] || { echo "nothing had the CPUs of the target"; return 1; }
	jq -c -S '{reason, total_ns}' "$tmp/noisy" | sort >"$tmp/noisy.sql"
	$READER latency --json "$RECORDED" | jq -c -S '[.functions[].by_reason.kernel_runnable[] | select(.name | startswith("CPU held by "))] | group_by(.name)[] |
		{reason: .[0].name, total_ns: (map(.ns) | add)}' | sort >"$tmp/noisy.other"
	same noisy || return 1
	cp "$tmp/noisy" "$tmp/noisy.sql"
	sql 'SELECT * FROM slices' "$RECORDED" | jq -c -S -s 'map(select(.part == "kernel-runnable" and .reason and (.reason | startswith("CPU held by ")))) | group_by(.reason) |
		map({host: .[0].host, service: .[0].service, reason: .[0].reason, waits: length, total_ns: (map(.ns) | add), max_ns: (map(.ns) | max)}) | sort_by([-.total_ns, .reason])[:50][]' >"$tmp/noisy.other"
	same noisy
}

# --- directories

files() { find "$tmp/again" -name rows.parquet | sed "s,^$tmp/again/,," | sort; }

# A trace that has no rows of a table any more loses its file, and only that: not what a link names.
emptied()
{
	local gone folder

	mkdir "$tmp/in" && cp "$tmp/samples.trace" "$tmp/in/x.trace" && cp "$tmp/samples.trace" "$tmp/in/y.trace" || return 1
	export_parquet "$tmp/in" -o "$tmp/again" --host h --service s && gone=$(files | grep '^samples/.*x.trace') && [ -n "$gone" ] || return 1
	folder=$(dirname "$tmp/again/$gone")
	echo kept >"$folder/other.parquet"
	$READER cut --to 1us "$tmp/samples.trace" -o "$tmp/cut.trace" && mv "$tmp/cut.trace" "$tmp/in/x.trace" || return 1
	export_parquet "$tmp/in" -o "$tmp/again" --host h --service s && [ ! -e "$tmp/again/$gone" ] && [ -e "$folder/other.parquet" ] &&
		files | grep -q '^samples/.*y.trace' && files | grep -q '^events/.*x.trace' || return 1
	rm -r "$folder" && mkdir "$tmp/elsewhere" && echo kept >"$tmp/elsewhere/rows.parquet" && ln -s "$PWD/$tmp/elsewhere" "$folder" &&
		export_parquet "$tmp/in" -o "$tmp/again" --host h --service s && [ -e "$tmp/elsewhere/rows.parquet" ]
}

has_staged() { [ -n "$(find "$tmp/killed" -path '*/.gotrace-*/*' 2>/dev/null)" ]; }

# What a killed export left is removed by the next one, but not what others use or own.
killed()
{
	local i pid

	mkdir "$tmp/many" "$tmp/killed" || return 1
	for i in {1..400}; do
		ln "$short" "$tmp/many/$i.trace" || cp "$short" "$tmp/many/$i.trace" || return 1
	done
	$READER export parquet "$tmp/many" -o "$tmp/killed" >/dev/null 2>&1 </dev/null &
	pid=$!
	background+=("$pid")
	wait_until 30 has_staged && kill -KILL "$pid" || return 1
	wait "$pid"
	ls -d "$tmp"/killed/.gotrace-* >/dev/null || return 1
	mkdir "$tmp/killed/.gotrace-locked" "$tmp/killed/.gotrace-subdir" "$tmp/killed/.gotrace-longer-name" "$tmp/target" &&
		mkdir "$tmp/killed/.gotrace-subdir/x" && touch "$tmp/killed/.gotrace-locked/x" "$tmp/target/x" &&
		ln -s "$PWD/$tmp/target" "$tmp/killed/.gotrace-linked" && touch "$tmp/killed/.gotrace-afile1" || return 1
	flock "$tmp/killed/.gotrace-locked" timeout 100 $READER export parquet "$short" -o "$tmp/killed" &&
		(cd "$tmp/killed" && ls -d .gotrace-*) >"$tmp/left" && [ -e "$tmp/target/x" ] && [ -e "$tmp/killed/.gotrace-locked/x" ] &&
		cmp "$tmp/left" <(printf '.gotrace-%s\n' afile1 linked locked longer-name subdir) || { cat "$tmp/left"; return 1; }
	export_parquet "$short" -o "$tmp/killed" && [ ! -e "$tmp/killed/.gotrace-locked" ]
}

# Names that are patterns for the engine, beside others that they match
special_names()
{
	local name

	for name in 'o?' 'o[a]' 'o*' '**' '[' 'o]' 'o{a,b}' 'o\a' "o'a" oa ob; do
		mkdir -p "$tmp/special/$name" && export_parquet "$short" -o "$tmp/special/$name" || return 1
	done
	sql 'SELECT COUNT(*) AS n FROM events' "$short" >"$tmp/n.other"
	for name in 'o?' 'o[a]' 'o*' '**' '[' 'o]' 'o{a,b}' 'o\a' "o'a"; do
		sql 'SELECT COUNT(*) AS n FROM events' "$tmp/special/$name" >"$tmp/n.sql"
		same n || { echo "$name"; return 1; }
	done
}

# Names that are not UTF-8, some of which would be the same without the other bytes, and paths that are too long for a
# directory, of which the first half differs, or which would be cut within a character
other_names()
{
	local in=$tmp/names long

	long=$(printf '\303\244%.0s' {1..70})
	mkdir -p "$in/a/$long" "$in/b/x$long" "$in/c/y$long" "$in"/host=$'h\xff/service=s\xc3' && tee "$in"/$'\xff.trace' "$in"/$'\xfe.trace' \
		"$in"/host=$'h\xff/service=s\xc3/x.trace' "$in/a/$long/x.trace" "$in/b/x$long/x.trace" "$in/c/y$long/x.trace" <"$short" >/dev/null || return 1
	(cd "$tmp" && timeout 100 "$OLDPWD/$READER" export parquet names -o other-names) || return 1
	sql "SELECT file, host, service FROM runs ORDER BY file" "$in" | jq -c -S 'select(.file | contains("\u00e4") | not) | .file |= sub(".*names/"; "names/")' >"$tmp/others.other"
	[ "$(wc -l <"$tmp/others.other")" -eq 3 ] && grep -qF '"names/\\xff.trace"' "$tmp/others.other" && grep -qF '"h\\xff"' "$tmp/others.other" || { cat "$tmp/others.other"; return 1; }
	sql "SELECT file, host, service FROM runs ORDER BY file" "$tmp/other-names" >"$tmp/all.sql" && grep -v '\(ä\)' "$tmp/all.sql" >"$tmp/others.sql"
	same others && [ "$(grep 'ä/x.trace"' "$tmp/all.sql" | sort -u | wc -l)" -eq 3 ]
}

# --- encodings

# More rows than a group: distinct texts and numbers, gaps, nulls, and equal ones
many_rows()
{
	local table

	record_target many "$ORACLE_GO" "" && export_parquet "$RECORDED" -o "$tmp/out" || return 1
	[ "$($READER stat --json "$RECORDED" | jq .events)" -gt 70000 ] || { echo "too few events"; return 1; }
	for table in $($READER sql --schema | sed -n 's/^\([a-z]*\): .*/\1/p'); do
		$READER sql "SELECT * FROM $table ORDER BY ALL" "$RECORDED" >"$tmp/table.sql" && $READER sql "SELECT * FROM $table ORDER BY ALL" "$tmp/out" >"$tmp/table.other" && same table || { echo "$table"; return 1; }
	done
}

# --- memory

peak() # TRACE OUT: exports it, and prints the memory that this took, in KiB
{
	/usr/bin/time -f %M -o "$tmp/peak" timeout 100 $READER export parquet "$1" -o "$2" && tail -n 1 "$tmp/peak"
}

# A goroutine that only waits takes 400 bytes. Their number and times are also those of `gotrace goroutines`. The tables
# of both traces have several groups of rows, so the engine needs as much for them.
many_goroutines()
{
	local few many base=100000 n=300000

	selftests/fuzz/crafted blocked $base >"$tmp/few.trace" && selftests/fuzz/crafted blocked $n >"$tmp/blocked.trace" &&
		few=$(peak "$tmp/few.trace" "$tmp/few") && many=$(peak "$tmp/blocked.trace" "$tmp/blocked") || return 1
	note "$(((many - few) * 1024 / (n - base))) bytes per goroutine; $((many / 1024)) MiB for $n"
	[ $(((many - few) * 1024)) -lt $(((n - base) * 600)) ] || return 1
	sql 'SELECT COUNT(*) AS goroutines, CAST(SUM(total_ns) AS BIGINT) AS total_ns FROM goroutines' "$tmp/blocked" >"$tmp/blocked.sql" &&
		$READER goroutines --json "$tmp/blocked.trace" | jq -c -S '{goroutines: ([.groups[].count] | add), total_ns: ([.groups[].total] | add)}' >"$tmp/blocked.other" &&
		same blocked || return 1
	# half of them wait; half are runnable, run and wait; the first one runs on an unknown thread, then on thread 0, and is runnable
	sql 'SELECT COUNT(*) AS n FROM slices' "$tmp/blocked" >"$tmp/slices.sql" && echo "{\"n\":$((2 * n + 3))}" >"$tmp/slices.other" && same slices
}

# --- forged files

# Mutants of a file: no crash, no more memory than permitted, and an error is one line
forged()
{
	local file i status size

	file=$(find "$tmp/sampled/events" -name rows.parquet) && size=$(stat -c %s "$file") && mkdir -p "$tmp/forged/events/date=2026-01-01/hour=1/host=h/service=s/file=f" || return 1
	for i in {1..40}; do
		cp "$file" "$tmp/forged/events/date=2026-01-01/hour=1/host=h/service=s/file=f/rows.parquet"
		# half of them in the footer
		printf '\xff\x80\x7f' | dd of="$tmp/forged/events/date=2026-01-01/hour=1/host=h/service=s/file=f/rows.parquet" bs=1 conv=notrunc status=none \
			seek=$((i % 2 ? size * i / 41 : size - 12 - i * 37))
		(ulimit -v 8000000 && timeout 60 $READER sql 'SELECT COUNT(*), SUM(time_ns), SUM(LENGTH(name)), SUM(stack), MAX(type) FROM events' "$tmp/forged" >"$tmp/m.out" 2>"$tmp/err")
		status=$?
		[ $status -le 1 ] && [ "$(wc -l <"$tmp/err")" -eq $status ] || { echo "mutant $i: $status"; cat "$tmp/err"; return 1; }
	done
}

# All directories and files belong to the user of sudo, also those of an earlier export.
of_sudo()
{
	install -d -m 755 -o 65534 -g 65534 "$tmp/user" || return 1
	for _ in 1 2; do
		SUDO_UID=65534 SUDO_GID=65534 export_parquet "$short" -o "$tmp/user/out" || return 1
		[ -z "$(find "$tmp/user" ! -user 65534 -o ! -group 65534)" ] &&
			[ "$(find "$tmp/user/out" -name rows.parquet -perm 600 | wc -l)" -ge 5 ] || return 1
	done
	SUDO_UID=65534 SUDO_GID=65534 export_parquet "$short" -o "$tmp/of-root" && [ -z "$(find "$tmp/of-root" -user 65534)" ]
}

# The owner of OUT puts a link in the place of root's private directory, as soon as it is there or once it is in use:
# nothing is written where the link leads; the export is complete, or refused.
exchanged() # new | used
{
	local i pid traces status

	traces=$(by_tier 40 100 400)
	chmod 755 "$tmp" build build/tmp
	install -d -m 777 -o 65534 -g 65534 "$tmp/theirs" && mkdir -m 700 "$tmp/victim" && mkdir "$tmp/same" || return 1
	for ((i = 0; i < traces; i++)); do
		ln "$short" "$tmp/same/$i.trace" || cp "$short" "$tmp/same/$i.trace" || return 1
	done
	(cd "$tmp/theirs" && exec setpriv --reuid=65534 --regid=65534 --clear-groups sh -c '
		until name=$(echo .gotrace-??????) && begin=$(stat -c %y "$name"); do :; done 2>/dev/null
		while [ '"$1"' = used ] && [ "$(stat -c %y "$name")" = "$begin" ]; do :; done # until a file is created in it
		mv "$name" away && ln -s ../victim "$name"') &
	pid=$!
	background+=("$pid")
	export_parquet "$tmp/same" -o "$tmp/theirs" 2>"$tmp/err"
	status=$?
	cat "$tmp/err"
	wait_until 5 [ -L "$tmp"/theirs/.gotrace-?????? ]
	kill "$pid" 2>/dev/null
	[ -d "$tmp/theirs/away" ] && [ -z "$(ls "$tmp/victim")" ] && rm -r "$tmp/victim" "$tmp/same" || return 1
	if [ $status -eq 0 ]; then
		[ "$(find "$tmp/theirs/runs" -name rows.parquet | wc -l)" -eq "$traces" ]
	else
		[ $status -eq 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q '^gotrace: ' "$tmp/err"
	fi && rm -r "$tmp/theirs"
}

ktap_start
short=$CORPUS/runs/short-$ORACLE_GO.trace
try "build" build_reader
try "the engine is installed" selftests/deps-engine.sh
try "traces" trace_short_runs
try "CPU samples" samples
try "losses" losses
try "the query runs" runs
try "the query gc-cost" gc_cost
in_all try "the query noisy-neighbours" noisy_neighbours
try "files belong to the user of sudo" of_sudo
try "the private directory is exchanged" exchanged new
try "the private directory is exchanged while it is used" exchanged used
try "an empty table loses its file" emptied
try "what a killed export left is removed" killed
try "names with special characters" special_names
try "names that are not UTF-8 or too long" other_names
in_all try "many rows" many_rows
in_all try "the memory for many goroutines" many_goroutines
try "forged files" forged
ktap_end
