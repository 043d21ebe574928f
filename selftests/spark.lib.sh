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

builds()
{
	locked make --no-print-directory "-j$(nproc)" all targets && selftests/deps-engine.sh
}

prepare_spark() # the first results of a script
{
	try "packages" selftests/deps.sh default-jre-headless python3-venv
	try "build" builds
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
	local name='' status=0

	for name in $(named_queries); do
		build/gotrace sql --csv --run "$name" "$1" >"$3/$name.csv" || return 1
		if same_text "$2/$name.csv" "$3/$name.csv"; then
			echo "$name: $(($(wc -l <"$3/$name.csv") - 1)) rows"
		else
			echo "$name: the answers differ"
			status=1
		fi
	done
	[ -n "$name" ] && return $status
}

# SHA-256 and path of Hadoop's connector for S3, of the version of Spark's Hadoop, and of what it needs
S3A_JARS='66bd9eefb938b1a1657487324b63c13df2d8b17164a1dd24e0ef37b905bc5baa  org/apache/hadoop/hadoop-aws/3.5.0/hadoop-aws-3.5.0.jar
db4b55f24ad1b4e70f17eb1717a4de76a8dadc5a27d764be7c44ff67b2c1c677  software/amazon/awssdk/bundle/2.35.4/bundle-2.35.4.jar
4959a9747cbb479c73c3ffbcd479bee5b014f8b2880994585a8693fb9d24675e  software/amazon/s3/analyticsaccelerator/analyticsaccelerator-s3/1.3.1/analyticsaccelerator-s3-1.3.1.jar
71fb7932f99a727edb23c5a2cb8c6855ac7196fad41aa0669b3998e277165154  org/wildfly/openssl/wildfly-openssl/2.2.5.Final/wildfly-openssl-2.2.5.Final.jar'

install_s3a() # sets S3A, a folder of jars: 690 MB
{
	local sum path file

	S3A=$PROGRAM_CACHE/s3a-3.5.0
	mkdir -p "$S3A" || return 1
	while read -r sum path; do
		file=$S3A/${path##*/}
		[ -e "$file" ] && continue
		curl -sSf --max-time 900 -o "$file.part" "https://repo1.maven.org/maven2/$path" &&
			sha256sum --quiet -c <<<"$sum  $file.part" && mv "$file.part" "$file" || return 1
	done <<<"$S3A_JARS"
}
