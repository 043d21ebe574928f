#!/bin/bash
# The named queries over the traces of many hosts, by the embedded engine and by Spark: traces of this
# project's programs, one per host, of which 1, 10 and all are queried. Compares the answers row by row,
# and prints the CPU time of each query in both engines, and their plans.
#
#     FLEET_FILES=100 FLEET_BYTES=10000000000   traces, and their size in all; about twice as much is exported
#     FLEET_SHORT=yes                           for less than 1 GB: as in check/spark.sh
#     FLEET_DIR=DIR                             a folder that is kept: its traces are used again, and it has
#                                               the table of times, the plans and the answers
# tier: long
# timeout: 14400
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh
. selftests/programs.lib.sh
. selftests/fleet.lib.sh
. selftests/spark.lib.sh
FLEET_FILES=${FLEET_FILES:-100} FLEET_BYTES=${FLEET_BYTES:-10000000000}

list_queries()
{
	mapfile -t queries < <(named_queries)
	[ ${#queries[@]} -ge 10 ]
}

# Two traces are never the same, and all of them are valid.
different()
{
	local sums

	sums=$(find "$dir/traces" -name '*.trace' -exec sha256sum {} + | cut -d ' ' -f 1 | sort)
	[ "$(wc -l <<<"$sums")" -eq "$FLEET_FILES" ] && [ "$(uniq <<<"$sums" | wc -l)" -eq "$FLEET_FILES" ] || return 1
	size=$(find "$dir/traces" -name '*.trace' -printf '%s\n' | awk '{ n += $1 } END { printf "%.0f", n }')
}

# COMMAND...: sets CPU, its seconds of user and system time
measured()
{
	local TIMEFORMAT='%U %S' status

	{ time "$@" >&3 2>&4; } 3>&1 4>&2 2>"$tmp/time"
	status=$?
	CPU=$(awk 'END { printf "%.2f", $1 + $2 }' "$tmp/time")
	return $status
}

exported()
{
	rm -rf "$dir/tables-$FLEET_FILES"
	measured build/gotrace export parquet "$dir/traces" -o "$dir/tables-$FLEET_FILES" || return 1
	exporting=$CPU
	tables=$(du -sb "$dir/tables-$FLEET_FILES" | cut -f 1)
}

# N: the tables of the first N hosts, as links to those of all
part()
{
	local i host folder to

	[ "$1" -ne "$FLEET_FILES" ] || return 0
	rm -rf "$dir/tables-$1" && mkdir "$dir/tables-$1" || return 1
	for ((i = 0; i < $1; i++)); do
		host=$(fleet_host "$i")
		while read -r folder; do
			to=$dir/tables-$1/$(dirname "${folder#"$dir/tables-$FLEET_FILES/"}")
			mkdir -p "$to" && cp -rl "$folder" "$to/" || return 1
		done < <(find "$dir/tables-$FLEET_FILES" -type d -name "host=$host")
	done
	[ "$(build/gotrace sql --csv 'SELECT COUNT(DISTINCT host) AS hosts FROM runs' "$dir/tables-$1")" = $'hosts\n'"$1" ]
}

# N: the embedded engine
own()
{
	local name

	mkdir -p "$dir/own-$1"
	for name in "${queries[@]}"; do
		measured build/gotrace sql --csv --run "$name" "$dir/tables-$1" >"$dir/own-$1/$name.csv" || return 1
		echo "own-$1 $name $CPU" >>"$tmp/times"
		build/gotrace sql --explain --run "$name" "$dir/tables-$1" >"$dir/own-$1/$name.plan" || return 1
	done
}

# The first hosts come twice: then the compilers of the JVM have done most of their work.
spark()
{
	local n arguments=("$dir/tables-${at[0]}" "$dir/warm")

	for n in "${at[@]}"; do
		arguments+=("$dir/tables-$n" "$dir/spark-$n")
	done
	[ -z "${FLEET_SHORT-}" ] || arguments+=("${SPARK_SHORT[@]}")
	spark_answers "local-cluster[2,1,${FLEET_MEMORY:-3072}]" "${arguments[@]}" "spark.executor.memory=${FLEET_MEMORY:-3072}m" \
		spark.driver.memory=2g </dev/null >"$tmp/spark.times" || return 1
	awk '{ sub(/.*\//, "", $1); print $1, $2, $4 }' "$tmp/spark.times" >>"$tmp/times"
}

# N: the rows of both engines
same_rows()
{
	local name

	for name in "${queries[@]}"; do
		same_text "$dir/spark-$1/$name.csv" "$dir/own-$1/$name.csv" || { echo "$name of $1 hosts"; return 1; }
	done
}

# One row per query: CPU seconds by number of hosts, of both engines
table()
{
	awk -v at="${at[*]}" '
	BEGIN {
		n = split(at, hosts, " ")
		for (e = 1; e <= 2; e++)
			for (i = 1; i <= n; i++) {
				head = head sprintf(" %s, %d |", e == 1 ? "embedded" : "Spark", hosts[i])
				line = line "---|"
			}
		print "| query |" head "\n|---|" line
	}
	{ seconds[$1, $2] = $3; sum[$1] += $3; if (!seen[$2]++) name[++names] = $2 }
	END {
		for (k = 1; k <= names; k++) {
			printf "| %s |", name[k]
			for (e = 1; e <= 2; e++)
				for (i = 1; i <= n; i++)
					printf " %.1f |", seconds[(e == 1 ? "own-" : "spark-") hosts[i], name[k]]
			print ""
		}
		printf "| all |"
		for (e = 1; e <= 2; e++)
			for (i = 1; i <= n; i++)
				printf " %.1f |", sum[(e == 1 ? "own-" : "spark-") hosts[i]]
		print ""
	}' "$tmp/times" >"$dir/times.md" && [ "$(wc -l <"$dir/times.md")" -eq $((${#queries[@]} + 3)) ]
}

ktap_start
dir=${FLEET_DIR:-$tmp}
mkdir -p "$dir"
at=()
for n in "${FLEET_HOSTS_AT[@]}"; do
	[ "$n" -ge "$FLEET_FILES" ] || at+=("$n")
done
at+=("$FLEET_FILES")
prepare_spark
try "named queries" list_queries
try "$FLEET_FILES traces of $FLEET_BYTES bytes" make_fleet "$dir/traces" "$FLEET_FILES" "$FLEET_BYTES"
try "the traces differ" different && note "$size bytes of traces"
try "export" exported && note "$tables bytes of Parquet, $exporting s of CPU time; load $(cut -d ' ' -f 1-3 /proc/loadavg)"
for n in "${at[@]}"; do
	try "tables of $n hosts" part "$n"
	try "the embedded engine: $n hosts" own "$n"
done
try "Spark" spark && note "$(sed 's,^.*/\(spark\|warm\),\1,' "$tmp/spark.times")"
for n in "${at[@]}"; do
	try "both engines give the same answers: $n hosts" same_rows "$n"
done
try "table" table && note "CPU time in seconds:" && note "$(cat "$dir/times.md")"
for name in "${queries[@]}"; do
	note "plan of $name, embedded:" && note "$(cat "$dir/own-$FLEET_FILES/$name.plan")"
	note "plan of $name, Spark:" && note "$(cut -c 1-300 "$dir/spark-$FLEET_FILES/$name.plan")"
done
ktap_end
