#!/bin/bash
# Tests the tables of gotrace on a terminal: no line is longer than it is wide, columns are left out
# only if all their values are 0 or the others leave no space for names, latency fits on one screen,
# and colours can be switched off. Into a pipe everything is written.
# depends on: Makefile bpf include userspace selftests/targets
# parallel
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

# COLUMNS ROWS COMMAND: what it prints to a terminal of that size, without colours
on_terminal()
{
	local columns=$1 rows=$2
	shift 2

	printf 'stty cols %d rows %d; exec' "$columns" "$rows" >"$tmp/command"
	printf ' %q' "$@" >>"$tmp/command"
	env -u COLUMNS -u LINES -u NO_COLOR TERM=xterm script -qec "sh $tmp/command" "$tmp/typed" >/dev/null </dev/null || return 1
	sed '1{/^Script started/d}; ${/^Script done/d}; s/\r$//' "$tmp/typed" >"$tmp/raw.screen"
	sed 's/\x1b\[[0-9;]*m//g' "$tmp/raw.screen" >"$tmp/screen"
}

# COLUMNS COMMAND: it prints something, and no line is too long
fits()
{
	local columns=$1
	shift

	on_terminal "$columns" 40 "$@" || { cat "$tmp/raw.screen"; return 1; }
	[ -s "$tmp/screen" ] || { echo "nothing was printed by: $*"; return 1; }
	python3 - "$columns" "$tmp/screen" <<-'EOF'
		import sys
		width = int(sys.argv[1])
		long = [l for l in open(sys.argv[2], encoding="utf-8").read().split("\n") if len(l) > width]
		for line in long[:3]:
		    print(len(line), "characters:", line)
		sys.exit(bool(long))
	EOF
}

verbs_fit() # COLUMNS TRACE
{
	local id

	id=$($READER goroutines --all --json "$2" | jq '.goroutines | max_by(.exec).id') || return 1
	for verb in goroutines "goroutines --all" "goroutines --goroutine $id" latency "latency --details" "latency --all" \
		"latency --goroutine $id" waits "path --goroutine $id" "path --goroutine $id --summary" \
		"histogram --of block" "profile sync --text" requests tasks regions stat; do
		fits "$1" $READER $verb "$2" || { echo "$verb"; return 1; }
	done
}

