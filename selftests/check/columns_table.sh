#!/bin/bash
# docs/columns.tsv has each column, JSON key, metric and state of the report that the programs print, by
# their sources and, in check-all, by their output for recordings; each row is printed by a source, and
# names a test which exists. Each kind of mistake is detected.
# parallel
# timeout: 300
# depends on: Makefile bpf include userspace docs/columns.tsv selftests
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

TABLE=docs/columns.tsv
PROBED=build/targets/$ORACLE_GO/regions

columns() { python3 selftests/columns.py "$@"; }

# --- traces

# A server with tasks and requests, with most event sets
recorded()
{
	record_target requests "$ORACLE_GO" "--events sched,syscall,gc,heap,user,kernel,fault --cpu-profile=500" -n 8 &&
		kernel=$RECORDED && cp "$tmp/requests.json" "$tmp/stats.json"
}

# Small traces of Go's own tracer: one with each kind of event, one with those of allocations
traced()
{
	trace_run "short-$ORACLE_GO" "$ORACLE_GO" selftrace -duration 20ms &&
		GODEBUG=traceallocfree=1 "build/targets/$ORACLE_GO/allocates" -n 50 -trace "$tmp/heap" </dev/null >"$tmp/out" || return 1
	own=$CORPUS/runs/short-$ORACLE_GO.trace heap=$tmp/heap
	goroutine=$($READER goroutines --all --json "$kernel" | jq '.goroutines | max_by(.exec).id') &&
		function=$($READER goroutines --all --json "$kernel" | jq -r '.start as $start | [.goroutines[] |
			select(.ended and .created != $start and .name != "").name] | group_by(.) | max_by(length)[0]') &&
		cp "$own" "$tmp/indexed" && $READER index "$tmp/indexed" >"$tmp/out"
}

# VERB: the commands whose output is compared, one per line, without the option --json
invocations()
{
	case $1 in
	alloc) printf '%s\n' "$heap" "--by function $heap" "--by size $heap" ;;
	check) printf '%s\n' "$own" "--lenient $own" Makefile ;;
	describe) printf '%s\n' '' "$kernel" ;;
	diff) echo "$kernel $kernel" ;;
	events) printf '%s\n' "--kernel $kernel" "--stacks $own" "$own" "$heap" ;;
	goroutines) printf '%s\n' "$kernel" "--all $own" "--compare-extremes $function $kernel" "--by label:kind $own" ;;
	histogram) printf -- '--of %s\n' "sched $kernel" "stw $own" ;;
	index) echo "--force $tmp/indexed" ;;
	latency) printf '%s\n' "$kernel" "--all $kernel" "--by label:kind $own" "--details $kernel" ;;
	path) printf '%s\n' "--goroutine $goroutine $kernel" "--function main --worst 3 $kernel" "--function main --summary $kernel" ;;
	report | view) printf '%s\n' "$kernel" "$own" ;;
	requests) printf '%s\n' "$kernel" "--worst 2 $own" ;;
	regions | stat | tasks | top | waits) printf '%s\n' "$kernel" "$own" ;;
	*) return 1 ;;
	esac
}

# VERB: each key is in the table. `align` needs perf and `sql` the library of DuckDB, and the rows of the
# latter are columns of any query; their keys are found in the sources.
keys_of_verb()
{
	local options

	[ "$1" != align ] && [ "$1" != sql ] || return 0
	invocations "$1" >"$tmp/invocations" || { echo "no invocation of $1"; return 1; }
	while read -r options; do
		# shellcheck disable=SC2086 # words
		$READER "$1" --json $options >"$tmp/json" 2>"$tmp/err" || [ "$options" = Makefile ] || { cat "$tmp/err"; return 1; }
		columns keys "$1" <"$tmp/json" || { echo "$1 $options"; return 1; }
	done <"$tmp/invocations"
}

reader_keys()
{
	local verb n=0

	for verb in $(verbs_of READER); do
		$READER "$verb" --help | grep -q -- '--json' || continue
		keys_of_verb "$verb" || return 1
		n=$((n + 1))
	done
	$READER export ndjson "$own" -o "$tmp/ndjson" && columns keys export <"$tmp/ndjson" && [ $n -ge 15 ]
}

# Keys of the other program: `recover --list` needs the kernel module, which selftests/vm/guest/50-recover.sh has.
recorder_keys()
{
	columns keys record <"$tmp/stats.json" && $GOTRACE probes --exe "$PROBED" --json | columns keys probes &&
		$GOTRACE probes --exe "$PROBED" --functions 'main.w*' --json | columns keys probes || return 1
	start_target pingpong "$ORACLE_GO" -duration 60s -rate 1000 -procs 2 && tell_target start || return 1
	$GOTRACE doctor -p "$TARGET_PID" --measure 1s --json | columns keys doctor || return 1
	start_background $GOTRACE serve --control "$tmp/run/control" -p "$TARGET_PID" -o "$tmp/snapshots"
	wait_until 20 is_recording && $GOTRACE status --control "$tmp/run/control" --json | columns keys status &&
		$GOTRACE status --control "$tmp/run/control" | columns heads status || return 1
	stop_recorder && kill "$TARGET_PID"
}

