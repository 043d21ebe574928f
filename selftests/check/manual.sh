#!/bin/bash
# Checks that the manual of gotrace documents each verb and each option of the program.
# parallel
# timeout: 60
. "$(dirname "$0")/../lib.sh"

verbs()
{
	build/gotrace --help | sed -n 's/^  \([a-z]*\)   .*/\1/p'
}

# Each verb has a section.
names_the_verbs()
{
	local verb missing=0

	for verb in $(verbs); do
		grep -qx ".SS $verb" userspace/man/gotrace.1 || { echo "no section for $verb"; missing=1; }
	done
	[ "$(verbs | wc -l)" -ge 10 ] && [ $missing -eq 0 ]
}

# Options that several verbs share are documented once.
names_the_options()
{
	local verb option missing=0 n=0

	sed 's/\\-/-/g' userspace/man/gotrace.1 >"$tmp/page" || return 1
	for verb in $(verbs); do
		for option in $(build/gotrace "$verb" --help | grep -o -e '--[a-z-]*' | sort -u); do
			n=$((n + 1))
			case $option in
			--help | --output) continue ;;
			esac
			grep -q -e "$option\b" "$tmp/page" ||
				{ echo "option $option of $verb is not documented"; missing=1; }
		done
	done
	[ $n -ge 30 ] && [ $missing -eq 0 ]
}

# The section-5 page lists each kind of record that may be lost, with its number.
names_the_kinds()
{
	local number name missing=0 n=0

	userspace/man/fill userspace/man/gotrace-private.5 | tr '\n' ' ' >"$tmp/page" || return 1
	while read -r name number; do
		n=$((n + 1))
		grep -q "[ ,]$number ${name}[,.]" "$tmp/page" || { echo "kind $number $name is not listed"; missing=1; }
	done < <(sed -n 's/^\tX(\([1-9][0-9]*\), [A-Z_]*, \([a-z_]*\),.*/\2 \1/p' include/gotrace/kinds.h)
	[ $n -ge 40 ] && [ $missing -eq 0 ]
}

# README.md names the same ranges of releases as the manuals: of traced programs, and of traces.
readme_has_the_releases()
{
	local oldest newest format

	read -r oldest newest format < <(echo '@OLDEST_GO@ @NEWEST_GO@ @NEWEST_FORMAT@' | userspace/man/fill /dev/stdin)
	grep -oE 'Go( releases:)? 1\.[0-9]+ to 1\.[0-9]+' README.md >"$tmp/ranges"
	cat "$tmp/ranges"
	grep -qx "Go $oldest to $newest" "$tmp/ranges" && grep -qx "Go releases: $oldest to $newest" "$tmp/ranges" &&
		grep -qx "Go 1.5 to $format" "$tmp/ranges" &&
		! grep -vxE "Go( releases:)? $oldest to $newest|Go 1.5 to ($format|1.21)" "$tmp/ranges"
}

# The tests build programs with each release that can be traced.
tests_have_the_releases()
{
	. selftests/releases.lib.sh
	diff <(sed -n '/ releases\[\] = {/,/^}/s/^\t{ \([0-9]*\),.*/\1/p' userspace/target/layout/layout_tables.c) \
		<(for go in $LAST_GOS; do minor_of "$go"; done)
}

# All placeholders are replaced, and each page has the version.
pages_are_filled()
{
	local page

	for page in userspace/man/*.[1-9]; do
		userspace/man/fill "$page" >"$tmp/page" && ! grep -n '@[A-Z_]*@' "$tmp/page" &&
			grep -q "^.TH .*\"gotrace-bpf $(our_version)\"" "$tmp/page" || return 1
	done
}

ktap_start 6
try "each verb is documented" names_the_verbs
try "each option is documented" names_the_options
try "each kind of record is documented in gotrace-private(5)" names_the_kinds
try "each page is complete, and of this version" pages_are_filled
try "README.md has the supported releases" readme_has_the_releases
try "the tests have each supported release" tests_have_the_releases
ktap_end
