// SPDX-License-Identifier: GPL-2.0
/*
 * The stacks of a snapshot, which may be that of a raw file and contain any bytes.
 *
 * A file of its own, so that programs that only write raw files do not need the reader of processes.
 */
#include "gotrace/record.h"
#include "target/process/snapshot.h"

const uint64_t *snapshot__next_stack(const struct snapshot *snap, size_t *at, uint32_t *ret_depth,
				     bool *ret_cut)
{
	const uint64_t *pc;
	uint64_t head;

	if (*at >= snap->nstacks)
		return NULL;
	pc = snap->stacks + *at + 1;
	head = snap->stacks[*at];
	*ret_cut = head & SNAPSHOT_STACK_CUT;
	head &= ~(uint64_t)SNAPSHOT_STACK_CUT;
	if (!head || head > GT_STACK_MAX || head > snap->nstacks - *at - 1)
		return NULL;
	*ret_depth = (uint32_t)head;
	*at += 1 + head;
	return pc;
}

const uint64_t *snapshot__stack(const struct snapshot *snap, const struct snapshot_g *g,
				uint32_t *ret_depth, bool *ret_cut)
{
	size_t at = (size_t)g->stack - 1;

	return g->stack ? snapshot__next_stack(snap, &at, ret_depth, ret_cut) : NULL;
}
