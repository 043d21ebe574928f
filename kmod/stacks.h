/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stack table of a session: maps PCs to a 32-bit id, the same id for the same stack. Upstream:
 * kfuncs.c. Downstream: processes that have mapped the session.
 *
 * It has two halves (include/gotrace/uapi.h): when one is full the other is begun again under the
 * next epoch, so that memory is bounded and current stacks have ids. Lock-free, any context: the
 * words of an entry are reserved by a compare-and-swap of the state (epoch and words used),
 * written, and then put into the index; a writer that is slower with the same stack wastes its
 * words. An index slot contains epoch << 32 | word + 1; one of another epoch is empty.
 */
#ifndef KMOD_STACKS_H
#define KMOD_STACKS_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "gotrace/uapi.h"

struct stack_table {
	u64 *state;	       /* gt_session_page.stack_state */
	u64 *lost;	       /* .stacks_lost */
	u64 *index;	       /* `slots` of them */
	u64 *half[2];	       /* `words` each */
	u32 words, slots;      /* powers of two */
	atomic64_t written[2]; /* words filled per half, over all epochs; initially 0 */
};

/* Index slots for a half of so many words: twice as many as stacks of six PCs. */
static inline u32 stacks__slots(u32 words)
{
	return words / 4;
}

/*
 * The id of a stack. hash: from unwind.h; PCs with the same hash are not compared. depth: 1 to
 * GT_STACK_MAX. 0 (counted in *lost): no slot nearby, or the half to begin is still being written
 * since its last epoch.
 */
u32 stacks__intern(struct stack_table *table, u64 hash, const u64 *pcs, u32 depth, bool cut);

#endif
