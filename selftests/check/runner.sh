#!/bin/bash
# Tests the test runner and the dependency installer, on which all other results depend: the runner
# must count everything that is not a pass as a failure, and the installer must derive the backports
# source from either form of apt source.
# parallel
. "$(dirname "$0")/../lib.sh"
unset FRESH # the kept results of scripts are tested, too

# NAME EXPECTED < SCRIPT: runs the runner on this single script and compares its closing line and
# exit status
runner_prints()
{
	local folder=$tmp/scripts last

	rm -rf "$folder"
	mkdir -p "$folder"
	cat >"$folder/case.sh"
	SELFTESTS_SCRIPTS=$folder SELFTESTS_LOG=$tmp/log selftests/run check >"$tmp/out" 2>&1
	echo "exit $?" >>"$tmp/out"
	last=$(tail -n 2 "$tmp/out" | paste -sd' ')
	if [ "$last" = "$2" ]; then
		ok "$1"
	else
		note "closed with: $last"
		not_ok "$1"
	fi
}

# FILE: the backports entry that deps.sh derives with FILE as the only apt source
derived()
{
	bash -c '
		eval "$(sed -n "/^backports_stanza/,/^}/p; /^backports_line/,/^}/p" selftests/deps.sh |
			sed "s,/etc/apt/sources.list.d,$1,; s,/etc/apt/sources.list,$1/sources.list,")"
		codename=bookworm
		backports_stanza
		backports_line' - "$1"
}

same() # NAME EXPECTED ACTUAL
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		note "expected:"; note "$2"; note "got:"; note "$3"
		not_ok "$1"
	fi
}

ktap_start
runner_prints "all results pass" "2 passed, 0 failed exit 0" <<'CASE'
echo 1..2; echo ok 1 a; echo ok 2 - b
CASE
runner_prints "not ok is a failure" "1 passed, 1 failed exit 1" <<'CASE'
echo 1..2; echo ok 1 a; echo not ok 2 b; exit 1
CASE
runner_prints "a failure with its reason" "1 passed, 1 failed exit 1" <<'CASE'
echo 1..2; echo '# of the other'; echo ok 1 a; echo '# why'; echo not ok 2 b; exit 1
CASE
same "the reason is repeated at the end" "$(printf '%s\n' 'FAILED: scripts/case: b' '# why' '1 passed, 1 failed' 'exit 1')" \
	"$(tail -n 4 "$tmp/out")"
runner_prints "no output is a failure" "0 passed, 1 failed exit 1" </dev/null
runner_prints "results without a plan are a failure" "1 passed, 1 failed exit 1" <<'CASE'
echo ok 1 a
CASE
runner_prints "fewer results than planned is a failure" "1 passed, 1 failed exit 1" <<'CASE'
echo 1..2; echo ok 1 a
CASE
runner_prints "a death by signal is a failure" "1 passed, 1 failed exit 1" <<'CASE'
echo 1..1; echo ok 1 a; kill -SEGV $$
CASE
runner_prints "an exit status without a not ok is a failure" "1 passed, 1 failed exit 1" <<'CASE'
echo 1..1; echo ok 1 a; exit 3
CASE
runner_prints "a time-out is a failure" "1 passed, 1 failed exit 1" <<'CASE'
# timeout: 1
echo 1..1; echo ok 1 a; sleep 60
CASE
runner_prints "a parallel script is treated alike" "1 passed, 1 failed exit 1" <<'CASE'
# parallel
echo 1..2; echo ok 1 a; echo not ok 2 b; exit 1
CASE
runner_prints "a time-out of a parallel script is a failure" "1 passed, 1 failed exit 1" <<'CASE'
# parallel
# timeout: 1
echo 1..1; echo ok 1 a; sleep 60
CASE
runner_prints "a failure in a script that begins first" "1 passed, 1 failed exit 1" <<'CASE'
# parallel: first
echo 1..2; echo ok 1 a; echo not ok 2 b; exit 1
CASE

rm -f "$tmp/once"
runner_prints "a script that fails is not repeated" "1 passed, 1 failed exit 1" <<CASE
# parallel
echo 1..2; echo ok 1 a
[ -e $tmp/once ] || { touch $tmp/once; echo not ok 2 b; exit 1; }
echo ok 2 b
CASE

