#!/bin/bash
# Checks the figures of `gotrace stat`: events by type match `go tool trace -d=wire`, bytes add up
# to the file size, goroutines, threads and Ps match Go's reader. The output forms of `gotrace
# goroutines` must agree with the one that check/goroutines.sh compares with Go.
# parallel
# timeout: 600
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

figures() # TRACE [OPTION...]: writes $tmp/stat.json
{
	timeout 60 $READER stat --json "$@" >"$tmp/stat.json"
}

figure() # FILTER: a jq filter on $tmp/stat.json
{
	jq -r "$1" "$tmp/stat.json"
}

same_figure() # NAME OURS THEIRS
{
	[ "$2" = "$3" ] || { echo "$1: ours $2, theirs $3"; return 1; }
}

same_types() # TRACE: events by type, and bytes that add up to the file size
{
	local size

	size=$(stat -c %s "$1")
	figures "$1" || return 1
	go_trace "$ORACLE_GO" -d=wire "$1" | sed -n 's/^\([A-Z][A-Za-z]*\).*/\1/p' |
		sort | uniq -c | awk '{ print $2, $1 }' | sort >"$tmp/theirs.txt"
	figure '.types[] | "\(.name) \(.count)"' | sort >"$tmp/ours.txt"
	[ -s "$tmp/theirs.txt" ] && diff "$tmp/ours.txt" "$tmp/theirs.txt" &&
		same_figure bytes "$(figure .bytes)" "$size" &&
		same_figure "bytes by type" "$(figure '.header_bytes + ([.types[].bytes] | add)')" "$size" &&
		same_figure "bytes by generation" "$(figure '16 + ([.generations[].bytes] | add)')" "$size"
}

# TRACE: all commands report the same number of events: those of the file, as `go tool trace
# -d=wire` shows them, or, for an older format, as Go's reader delivers them
one_count()
{
	local want

	figures "$1" || return 1
	if is_v1 "$1"; then
		want=$($REFERENCE/events "$1" | grep -vc '	Sync	')
	else
		want=$(go_trace "$ORACLE_GO" -d=wire "$1" | sed -n 's/^\([A-Z][A-Za-z]*\).*/\1/p' |
			grep -vcx 'Trace\|EventBatch\|Stacks\|Stack\|Strings\|String\|CPUSamples\|Frequency\|Sync\|ClockSnapshot\|ExperimentalBatch\|EndOfGeneration')
		cp "$1" "$tmp/counted.trace" && $READER index "$tmp/counted.trace" >"$tmp/out" || return 1
		same_figure index "$($READER index --json "$tmp/counted.trace" | jq .events)" "$want" &&
			same_figure "index, said" "$(sed -n 's/.* generations\{0,1\}, \([0-9]*\) events\{0,1\}, .*/\1/p' "$tmp/out")" "$want" &&
			same_figure generations "$(figure '[.generations[].events] | add')" "$want" || return 1
	fi
	same_figure stat "$(figure .events)" "$want" &&
		same_figure check "$($READER check --json "$1" | jq .events)" "$want" &&
		same_figure "check, said" "$($READER check "$1" | sed -n 's/.*, \([0-9]*\) events\{0,1\}, .*/\1/p')" "$want"
}

same_world() # TRACE: goroutines, threads, Ps, generations, times
{
	figures "$1" || return 1
	$REFERENCE/events "$1" >"$tmp/events.txt" && $REFERENCE/goroutines "$1" >"$tmp/goroutines.txt" || return 1
	same_figure goroutines "$(figure .goroutines.seen)" "$(grep -c '^goroutine' "$tmp/goroutines.txt")" &&
		same_figure created "$(figure .goroutines.created)" \
			"$(grep -c 'goroutine=[-0-9]* NotExist->' "$tmp/events.txt")" &&
		same_figure ended "$(figure .goroutines.ended)" \
			"$(grep -c 'goroutine=[-0-9]* [A-Za-z]*->NotExist' "$tmp/events.txt")" &&
		same_figure threads "$(figure .threads)" "$(cut -f3 "$tmp/events.txt" | grep -v -- -1 | sort -u | wc -l)" &&
		same_figure Ps "$(figure .procs)" "$( (cut -f4 "$tmp/events.txt" | grep -v -- -1
			sed -n 's/.*\tproc=\([0-9]*\) .*/\1/p' "$tmp/events.txt") | sort -u | wc -l)" &&
		same_figure start "$(figure .start)" "$(head -n 1 "$tmp/events.txt" | cut -f1)" &&
		same_figure end "$(figure .end)" "$(tail -n 1 "$tmp/events.txt" | cut -f1)" || return 1
	is_v1 "$1" ||
		same_figure generations "$(figure '.generations | length')" \
			"$(($(grep -c '	Sync	' "$tmp/events.txt") - 1))"
}

