#!/bin/bash
# Tests fleet/, the named queries in Spark: in a cluster of processes on this machine the answers of all
# of them are those of `gotrace sql`, row by row; names of hosts and files may be hostile; a table may
# be missing; and each error is one line. All queries share one session, whose start takes longest.
# tier: all
# parallel
# timeout: 600
# depends on: Makefile bpf include userspace fleet docs/tables.md selftests/deps-engine.sh selftests/fleet selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh
. selftests/programs.lib.sh
. selftests/fleet.lib.sh
. selftests/spark.lib.sh

# While another program takes the CPU of the target's threads
compete()
{
	taskset -apc 0 "$TARGET_PID" >/dev/null && taskset -c 0 timeout 5 bash -c 'while :; do :; done' &
	background+=($!)
}

recorded()
{
	local when_live=compete file=web1-pingpong-77-20261127T040000.000Z-test.trace

	taskset -c 0 true || return 1
	record_target pingpong "$ORACLE_GO" "--events sched,syscall,gc,kernel" -rate 3000 -duration 400ms &&
		mkdir -p "$tmp/traces" && mv "$RECORDED" "$tmp/traces/$file"
}

# Two traces of each program, with different versions of Go
made()
{
	make_fleet "$tmp/traces" 11 600000 && build/gotrace export parquet "$tmp/traces" -o "$tmp/tables"
}

# Names with all that Spark, Hadoop, paths, SQL and CSV treat specially, and a trace of a name that is a number
hostile()
{
	local dir=$tmp/hostile host trace=$tmp/traces/host=h005/service=tasked/5.trace

	for host in 007 'a b' "it's" '%41' 'é€😀' '{x,y}*?[z]' '_under' '.dot' __HIVE_DEFAULT_PARTITION__ 2026-01-01 1e5 'a:b' null NULL; do
		mkdir -p "$dir/host=$host/service=$host" && cp "$trace" "$dir/host=$host/service=$host/0012" || return 1
	done
	mkdir "$dir/host=007/service=\"q\",\\" && cp "$trace" "$dir/host=007/service=\"q\",\\/new
line é.trace" && cp "$trace" "$tmp/0034" || return 1
	find "$dir" -type f -print0 | xargs -0 build/gotrace export parquet -o "$tmp/odd [d]{i,r}*" &&
		(cd "$tmp" && ../../gotrace export parquet 0034 -o "odd [d]{i,r}*") || return 1
	mkdir "$tmp/less" "$tmp/nothing" && cp -r "$tmp/odd [d]{i,r}*/runs" "$tmp/less/" && cp -r "$tmp/less" "$tmp/corrupt" &&
		echo nonsense | tee "$(find "$tmp/corrupt" -name rows.parquet | head -n 1)" >/dev/null
}

# NAME DIR QUERY: a query in the session, to $tmp/jobs/NAME, and for `gotrace sql`
job()
{
	jq -n -r '$ARGS.positional | map(tojson) | join("\t")' --args "$tmp/$2" "$tmp/jobs/$1" "$3" >>"$tmp/jobs.in"
}

NAMES='SELECT file, host, service, date, hour, events FROM runs ORDER BY file, host'
FILTER="SELECT file, host, COUNT(*) AS n FROM goroutines WHERE host = '007' OR host = 'é€😀' OR file LIKE '%0034' GROUP BY file, host ORDER BY file NULLS LAST"
VALUES="SELECT '' AS empty, CAST(NULL AS VARCHAR(3)) AS \"null\", 'a\"b' AS quote, CAST(1 AS DOUBLE) / 3 AS third, true AS yes, DATE '2026-11-27' AS day,
	CAST(1e20 AS DOUBLE) AS big, 7 / 2 AS half, -7 % 3 AS rest, CAST(FLOOR(-0.5) AS BIGINT) AS down"

queues()
{
	mkdir "$tmp/jobs" && job names "odd [d]{i,r}*" "$NAMES" && job filter "odd [d]{i,r}*" "$FILTER" &&
		job values less "${VALUES//\"null\"/\`null\`}" && job types less "SELECT typeof(date) AS d, typeof(hour) AS h, typeof(host) AS o, typeof(service) AS s, typeof(file) AS f, typeof(events) AS e FROM runs LIMIT 1" &&
		job empty less 'SELECT COUNT(*) AS n, MAX(name) AS name, SUM(ns) AS ns, MAX(date) AS day FROM gc' &&
		job syntax less 'SELEC 1' && job unknown less 'SELECT nothing FROM runs' && job two less 'SELECT 1; SELECT 2' &&
		job insert less 'INSERT INTO runs SELECT * FROM runs' && job drop less 'DROP VIEW runs' && job set less 'SET spark.a=b' &&
		job reflects less "SELECT reflect('java.lang.System', 'nanoTime')" && job java less "SELECT * FROM runs WHERE (SELECT JAVA_METHOD('java.lang.System', 'nanoTime')) > 0" &&
		job reads less 'WITH w AS (SELECT * FROM text.`/etc/passwd`) SELECT * FROM w' && job executes less "SELECT TRANSFORM (host) USING 'id' AS (x STRING) FROM runs" &&
		job opens less "SELECT from_xml('<a/>', 'a STRING', map('rowValidationXSDPath', '/etc/passwd'))" &&
		job hides less "SELECT IDENTIFIER('reflect')('java.lang.System', 'nanoTime')" &&
		job writes less "INSERT OVERWRITE DIRECTORY '$PWD/$tmp/written' USING csv SELECT 1" && job create less 'CREATE TABLE t (a INT)' &&
		job overflow less 'SELECT SUM(9223372036854775807 - events + events) AS n FROM runs' &&
		job missing none 'SELECT 1' && job nothing nothing 'SELECT 1' && job bad corrupt 'SELECT COUNT(events) AS n FROM runs'
}

