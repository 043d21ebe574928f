#!/bin/bash
# parallel
# timeout: 120
# Tests gotrace's command line: --help of every verb. Errors in the arguments or in a file give one
# clear line on stderr and exit status 1 (failed) or 2 (usage error); no partial output is left.
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/deps-engine.sh
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

# COMMAND...: sets status; the output is in $tmp/out and $tmp/err
run()
{
	timeout 30 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	echo "exit $status: $(head -n 5 "$tmp/err")"
}

# STATUS PATTERN ARGUMENT...: one line on stderr matches PATTERN (extended regexp), stdout is empty
refused()
{
	local want=$1 pattern=$2
	shift 2

	run $READER "$@"
	[ $status -eq "$want" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && [ ! -s "$tmp/out" ] &&
		grep -qE "^gotrace: .*($pattern)" "$tmp/err" && ! ls "$tmp"/x.* >/dev/null 2>&1
}

helps() # VERB: its own help, nothing on stderr
{
	run $READER "$1" --help
	[ $status -eq 0 ] && [ ! -s "$tmp/err" ] &&
		head -n 1 "$tmp/out" | grep -qE "^Usage: gotrace $1( |$)" &&
		grep -q -- '--help' "$tmp/out" && ! grep -nE '.{81}' "$tmp/out"
}

lists_verbs()
{
	run $READER --help
	verbs=$(sed -n 's/^  \([a-z]*\)  .*/\1/p' "$tmp/out")
	[ $status -eq 0 ] && [ ! -s "$tmp/err" ] && [ "$verbs" = "$(verbs_of READER)" ] && [ -n "$verbs" ]
}

says_version()
{
	run $READER --version
	[ $status -eq 0 ] && grep -qx "gotrace $(our_version)" "$tmp/out"
}

# A trace of one thread, with this many events plus a few.
make_trace() # EVENTS
{
	local i

	{
		echo "Trace Go1.23"
		echo "EventBatch gen=1 m=0 time=1 size=$((9 + 3 * $1))"
		echo "ProcStatus dt=1 p=0 pstatus=1"
		echo "GoStatus dt=1 g=1 m=0 gstatus=2"
		for ((i = 0; i < $1; i++)); do
			echo "HeapAlloc dt=1 heapalloc_value=5"
		done
		echo "EventBatch gen=1 m=1 time=1 size=6"
		echo "Frequency freq=1000000000"
	} >"$tmp/trace.txt"
	$READER assemble "$tmp/trace.txt" -o "$tmp/trace" && $READER check "$tmp/trace"
}

through_pipes()
{
	# shellcheck disable=SC2094 # cmp only reads it
	$READER text - <"$tmp/trace" | $READER assemble - | cmp - "$tmp/trace" &&
		$READER raw "$tmp/trace.txt" | cmp - "$tmp/trace" && # the former name of assemble
		cat "$tmp/trace" | $READER check - | grep -q '^stdin: ok'
}

compressed()
{
	gzip -c "$tmp/trace" >"$tmp/trace.gz" && $READER check "$tmp/trace.gz" &&
		cat "$tmp/trace.gz" | $READER check -
}

cut_short()
{
	$READER convert "$tmp/trace" --format-version 1.26 -o "$tmp/whole" && gzip -f "$tmp/whole" &&
		head -c -9 "$tmp/whole.gz" >"$tmp/short.gz" &&
		refused 1 'truncated gzip data' check "$tmp/short.gz"
}

# The reader of the pipe closes it: a quiet exit, without delay.
closed_pipe() # VERB
{
	timeout 30 $READER "$1" "$tmp/trace" 2>"$tmp/err" | head -c 100 >/dev/null
	[ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s "$tmp/err" ]
}

full_disk() # VERB
{
	timeout 30 $READER "$@" >/dev/full 2>"$tmp/err"
	[ $? -eq 1 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q 'cannot write' "$tmp/err"
}

cut_trace()
{
	head -c -3 "$tmp/trace" >"$tmp/short" && refused 1 'trace|batch' check "$tmp/short"
}

broken_input() # VERB: messages call it standard input
{
	# shellcheck disable=SC2086 # VERB may have an option
	! head -c 30 "$tmp/trace" | $READER $1 - 2>"$tmp/err" && grep -q '^gotrace: stdin: ' "$tmp/err"
}

# Corrupt before any goroutine appears: the message reports that the rest is left out, and that
# nothing else is there.
nothing_whole()
{
	$READER text "$tmp/trace" | sed 's/^GoStatus .*/GoStop dt=1 reason_string=0 stack=0/;/^HeapAlloc/d' |
		sed 's/size=15009/size=8/' | $READER assemble - -o "$tmp/nothing" || return 1
	run $READER latency --lenient "$tmp/nothing"
	cat "$tmp/err"
	[ $status -eq 1 ] && grep -q 'no goroutine in its intact part' "$tmp/err" && [ ! -s "$tmp/out" ]
}

# OPTION...: a histogram of nothing is a result, as a table and in JSON
counts_nothing()
{
	run $READER histogram "$tmp/trace" "$@"
	[ $status -eq 0 ] && [ ! -s "$tmp/err" ] && grep -qx 'count  *0' "$tmp/out" && ! grep -q '#' "$tmp/out" || return 1
	run $READER histogram "$tmp/trace" "$@" --json
	[ $status -eq 0 ] && [ ! -s "$tmp/err" ] &&
		jq -e '.count == 0 and .sum_ns == 0 and .buckets == [] and .min_ns == null and .p99_ns == null' "$tmp/out"
}

# OPTION...: no waits are a result, too
lists_nothing()
{
	run $READER waits "$tmp/trace" "$@"
	[ $status -eq 0 ] && [ ! -s "$tmp/err" ] && [ "$(wc -l <"$tmp/out")" -eq 1 ] &&
		run $READER waits "$tmp/trace" "$@" --json &&
		[ $status -eq 0 ] && [ ! -s "$tmp/err" ] && jq -e '.waits == []' "$tmp/out"
}

run_queues_missing()
{
	run $READER waits "$tmp/trace" --kind runqueue --json
	[ $status -eq 0 ] && jq -e '.waits == [] and .kernel == false' "$tmp/out" && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -q 'no kernel events, which --kind runqueue requires$' "$tmp/err"
}

# Kinds that require kernel events count nothing without them, and say why; `syscall` uses those of
# Go.
lacks_kernel_events()
{
	local of

	for of in runqueue syscall:futex; do
		run $READER histogram "$tmp/trace" --of $of
		[ $status -eq 0 ] && grep -qx 'count  *0' "$tmp/out" && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
			grep -q "the trace has no kernel events, which --of ${of%:*}.* requires" "$tmp/err" || return 1
	done
	run $READER histogram "$tmp/trace" --of syscall --json
	[ $status -eq 0 ] && [ ! -s "$tmp/err" ] && jq -e '.kernel == false and .count == 0' "$tmp/out"
}

ktap_start
build_reader >"$tmp/build" 2>&1 || { tail -n 20 "$tmp/build" >&2; exit 1; }
try "--help lists the verbs" lists_verbs
for verb in ${verbs-}; do
	try "$verb --help" helps "$verb"
done
try "--version" says_version
try "a trace is made" make_trace 5000
try "the engine of sql" selftests/deps-engine.sh

try "no command" refused 2 'missing command'
try "an unknown command" refused 2 "unknown command 'frobnicate'" frobnicate
try "an option without a command" refused 2 "unknown command '-p'" -p 1
mkdir "$tmp/folder"
: >"$tmp/empty"
head -c 3000 /dev/zero >"$tmp/zeros"
printf 'go 1.30 trace\0\0\0' >"$tmp/newer"
for verb in ${verbs-}; do
	words=("$verb") needs=()
	case $verb in
	cut | convert | anonymize) needs=(-o "$tmp/x.out") ;;
	path) needs=(--goroutine 1) ;;
	histogram) needs=(--of sched) ;;
	profile) words+=(sched) ;;
	export) words+=(perfetto) ;;
	sql) words+=('SELECT COUNT(*) FROM events') ;;
	diff) words+=("$tmp/trace") ;;
	esac
	[ $verb = describe ] || [ $verb = ship ] || try "$verb: no file" refused 2 'FILE|which file' "${words[@]}"
	try "$verb: an unknown option" refused 2 "unrecognized option '--frobnicate'" "$verb" --frobnicate
	[ $verb != ship ] || continue # reads a directory: check/ship.sh
	[ $verb = check ] || [ $verb = diff ] || [ $verb = sql ] ||
		try "$verb: two files" refused 2 'only one file is accepted' "${words[@]}" "$tmp/trace" "$tmp/empty" "${needs[@]}"
	[ $verb != align ] || continue # reads perf's file first: check/align.sh
	try "$verb: no such file" refused 1 'nowhere: No such file' "${words[@]}" "$tmp/nowhere" "${needs[@]}"
	try "$verb: the empty name" refused 1 'empty|No such file' "${words[@]}" '' "${needs[@]}"
	try "$verb: a directory" refused 1 'directory|not a regular' "${words[@]}" "$tmp/folder" "${needs[@]}"
	try "$verb: an empty file" refused 1 'no|not' "${words[@]}" "$tmp/empty" "${needs[@]}"
	try "$verb: zeros" refused 1 'no|not' "${words[@]}" "$tmp/zeros" "${needs[@]}"
	[ $verb != unpack ] || try "$verb: not packed" refused 1 'not a packed trace' "${words[@]}" "$tmp/newer"
	[ $verb = assemble ] || [ $verb = unpack ] ||
		try "$verb: a newer version" refused 1 '1\.30|not a Go' "${words[@]}" "$tmp/newer" "${needs[@]}"
