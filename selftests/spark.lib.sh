# Spark for the tables of traces, in a cache outside of the tree; read after lib.sh and programs.lib.sh.

export PYTHONDONTWRITEBYTECODE=1 PYTHONUTF8=1

install_spark() # sets SPARK_PYTHON; of exactly the versions of the requirements, which are checked by their hashes
{
	local requirements=selftests/fleet/requirements.txt key folder temporary

	key=$(sha256sum <$requirements)
	folder=$PROGRAM_CACHE/spark-${key:0:16}
	SPARK_PYTHON=$folder/bin/python
	mkdir -p "$PROGRAM_CACHE" || return 1
	exec 7>"$PROGRAM_CACHE/spark.lock"
	flock 7
	if [ ! -e "$folder/complete" ]; then
		rm -rf "$folder"
		python3 -m venv "$folder" && "$folder/bin/pip" -q install --disable-pip-version-check --no-cache-dir --require-hashes -r $requirements &&
			touch "$folder/complete"
	fi
	exec 7>&-
	[ -e "$folder/complete" ]
}

prepare_spark() # COMMAND, which builds what the script needs: the first results of a script
{
	try "packages" selftests/deps.sh default-jre-headless python3-venv
	try "build" "$1"
	try "pinned Spark" install_spark
}

# MASTER (DIR OUT)... [SETTING...]: see answers.py. Standard input has the jobs.
spark_answers()
{
	local status

	PYTHONPATH=fleet "$SPARK_PYTHON" selftests/fleet/answers.py "$@" "spark.local.dir=$(realpath "$tmp")"
	status=$?
	rm -rf "${SPARK_PYTHON%/bin/*}"/lib/python3*/site-packages/pyspark/work # logs of executors
	return $status
}

# Settings for many short queries: the compiler that optimizes little takes a third of the CPU time.
SPARK_SHORT=(spark.sql.shuffle.partitions=2 spark.{driver,executor}.extraJavaOptions="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

named_queries() { build/gotrace sql --list | sed 's/ .*//'; }

# DIR SPARK OWN: the files of both engines are the same; prints the numbers of rows
same_answers()
{
	local name status=0

	for name in $(named_queries); do
		build/gotrace sql --csv --run "$name" "$1" >"$3/$name.csv" || return 1
		if same_text "$2/$name.csv" "$3/$name.csv"; then
			echo "$name: $(($(wc -l <"$3/$name.csv") - 1)) rows"
		else
			echo "$name: the answers differ"
			status=1
		fi
	done
	return $status
}
