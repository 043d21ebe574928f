#!/bin/bash
# Compares `gotrace goroutines` with the Summarizer of Go's internal/trace: the time of each
# goroutine by state, and each region and task, exact to the nanosecond.
# tier: all
# parallel
# timeout: 1200
# depends on: Makefile bpf include userspace selftests/reference selftests/targets selftests/fuzz
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

# OURS THEIRS: equal except for the few nanoseconds that depend on a hash map in Go's reader
# (CANONICAL.md)
near()
{
	awk -v most=200 '
		function bare(s) { gsub(/[0-9]+/, "0", s); return s }
		NR == FNR { ours[FNR] = $0; n = FNR; next }
		{
			differs = bare(ours[FNR]) != bare($0)
			split(ours[FNR], a, /[^0-9]+/)
			k = split($0, b, /[^0-9]+/)
			for (i = 1; i <= k; i++)
				differs = differs || a[i] - b[i] > most || b[i] - a[i] > most
			if (differs) {
				print "ours:   " ours[FNR] "\ntheirs: " $0
				exit bad = 1
			}
		}
		END { exit bad || n != FNR }' "$1" "$2"
}

same_goroutines() # TRACE
{
	local compare=same_text

	! is_v1 "$1" || compare=near
	$REFERENCE/goroutines "$1" >"$tmp/theirs.txt" &&
		timeout 300 $READER goroutines --canonical "$1" >"$tmp/ours.txt" &&
		$compare "$tmp/ours.txt" "$tmp/theirs.txt"
}

# Go counts the time without a P of a system call that has not ended twice, and takes it from syscall_block:
# these sums are the same.
summed()
{
	awk -F '\t' -v OFS='\t' '$1 != "task" {
		for (i = 4; i <= NF; i++) {
			split($i, part, "=")
			at[part[1]] = i
			value[part[1]] = part[2]
		}
		$at["sched_wait"] = sprintf("sched_wait=%.0f", value["sched_wait"] + value["syscall_block"])
		$at["syscall"] = sprintf("syscall=%.0f", value["syscall"] + value["syscall_block"])
		$at["syscall_block"] = ""
	} { print }'
}

# TRACE: each member of the JSON, printed as canonical text by another program
same_json()
{
	$READER goroutines --all --json "$1" | python3 selftests/canonical.py goroutines | summed >"$tmp/ours.txt" &&
		$REFERENCE/goroutines "$1" | summed >"$tmp/theirs.txt" && [ -s "$tmp/theirs.txt" ] &&
		same_text "$tmp/ours.txt" "$tmp/theirs.txt"
}

# TRACE: GC WORK, from single events: time in which a goroutine runs while a mark assist or a sweep of it is open.
# The columns of the table are sums of the reasons by their names.
same_columns()
{
	python3 - $READER "$1" <<-'EOF'
		import collections, json, re, subprocess, sys
		def run(*options):
		    return subprocess.run([sys.argv[1], *options, sys.argv[2]], capture_output=True, text=True, check=True).stdout
		state, since, work, ranges = {}, {}, collections.Counter(), collections.defaultdict(set)
		def spend(g, time):
		    if state.get(g) == "Running" and ranges[g]:
		        work[g] += time - since[g]
		    since[g] = time
		for line in run("events", "--json").splitlines():
		    e = json.loads(line)
		    g = e.get("goroutine", e["g"])
		    if e["kind"] == "StateTransition" and "goroutine" in e:
		        spend(g, e["time"])
		        state[g] = e["to"]
		    elif e["kind"].startswith("Range") and e["name"] in ("GC mark assist", "GC incremental sweep") and g is not None:
		        spend(g, e["time"])
		        (set.discard if e["kind"] == "RangeEnd" else set.add)(ranges[g], e["name"])
		for g in list(state):
		    spend(g, e["time"])
		wrong = [(g["id"], g["gc_work"], work[g["id"]]) for g in json.loads(run("goroutines", "--all", "--json"))["goroutines"]
		         if g["gc_work"] != work[g["id"]]]
		def column(reason):
		    reason = reason.removesuffix(" (inferred)")
		    return ("NETWORK" if reason == "network" else "GC" if "GC " in reason
		            else "SYNC" if re.search("chan|sync|select", reason) else "OTHER")
		def ns(cell):
		    number, unit = re.fullmatch(r"([\d.]+)(\D*)", cell).groups()
		    return float(number) * {"": 0, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 6e10, "h": 3.6e12}[unit]
		head, *rows = run("goroutines").splitlines()
		heads = re.split(r"\s{2,}", head.strip())
		groups = json.loads(run("goroutines", "--json"))["groups"]
		for row, group in zip(rows, groups):
		    want = collections.Counter({"EXEC": group["exec"], "SCHED": group["sched_wait"], "TOTAL": group["total"],
		                                "SYSCALL": group["syscall"] + group["syscall_block"], "GC WORK": group["gc_work"]})
		    want["OTHER"] = group["unknown"]
		    for block in group["block"]:
		        want[column(block["name"])] += block["time"]
		    for name, cell in zip(heads, row.split()):
		        if name == "COUNT" and int(cell) != group["count"] or name in want and abs(ns(cell) - want[name]) > 0.06 * want[name]:
		            wrong.append((group["name"], name, cell, want[name]))
		print(*wrong[:10], sep="\n")
		print(f"{len(work)} goroutines with work for the collector, {len(groups)} rows with {len(heads)} columns")
		sys.exit(bool(wrong) or len(heads) < 9)
	EOF
}

