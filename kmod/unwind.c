// SPDX-License-Identifier: GPL-2.0
/*
 * Walks a goroutine's stack by its frame pointers.
 *
 * Upstream: kfuncs.c. Downstream: stacks.c, or the calling BPF program. The hash, the number of PCs
 * and `cut` equal those of stack__hash() and stack__walk() in bpf/stack.bpf.h, so that traces do
 * not depend on the module.
 *
 * The loop is a template, instantiated for user memory and a copy, with and without storing PCs: a
 * frame costs about 25 instructions and no call, which objtool forbids in the access window.
 */
#include <linux/hardirq.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "unwind.h"

#define FRAME	  16		  /* bytes: the next fp, the return address */
#define USER_END  (TASK_SIZE - 8) /* user-mode Linux permits no range up to TASK_SIZE */
#define HASH_MASK ((1ull << 56) - 1)

struct walk {
	u64 hash;
	u32 n;	    /* PCs so far */
	bool ended; /* no further frame */
	u64 fp;
	u64 lo;
	u64 frames; /* from lo on: where a frame may begin; not 0 */
};

static __always_inline u64 unwind__mix(u64 hash, u64 pc)
{
	hash = (hash ^ pc) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static __always_inline void unwind__add(struct walk *walk, u64 pc, u64 *pcs)
{
	walk->hash = unwind__mix(walk->hash, pc);
	if (pcs)
		pcs[walk->n] = pc;
	walk->n++;
}

/*
 * From walk->fp on. copy: the contents of walk->lo; NULL: user memory, in an access window. A frame
 * pointer is the target's data: under speculation beyond its bounds check it is 0, so that the CPU
 * does not load kernel memory with it.
 */
static __always_inline void unwind__frames(struct walk *walk, u32 depth, u64 *pcs, const void *copy)
{
	u64 fp = walk->fp, next, pc;
	u32 first = walk->n;

	while (walk->n < depth) {
		if (fp - walk->lo >= walk->frames || fp & 7)
			goto no_frame;
		fp &= array_index_mask_nospec(fp - walk->lo, walk->frames);
		if (copy) {
			next = *(const u64 *)(copy + (fp - walk->lo));
			pc = *(const u64 *)(copy + (fp - walk->lo) + 8);
		} else {
			unsafe_get_user(next, (u64 __user *)fp, no_frame);
			unsafe_get_user(pc, (u64 __user *)(fp + 8), no_frame);
		}
		if (!pc)
			goto ended;
		unwind__add(walk, pc, pcs);
		if (next <= fp)
			goto ended;
		fp = next;
	}
	return;
no_frame:
	if (walk->n == first)
		return;
ended:
	walk->ended = true;
}

/* Computes a frame's bounds from those of the stack. False: no frame fits. */
static bool unwind__bounds(struct walk *walk, u64 fp, u64 lo, u64 hi)
{
	if (hi < FRAME || lo > hi - FRAME || fp < lo || fp > hi - FRAME)
		return false;
	walk->fp = fp;
	walk->lo = lo;
	walk->frames = hi - FRAME - lo + 1;
	return true;
}

static __always_inline void unwind__begin(struct walk *walk, const struct gt_unwind *w, u64 *pcs)
{
	walk->hash = 0;
	walk->n = 0;
	walk->ended = false;
	unwind__add(walk, w->pc, pcs);
	if (w->second)
		unwind__add(walk, w->second, pcs);
}

static __always_inline u64 unwind__end(const struct walk *walk, struct gt_unwind *w)
{
	w->n = walk->n;
	w->cut = !walk->ended;
	return (walk->hash & HASH_MASK) | (u64)walk->n << 56;
}

static __always_inline void unwind__window(struct walk *walk, u32 depth, u64 *pcs)
{
	pagefault_disable();
	if (user_access_begin((void __user *)walk->lo, walk->frames - 1 + FRAME)) {
		unwind__frames(walk, depth, pcs, NULL);
		user_access_end();
	}
	pagefault_enable();
}

/*
 * Whether the first frame can be read without a fault. False, too, while another address space than
 * that of current->mm is loaded, as in an interrupt of the code that patches the kernel: only
 * copy_from_user_nofault() knows that in a module.
 */
static bool unwind__can_read(u64 fp)
{
	u64 next;

	return !copy_from_user_nofault(&next, (const void __user *)fp, sizeof(next));
}

/* Unknown bounds are those of user memory: frames only go up. */
u64 unwind__user(struct gt_unwind *w, u32 depth, u64 *pcs)
{
	u64 lo = w->hi ? w->lo : w->fp, hi = min_t(u64, w->hi ?: USER_END, USER_END);
	struct walk walk;

	unwind__begin(&walk, w, pcs);
	depth = min_t(u32, depth, GT_STACK_MAX);
	if (!in_nmi() && current->mm && unwind__bounds(&walk, w->fp, lo, hi) &&
	    unwind__can_read(w->fp)) {
		if (pcs)
			unwind__window(&walk, depth, pcs);
		else
			unwind__window(&walk, depth, NULL);
	}
	return unwind__end(&walk, w);
}

u64 unwind__copy(struct gt_unwind *w, u32 depth, u64 *pcs, const void *copy, u64 at, u64 bytes)
{
	u64 lo = w->hi ? max(w->lo, at) : at, hi = min(w->hi ?: at + bytes, at + bytes);
	struct walk walk;

	unwind__begin(&walk, w, pcs);
	depth = min_t(u32, depth, GT_STACK_MAX);
	if (unwind__bounds(&walk, w->fp, lo, hi))
		unwind__frames(&walk, depth, pcs, copy + (lo - at));
	return unwind__end(&walk, w);
}
