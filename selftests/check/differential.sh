#!/bin/bash
# `gotrace` against golang.org/x/exp/trace on broken traces: mutants of Go's golden traces, of real programs'
# and of made-up ones. `check` must accept what Go's reader accepts and refuse what it refuses, with one line;
# `events`, built with ASan and UBSan, must deliver the same events until then. Where Go's reader panics,
# `gotrace` must do either without a crash, and the panic must be one that PANICS.md lists. To see a
# mutant again, with the line of build/corpus/mutants/index about it:
#
#     MUTANTS="SEED FIRST COUNT" WORLDS=N selftests/check/differential.sh
# beside others
# timeout: 900
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh

read -r seed first count <<<"${MUTANTS:-20260917 0 1000}"
worlds=${WORLDS:-100} # traces made up as bases
step=5000 # mutants that are on the disk at a time
folder=$CORPUS/mutants

# FROM TO: lines "VERDICT HASH REASON" of `gotrace`, a line each
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

theirs() # FROM TO: "VERDICT HASH REASON"
{
	local names
	names=$(seq -f "$folder/%.0f.trace" "$1" $(($2 - 1)))

	paste -d' ' <($REFERENCE/events -digest <<<"$names") \
		<($REFERENCE/verdict -deep <<<"$names" | sed 's/^[a-z]* *//')
}

# Patterns of the panics that are known: the code spans at the head of the lines of a table
known_panics() { sed -n 's/^| `\([^`]*\)`.*/\1/p' selftests/reference/PANICS.md; }

# A hash map decides a little in Go's reader (PANICS.md): where that delivers other events from one reading to the
# next, ours must be the same but for what the map decides. Lines "NAME\tTEXT" come in; those that this does
# not explain go out, as "EVENTS: TEXT".
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

# FROM TO: appends what is wrong to $tmp/wrong, and counts to $tmp/counts
judge()
{
	local middle=$((($1 + $2) / 2)) half

	rm -rf "$folder"
	# shellcheck disable=SC2046 # names without blanks
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
			NF < 9 { print "no verdict: " $0 >>wrong; next }
			{ n[$7]++ }
			$4 ~ /^died/ { say("CRASH"); next }
			$4 == "ok" && $6 != "" { say("WORDS"); next }
			$4 == "refused" && ($6 == "" || $6 ~ / AND /) { say("REASON"); next }
			$7 == "panic" { if ($9 !~ "^(" panics ")$") say("UNKNOWN PANIC"); next }
			$4 != $7 { say("VERDICT"); next }
			$5 != $8 && $2 !~ /_1_[0-9]+_/ { print $1 "\t" text() }
			END { for (kind in n) print kind, n[kind] >>counts }' |
		unexplained >>"$tmp/wrong"
	[ "$(wc -l <"$tmp/theirs")" -eq $(($2 - $1)) ] && [ "$(cat "$tmp/ours.1" "$tmp/ours.2" | wc -l)" -eq $(($2 - $1)) ]
}

all_mutants()
{
	local from end=$((first + count))

	: >"$tmp/wrong" >"$tmp/counts"
	for ((from = first; from < end; from += step)); do
		judge $from $((from + step < end ? from + step : end)) || return 1
	done
}

none() # KIND: nothing of that kind is wrong
{
	! sed 's/\\n/\n/g' "$tmp/wrong" | grep -A 2 "^$1: "
}

ktap_start
if try "the reader builds" build_reader && try "and sanitized" build_sanitized && try "the corpus is extracted" extract_corpus "$JUDGE_GO" &&
	try "programs trace themselves" trace_short_runs && try "$count mutants of seed $seed" all_mutants; then
	note "Go's reader: $(awk '{ n[$1] += $2 } END { for (kind in n) printf "%s %d ", kind, n[kind] }' "$tmp/counts")"
	try "the same verdict" none VERDICT
	try "no crash, no hang" none CRASH
	try "one line says why" none 'WORDS\|REASON'
	try "the same events before it" none EVENTS
	try "Go's reader panics only where it is known to" none 'UNKNOWN PANIC\|no verdict'
fi
ktap_end
