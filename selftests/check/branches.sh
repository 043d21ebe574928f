#!/bin/bash
# tier: all
# parallel
# depends on: Makefile bpf include userspace selftests/reference selftests/targets
# A program with 250,000 distinct stacks: each event has its own stack, never one with an equal
# hash, and the recorder does not keep all of them in memory.
. "$(dirname "$0")/../lib.sh"
. selftests/record.lib.sh

# How often a thread of the target waited for a CPU for 100 ms or more, according to its kernel
# events. In that time the other threads send at least a fifth of the stacks that DISPLACED_MAX of
# sequence/stacks.c keeps.
long_waits()
{
	build/gotrace events --kernel --json "$RECORDED" | grep '"event":"on_cpu"' |
		jq -n '[inputs | select(.delay_ns >= 1e8)] | length'
}

# Among so many stacks about seven pairs share the low half of their hashes. A stack that the probes
# replaced is kept for a limited time: an event of a thread that was preempted within a probe for
# longer has no stack. So at most as many events may lack one as there were long waits; on a quiet
# machine there are none. Where records were lost, a text may be missing, and its stack cannot be
# compared.
own_stacks()
{
	record_target branches "$ORACLE_GO" "--ring-size 32M" -logs 250000 || return 1
	cat "$tmp/branches.json"
	[ "$(stat_of 'lost' "$tmp/branches.json")" = 0 ] || note "records were lost: stacks may be missing"
	build/reference/branches "$RECORDED" "$(stat_of 'stack_misses' "$tmp/branches.json")" \
		"$(stat_of 'lost as $lost | if $lost > 0 then .text_misses else 0 end' "$tmp/branches.json")" &&
		[ "$(stat_of "lost > 0 or .stack_misses <= $(long_waits)" "$tmp/branches.json")" = true ]
}

# 250,000 stacks of 60 frames took 500 MiB when each was kept.
bounded_memory()
{
	cat "$tmp/branches.json"
	[ "$(stat_of 'peak_memory_bytes - .ring_bytes + 16 * 1048576' "$tmp/branches.json")" -lt $((160 << 20)) ]
}

ktap_start
try "each of 250,000 stacks belongs to its event" own_stacks
try "the recorder needs less than 160 MiB for 250,000 stacks" bounded_memory
ktap_end