# Which columns of goroutines have values, computed from its JSON, are those of a wide terminal.
columns_with_values() # TRACE
{
	local want have

	want=$($READER goroutines --json "$1" | jq -r '
		def of(f): [.block[] | select(.name | f) | .time] | add // 0;
		def sync: test("chan|sync|select") and (test("GC ") | not);
		def gc: test("GC ");
		def network: . == "network";
		def has(f): any(.groups[]; f > 0);
		[(if has(1) then "EXEC" else empty end), (if has(.sched_wait) then "SCHED" else empty end),
		 (if has(of(sync)) then "SYNC" else empty end), (if has(of(network)) then "NETWORK" else empty end),
		 (if has(.syscall + .syscall_block) then "SYSCALL" else empty end),
		 (if has(of(gc)) then "GC" else empty end)] | join(" ")')
	on_terminal 300 40 $READER goroutines "$1" || return 1
	have=$(head -n 1 "$tmp/screen" | sed 's/GC WORK//' | grep -ow 'EXEC\|SCHED\|SYNC\|NETWORK\|SYSCALL\|GC' | paste -sd' ')
	[ "$have" = "$want" ] || { echo "columns: $have; in the JSON: $want"; return 1; }
	[ -n "$want" ] && ! grep -q 'Not shown' "$tmp/screen"
}

# Each number of a narrow table is that of the table in a pipe, in the column of the same name.
same_numbers() # TRACE
{
	$READER goroutines "$1" >"$tmp/whole" && on_terminal 80 40 $READER goroutines "$1" || return 1
	grep -q '^Not shown (terminal too narrow): ' "$tmp/screen" || return 1
	python3 - "$tmp/whole" "$tmp/screen" <<-'EOF'
		import sys
		def table(path):
		    lines = open(path, encoding="utf-8").read().split("\n")
		    heads = lines[0].replace("GC WORK", "GC_WORK").replace("START FUNCTION", "NAME").split()
		    rows = []
		    for line in lines[1:]:
		        if not line:
		            break
		        rows.append(dict(zip(heads, line.split(None, len(heads) - 1))))
		    return heads, rows
		whole, rows = table(sys.argv[1])
		narrow, shown = table(sys.argv[2])
		assert len(rows) == len(shown) > 3, (len(rows), len(shown))
		assert len(narrow) < len(whole)
		for a, b in zip(rows, shown):
		    for head in narrow:
		        if head != "NAME":
		            assert a[head] == b[head], (head, a, b)
		        else:
		            assert b[head].rstrip("\u2026") in a[head], (a, b)
	EOF
}

one_screen() # TRACE
{
	local rows

	for rows in 24 40 60; do
		on_terminal 100 $rows $READER latency "$1" || return 1
		[ "$(wc -l <"$tmp/screen")" -lt $rows ] && [ "$(wc -l <"$tmp/screen")" -gt 5 ] ||
			{ cat "$tmp/screen"; return 1; }
		grep -q -- 'latency --details$' "$tmp/screen" || return 1
	done
	[ "$($READER latency "$1" | wc -l)" -le 41 ] &&
		[ "$($READER latency --details "$1" | grep -c '  run queue: \|^     *[0-9.]*[mun]*s .*%')" -gt 40 ]
}

# The rows of the default table, with the folded ones, add up to the figures of the JSON.
adds_up() # TRACE
{
	local have want

	have=$($READER latency "$1" | awk '/START FUNCTION$/ { on = 1; next } !NF { on = 0 } on { n += $1 } END { print n }')
	want=$($READER latency --json "$1" | jq '[.functions[].count] | add')
	[ "$have" = "$want" ] || { echo "$have goroutines in the table, $want in the JSON"; return 1; }
	$READER latency "$1" | grep -q 'functions that were parked)$'
}

whole_names_in_pipes() # TRACE
{
	local name

	name=$($READER goroutines --json "$1" | jq -r '[.groups[].name] | max_by(length)')
	[ ${#name} -gt 25 ] && $READER goroutines "$1" | grep -qF "$name" || return 1
	! $READER goroutines "$1" | grep -q $'\u2026\|\x1b' || return 1
	on_terminal 80 40 $READER goroutines "$1" && ! grep -qF "$name" "$tmp/screen"
}

unknown_without_kernel()
{
	local trace="$CORPUS/runs/long-$ORACLE_GO.trace"

	locked trace_run "long-$ORACLE_GO" "$ORACLE_GO" selftrace -duration 1500ms &&
		$READER latency "$trace" >"$tmp/table" && head -n 1 "$tmp/table" | grep -q '^The trace has no kernel events' &&
		awk '/START FUNCTION$/ { on = 1; next } !NF { on = 0 } on { n++; bad += $4 != "-" || $5 != "-" || $6 != "-" || $3 == "-" }
			END { exit !n || bad }' "$tmp/table" &&
		on_terminal 120 40 $READER latency "$trace" && ! grep -q 'KERN RUN' "$tmp/screen"
}

colours() # TRACE
{
	on_terminal 100 40 $READER goroutines "$1" && grep -q $'^\x1b\\[1m.*FUNCTION\x1b\\[m$' "$tmp/raw.screen" &&
		on_terminal 100 40 env NO_COLOR= $READER goroutines "$1" && grep -q $'\x1b' "$tmp/raw.screen" &&
		on_terminal 100 40 env NO_COLOR=1 $READER goroutines "$1" && ! grep -q $'\x1b' "$tmp/raw.screen" &&
		on_terminal 100 40 env TERM=dumb $READER goroutines "$1" && ! grep -q $'\x1b' "$tmp/raw.screen" &&
		on_terminal 100 40 env COLUMNS=60 $READER goroutines "$1" && fits 60 env COLUMNS=60 $READER goroutines "$1"
}

# In each command that prints tables
color_option() # TRACE
{
	local verb

	for verb in goroutines latency waits "path --goroutine 1" "histogram --of block" "profile sync --text" requests tasks \
		regions stat top "diff $1"; do
		$READER $verb --color=always "$1" >"$tmp/always" && $READER $verb --color=auto "$1" >"$tmp/auto" ||
			return 1
		! grep -q $'\x1b' "$tmp/auto" && sed 's/\x1b\[[0-9;]*m//g' "$tmp/always" | cmp - "$tmp/auto" || return 1
		[ "$verb" != top ] || continue # it has a screen of its own
		on_terminal 100 40 $READER $verb --color=never "$1" && ! grep -q $'\x1b' "$tmp/raw.screen" || return 1
	done
	$READER goroutines --color=always "$1" | grep -q $'^\x1b\[1m.*FUNCTION\x1b\[m$'
}

ktap_start
if record_target selftrace "$ORACLE_GO" "" -duration 1200ms; then
	trace=$RECORDED
	for columns in 60 80 120; do
		try "$columns columns: no line is too long" verbs_fit $columns "$trace"
	done
	try "columns with values are shown" columns_with_values "$trace"
	try "80 columns: the numbers are those of the whole table" same_numbers "$trace"
	try "latency: one screen" one_screen "$trace"
	try "latency: what is folded is added up" adds_up "$trace"
	try "whole names in pipes" whole_names_in_pipes "$trace"
	try "colours, NO_COLOR, TERM=dumb and COLUMNS" colours "$trace"
	try "--color" color_option "$trace"
else
	not_ok "record a program"
fi
try "without kernel events" unknown_without_kernel
ktap_end
