#!/bin/bash
# The last whole run of check-all, which selftests/WHOLE.md records, is of one of the last 60 commits.
# parallel
# timeout: 60
. "$(dirname "$0")/../lib.sh"

MOST=60

recorded_commit() # FILE
{
	sed -n 's/^| \([0-9a-f]\{40\}\) |.*/\1/p' "$1"
}

is_recent() # REPOSITORY: the commit of its WHOLE.md
{
	local commit age

	commit=$(recorded_commit "$1/selftests/WHOLE.md") && [ -n "$commit" ] || { echo "selftests/WHOLE.md names no commit"; return 1; }
	age=$(git -C "$1" rev-list --count "$commit..HEAD") || return 1
	echo "$age commits since the last whole run of check-all; at most $MOST are permitted; run make check-all"
	git -C "$1" merge-base --is-ancestor "$commit" HEAD && [ "$age" -le $MOST ]
}

# N: a repository with N commits since the recorded one
repository_of()
{
	local folder=$tmp/after$1 i
	local git=(git -C "$folder" -c user.name=test -c user.email=test@localhost)

	mkdir -p "$folder/selftests" && git init -q "$folder" && "${git[@]}" commit -q --allow-empty -m 0 || return 1
	echo "| $(git -C "$folder" rev-parse HEAD) | today |" >"$folder/selftests/WHOLE.md"
	for ((i = 1; i <= $1; i++)); do
		"${git[@]}" commit -q --allow-empty -m "$i" || return 1
	done
}

is_refused() { ! is_recent "$1" && rm "$1/selftests/WHOLE.md" && ! is_recent "$1" 2>/dev/null; }

ktap_start 3
if git rev-parse HEAD >/dev/null 2>&1; then
	try "the last whole run is recent" is_recent . && note "$(cat "$tmp/try.out")"
else
	skip "the last whole run is recent" "the tree has no git history"
fi
try "a run of $MOST commits ago is recent" eval "repository_of $MOST && is_recent $tmp/after$MOST"
try "an older one is not, and neither is an unrecorded one" eval "repository_of $((MOST + 1)) && is_refused $tmp/after$((MOST + 1))"
ktap_end
