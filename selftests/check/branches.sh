#!/bin/bash
# A program with very many stacks: each event has its own stack, and not one whose hash is alike.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# Of so many stacks about seven pairs have the same low half of their hashes.
own_stacks()
{
	record_target branches "$JUDGE_GO" "--ring-size 32M" -logs 250000 || return 1
	cat "$tmp/branches.json"
	[ "$(stat_of 'lost' "$tmp/branches.json")" = 0 ] || note "records were lost: stacks may be missing"
	build/reference/branches "$RECORDED" "$(stat_of 'stack_misses' "$tmp/branches.json")" &&
		[ "$(stat_of 'lost > 0 or .stack_misses == 0' "$tmp/branches.json")" = true ]
}

ktap_start
try "each of 250,000 stacks is that of its event" own_stacks
ktap_end
