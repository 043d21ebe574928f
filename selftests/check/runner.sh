#!/bin/bash
# The test runner and the dependency installer are what all other results rest on: the runner must
# call each way of not passing a failure, and the installer must derive the backports source from
# either form of apt source.
. "$(dirname "$0")/../lib.sh"

# NAME EXPECTED < SCRIPT: run the runner on this one script; its closing line must be the expected
judged()
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

# FILE: the backports entry that deps.sh derives with this as the only apt source
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

ktap_start 18
judged "all results pass" "2 passed, 0 failed exit 0" <<'CASE'
echo 1..2; echo ok 1 a; echo ok 2 - b
CASE
judged "not ok is a failure" "1 passed, 1 failed exit 1" <<'CASE'
echo 1..2; echo ok 1 a; echo not ok 2 b; exit 1
CASE
judged "a failure with its reason" "1 passed, 1 failed exit 1" <<'CASE'
echo 1..2; echo '# of the other'; echo ok 1 a; echo '# why'; echo not ok 2 b; exit 1
CASE
same "the reason is said at the end too" "$(printf '%s\n' 'FAILED: scripts/case: b' '# why' '1 passed, 1 failed' 'exit 1')" \
	"$(tail -n 4 "$tmp/out")"
judged "no output is a failure" "0 passed, 1 failed exit 1" </dev/null
judged "results without a plan are a failure" "1 passed, 1 failed exit 1" <<'CASE'
echo ok 1 a
CASE
judged "fewer results than planned is a failure" "1 passed, 1 failed exit 1" <<'CASE'
echo 1..2; echo ok 1 a
CASE
judged "a death by signal is a failure" "1 passed, 1 failed exit 1" <<'CASE'
echo 1..1; echo ok 1 a; kill -SEGV $$
CASE
judged "an exit status without a not ok is a failure" "1 passed, 1 failed exit 1" <<'CASE'
echo 1..1; echo ok 1 a; exit 3
CASE
judged "a time-out is a failure" "1 passed, 1 failed exit 1" <<'CASE'
# timeout: 1
echo 1..1; echo ok 1 a; sleep 60
CASE
judged "a script beside others is judged alike" "1 passed, 1 failed exit 1" <<'CASE'
# beside others
echo 1..2; echo ok 1 a; echo not ok 2 b; exit 1
CASE
judged "a time-out of one beside others is a failure" "1 passed, 1 failed exit 1" <<'CASE'
# beside others
# timeout: 1
echo 1..1; echo ok 1 a; sleep 60
CASE
judged "a skip for a reason of its own is a failure" "1 passed, 1 failed exit 1" <<'CASE'
echo 1..2; echo ok 1 a; echo "ok 2 b # SKIP did not feel like it"
CASE
judged "a skip in cmocka's form is a failure" "1 passed, 1 failed exit 1" <<'CASE'
echo 1..2; echo ok 1 - a; echo "not ok 2 # SKIP b"
CASE
judged "a permitted skip is neither" "1 passed, 0 failed exit 0" <<'CASE'
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
ktap_end