# TRACE: the other figures of goroutines, samples, generations and clocks, from the events of Go's reader and from
# the header and the tables of the file
same_details()
{
	figures "$1" && $READER check --json "$1" >"$tmp/check.json" && $REFERENCE/events "$1" >"$tmp/events.txt" &&
		go_trace "$ORACLE_GO" -d=wire "$1" >"$tmp/wire" || return 1
	{
		echo "format go$(head -c 12 "$1" | cut -d ' ' -f 2)"
		awk -F '\t' '
			$2 == "StateTransition" && match($6, /^goroutine=[0-9]+ [A-Za-z]+->[A-Za-z]+/) {
				split(substr($6, 11, RLENGTH - 10), part, /[ >]/)
				from = part[2]
				sub(/-$/, "", from)
				before = !(part[1] in seen) && from != "NotExist"
				present += before
				alive += (before && part[3] != "NotExist") || from == "NotExist"
				alive -= !before && part[3] == "NotExist"
				most = alive > most ? alive : most
				seen[part[1]]
			}
			{ samples += $2 == "StackSample" }
			$2 == "Sync" && begin != "" { print "generation", begin, last, clock }
			$2 == "Sync" { begin = $1; clock = $6 ~ /trace=/ ? $6 : "-"; sub(/^n=[0-9]* /, "", clock) }
			{ first = first == "" ? $1 : first; last = $1 }
			END { print "goroutines", present, most; print "samples", samples + 0; printf "duration %.0f\n", last - first }' "$tmp/events.txt"
		sed -n 's/^EventBatch gen=\([0-9]*\).*/number \1/p' "$tmp/wire" | uniq
		grep -c '^String\b' "$tmp/wire" | sed 's/^/strings /'
		grep -c '^Stack\b' "$tmp/wire" | sed 's/^/stacks /'
	} | sort >"$tmp/theirs.txt"
	figure '"format \(.format)", "goroutines \(.goroutines.present) \(.goroutines.most_alive)", "samples \(.samples)",
		"duration \(.duration)", "strings \(.strings)", "stacks \(.stacks)", (.generations[] | "number \(.number)",
		"generation \(.start) \(.end) " + (.clock | if . then "trace=\(.time) mono=\(.mono) wall=\(.wall_sec)." +
			("00000000\(.wall_nsec)" | .[-9:]) else "-" end))' | sort >"$tmp/ours.txt"
	[ -s "$tmp/theirs.txt" ] && diff "$tmp/ours.txt" "$tmp/theirs.txt" &&
		figure '.strings == ([.generations[].strings] | add) and .stacks == ([.generations[].stacks] | add) and
			([.generations[] | .offset + .bytes] == [.generations[1:][].offset, .bytes]) and .generations[0].offset == 16' | grep -qx true &&
		same_figure check "$(jq -c '[.ok, .format, .generations, .goroutines, .start, .end]' "$tmp/check.json")" \
			"$(figure '[true, .format, (.generations | length), .goroutines.seen, .start, .end] | @json')"
}

# TRACE KERNEL: each command states the bounds that stat has, whose values same_world() compares with Go's reader,
# the number of goroutines, and whether there are kernel events
same_bounds()
{
	local verb

	figures "$1" || return 1
	for verb in goroutines latency waits "histogram --of runqueue" "histogram --of sched" alloc tasks regions requests; do
		# shellcheck disable=SC2086 # words
		same_figure "$verb" "$($READER $verb --json "$1" 2>"$tmp/err" |
			jq -c --arg verb "$verb" '[.start, .end, if .groups or .functions then .count else null end, .kernel]')" \
			"$(jq -c --arg verb "$verb" --argjson kernel "$2" '[.start, .end,
				if $verb | IN("goroutines", "latency") then .goroutines.seen else null end,
				if $verb | IN("latency", "waits", "requests") then $kernel elif $verb == "histogram --of sched" then false
				elif $verb | startswith("histogram") then true else null end]' "$tmp/stat.json")" || return 1
	done
	same_figure report "$($READER report --json "$1" | jq -c '.trace | [.start, .start + .ns, .kernel, "go\(.go)"]')" \
		"$(jq -c --argjson kernel "$2" '[.start, .end, $kernel, .format]' "$tmp/stat.json")"
}

same_by_any_way() # TRACE: as a file, on stdin, through a pipe, compressed
{
	local way

	$READER stat "$1" >"$tmp/file" && $READER stat - <"$1" >"$tmp/stdin" &&
		cat "$1" | $READER stat - >"$tmp/pipe" && gzip -c "$1" | $READER stat - >"$tmp/packed" &&
		$READER stat <(cat "$1") >"$tmp/fifo" || return 1
	for way in stdin pipe packed fifo; do
		diff "$tmp/file" "$tmp/$way" || return 1
	done
}