# The times of each goroutine, function and region are not negative and add up to its total; the
# time of GC mark workers is part of their running time.
adds_up() # TRACE
{
	local all

	for all in --all ''; do
		timeout 300 $READER goroutines --json $all "$1" >"$tmp/parts.json" || return 1
		jq -c 'def parts: [.exec, .sched_wait, .syscall, .syscall_block, .unknown, (.block[] | .time)];
			(.end - .start) as $time |
			[.groups, .goroutines, [.goroutines[]?.regions[]]] | map(arrays) | add | map(select(
				(parts | any(. < 0)) or (parts | add) != .total or .gc_work < 0 or .gc_work > .exec or
				([.ranges[] | .time] | any(. < 0)) or .total > $time * (.count // 1))) | .[0] // empty' \
			"$tmp/parts.json" >"$tmp/wrong"
		[ ! -s "$tmp/wrong" ] || { echo "does not add up:"; cat "$tmp/wrong"; return 1; }
	done
}

# The slowest and the fastest goroutines of the start function with the most of them, and their times,
# are those of --all. `least` times, if not at all: the trace has no two that are complete.
same_extremes() # TRACE LEAST
{
	local function n compared=0

	timeout 300 $READER goroutines --all --json "$1" >"$tmp/all.json" || return 1
	function=$(jq -r '.start as $start | [.goroutines[] | select(.ended != null and .created != $start and .name != "")] |
		group_by(.name) | map(select(length > 1)) | max_by(length) // [] | .[0].name // empty' "$tmp/all.json")
	for n in '' 1 3 50% 1000000; do
		[ -n "$function" ] || break
		# shellcheck disable=SC2086 # one option or none
		timeout 300 $READER goroutines --json --compare-extremes "$function" ${n:+--extremes $n} "$1" >"$tmp/extremes.json" &&
			jq -n -e --arg function "$function" --arg n "${n:-10%}" --slurpfile all "$tmp/all.json" \
				--slurpfile got "$tmp/extremes.json" '
			def sums: map([["total:", .total], ["exec:", .exec], ["sched_wait:", .sched_wait], ["syscall:", .syscall],
				["syscall_block:", .syscall_block], ["unknown:", .unknown], ["gc_work:", .gc_work],
				(.block[] | ["block:" + .name, .time])][]) | group_by(.[0]) |
				map({key: .[0][0], value: (map(.[1]) | add)}) | map(select(.value != 0)) | from_entries;
			def side($name): [$got[0].parts[] | {key: (.part + ":" + (.reason // "")), value: .[$name]} |
				select(.value != 0)] | from_entries;
			$all[0] as $all | [$all.goroutines[] | select(.name == $function)] as $named |
			[$named[] | select(.ended != null and .created != $all.start)] | sort_by(-.total, .id) | . as $sorted |
			length as $n_all | (if $n | endswith("%") then $n_all * ($n[:-1] | tonumber) / 100 | floor else $n | tonumber end) |
			([[., 1] | max, ($n_all / 2 | floor)] | min) as $each |
			$sorted[:$each] as $slowest | ($sorted[-$each:] | reverse) as $fastest |
			$got[0].complete == $n_all and $got[0].incomplete == ($named | length) - $n_all and
			$got[0].slowest == ($slowest | map({id, created, total})) and
			$got[0].fastest == ($fastest | map({id, created, total})) and
			side("slowest") == ($slowest | sums) and side("fastest") == ($fastest | sums)' >/dev/null ||
			{ echo "$function, $n"; return 1; }
		compared=$((compared + 1))
	done
	[ $compared -ge "$2" ]
}

# A goroutine that began before the trace is not compared, though it ends in it.
began_before()
{
	selftests/fuzz/crafted lives 5 >"$tmp/lives" && same_extremes "$tmp/lives" 5 &&
		$READER goroutines --json --compare-extremes main.f --extremes 2 "$tmp/lives" |
		jq -e '.complete == 5 and .incomplete == 1 and [.slowest[].id, .fastest[].id] == [6, 5, 2, 3]'
}

# There is enough to compare: many lines, of all kinds.
worth_comparing()
{
	local kind

	$REFERENCE/goroutines "$CORPUS/$ORACLE_GO/v2/go122-annotations.trace" >"$tmp/theirs.txt"
	for kind in goroutine region task; do
		grep -q "^$kind	" "$tmp/theirs.txt" || { echo "no $kind"; return 1; }
	done
	[ "$($REFERENCE/goroutines "$CORPUS/runs/long-$ORACLE_GO.trace" | wc -l)" -gt 500 ]
}

# The same for the mutants that Go's reader accepts (selftests/check/differential.sh): goroutines in
# states that no program reaches. The Summarizer panics on some of them; there, ours must only exit
# normally.
same_of_mutants()
{
	local result i=0 same=0

	$REFERENCE/mutate -seed 20260917 -n 1000 -worlds 100 -o "$tmp/mutants" $(mutation_bases) || return 1
	seq -f "$tmp/mutants/%.0f.trace" 0 999 | $REFERENCE/expected >"$tmp/results"
	while read -r result _; do
		if [ "$result" = ok ]; then
			$REFERENCE/goroutines "$tmp/mutants/$i.trace" >"$tmp/theirs.txt" 2>"$tmp/theirs.err"
			if grep -q '^goroutines: panic' "$tmp/theirs.err"; then
				timeout 10 $READER goroutines --canonical "$tmp/mutants/$i.trace" >"$tmp/ours.txt"
			else
				same_goroutines "$tmp/mutants/$i.trace"
			fi || { sed -n "$((i + 1))p" "$tmp/mutants/index"; return 1; }
			same=$((same + 1))
		fi
		i=$((i + 1))
	done <"$tmp/results"
	rm -rf "$tmp/mutants"
	[ $same -gt 50 ] || { echo "only $same were accepted"; return 1; }
}

same_of_recording() # a recording of a real program by gotrace-bpf
{
	record_target selftrace "$ORACLE_GO" "" -duration 1200ms $FEW_SYSCALLS && same_goroutines "$RECORDED" &&
		adds_up "$RECORDED"
}

# The seed of the hash tables differs from run to run; what is printed does not.
same_each_time()
{
	local trace runs

	for trace in "$CORPUS"/runs/*.trace; do
		runs=$(for _ in {1..6}; do $READER goroutines --json "$trace" | sha256sum; done | sort -u | wc -l)
		[ "$runs" -eq 1 ] || { echo "$trace: $runs outputs"; return 1; }
	done
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$ORACLE_GO" &&
	try "programs trace themselves" trace_long_runs && try "programs trace short runs" trace_short_runs; then
	try "traces have goroutines, regions and tasks" worth_comparing
	for trace in "$CORPUS"/runs/*.trace "$CORPUS/$ORACLE_GO"/v2/*.trace "$CORPUS/$ORACLE_GO"/v1/*; do
		grep -qs '^FAILURE' "${trace%.trace}.expect" && continue
		try "$(basename "$trace" .trace)" same_goroutines "$trace"
		try "$(basename "$trace" .trace): times add up" adds_up "$trace"
		try "$(basename "$trace" .trace): extremes" same_extremes "$trace" 0
	done
	for trace in "$CORPUS"/runs/short-*.trace "$CORPUS/$ORACLE_GO"/v2/go122-{annotations,task-across}*.trace; do
		try "$(basename "$trace" .trace): JSON" same_json "$trace"
	done
	for trace in "$CORPUS"/runs/long-*.trace; do
		try "$(basename "$trace" .trace): columns, and work for the collector" same_columns "$trace"
	done
	try "extremes of a long run" same_extremes "$CORPUS/runs/long-$ORACLE_GO.trace" 5
	try "extremes, without a goroutine that began before" began_before
	try "the same output in each run" same_each_time
	try "a recording of gotrace-bpf" same_of_recording
	try "mutants that Go's reader accepts" same_of_mutants
fi
ktap_end