asks()
{
	spark_answers 'local-cluster[2,1,1024]' "$tmp/tables" "$tmp/spark" "${SPARK_SHORT[@]}" <"$tmp/jobs.in" >"$tmp/times"
}

answers() # of all named queries; each of them has rows
{
	mkdir "$tmp/own" && same_answers "$tmp/tables" "$tmp/spark" "$tmp/own" >"$tmp/rows"
	local status=$?
	cat "$tmp/rows"
	[ $status -eq 0 ] && [ "$(wc -l <"$tmp/rows")" -ge 10 ] && ! grep ': 0 rows' "$tmp/rows"
}

same_job() # NAME DIR QUERY
{
	build/gotrace sql --csv "$3" "$tmp/$2" >"$tmp/jobs/$1.own" && same_text "$tmp/jobs/$1" "$tmp/jobs/$1.own"
}

hostile_names()
{
	same_job names "odd [d]{i,r}*" "$NAMES" && [ "$(grep -c '^' "$tmp/jobs/names")" -eq 18 ] && grep -q ',007,007,' "$tmp/jobs/names" &&
		grep -q 'é€😀,é€😀' "$tmp/jobs/names" && same_job filter "odd [d]{i,r}*" "$FILTER" && [ "$(tail -n +2 "$tmp/jobs/filter" | grep -c ',[1-9]')" -eq 4 ]
}

missing_table() { cmp "$tmp/jobs/empty" <(printf 'n,name,ns,day\n0,,,\n'); }
column_types() { cmp "$tmp/jobs/types" <(printf 'd,h,o,s,f,e\ndate,bigint,string,string,string,bigint\n'); }

failed() # NAME PATTERN
{
	[ "$(wc -l <"$tmp/jobs/$1")" -eq 1 ] && grep -qE "^error: .*$2" "$tmp/jobs/$1" || { echo "$1: $(cat "$tmp/jobs/$1")"; return 1; }
}

errors()
{
	local name

	for name in insert drop set writes create; do
		failed $name 'only queries are accepted' || return 1
	done
	failed reflects 'the function reflect is refused' && failed java 'the function java_method is refused' && failed reads 'the table text./etc/passwd is refused' &&
		failed executes 'TRANSFORM is refused' && failed opens 'the function from_xml is refused' && failed hides 'IDENTIFIER\(\) is refused' || return 1
	failed syntax 'SELEC' && failed unknown 'nothing' && failed two 'SYNTAX_ERROR|;' && failed overflow 'overflow' &&
		failed missing 'none: the directory contains none of the tables' && failed nothing 'contains none of the tables' &&
		failed bad 'rows.parquet' && [ ! -e "$tmp/written" ]
}

# STATUS PATTERN ARGUMENT...: the command prints one line
command_fails()
{
	PYTHONPATH=fleet refused "$1" "$2" "$SPARK_PYTHON" -m gotrace_fleet "${@:3}"
}

commands() # of which only the last starts Spark
{
	command_fails 2 'missing argument DIR' 'SELECT 1' && command_fails 2 "unknown query 'none'" --run none x &&
		command_fails 2 'unrecognized arguments: --none' --none && command_fails 1 'contains none of the tables' --master 'local[1]' --run runs "$tmp/nothing"
}

lists() # the same queries, bit for bit; also in an installation
{
	local name

	"$SPARK_PYTHON" -m pip -q install --disable-pip-version-check --no-deps --target "$tmp/installed" "$(copy_of_package)" || return 1
	PYTHONPATH=$tmp/installed "$SPARK_PYTHON" -m gotrace_fleet --list | cmp - <(build/gotrace sql --list) || return 1
	for name in $(named_queries); do
		PYTHONPATH=$tmp/installed "$SPARK_PYTHON" -m gotrace_fleet --run "$name" --list | cmp - "userspace/sql/queries/$name.sql" || return 1
	done
}

copy_of_package() # pip writes into the folder that it installs
{
	cp -rL fleet "$tmp/package" && echo "./$tmp/package"
}

ktap_start
prepare_spark
try "unit tests" env PYTHONPATH=fleet python3 -m unittest discover -s fleet/tests
try "the installed package has the same queries" lists
try "a trace with kernel events, beside another program" recorded
try "traces of several programs and versions" made
try "hostile names" hostile
try "queries" queues
try "Spark answers" asks && note "seconds and CPU seconds of each query:" && note "$(sed 's,^.*/,,' "$tmp/times")"
try "the answers are those of gotrace sql" answers && note "$(cat "$tmp/rows")"
try "hostile names of hosts, services and files" hostile_names
try "types of columns" column_types
try "values" same_job values less "$VALUES"
try "a missing table is empty" missing_table
try "errors are one line, and nothing is written" errors
try "exit status" commands
ktap_end
