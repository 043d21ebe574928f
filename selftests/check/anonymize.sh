#!/bin/bash
# Tests `gotrace anonymize`: no name of the original trace occurs in the output, which is valid for Go's
# reader and has the same events and figures; names of the standard library remain, by the list of a
# toolchain; equal keys lead to equal bytes. For traces of Go's runtime, recordings with tasks, labels and
# kernel events, v1 traces, and mutants.
# parallel
# timeout: 900
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

# The list in rewrite/std_packages.c has all public packages of the toolchain.
list_is_complete()
{
	sed -n 's/^\t"\(.*\)",$/\1/p' userspace/rewrite/std_packages.c >"$tmp/ours" &&
		GOTOOLCHAIN=$ORACLE_GO "${GO:-go}" list std | tee "$tmp/std" | grep -vE '(^|/)(internal|vendor)(/|$)' >"$tmp/theirs" &&
		[ "$(wc -l <"$tmp/theirs")" -gt 150 ] && ! grep -vxFf "$tmp/ours" "$tmp/theirs" &&
		LC_ALL=C sort -cu "$tmp/ours" && [ "$(grep -cvxFf "$tmp/std" "$tmp/ours")" -lt 10 ]
}

# TRACE: the names that must disappear, one per line: all strings except reasons, and functions and their
# files of the packages of the toolchain. Short ones also occur by chance.
names_of()
{
	"$READER" convert --force "$1" -o "$tmp/v2.trace" 2>/dev/null && "$READER" text "$tmp/v2.trace" >"$tmp/text" || return 1
	sed -n 's/^\tdata="\(.*\)"$/\1/p' "$tmp/text" | grep -v '^\\x00gotrace-bpf' | LC_ALL=C sort -u >"$tmp/strings"
	"$READER" events --json "$tmp/v2.trace" | jq -r 'select(.reason != null).reason, select(.label != null and (.label | startswith("GC ("))).label,
		(select(.name != null and (.event | test("Range"))).name)' | LC_ALL=C sort -u >"$tmp/reasons"
	"$READER" events --json "$tmp/v2.trace" | jq -r 'select(.name != null).name | capture("^stop-the-world \\((?<r>.*)\\)$").r' |
		LC_ALL=C sort -u >>"$tmp/reasons"
	awk 'FNR == NR { std[$0] = 1; next }
	{
		name = $0
		slash = match(name, /\/[^\/[]*(\[|$)/) ? RSTART : 0
		rest = substr(name, slash + 1)
		dot = index(rest, ".")
		if (dot && (name ~ /^internal\// || std[substr(name, 1, slash + dot - 1)]))
			next
		print
	}' "$tmp/std" "$tmp/strings" | grep -vxFf "$tmp/reasons" | grep -E '.{5}' | grep -vxE 'error|status|goroutine labels|[0-9]{1,3}' >"$tmp/names"
	[ -s "$tmp/names" ]
}

# TRACE [WORD...]: no name occurs, nor do these words
has_no_names()
{
	local file=$1 word
	shift

	# Short ones also occur within names of the library, such as "write".
	grep -E '.{8}' "$tmp/names" >"$tmp/long_names"
	"$READER" text "$file" | sed -n 's/^\tdata="\(.*\)"$/\1/p' >"$tmp/new_strings"
	if LC_ALL=C grep -aoFf "$tmp/long_names" "$file" | sort | uniq -c | head -n 20 | grep . ||
		grep -xFf "$tmp/names" "$tmp/new_strings"; then
		return 1
	fi
	for word in "$@" 'main.' "$PWD"; do
		! grep -qaF -- "$word" "$file" || { echo "found: $word"; return 1; }
	done
	grep -qE '^package_[0-9a-f]{16}\.function_[0-9a-f]{16}$' "$tmp/new_strings"
}

# TRACE: the output of all commands without texts, in an order that does not depend on them
figures()
{
	local verb

	for verb in "goroutines --all" "latency --all" latency tasks regions requests "waits --longest 100"; do
		# shellcheck disable=SC2086
		$READER $verb --json "$1" 2>"$tmp/err" | jq -S 'walk(if type == "string" then "" elif type == "array" then sort_by(tojson) else . end)' || return 1
	done
	$READER stat --json "$1" | jq -S '[.goroutines, .threads, .ps, .events, .start_ns, .end_ns, .lost, (.generations | length)]' || return 1
	$READER events --json --kernel "$1" | jq -cS '[.time, .m, .p, .g, .event, .kind, .goroutine, .from, .to, .reason, .value, .syscall]'
}

same_figures() # TRACE ANONYMOUS
{
	figures "$1" >"$tmp/want" && figures "$2" >"$tmp/have" && [ "$(wc -l <"$tmp/want")" -gt 500 ] &&
		diff "$tmp/want" "$tmp/have" >"$tmp/diff" || { head -n 20 "$tmp/diff"; return 1; }
}

# TRACE [WORD...]: a v2 trace
anonymizes()
{
	local trace=$1
	shift

	$READER anonymize --force "$trace" -o "$tmp/anonymous.trace" && $READER check "$tmp/anonymous.trace" &&
		$REFERENCE/validate "$tmp/anonymous.trace" && names_of "$trace" && has_no_names "$tmp/anonymous.trace" "$@" &&
		same_figures "$trace" "$tmp/anonymous.trace"
}

keeps_the_library()
{
	names_of "$CORPUS/runs/long-$ORACLE_GO.trace" && $READER anonymize --force "$CORPUS/runs/long-$ORACLE_GO.trace" -o "$tmp/anonymous.trace" || return 1
	LC_ALL=C grep -vxFf "$tmp/names" "$tmp/strings" | grep -E '^(runtime|sync|net|time|internal/poll)\.' | grep -v '\.go' >"$tmp/library"
	[ "$(wc -l <"$tmp/library")" -gt 50 ] && $READER text "$tmp/anonymous.trace" | sed -n 's/^\tdata="\(.*\)"$/\1/p' >"$tmp/now" &&
		! grep -vxFf "$tmp/now" "$tmp/library" && grep -qx 'runtime/proc.go' "$tmp/now"
}

replaces_all()
{
	$READER anonymize --force --all "$CORPUS/runs/long-$ORACLE_GO.trace" -o "$tmp/all.trace" && $REFERENCE/validate "$tmp/all.trace" &&
		names_of "$CORPUS/runs/long-$ORACLE_GO.trace" && ! $READER text "$tmp/all.trace" | sed -n 's/^\tdata="\(.*\)"$/\1/p' |
		grep -vxFf "$tmp/reasons" | grep -E '^(runtime|sync|time|net)[./]|\.go$'
}

keys()
{
	local trace=$CORPUS/runs/short-$ORACLE_GO.trace

	$READER anonymize --key one "$trace" -o "$tmp/k1" && $READER anonymize --key one "$trace" -o - | cmp - "$tmp/k1" &&
		$READER anonymize --key two "$trace" -o "$tmp/k2" && ! cmp -s "$tmp/k1" "$tmp/k2" &&
		$READER anonymize "$trace" -o "$tmp/k3" && $READER anonymize "$trace" -o "$tmp/k4" && ! cmp -s "$tmp/k3" "$tmp/k4" &&
		cat "$trace" | $READER anonymize --key one - -o - | cmp - "$tmp/k1" && ! grep -qa 'one' <(strings -n 3 "$tmp/k1" | grep -x one)
}

recorded() # TARGET OPTIONS [ARGUMENT...]
{
	local name=$1 options=$2
	shift 2

	record_target "$name" "$ORACLE_GO" "$options" "$@" && anonymizes "$RECORDED" "targets/" "$(basename "$(dirname "$PWD")")/$(basename "$PWD")" &&
		$READER stat --json "$tmp/anonymous.trace" | jq -e '[.. | strings | select(test("targets/"))] == []'
}

# A recording has kernel events, and the names of other processes.
has_threads()
{
	$READER events --kernel --json "$RECORDED" | jq -se 'map(select(.kind != null)) | length > 100' &&
		[ "$($READER events --kernel --json "$tmp/anonymous.trace" | grep -c '"t_[0-9a-f]\{12\}"')" -gt 10 ]
}

labels_stay()
{
	$READER goroutines --json "$tmp/anonymous.trace" >/dev/null &&
		$READER text "$tmp/anonymous.trace" | grep -qE 'data="key_[0-9a-f]{16}=\\"value_[0-9a-f]{16}\\"'
}

of_v1()
{
	local trace n=0

	for trace in "$CORPUS/$ORACLE_GO"/v1/*_good "$CORPUS/$ORACLE_GO"/v1/*; do
		[ -s "$trace" ] && $READER check "$trace" >/dev/null 2>&1 && [ $n -lt 8 ] || continue
		$READER anonymize --force "$trace" -o "$tmp/anonymous.trace" 2>"$tmp/err" && $REFERENCE/validate "$tmp/anonymous.trace" &&
			names_of "$trace" && has_no_names "$tmp/anonymous.trace" || { echo "$trace"; return 1; }
		n=$((n + 1))
	done
	echo "$n traces"
	[ $n -ge 3 ]
}

mutants()
{
	local i status n=0

	$REFERENCE/mutate -seed 20261126 -n 150 -worlds 10 -o "$tmp/mutants" "$CORPUS/$ORACLE_GO"/v2/go122-annotations*.trace || return 1
	for i in $(seq 0 149); do
		rm -f "$tmp/out.trace"
		timeout 20 $READER anonymize "$tmp/mutants/$i.trace" -o "$tmp/out.trace" >"$tmp/out" 2>"$tmp/err"
		status=$?
		[ $status -le 1 ] || { echo "mutant $i"; return 1; }
		if [ $status -eq 0 ]; then
			n=$((n + 1))
			$READER check "$tmp/out.trace" >"$tmp/out" || { echo "mutant $i: invalid"; return 1; }
		else
			[ ! -e "$tmp/out.trace" ] && [ -s "$tmp/err" ] || { echo "mutant $i: a file is left"; return 1; }
		fi
	done
	rm -rf "$tmp/mutants"
	[ $n -gt 10 ]
}

ktap_start
if try "the reader builds" build_reader && try "the corpus is extracted" extract_corpus "$ORACLE_GO" &&
	try "programs trace themselves" trace_long_runs && try "more programs trace themselves" trace_short_runs; then
	try "the list of packages" list_is_complete
	for trace in $(in_all echo "$CORPUS/runs/long-$ORACLE_GO.trace") "$CORPUS"/runs/short-*.trace "$CORPUS/$ORACLE_GO"/v2/go122-annotations.trace; do
		try "$(basename "$trace" .trace)" anonymizes "$trace"
	done
	in_all try "names of the library" keeps_the_library
	try "--all" replaces_all
	try "--key" keys
	try "a recording with tasks" recorded requests "" -n $(by_tier 2 16 16)
	try "kernel events" has_threads
	try "a recording with labels" recorded labels ""
	try "labels" labels_stay
	in_all try "v1 traces" of_v1
	in_all try "mutants" mutants
	try "no output" refused 2 'missing option -o OUT' $READER anonymize "$tmp/k1"
	try "an empty key" refused 2 "invalid key '' for --key" $READER anonymize --key '' "$tmp/k1" -o "$tmp/x"
fi
ktap_end