is_recording() { $GOTRACE status --control "$tmp/run/control" --json | jq -e '.[0].state == "recording"'; }

# --- text

reader_heads()
{
	local verb options

	for verb in alloc diff goroutines latency path requests regions stat tasks top waits; do
		invocations $verb >"$tmp/invocations" || return 1
		while read -r options; do
			# shellcheck disable=SC2086 # words
			$READER $verb $options >"$tmp/text" && columns heads $verb <"$tmp/text" || { echo "$verb $options"; return 1; }
		done <"$tmp/invocations"
	done
	$READER profile wall "$own" | columns heads profile
}

metrics() { $READER metrics "$kernel" | columns metrics; }
states() { $READER report --json "$kernel" | columns states; }

# --- sources, tests and the page

writers() { grep -rlE 'json__|lib/json.h' userspace --include=*.c | grep -v '^userspace/lib/json.c$'; }

# shellcheck disable=SC2046 # words
sources() { columns sources $(writers); }

# The page has a line for each row, and a section for each link.
page()
{
	columns page >"$tmp/page" && [ "$(grep -c '^| .* |$' "$tmp/page")" -eq \
		"$(($(grep -vcE "^#|^source|^foreign" $TABLE) + $(grep -c '^### ' "$tmp/page")))" ] || return 1
	grep -o '](#[a-z]*)' "$tmp/page" | sort -u | sed 's/](#\(.*\))/### \1/' | grep -vxFf <(grep '^### ' "$tmp/page") >"$tmp/missing"
	cat "$tmp/missing"
	[ ! -s "$tmp/missing" ]
}

# --- mistakes

# A copy of what the comparison reads
copied()
{
	mkdir -p "$tmp/tree/docs" && cp $TABLE "$tmp/tree/docs/" && cp -r userspace selftests "$tmp/tree/"
}

# FILE SED-SCRIPT EXPECTED COMMAND...: after the change of FILE the command reports what is expected
detects()
{
	local file=$1 script=$2 expected=$3
	shift 3

	cp "$tmp/tree/$file" "$tmp/saved" && sed -i "$script" "$tmp/tree/$file" && ! cmp -s "$tmp/saved" "$tmp/tree/$file" || return 1
	(cd "$tmp/tree" && "$@" >"$OLDPWD/$tmp/found" 2>&1) && { echo "nothing was reported"; return 1; }
	cp "$tmp/saved" "$tmp/tree/$file"
	cat "$tmp/found"
	[ "$(wc -l <"$tmp/found")" -eq 1 ] && grep -qF -- "$expected" "$tmp/found"
}

keys_of_file() { columns keys "$1" <"$OLDPWD/$2"; } # COMMAND FILE

ktap_start
try "each row has a source, and each source its rows" sources
try "each test exists and names its row" columns tests
try "the page" page
note "$(columns none | tail -n 1)"
if try "a copy of the tree" copied; then
	stat_json=userspace/gotrace/stat_json.c
	try "a new key" detects $stat_json 's/json__u64(j, "ended", s->ended);/&\n\tjson__u64(j, "lazy", 1);/' "no key 'lazy' of stat" sources
	try "a new column" detects userspace/gotrace/views/profile_print.c 's/"FUNCTION"/"MODULE", &/' "no column 'MODULE' of profile" sources
	try "a new file" detects userspace/gotrace/text.c '$ a void f(struct json *j) { json__null(j, "x"); }' "text.c writes JSON" sources
	try "a row that is missing" detects $TABLE '/^stat\t-\t.goroutines.ended\t/d' "no key 'ended' of stat" sources
	try "a row without a source" detects $TABLE '/^stat\t-\t.goroutines.ended\t/{p; s/\.ended\t/.endless\t/}' "has the key 'endless'" sources
	try "a test that is missing" detects $TABLE '/^stat\t-\t.goroutines.ended\t/s/stat\.sh/status_of.sh/' "does not exist" columns tests
	try "a test that does not name it" detects $TABLE '/^stat\t-\t.goroutines.ended\t/s/stat\.sh/cgo.sh/' "does not name 'ended'" columns tests
	try "an unknown unit" detects $TABLE '/^stat\t-\t.goroutines.ended\t/s/number/pieces/' "unknown unit 'pieces'" columns tests
fi
if [ "$TIER" != check ] && try "the reader builds" build_reader && try "a recording" recorded && try "traces of Go's own tracer" traced; then
	try "keys of gotrace" reader_keys
	try "keys of gotrace-bpf" recorder_keys
	try "columns of tables" reader_heads
	try "metrics" metrics
	try "states of the report" states
	$READER stat --json "$kernel" >"$tmp/stat.json"
	try "a printed key that is missing" detects $TABLE '/^stat\t-\t.goroutines.ended\t/d' "no key .goroutines.ended" keys_of_file stat "$tmp/stat.json"
fi
ktap_end