done

try "events: an invalid time" refused 2 -- '--from' events "$tmp/trace" --from 5parsecs
try "events: two output forms" refused 2 'cannot be combined' events "$tmp/trace" --json --canonical
try "cut: an invalid time" refused 2 '--to' cut "$tmp/trace" --to @soon -o "$tmp/x.out"
try "cut: no output" refused 2 '-o' cut "$tmp/trace" --to 1us
try "cut: an unsupported format" refused 2 "unknown trace format '1\.21': must be 1\.22, " cut "$tmp/trace" --format-version 1.21 -o "$tmp/x.out"
try "cut: an empty window" refused 2 'before' cut "$tmp/trace" --from 3us --to 2us -o "$tmp/x.out"
try "convert: no output" refused 2 '-o' convert "$tmp/trace"
try "goroutines: an unknown column" refused 2 'tea' goroutines "$tmp/trace" --sort tea
try "goroutines: extremes and --sort" refused 2 'sort and --compare-extremes cannot' goroutines "$tmp/trace" --compare-extremes f --sort exec
try "goroutines: extremes and --all" refused 2 'cannot be combined' goroutines "$tmp/trace" --compare-extremes f --all
try "goroutines: extremes without a function" refused 2 'requires --compare-extremes' goroutines "$tmp/trace" --extremes 3
for n in 0 0% 51% % 5x ''; do
	try "goroutines: extremes: '$n'" refused 2 "invalid number of goroutines '$n': expected" goroutines "$tmp/trace" --compare-extremes f --extremes "$n"
