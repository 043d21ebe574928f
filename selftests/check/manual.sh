#!/bin/bash
# The manual of gotrace names each verb and each option that the program has.
# beside others
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
		grep -qx ".SS $verb" userspace/man/gotrace.1 || { echo "no section $verb"; missing=1; }
	done
	[ "$(verbs | wc -l)" -ge 10 ] && [ $missing -eq 0 ]
}

# Options that several verbs have stand there once.
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
				{ echo "no option $option of $verb"; missing=1; }
		done
	done
	[ $n -ge 30 ] && [ $missing -eq 0 ]
}

# The section-5 page names each kind of record that a loss can be of, by its number.
names_the_kinds()
{
	local number name missing=0 n=0

	tr '\n' ' ' <userspace/man/gotrace-private.5 >"$tmp/page" || return 1
	while read -r name number; do
		n=$((n + 1))
		grep -q "[ ,]$number ${name,,}[,.]" "$tmp/page" || { echo "no kind $number ${name,,}"; missing=1; }
	done < <(sed -n '/^enum gt_kind/,/^};/s/^\tGT_\([A-Z_]*\) = \([1-9][0-9]*\),.*/\1 \2/p' include/gotrace/record.h)
	[ $n -ge 40 ] && [ $missing -eq 0 ]
}

ktap_start 3
try "each verb is in it" names_the_verbs
try "each option is in it" names_the_options
try "each kind of record is in gotrace-private(5)" names_the_kinds
ktap_end
