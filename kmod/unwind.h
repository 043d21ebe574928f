/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks a goroutine's stack by its frame pointers, for the hash and the PCs that bpf/stack.bpf.h
 * would come to.
 *
 * Before it in an event's way: kfuncs.c. After it: stacks.c, or a STACK record. A frame is used
 * only if it is 8-byte aligned, inside the stack's bounds, and above the last one; its PC only if
 * it is not 0. So a walk ends, whatever the memory holds.
 */
#ifndef KMOD_UNWIND_H
#define KMOD_UNWIND_H

#include <linux/types.h>

#include "gotrace/module.h"

/*
 * Of the current task's user memory, read in one access window without faults. pcs: `depth` places,
 * two at least (as many as w->pc and w->second need, which are taken whatever the depth), or NULL:
 * only the hash is wanted. depth: at most GT_STACK_MAX. Returns depth << 56 | hash and sets w->n,
 * and w->cut: 1 if no end of the stack was seen, because the depth was reached or not even the
 * first frame could be read. Any context but an NMI; a task without memory of its own has just
 * w->pc and w->second.
 */
u64 unwind__user(struct gt_unwind *w, u32 depth, u64 *pcs);

/* The same of a copy of a stack: `bytes` long, as if at address `at`. For tests. */
u64 unwind__copy(struct gt_unwind *w, u32 depth, u64 *pcs, const void *copy, u64 at, u64 bytes);

#endif