# MODE: the scripts that run in it
ran_in()
{
	local folder=$tmp/tiers name head

	mkdir -p "$folder"
	for name in short:timeout:5 whole:tier:all long:tier:long both:long:5; do
		head=${name#*:}
		printf '%s\n' "# ${head/:/: }" '. selftests/lib.sh' "echo 1..1; echo ok 1 \$(by_tier A B C)" >"$folder/${name%%:*}.sh"
	done
	SELFTESTS_SCRIPTS=$folder SELFTESTS_LOG=$tmp/log selftests/run "$@" >"$tmp/out" 2>&1
	awk '/^# tiers\/[a-z]*$/ { name = $2 } /^ok/ { print name " " $3 }' "$tmp/out" | sed 's,tiers/,,' | sort | paste -sd' '
}

same "the scripts of make check" "both A short A" "$(ran_in check)"
same "the scripts of make check-all" "both B short B whole B" "$(ran_in check-all)"
same "the scripts of make check-long" "both C long C" "$(ran_in check-long)"
same "parts of check-all in rotation" "both B short B whole B" "$(ran_in rotate 100)"
same "no script is started after the time" "FAILED: no test was run; check the names in PARTS" "$(ran_in rotate 0 >/dev/null; grep FAILED "$tmp/out")"

# Scripts that begin first, and two others: each passes only while another one runs.
at_the_same_time()
{
	local folder=$tmp/beside name

	mkdir -p "$folder"
	for name in a b c d; do
		printf '%s\n' "# parallel$([[ $name > b ]] || echo ': first')" ". selftests/lib.sh" "touch $folder/$name" \
			"wait_until 30 test -e $folder/$(tr abcd cdab <<<$name) && echo 1..1 && echo ok 1 a" >"$folder/$name.sh"
	done
	SELFTESTS_SCRIPTS=$folder SELFTESTS_LOG=$tmp/log selftests/run check | tail -n 1
}

same "scripts that begin first run beside the other parallel ones" "4 passed, 0 failed" "$(at_the_same_time)"

by_their_limits()
{
	local limit

	mkdir -p "$tmp/limits"
	for limit in 60 900 1200; do
		echo "# timeout: $limit" >"$tmp/limits/$limit.sh"
	done
	echo '# parallel' >"$tmp/limits/none.sh"
	(eval "$(sed -n '/^says()/,/^}/p; /^seconds_of()/,/^}/p; /^by_limit()/,/^}/p' selftests/run)" && tier=all &&
		by_limit "$tmp"/limits/*.sh) |
		sed 's,.*/,,; s/\.sh$//' | paste -sd' '
}

same "scripts with the largest limits begin first" "1200 900 none 60" "$(by_their_limits)"
runner_prints "a skip for an unlisted reason is a failure" "1 passed, 1 failed exit 1" <<'CASE'
echo 1..2; echo ok 1 a; echo "ok 2 b # SKIP did not feel like it"
CASE
runner_prints "a skip in cmocka's form is a failure" "1 passed, 1 failed exit 1" <<'CASE'
echo 1..2; echo ok 1 - a; echo "not ok 2 # SKIP b"
CASE
runner_prints "a permitted skip is neither a pass nor a failure" "1 passed, 0 failed exit 0" <<'CASE'
echo 1..2; echo ok 1 a; echo "ok 2 b # SKIP kernel older than 6.6: no uprobe_multi"
CASE

mkdir "$tmp/deb822" "$tmp/oneline"
cat >"$tmp/deb822/debian.sources" <<'SOURCES'
Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: /security.gpg

Types: deb deb-src
# a comment
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /archive.gpg
SOURCES
same "backports source from deb822" "Types: deb
Suites: bookworm-backports
Components: main
URIs: http://mirror.example/debian
Signed-By: /archive.gpg" "$(derived "$tmp/deb822")"

cat >"$tmp/oneline/sources.list" <<'SOURCES'
deb-src http://mirror.example/debian bookworm main
deb http://mirror.example/security bookworm-security main
deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm main contrib
SOURCES
same "backports source from one-line sources" \
	"deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian bookworm-backports main" \
	"$(derived "$tmp/oneline")"
try "nothing missing: make deps is quiet" bash -c 'test -z "$(selftests/deps.sh)"'

# COMMAND...: how often the script ran when selftests/keep was called twice with it
runs_of_two()
{
	printf '%s\n' '#!/bin/bash' "# depends on: $tmp/input" "echo >>$tmp/runs" 'echo 1..1' "$@" >"$tmp/kept.sh"
	: >"$tmp/runs"
	XDG_CACHE_HOME=$tmp selftests/keep "$tmp/kept.sh" >"$tmp/first"
	XDG_CACHE_HOME=$tmp selftests/keep "$tmp/kept.sh" >"$tmp/second"
	wc -l <"$tmp/runs"
}

echo 1 >"$tmp/input"
same "an unchanged script that passed is not run again, one that failed or changed is" "1 2 2 2" \
	"$(runs_of_two 'echo ok 1 a') $(runs_of_two 'echo not ok 1 a; exit 1') $(runs_of_two 'echo "ok 1 a # SKIP"'
	) $(runs_of_two "echo ok 1 a; echo >>$tmp/input")"
same "the results of the earlier run are shown with its date" \
	"$(printf '%s\n' '# kept passed on' '1..1' 'ok 1 a')" "$(runs_of_two 'echo ok 1 a' >/dev/null
	sed 's/^\(# kept passed on\) .*/\1/' "$tmp/second")"

