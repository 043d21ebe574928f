/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stack table of a session: PCs in, a 32-bit id out, the same id for the same stack.
 *
 * Two halves (include/gotrace/uapi.h): when one is full the other is begun anew under the next
 * epoch, so that memory is bounded and what runs now always has an id. Lock-free, any context: an
 * entry's words are reserved by a compare-and-swap of the state (epoch and words used at once),
 * written, and only then put into the index; who loses there has wasted its words. An index slot
 * holds epoch << 32 | word + 1; one of another epoch is empty.
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
	atomic64_t written[2]; /* words filled of each half, over all epochs; at first 0 */
};

/* Slots of the index for a half of so many words: half of them for stacks of six PCs. */
static inline u32 stacks__slots(u32 words)
{
	return words / 4;
}

/*
 * The id of a stack. hash: unwind.h's, which stands for the PCs: they are not compared. depth: from
 * 1 to GT_STACK_MAX. 0 (counted in *lost): no slot was found near its place, or the half to begin
 * is still being written since its last epoch.
 */
u32 stacks__intern(struct stack_table *table, u64 hash, const u64 *pcs, u32 depth, bool cut);

#endif
