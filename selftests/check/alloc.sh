#!/bin/bash
# Checks the figures of `gotrace alloc` on traces of Go's own tracer: objects whose number and size the
# program knows, the sums of runtime.MemStats, and a second computation from the events that Go's reader
# returns. Then the batches of the experiment in traces that cut, convert and anonymize write, and samples
# of the memory profile that gotrace-bpf records as calls of a function.
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
. "$(dirname "$0")/../lib.sh"
. selftests/reader.lib.sh
. selftests/record.lib.sh
. selftests/programs.lib.sh

trace=

# RELEASE: sets trace; done.json has what the program knows, marks the times of its logs
traced()
{
	build_programs "$1" plain allocates || return 1
	trace=$tmp/$1.trace
	GODEBUG=traceallocfree=1 timeout 60 "$PROGRAMS/allocates" -n 500 -trace "$trace" </dev/null >"$tmp/out" &&
		sed -n 's/^done //p' "$tmp/out" >"$tmp/done.json" && build/reference/validate "$trace" &&
		$READER events --json --type UserLog "$trace" | jq -s 'map(select(.category == "mark") |
			{ key: .message, value: .time }) | from_entries' >"$tmp/marks.json"
}

mark() # NAME: its time, for --from
{
	echo "@$(jq --arg name "$1" '.[$name]' "$tmp/marks.json")"
}

# FILTER ARGUMENT...: whether a filter on `gotrace alloc --json ARGUMENT...` is true; $done is what the
# program knows
holds()
{
	local filter=$1
	shift

	$READER alloc --json "$@" "$trace" >"$tmp/alloc.json" &&
		jq -e --slurpfile known "$tmp/done.json" "\$known[0] as \$done | $filter" "$tmp/alloc.json"
}

# Of each type and function the objects, their bytes, and how many were freed
known_rows()
{
	local of='(.rows | map({ key: (.type // .function // ""), value: { objects: .allocated.objects,
		bytes: .allocated.bytes, freed: .freed.objects } }) | from_entries) as $rows |'

	holds "$of"' .by == "function" and all($done.functions | to_entries[]; $rows[.key] == .value)' --by function &&
		holds "$of"' all($done.types | del(."main.ticket") | to_entries[]; $rows[.key] == .value) and
			$rows."main.ticket".objects == $done.types."main.ticket".objects' &&
		holds '.by == "size" and ([.rows[] | select(.size == 1152) | .allocated.objects][0] >= $done.types."main.invoice".objects)' --by size
}

# What runtime.MemStats has was read between two marks: what was allocated before lies between what the
# trace has for these, and so does the live heap, as no garbage is collected meanwhile.
memory_statistics()
{
	local name

	holds '.allocated as $a | ($done.statistics | [.end.allocated, .begin.allocated]) as [$to, $from] |
			$a.objects <= $to.objects - $from.objects and $a.bytes <= $to.bytes - $from.bytes' \
		--from "$(mark 'begin read')" --to "$(mark end)" &&
		holds '.allocated as $a | ($done.statistics | [.end.allocated, .begin.allocated]) as [$to, $from] |
			$a.objects >= $to.objects - $from.objects and $a.bytes >= $to.bytes - $from.bytes' \
			--from "$(mark begin)" --to "$(mark 'end read')" &&
		for name in begin end last; do
			holds ".at_end as \$a | \$done.statistics.$name.live |
				\$a.objects <= .objects and \$a.bytes <= .bytes" --to "$(mark "$name")" &&
				holds ".at_end as \$a | \$done.statistics.$name.live |
					\$a.objects >= .objects and \$a.bytes >= .bytes" --to "$(mark "$name read")" || return 1
		done
}

# Of what was allocated between two points only what main.leaker allocated is kept.
leaks()
{
	holds '(.rows[0] | .function == "main.leaker" and .kept == .allocated and
			.kept.bytes == $done.functions."main.leaker".bytes) and .kept.objects - .rows[0].kept.objects < 50' \
		--by function --sort kept --from "$(mark 'leak begins')" --to "$(mark 'leak ends')" &&
		holds '(.rows | length) == 1 and .rows[0].type == "main.invoice"' --function '^main.leaker$' --sort live &&
		holds '.allocated.objects == 0 and .freed.objects == $done.functions."main.spender".freed' \
			--function '^main.spender$' --from "$(mark 'end read')"
}

# By label, goroutine and function the same objects
selected()
{
	local id

	id=$($READER goroutines --all --json --function '^main.spender$' "$trace" | jq '.goroutines[0].id') &&
		$READER alloc --json --function '^main.spender$' "$trace" >"$tmp/want" &&
		jq -e --slurpfile known "$tmp/done.json" '.allocated.objects == $known[0].functions."main.spender".objects' "$tmp/want" &&
		cmp <($READER alloc --json --goroutine "$id" "$trace") "$tmp/want" &&
		cmp <($READER alloc --json --label work=sp* "$trace") "$tmp/want"
}

second_computation()
{
	local options

	for options in "" "--from $(mark begin) --to $(mark end)" "--from $(mark end)" "--to $(mark 'leak ends')" \
		"--function ^main.spender$" "--from $(mark begin) --to $(mark end) --function ^main.keeper$"; do
		# shellcheck disable=SC2086 # several words
		build/reference/allocations $READER "$trace" $options || { echo "options: $options"; return 1; }
	done
}

# The second computation finds a row that differs.
notices()
{
	printf '#!/bin/bash\n%s "$@" | sed "0,/\\"freed\\"/s/\\"objects\\": /&1/"\n' "$PWD/$READER" >"$tmp/wrong" &&
		chmod +x "$tmp/wrong" && ! build/reference/allocations "$tmp/wrong" "$trace"
}