done
try "goroutines: extremes of no goroutine" refused 1 "0 goroutines of 'main\.x' begin and end" goroutines "$tmp/trace" --compare-extremes main.x
try "profile: no kind" refused 2 'missing argument KIND' profile
try "profile: an unknown kind" refused 2 "unknown kind of profile 'tea': must be net, " profile tea "$tmp/trace"
try "profile: an unknown label" refused 2 "unknown label 'tea' for --labels: must be goroutine, " profile net "$tmp/trace" --labels function,tea
try "profile: labels without a file" refused 2 'requires -o' profile net "$tmp/trace" --labels function
try "profile: two forms" refused 2 'cannot be combined' profile net "$tmp/trace" --text --folded
try "profile: a file and a table" refused 2 'cannot be combined with --text' profile net "$tmp/trace" --text -o "$tmp/x.pb"
try "profile: --top of a file" refused 2 'requires a table' profile net "$tmp/trace" --top 3 -o "$tmp/x.pb"
try "profile: an invalid rate" refused 2 "invalid rate '0': must be 1 to 10000" profile cpu "$tmp/trace" --rate 0
try "profile: a rate without samples" refused 2 '--rate requires the kind cpu' profile net "$tmp/trace" --rate 100
try "profile: a corrupt standard input" broken_input "profile net"
try "profile: an empty window" refused 2 'before' profile net "$tmp/trace" --from 3us --to 2us
try "export: no kind" refused 2 'missing argument KIND' export
try "export: an unknown kind" refused 2 "unknown kind of export 'tea': must be perfetto, " export tea "$tmp/trace"
try "export: a corrupt standard input" broken_input "export chrome"
try "latency: an unknown component" refused 2 'tea.* oncpu, .* count or id' latency "$tmp/trace" --sort tea
try "latency: a corrupt standard input" broken_input latency
try "latency: no such goroutine" refused 1 'no goroutine 7' latency "$tmp/trace" --goroutine 7
try "latency: --goroutine with --goroutines" refused 2 'cannot be combined' latency "$tmp/trace" --goroutine 1 --goroutines
try "latency: a window after the end" refused 1 'no events in the requested time; the length of the trace is 0\.000 s' \
	latency "$tmp/trace" --from 1s
