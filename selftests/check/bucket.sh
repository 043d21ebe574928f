#!/bin/bash
# The named queries in Spark over a bucket of a real S3-compatible server (VersityGW), to which the tables
# were uploaded by Hadoop's connector: in a cluster of processes on this machine the answers of all of them
# are those of `gotrace sql` over the directory, names of hosts may be hostile, and errors are one line. The
# connector and the library that it needs are 690 MB.
# tier: long
# timeout: 3000
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh
. selftests/programs.lib.sh
. selftests/fleet.lib.sh
. selftests/spark.lib.sh
. selftests/servers.lib.sh
. selftests/field.lib.sh
. selftests/ship.lib.sh

# Traces of several programs, one of them also of hosts with names that URIs, XML and S3 treat specially
made()
{
	local host trace=$tmp/traces/host=h005/service=tasked/5.trace

	make_fleet "$tmp/traces" 11 600000 || return 1
	for host in 'a b' "it's" '%41' 'é€😀' '{x,y}*?[z]' 'a+b' 'a&b<c>' __HIVE_DEFAULT_PARTITION__; do
		mkdir -p "$tmp/traces/host=$host/service=tasked" && cp "$trace" "$tmp/traces/host=$host/service=tasked/" || return 1
	done
	build/gotrace export parquet "$tmp/traces" -o "$tmp/tables"
}

starts()
{
	build_field versitygw 1.26.8 github.com/versity/versitygw/cmd/versitygw && mkdir -p "$tmp/buckets/traces" &&
		PORT=$(free_port) && ROOT_ACCESS_KEY=$AWS_ACCESS_KEY_ID ROOT_SECRET_KEY=$AWS_SECRET_ACCESS_KEY \
		serve_on "$PORT" "$SERVER" --quiet --port "127.0.0.1:$PORT" posix "$tmp/buckets" || return 1
	settings=(spark.jars="$(printf '%s\n' "$S3A"/*.jar | paste -s -d ,)" spark.hadoop.fs.s3a.endpoint="http://127.0.0.1:$PORT"
		spark.hadoop.fs.s3a.endpoint.region=us-east-1 spark.hadoop.fs.s3a.path.style.access=true)
}

uploads() # as many objects as files
{
	PYTHONPATH=fleet timeout 600 "$SPARK_PYTHON" selftests/fleet/upload.py "$(realpath "$tmp/tables")" s3a://traces/ "${settings[@]}" </dev/null &&
		[ "$(find "$tmp/buckets/traces/tables" -type f | wc -l)" -eq "$(find "$tmp/tables" -type f | wc -l)" ]
}

answers() # each of the queries has rows, except the one that needs kernel events
{
	mkdir "$tmp/own"
	spark_answers 'local-cluster[2,1,1024]' s3a://traces/tables "$tmp/spark" "${SPARK_SHORT[@]:0:1}" \
		"${settings[@]}" </dev/null >"$tmp/times" || return 1
	same_answers "$tmp/tables" "$tmp/spark" "$tmp/own" >"$tmp/rows" || { cat "$tmp/rows"; return 1; }
	[ "$(wc -l <"$tmp/rows")" -ge 10 ] && ! grep -v ^noisy-neighbours "$tmp/rows" | grep ': 0 rows'
}

# PATTERN ARGUMENT...: the command prints one line
command_fails()
{
	local setting conf=()

	for setting in "${settings[@]}"; do
		conf+=(--conf "$setting")
	done
	PYTHONPATH=fleet refused 1 "$1" "$SPARK_PYTHON" -m gotrace_fleet --master 'local[1]' "${conf[@]}" "${@:2}"
}

wrong_key() { AWS_SECRET_ACCESS_KEY=wrong command_fails 'Forbidden|SignatureDoesNotMatch|403' --run runs s3a://traces/tables; }

ktap_start
prepare_spark
try "pinned connector for S3" install_s3a
try "traces" made
try "a server" starts
try "the tables are uploaded" uploads
try "the answers are those of gotrace sql" answers && note "$(cat "$tmp/rows")"
try "no such bucket" command_fails 'none' --run runs s3a://none/tables
try "no tables below the prefix" command_fails 'contains none of the tables' --run runs s3a://traces/other
try "a wrong key" wrong_key
ktap_end