# COMMAND...: the rewritten trace is valid and has the same figures
rewritten()
{
	local by

	$READER "$@" "$trace" -o "$tmp/rewritten" --force && build/reference/validate "$tmp/rewritten" &&
		for by in type size; do
			cmp <($READER alloc --json --by $by "$trace") <($READER alloc --json --by $by "$tmp/rewritten") || return 1
		done
}

# Without the names of types
anonymous()
{
	$READER anonymize "$trace" -o "$tmp/anonymous" 2>"$tmp/err" && build/reference/validate "$tmp/anonymous" &&
		grep -q 'names of the types .* were removed' "$tmp/err" && ! grep -q 'main\.ticket' "$tmp/anonymous" &&
		grep -q 'main\.ticket' "$trace" &&
		cmp <($READER alloc --json --by size "$trace") <($READER alloc --json --by size "$tmp/anonymous")
}

# A part has its types; sizes of objects in spans from before it are unknown.
part()
{
	$READER cut "$trace" --exact --from "$(mark 'leak begins')" -o "$tmp/part" && build/reference/validate "$tmp/part" &&
		$READER alloc --json "$tmp/part" 2>"$tmp/err" | jq -e --slurpfile known "$tmp/done.json" '.unsized as $unsized |
			.rows[0] | .type == "main.invoice" and .allocated.objects == $known[0].types."main.invoice".objects and
				.allocated.bytes + 1152 * $unsized >= $known[0].types."main.invoice".bytes'
}

# A program without GODEBUG, and a trace without the experiment in its format
without_events()
{
	"$PROGRAMS/allocates" -n 1 -trace "$tmp/plain" </dev/null >/dev/null &&
		for file in "$tmp/plain" "$tmp/old"; do
			[ "$file" != "$tmp/old" ] || $READER convert "$trace" --format-version 1.22 -o "$file" || return 1
			$READER alloc --json "$file" 2>"$tmp/err" | jq -e '.rows == [] and .allocated.objects == 0' &&
				grep -q 'no events of allocations; .*GODEBUG=traceallocfree=1' "$tmp/err" || return 1
		done
}

# The table shows the figures of the JSON.
table()
{
	$READER alloc --by function "$trace" >"$tmp/table" && $READER alloc --json "$trace" |
		jq '[.at_start, .allocated, .freed, .kept, .at_end, .peak][].objects' >"$tmp/want" &&
		sed -n '2,7p' "$tmp/table" | grep -oP '^\D+\K\d+' | cmp - "$tmp/want" &&
		grep -q ' 500  562.5KiB  *0  *0  *500  562.5KiB  *500  562.5KiB  main.leaker$' "$tmp/table" &&
		grep -q '(before the trace)$' "$tmp/table"
}

# GO: a region per sample of the memory profile, with the stack of the allocation
sampled()
{
	record_target allocates "$1" "--events user --region runtime.mProf_Malloc" -sampled -n 2000 &&
		$READER regions --json --function '^main\.sampled$' "$RECORDED" | jq -e --slurpfile known "$tmp/allocates.done" \
			'(.regions | map(.count) | add) as $n | $n > 50 and $n == $known[0].sampled' &&
		! grep -q 'are to be expected' "$tmp/background.out" &&
		$READER profile region --folded --function '^main\.sampled$' "$RECORDED" >"$tmp/folded" &&
		! grep -v '^main\.sampled;\(runtime\.[A-Za-z0-9]*;\)*\[region: runtime\.mProf_Malloc\] ' "$tmp/folded"
}

# A program whose linker has turned sampling off
unsampled() # GO
{
	! nm "build/targets/$1/tiny" | grep -qi 'runtime\.memprofile\(internal\)\?$' &&
		$GOTRACE record --region runtime.mProf_Malloc -o "$tmp/none.trace" -- "build/targets/$1/tiny" >"$tmp/out" 2>"$tmp/err" &&
		grep -q 'no calls of runtime.mProf_Malloc are to be expected: ' "$tmp/err" &&
		$READER regions --json "$tmp/none.trace" | jq -e '.regions == []'
}

ktap_start
if try "the programs build" locked make --no-print-directory all reference; then
	newest=$(newest_go_of allocates tiny)
	for release in $(in_all last_gos_since 23) $newest $ORACLE_GO; do
		try "$release: a trace" traced "${release#go}" || continue
		try "$release: objects that the program knows" known_rows
		try "$release: runtime.MemStats" memory_statistics
		try "$release: what is kept" leaks
		try "$release: filters" selected
		try "$release: a second computation" second_computation
	done
	for go in $TARGET_GOS $newest; do
		try "$go: samples of the memory profile, recorded from outside" sampled "$go"
		try "$go: a program without a memory profile" unsampled "$go"
	done
	try "the second computation notices a difference" notices
	try "the table" table
	try "convert" rewritten convert
	try "convert to another version" rewritten convert --format-version 1.25
	try "cut" rewritten cut
	try "cut: a part" part
	try "anonymize" anonymous
	try "a trace without the events" without_events
	try "--by, unknown" refused 2 "unknown key 'stack' for --by: must be type, function or size" $READER alloc --by stack "$trace"
	try "--sort, unknown" refused 2 "unknown key 'x' for --sort: must be allocated, kept or live" $READER alloc --sort x "$trace"
	try "an empty window" refused 1 'no events in the requested time' $READER alloc --from 100s "$trace"
	try "no such function" refused 1 'no goroutine' $READER alloc --function nowhere "$trace"
fi
ktap_end