try "latency: a window before the start" refused 1 'no goroutine in the requested time' latency "$tmp/trace" --to 0s
try "latency: corrupt before the first goroutine" nothing_whole
try "latency: an empty window" refused 2 'before' latency "$tmp/trace" --from 3us --to 2us
try "histogram: no kind" refused 2 'missing option --of KIND' histogram "$tmp/trace"
try "histogram: an unknown kind" refused 2 "unknown kind 'tea': must be sched, " histogram "$tmp/trace" --of tea:x
try "histogram: a part of a kind" refused 2 "unknown kind 'sch'" histogram "$tmp/trace" --of sch
try "histogram: a kind without names" refused 2 'gc has no names' histogram "$tmp/trace" --of gc:mark
try "histogram: an empty name" refused 2 'the name after the colon is missing' histogram "$tmp/trace" --of block:
try "histogram: an empty window" refused 2 'before' histogram "$tmp/trace" --of gc --from 3us --to 2us
try "histogram: a corrupt standard input" broken_input "histogram --of=gc"
try "histogram: nothing to count" counts_nothing --of block
try "histogram: nothing with that name" counts_nothing --of "stw:no such reason"
try "histogram: a window after the end" refused 1 'no events in the requested time; the length of the trace is 0\.000 s' \
	histogram "$tmp/trace" --of sched --from 1s
try "histogram: no kernel events" lacks_kernel_events
try "waits: none of them" refused 2 "invalid number of waits '0': must be 1 to 10000" waits "$tmp/trace" --longest 0
try "waits: too many" refused 2 "invalid number of waits '10001'" waits "$tmp/trace" --longest 10001
try "waits: an unknown kind" refused 2 "unknown kind 'tea': must be block, sched, syscall or runqueue" waits "$tmp/trace" --kind tea
try "waits: a part of a kind" refused 2 "unknown kind 'bloc'" waits "$tmp/trace" --kind bloc
try "waits: an empty window" refused 2 'before' waits "$tmp/trace" --from 3us --to 2us
try "waits: a corrupt standard input" broken_input waits
try "waits: there are none" lists_nothing --runtime
try "waits: no kernel events" run_queues_missing
try "waits: a window after the end" refused 1 'no events in the requested time; the length of the trace is 0\.000 s' \
	waits "$tmp/trace" --from 1s --runtime
try "profile: a window after the end" refused 1 'no events in the requested time; the length of the trace is 0\.000 s' \
	profile wall "$tmp/trace" --from 1s
for verb in text assemble cut convert; do
	try "$verb: output to its input" refused 2 'same file' "$verb" "$tmp/trace" -o "$tmp/trace"
	try "$verb: a missing directory" refused 1 'No such file' "$verb" "$tmp/trace" -o "$tmp/no/where"
	try "$verb: output to a directory" refused 1 'directory' "$verb" "$tmp/trace" -o "$tmp/folder"
done

try "stdin and stdout" through_pipes
try "a gzip file" compressed
try "a truncated gzip file" cut_short
for verb in events text; do
	try "$verb: a closed pipe" closed_pipe $verb
	try "$verb: a full disk" full_disk $verb "$tmp/trace"
done
try "check: a full disk" full_disk check "$tmp/trace"
try "a truncated trace" cut_trace
ktap_end
