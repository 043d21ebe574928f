# The Go releases whose programs the tests build; read after lib.sh. A new release is added here only.

# Of each supported release the last patch release that is tested, the oldest first, and the first
# one of those that are tested twice.
LAST_GOS="1.19.13 1.20.14 1.21.13 1.22.12 1.23.12 1.24.13 1.25.14 1.26.11 1.27.4"
FIRST_GOS="1.21.0 1.22.0 1.23.0 1.24.0 1.25.0 1.26.0"

sorted_gos() # RELEASE...: each once, the oldest first
{
	printf '%s\n' "$@" | sort -uV | paste -sd' '
}

# MINOR: those of LAST_GOS from this one on, but for the newest, which has no offsets in the table
last_gos_since()
{
	local go

	for go in ${LAST_GOS% *}; do
		[ "$(minor_of "$go")" -lt "$1" ] || echo "$go"
	done | paste -sd' '
}

minor_of() # 1.26.8
{
	local minor=${1#*.}

	echo "${minor%%.*}"
}

every_go_since() # MINOR: last_gos_since, as names of toolchains
{
	last_gos_since "$1" | sed 's/[^ ]*/go&/g'
}

# Those of TARGET_GOS whose own traces the reference programs read: releases up to 1.21 have an older format.
NEW_FORMAT_GOS=$(for go in $TARGET_GOS; do [ "$(minor_of "$go")" -lt 22 ] || echo "$go"; done)

targets_of() # "GO..." NAME: builds the target with each release
{
	locked make --no-print-directory TARGET_GOS="$1" $(printf "build/targets/%s/$2 " $1) >&2
}

# NAME...: builds the targets with the newest release, which TARGET_GOS lacks, and prints it. Nothing in make check.
newest_go_of()
{
	local go=go${LAST_GOS##* } name

	[ $TIER != check ] || return 0
	for name; do
		targets_of "$go" "$name" || return
	done
	echo "$go"
}