one_line() # COMMAND...: fails with exactly one line on stderr, and no other output
{
	local status

	"$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ $status -eq 1 ] && [ ! -s "$tmp/out" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && return
	echo "exit status $status of $*:"
	head -n 3 "$tmp/out" "$tmp/err"
	return 1
}

# TRACE of several generations: truncated within the second one, it is rejected, or read up to there
# with an option
cut_trace()
{
	local middle

	figures "$1" || return 1
	middle=$(figure '.generations[1] | .offset + (.bytes / 2 | floor)')
	head -c "$middle" "$1" >"$tmp/cut.trace"
	figure '.generations[0] | [.number, .bytes, .events] | @text' >"$tmp/whole"
	one_line $READER stat "$tmp/cut.trace" && one_line $READER goroutines "$tmp/cut.trace" &&
		figures "$tmp/cut.trace" --lenient 2>"$tmp/err" && grep -q 'left out' "$tmp/err" &&
		[ "$(figure .left_out)" != null ] && [ "$(figure '.generations | length')" -eq 1 ] &&
		figure '.generations[0] | [.number, .bytes, .events] | @text' | diff "$tmp/whole" - &&
		$READER goroutines --lenient "$tmp/cut.trace" 2>/dev/null | grep -q main.main && reason_of_cut "$middle"
}

# SIZE: the trace ends within a batch, of which it has the rest of the file; check and stat give the same reason.
reason_of_cut()
{
	local reason begin has of

	reason=$(figure .left_out)
	echo "$reason"
	read -r begin has of < <(sed -n 's/^invalid trace at byte \([0-9]*\) .*: the trace ends within a batch: \([0-9]*\) bytes of \([0-9]*\)$/\1 \2 \3/p' <<<"$reason")
	[ $((begin + has)) -eq "$1" ] && [ "$has" -lt "$of" ] && $READER check --json --lenient "$tmp/cut.trace" 2>"$tmp/err" |
		jq -e --arg reason "$reason" --arg file "$tmp/cut.trace" '.file == $file and .ok and .left_out == $reason' || return 1
	$READER check --json "$tmp/cut.trace" 2>"$tmp/err" | jq -e --arg reason "$reason" '.ok == false and .reason == $reason + " (--lenient reads the part before it)"'
}

recorded() # a recording by gotrace-bpf: the recorder's own figures, and losses
{
	record_target selftrace "$ORACLE_GO" "--tick 64ns" -duration $(by_tier 100ms 600ms 600ms) || return 1
	figures "$RECORDED" && same_types "$RECORDED" && one_count "$RECORDED" &&
		same_figure recorder "$(stat_of events "$tmp/selftrace.json")" "$(figure .events)" &&
		same_figure "recorder, said" "$(sed -n 's/^gotrace-bpf: recorded .*: \([0-9]*\) events, .*/\1/p' \
			"$tmp/background.out")" "$(figure .events)" &&
		same_figure losses "$(figure .private.lost)" "$(stat_of lost "$tmp/selftrace.json")" &&
		same_figure tick "$(figure .private.tick)" 64 &&
		same_figure broken "$(figure '.private.bad + .private.unknown')" 0 &&
		same_figure Go "$(figure '.private.meta[] | select(.name == "go_version").value')" "$ORACLE_GO" &&
		$READER stat "$RECORDED" | grep -q '^recorder  *tool: gotrace-bpf ' && recorder_counts
}

# What the recorder counted while it wrote the trace is what stat counts in it. The first and the last event are up to
# 10 ms inside of the window of the recording.
recorder_counts()
{
	jq -e --slurpfile stats "$tmp/selftrace.json" '$stats[0] as $r | $r.records_by_kind as $n | .kernel.kinds as $k |
		([.bytes, (.generations | length), .goroutines.seen, .goroutines.present] | debug) ==
			([$r.bytes, $r.generations, $r.goroutines, $r.goroutines_at_start] | debug) and
		([$k.on_cpu, $k.off_cpu, $k.waking, $k.sys_enter, $k.sys_exit] | debug) ==
			([$n.cpu_on, $n.cpu_off, $n.waking, $n.sys_enter + $n.go_sys_enter, $n.sys_exit + $n.go_sys_exit] | debug) and
		(.duration - $r.window_ns | fabs) < 1e7' "$tmp/stat.json"
}

