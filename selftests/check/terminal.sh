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
. selftests/terminal.lib.sh

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

	trace_long_runs &&
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

# The same trace with names of wide characters, combining marks and escaped control characters, as far as
# the batches of the file have room for them
build_wide()
{
	$READER text "$1" | PYTHONUTF8=1 python3 -c '
import re, sys
WIDE = "\u9577\u3044\u540d\u524d\u306e\u95a2\u6570" * 5 + "e\u0301\u0302z" * 6 + "\u0301" * 20
HOSTILE = "\x1b[31m\u202e\n\t\x00"
ESCAPED = r"\x1b[31m\u202e\n\t\x00"
ADDED = len((WIDE + HOSTILE).encode())
NAME = re.compile(r"(\tdata=\")((?:main\.|task|region|request|part|outer|started|[a-z]+ of )[^\"\\]{0,90}\")")
def finish(batch):
    if not batch:
        return
    size = int(re.search(r"size=(\d+)", batch[0])[1])
    for i, line in enumerate(batch):
        name = NAME.match(line)
        if name and size + ADDED + 1 <= 65536:
            size += ADDED + (len(name[2]) < 129)
            batch[i] = name[1] + WIDE + ESCAPED + line[len(name[1]):]
    batch[0] = re.sub(r"size=\d+", f"size={size}", batch[0])
    sys.stdout.writelines(batch)
print(next(sys.stdin), end="")
batch = []
for line in sys.stdin:
    if line.startswith("EventBatch "):
        finish(batch)
        batch = []
    batch.append(line)
finish(batch)' | $READER assemble -o "$2" && $READER check "$2" &&
		$READER goroutines "$2" | grep -q $'\u9577.*main\.' && $READER tasks "$2" | grep -q $'\u9577'
}

wide_names()
{
	build_wide "$1" "$tmp/wide.trace" && verbs_fit 80 "$tmp/wide.trace" && in_all verbs_fit 120 "$tmp/wide.trace"
}

ktap_start
if record_target selftrace "$ORACLE_GO" "" -duration 1200ms $FEW_SYSCALLS; then
	trace=$RECORDED
	for columns in 60 80 120; do
		in_all try "$columns columns: no line is too long" verbs_fit $columns "$trace"
	done
	try "wide and hostile names" wide_names "$trace"
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
