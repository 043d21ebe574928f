#!/bin/bash
# tier: all
# parallel
# depends on: Makefile bpf include userspace selftests/tables.py selftests/targets
# Cells of tables that other tests leave out - shares, rates, means, noise - are those that follow from more detailed
# output: stacks, goroutines, segments, tasks and figures. Each kind of cell is found to differ if its last digit is
# another one.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh
. selftests/reader.lib.sh

tables() # VERB ARGUMENT...
{
	python3 -B selftests/tables.py "$1" $READER "${@:2}"
}

# SED-SCRIPT VERB ARGUMENT...: the comparison finds cells that are changed
detects()
{
	cat >"$tmp/other" <<-EOF
		#!/bin/bash
		$PWD/$READER "\$@" | sed -E '$1'
	EOF
	chmod +x "$tmp/other"
	! python3 -B selftests/tables.py "$2" "$tmp/other" "${@:3}" >"$tmp/out" && [ "$(wc -l <"$tmp/out")" -gt 1 ] && ! grep Traceback "$tmp/out"
}

recorded() # NAME ARGUMENT...: $tmp/NAME.trace
{
	record_target requests "$ORACLE_GO" "" "${@:2}" && mv "$RECORDED" "$tmp/$1.trace"
}

# The start function with the most goroutines from creation to end
of_many()
{
	$READER goroutines --all --json "$1" | jq -er '.start as $start | [.goroutines[] | select(.ended and .created != $start and .name != "").name] |
		group_by(.) | max_by(length)[0]'
}

main_of() { $READER goroutines --all --json "$1" | jq -er '[.goroutines[] | select(.name == "main.main").id][0]'; }

ktap_start
if try "a recording" recorded a -n 8 && try "another one" recorded b -n 12; then
	a=$tmp/a.trace b=$tmp/b.trace
	many=$(of_many $a) main=$(main_of $a)
	for kind in wall offcpu; do
		try "profile $kind" tables profile $a $kind && note "$(cat "$tmp/try.out")"
	done
	try "top" tables top $a && note "$(cat "$tmp/try.out")"
	try "path --summary" tables path $a "$main" && note "$(cat "$tmp/try.out")"
	try "goroutines --compare-extremes" tables extremes $a "$many" && note "$(cat "$tmp/try.out")"
	for per in second request; do
		try "diff --per $per" tables diff $a $b $per && note "$(cat "$tmp/try.out")"
	done
	try "another FLAT is detected" detects 's/^( +[0-9.]+)([0-9])([a-z]+ .*\[)/\12\2\3/' profile $a wall
	try "another CUM is detected" detects 's/^( +[^ ]+ +[^ ]+ +[^ ]+ +)([0-9])(.*\[)/\11\2\3/' profile $a wall
	try "another SHARE of top is detected" detects 's/^( +[^ ]+ +)([0-9.]+%  [A-Z])/\11\2/' top $a
	try "another PER S is detected" detects 's/^( +[0-9]+ +)([0-9]+\.[0-9] .*GET)/\11\2/' top $a
	try "another SHARE of path is detected" detects 's/^( +[^ ]+ +)([0-9.]+%)/\11\2/' path $a "$main"
	try "another function of path is detected" detects 's/"function":( ?)"main.main"/"function":\1"runtime.main"/' path $a "$main"
	try "another DIFFERENCE is detected" detects 's/^( +[^ ]+ +[^ ]+ +)([0-9])/\11\2/' extremes $a "$many"
	try "another SHARE of goroutines is detected" detects 's/([0-9.]+%  )/1\1/' extremes $a "$many"
	try "another function of goroutines is detected" detects 's/"function": ?"/&x/' extremes $a "$many"
	try "another NOISE is detected" detects 's/^( +[^ ]+ +[^ ]+ +[^ ]+ +)([0-9])/\11\2/' diff $a $b second
	try "another group is detected" detects 's/WAITS FOR A P/GARBAGE COLLECTION/' diff $a $b second
	try "another per is detected" detects 's/"per": ?"second"/"per":"request"/' diff $a $b second
fi
ktap_end