# TRACE: the sums over the groups, over all goroutines, and over the canonical form are equal
same_goroutines()
{
	local field sum

	$READER goroutines --canonical "$1" >"$tmp/canonical" && $READER goroutines --json "$1" >"$tmp/groups" &&
		$READER goroutines --all --json "$1" >"$tmp/all" || return 1
	# as in Go, the canonical form counts some of syscall_block as sched_wait and syscall
	for field in exec syscall+.syscall_block total; do
		sum=$(sed -n "s/^goroutine	.*	${field%%+*}=\([-0-9]*\).*/\1/p" "$tmp/canonical" | jq -s add)
		[[ $field != *+* ]] ||
			sum=$((sum + $(sed -n "s/^goroutine	.*	${field##*+.}=\([-0-9]*\).*/\1/p" "$tmp/canonical" | jq -s add)))
		same_figure "$field by group" "$(jq "[.groups[] | .$field] | add" "$tmp/groups")" "$sum" &&
			same_figure "$field of all" "$(jq "[.goroutines[] | .$field] | add" "$tmp/all")" "$sum" || return 1
	done
	same_figure blocked "$(jq '[.groups[].block[].time] | add' "$tmp/groups")" \
		"$(jq '[.goroutines[].block[].time] | add' "$tmp/all")" &&
		same_figure regions "$(jq '[.goroutines[].regions | length] | add' "$tmp/all")" \
			"$(grep -c '^region' "$tmp/canonical")" &&
		same_figure tasks "$(jq '.tasks | length' "$tmp/all")" "$(grep -c '^task' "$tmp/canonical")"
}

sorted_tables() # TRACE
{
	local column id

	for column in exec sched total count; do
		$READER goroutines --sort $column "$1" >"$tmp/table" && [ "$(wc -l <"$tmp/table")" -gt 5 ] || return 1
	done
	$READER goroutines --all --sort id "$1" | awk 'NR > 1 { print $1 }' >"$tmp/ids" && sort -nc "$tmp/ids" &&
		$READER goroutines --all "$1" | awk 'NR > 1 { print $1 }' | sort -n | diff "$tmp/ids" - &&
		$READER goroutines --json --sort total "$1" | jq -e '[.groups[].total] | . == (sort | reverse)' || return 1
	id=$(tail -n 1 "$tmp/ids")
	$READER goroutines --goroutine "$id" --json "$1" |
		jq -e "(.goroutines | length) == 1 and .goroutines[0].id == $id" &&
		$READER goroutines --goroutine "$id" "$1" | grep "^goroutine $id: " &&
		one_line $READER goroutines --goroutine 18446744073709551615 "$1"
}

# TRACE: a function name with terminal escapes and invalid UTF-8
hostile_names()
{
	LC_ALL=C sed 's/main\.main/\x1b[31mred\xff/g' "$1" >"$tmp/hostile.trace"
	$READER goroutines "$tmp/hostile.trace" >"$tmp/out" && grep -F '\x1b[31mred\xff' "$tmp/out" &&
		! LC_ALL=C grep -n '[^ -~]' "$tmp/out" &&
		$READER goroutines --json "$tmp/hostile.trace" |
		jq -e '[.groups[].name] | index("\u001b[31mred\ufffd")'
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$ORACLE_GO" &&
	try "programs trace themselves" trace_long_runs && try "programs trace short runs" trace_short_runs; then
	for trace in $(in_all echo "$CORPUS"/runs/long-*.trace) "$CORPUS"/runs/{short,few}-*.trace "$CORPUS/$ORACLE_GO"/v2/go122-{annotations,gc-stress,task-across-generations}.trace; do
		try "$(basename "$trace" .trace): types" same_types "$trace"
		try "$(basename "$trace" .trace): one count of events" one_count "$trace"
		try "$(basename "$trace" .trace): goroutines, threads, Ps" same_world "$trace"
		try "$(basename "$trace" .trace): details" same_details "$trace"
	done
	for trace in $(in_all echo "$CORPUS/$ORACLE_GO"/v1/*); do
		try "$(basename "$trace"): goroutines, threads, Ps" same_world "$trace"
		try "$(basename "$trace"): one count of events" one_count "$trace"
	done
	long=$CORPUS/runs/long-$ORACLE_GO.trace
	try "bounds, of all commands" same_bounds "$long" false
	try "bounds of a recording with kernel events" eval 'record_target requests "$ORACLE_GO" "" -n 4 && same_bounds "$RECORDED" true'
	try "from stdin, pipes and compressed" same_by_any_way "$long"
	try "a truncated trace" cut_trace "$long"
	try "a recording of gotrace-bpf" recorded
	for trace in "$long" "$CORPUS/$ORACLE_GO"/v2/go122-annotations-stress.trace; do
		try "$(basename "$trace" .trace): goroutines" same_goroutines "$trace"
	done
	try "sorted tables" sorted_tables "$long"
	try "function names with terminal escapes" hostile_names "$long"
	for file in /dev/null /dev/zero Makefile .; do
		try "not a trace: $file" one_line $READER stat $file
	done
fi
ktap_end
