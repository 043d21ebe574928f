#!/bin/bash
# Differential test of `gotrace` against golang.org/x/exp/trace on corrupt traces: mutants of Go's
# golden traces, of traces of real programs and of generated ones. `check` must accept what Go's
# reader accepts and reject what it rejects, with one line; `events`, built with ASan and UBSan,
# must emit the same events up to that point. Where Go's reader panics, `gotrace` must accept or
# reject without a crash, and PANICS.md must list the panic. To reproduce a mutant, take the line of
# build/corpus/mutants/index about it:
#
#     MUTANTS="SEED FIRST COUNT" WORLDS=N selftests/check/differential.sh
# tier: all
# parallel
# timeout: 900
# long: 3600
# depends on: Makefile include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

read -r seed first count <<<"${MUTANTS:-20260917 0 $(by_tier 1000 1000 20000)}"
worlds=${WORLDS:-$(by_tier 100 100 400)} # number of generated base traces
step=5000 # mutants on disk at a time
folder=$CORPUS/mutants

# FROM TO: prints one line "RESULT HASH REASON" of `gotrace` per mutant
ours()
{
	local i file reason status hash ended

	for ((i = $1; i < $2; i++)); do
		file=$folder/$i.trace
		reason=$(timeout 10 $READER check "$file" 2>&1 >/dev/null)
		status=$?
		hash=$(timeout 30 $SANITIZED events --canonical "$file" 2>/dev/null | sha256sum; exit "${PIPESTATUS[0]}")
		ended=$?
		[ $ended -eq $status ] || status=$status-events-$ended
		case $status in
		0) echo "ok ${hash%% *} $reason" ;;
		1) echo "refused ${hash%% *} ${reason//$'\n'/ AND }" ;;
		*) echo "died-$status - ${reason//$'\n'/ AND }" ;;
		esac
	done
}

theirs() # FROM TO: the same lines for Go's reader
{
	local names
	names=$(seq -f "$folder/%.0f.trace" "$1" $(($2 - 1)))

	paste -d' ' <($REFERENCE/events -digest <<<"$names") \
		<($REFERENCE/expected -deep <<<"$names" | sed 's/^[a-z]* *//')
}

# Patterns of the known panics: the code spans at the start of the lines of a table
known_panics() { sed -n 's/^| `\([^`]*\)`.*/\1/p' selftests/reference/PANICS.md; }

# Some results of Go's reader depend on the order of a hash map (PANICS.md). Where its events differ
# between two runs, ours must be the same except for what the map decides. Reads lines "NAME\tTEXT"
# and prints those that this does not explain as "EVENTS: TEXT".
unexplained()
{
	local name text file

	while IFS=$'\t' read -r name text; do
		file=$folder/$name
		[ "$(yes "$file" | head -n 128 | $REFERENCE/events -digest | sort -u | wc -l)" -gt 1 ] &&
			cmp -s <($READER events --canonical "$file" 2>/dev/null | without_holder) \
				<($REFERENCE/events "$file" 2>/dev/null | without_holder) || echo "EVENTS: $text"
	done
}

# Canonical text without the context of statuses that may be those of a P about to be stolen
without_holder()
{
	sed -E 's/(\tStateTransition)(\t-?[0-9]+){3}(\tproc=-?[0-9]+ Running->Running )/\1\3/'
}

# FROM TO: appends differences to $tmp/wrong, and counts to $tmp/counts
compare_range()
{
	local middle=$((($1 + $2) / 2)) half

	rm -rf "$folder"
	$REFERENCE/mutate -seed "$seed" -first "$1" -n $(($2 - $1)) -worlds "$worlds" -o "$folder" $(mutation_bases) || return 1
	ours "$1" $middle >"$tmp/ours.1" &
	half=$!
	ours $middle "$2" >"$tmp/ours.2"
	wait $half
	theirs "$1" "$2" >"$tmp/theirs"
	paste -d'\t' "$folder/index" <(cat "$tmp/ours.1" "$tmp/ours.2" | sed 's/ /\t/; s/ /\t/') \
		<(sed 's/ /\t/; s/ /\t/' "$tmp/theirs") |
		awk -F'\t' -v panics="$(known_panics | paste -sd'|')" -v wrong="$tmp/wrong" -v counts="$tmp/counts" '
			function text() { return $1 " of " $2 " (" $3 ")\\n    ours:   " $4 " " $6 "\\n    theirs: " $7 " " $9 }
			function say(what) { print what ": " text() >>wrong }
			NF < 9 { print "no result: " $0 >>wrong; next }
			{ n[$7]++ }
			$4 ~ /^died/ { say("CRASH"); next }
			$4 == "ok" && $6 != "" { say("WORDS"); next }
			$4 == "refused" && ($6 == "" || $6 ~ / AND /) { say("REASON"); next }
			$7 == "panic" { if ($9 !~ "^(" panics ")$") say("UNKNOWN PANIC"); next }
			$4 != $7 { say("RESULT"); next }
			$5 != $8 && $2 !~ /_1_[0-9]+_/ { print $1 "\t" text() }
			END { for (kind in n) print kind, n[kind] >>counts }' |
		unexplained >>"$tmp/wrong"
	[ "$(wc -l <"$tmp/theirs")" -eq $(($2 - $1)) ] && [ "$(cat "$tmp/ours.1" "$tmp/ours.2" | wc -l)" -eq $(($2 - $1)) ]
}

all_mutants()
{
	local from end=$((first + count))

	: >"$tmp/wrong"
	: >"$tmp/counts"
	for ((from = first; from < end; from += step)); do
		compare_range $from $((from + step < end ? from + step : end)) || return 1
	done
}

none() # KIND: no difference of that kind was found
{
	! sed 's/\\n/\n/g' "$tmp/wrong" | grep -A 2 "^$1: "
}

ktap_start
if try "the reader builds" build_reader && try "the sanitized reader builds" build_sanitized && try "the corpus is extracted" extract_corpus "$ORACLE_GO" &&
	try "programs trace themselves" trace_short_runs && try "$count mutants of seed $seed" all_mutants; then
	note "Go's reader: $(awk '{ n[$1] += $2 } END { for (kind in n) printf "%s %d ", kind, n[kind] }' "$tmp/counts")"
	try "gotrace and Go's reader accept the same mutants" none RESULT
	try "no crash, no hang" none CRASH
	try "rejected mutants give a one-line reason" none 'WORDS\|REASON'
	try "the same events up to the rejection" none EVENTS
	try "Go's reader panics only where listed" none 'UNKNOWN PANIC\|no result'
fi
ktap_end
