/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks a goroutine's stack by its frame pointers, with the same hash and PCs as bpf/stack.bpf.h.
 *
 * Upstream: kfuncs.c. Downstream: stacks.c, or a STACK record. A frame is used only if it is 8-byte
 * aligned, inside the stack's bounds, and above the last one; its PC only if it is not 0. So a walk
 * always ends.
 */
#ifndef KMOD_UNWIND_H
#define KMOD_UNWIND_H

#include <linux/types.h>

#include "gotrace/module.h"

/*
 * Walks user memory of the current task, in one access window without faults. pcs: `depth`
 * elements, at least two (for w->pc and w->second, which are stored whatever the depth), or NULL:
 * only the hash is computed. depth: at most GT_STACK_MAX. Returns depth << 56 | hash and sets w->n,
 * and w->cut: 1 if the end of the stack was not reached, because of the depth or an unreadable
 * first frame. Any context but an NMI; for a task without user memory only w->pc and w->second
 * count.
 */
u64 unwind__user(struct gt_unwind *w, u32 depth, u64 *pcs);

/* The same for a copy of a stack of `bytes` bytes, as if at address `at`. For tests. */
u64 unwind__copy(struct gt_unwind *w, u32 depth, u64 *pcs, const void *copy, u64 at, u64 bytes);

#endif
