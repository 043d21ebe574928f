#!/bin/bash
# A program with very many stacks: each event has its own stack, and not one whose hash is alike; and the recorder does
# not keep them all.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# Of so many stacks about seven pairs have the same low half of their hashes. A stack that the probes have
# replaced is kept for a while only (DISPLACED_MAX in sequence/stacks.c): an event that comes later still,
# as a thread was preempted within a probe, has none. On a busy machine these may be a few; they are counted.
own_stacks()
{
	record_target branches "$JUDGE_GO" "--ring-size 32M" -logs 250000 || return 1
	cat "$tmp/branches.json"
	[ "$(stat_of 'lost' "$tmp/branches.json")" = 0 ] || note "records were lost: stacks may be missing"
	build/reference/branches "$RECORDED" "$(stat_of 'stack_misses' "$tmp/branches.json")" &&
		[ "$(stat_of 'lost > 0 or .stack_misses < 250' "$tmp/branches.json")" = true ]
}

# Of 250,000 stacks of 60 frames; 500 MiB when each was kept.
bounded_memory()
{
	cat "$tmp/branches.json"
	[ "$(stat_of 'peak_memory_bytes - .ring_bytes + 16 * 1048576' "$tmp/branches.json")" -lt $((160 << 20)) ]
}

ktap_start
try "each of 250,000 stacks is that of its event" own_stacks
try "the recorder of a program with 250,000 stacks takes less than 160 MiB" bounded_memory
ktap_end