runs_with_values() # NAME LINE VALUE...: how often a script with this line ran, with these values of a variable
{
	local value name=$1 line=$2
	shift 2

	printf '%s\n' '#!/bin/bash' "# depends on: $tmp/input" "$line" "echo >>$tmp/runs" \
		'echo 1..1; echo ok 1 a' >"$tmp/reads.sh"
	: >"$tmp/runs"
	for value; do
		env "$name=$value" XDG_CACHE_HOME="$tmp" selftests/keep "$tmp/reads.sh" >/dev/null
	done
	wc -l <"$tmp/runs"
}

same "a script runs again when a variable that it reads has another value" 2 \
	"$(runs_with_values LIMITS ': "${LIMITS:-}"' 1 2 2 1)"
same "in another tier it runs again if it has values or results by tier" "2 2 1" \
	"$(runs_with_values TIER 'in_all() { :; }' all check check) $(runs_with_values TIER 'by_tier() { :; }' check all check
	) $(runs_with_values TIER : check all check)"

old_results() # prints which of four results are left after that script has passed
{
	local folder=$tmp/gotrace-selftests/passed

	rm -f "$folder"/kept*
	touch "$folder/kept-0123456789abcdee"
	touch -d '32 days ago' "$folder"/{kept-0123456789abcdef,kept-too-0123456789abcdef,other-0123456789abcdef}
	runs_of_two 'echo ok 1 a' >/dev/null
	(cd "$folder" && printf '%s\n' *-0123456789abcde?)
}

same "results of more than 30 days ago are removed, but not those of other scripts" \
	"$(printf '%s\n' kept-0123456789abcdee kept-too-0123456789abcdef other-0123456789abcdef)" "$(old_results)"

installed_by_scripts() # the packages that scripts of make check pass to deps.sh
{
	{
		grep -ohE '/deps\.sh [a-z][^&|;)"$]*' selftests/check/*.sh | sed 's/^[^ ]* //'
		sed -n 's/^VM_PACKAGES=(\(.*\))$/\1/p' selftests/vm.lib.sh
		sed -n 's/^packages=(\(.*\))$/\1/p' selftests/kunit
	} | tr -s ' ' '\n' | sort -u | grep .
}

known() # those that are installed before the first script
{
	{
		sed -n '/^script_packages=(/,/)$/{s/.*(//; s/)//; p}' selftests/run
		sed -n '/^packages=(/,/)$/{s/.*(//; s/"$@")//; p}' selftests/deps.sh
	} | tr -s ' \t' '\n' | sort -u
}

same "packages that scripts install are installed before the first one" "" \
	"$(comm -23 <(installed_by_scripts) <(known))"
try "scripts install packages" eval '[ "$(installed_by_scripts | wc -l)" -ge 15 ]'

# A script ends with these PIDs in its list: one that no process has, one that is another process's
# by now, and a child's
left_by_a_script()
{
	local other own

	sleep 100 &
	other=$!
	own=$(bash -c '. selftests/lib.sh; ktap_start 0 >&2; sleep 100 >&2 & echo $!
		background=(99999999 '$other' $!); ktap_end' "$tmp/ends.sh")
	kill -0 "$own" 2>/dev/null && echo "the child"
	kill -0 $other && echo "the other process"
	kill $other
}

same "the end of a script kills its children, and no other process" "the other process" "$(left_by_a_script 2>/dev/null)"
ktap_end
