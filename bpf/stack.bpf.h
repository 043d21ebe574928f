/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A goroutine's stack as a number; its PCs go to userspace when the stack was not seen before.
 *
 * Go keeps frame pointers: [fp] is the caller's fp and [fp + 8] the return address, up to fp 0. The
 * stack is walked once for its hash, without a place to keep PCs in, and only for a new hash once
 * more, straight into the ring. Nothing moves in between: the walked goroutine is the one that this
 * thread runs or just switched away from; the second walk must come to the same hash nevertheless.
 * What is no address of a frame, as it is not a multiple of 8, ends each walk.
 *
 * With the kernel module one call of it takes the place of each walk, and comes to the same.
 *
 * PCs are those of the runtime's own traceStack() (pcBuf[1:]): what it leaves out is userspace's
 * part.
 */
#ifndef BPF_STACK_H
#define BPF_STACK_H

#include "emit.bpf.h"

/* The first PCs, which are not found by frame pointers, and where the walk begins. */
struct leaf {
	u64 pc;
	u64 second; /* 0: none */
	u64 fp;
};

/*
 * How many PCs it has, 1 or 2. Without a branch, so that the verifier does not look at the walk once
 * for each number; the asm keeps the compiler from making one of it.
 */
static __always_inline u32 leaf__pcs(const struct leaf *leaf)
{
	u64 minus = -leaf->second;

	asm volatile("" : "+r"(minus));
	return 1 + (u32)((leaf->second | minus) >> 63);
}

/*
 * Frames are read through a window of the stack: near frames come with one read of user memory
 * instead of one each, which would cost more than the rest of the walk.
 */
#define WINDOW 208
#define LAST   (WINDOW - 16) /* where the last frame can stand in it */

struct walk {
	u64 fp;
	u64 base; /* the address of `bytes` */
	u64 hash;
	u64 *pcs;   /* where PCs are put */
	u32 n;	    /* PCs so far */
	u32 first;  /* of them not from frames */
	bool ended; /* no frame is above */
	u64 bytes[WINDOW / 8];
};

/* A hash says in its top byte how many PCs it stands for. */
#define HASH_DEPTH(hash) ((u32)((hash) >> 56))
#define HASH_MASK	 ((1ull << 56) - 1)

static __always_inline u64 stack__mix(u64 hash, u64 pc)
{
	hash = (hash ^ pc) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/*
 * PC number `n`. `room`, a constant: how many PCs there is room for (0: only the hash is wanted).
 * `n` comes from the loop: were it kept in the walk, the verifier would follow it value by value.
 */
static __always_inline void stack__add(struct walk *w, u64 pc, u64 n, u32 room)
{
	w->hash = stack__mix(w->hash, pc);
	if (n < room)
		w->pcs[n] = pc;
	w->n = n + 1;
}

/* Fills a window from fp on; near the end of mapped memory, with just that frame at its end. */
static __always_inline bool stack__fetch(u64 *bytes, u64 fp, u64 *ret_base)
{
	*ret_base = fp;
	if (!go_read(bytes, WINDOW, fp))
		return true;
	*ret_base = fp - LAST;
	return !go_read((char *)bytes + LAST, 16, fp);
}

/* Moves the window up to w->fp. */
static __always_inline bool stack__slide(struct walk *w)
{
	return stack__fetch(w->bytes, w->fp, &w->base);
}

/* One frame: 1 ends the loop. */
static __always_inline long stack__frame(struct walk *w, u64 i, u32 room)
{
	u64 off = w->fp - w->base, next, pc;

	if (w->fp & 7)
		goto end;
	if (off > LAST) {
		if (!stack__slide(w))
			goto end;
		off = w->fp - w->base;
	}
	off &= ~7ull; /* which it is: for the verifier */
	if (off > LAST)
		goto end;
	next = *(u64 *)((char *)w->bytes + off);
	pc = *(u64 *)((char *)w->bytes + off + 8);
	if (!pc)
		goto end;
	stack__add(w, pc, i + w->first, room);
	if (next <= w->fp)
		goto end;
	w->fp = next;
	return 0;
end:
	w->ended = true;
	return 1;
}

#define SHALLOW 16 /* PCs in a record of the smaller size */

static long stack__hash_frame(u64 i, struct walk *w)
{
	return stack__frame(w, i, 0);
}

static long stack__shallow_frame(u64 i, struct walk *w)
{
	return stack__frame(w, i, SHALLOW);
}

static long stack__deep_frame(u64 i, struct walk *w)
{
	return stack__frame(w, i, GT_STACK_MAX);
}

/*
 * bpf_loop() and not a loop: the verifier then looks at one round, not at 128 and their ways
 * through.
 */
static __always_inline u64 stack__walk(struct walk *w, const struct leaf *leaf, u32 room)
{
	u32 depth = config.stack_depth;
	void *frame = room == SHALLOW ? stack__shallow_frame :
		      room	      ? stack__deep_frame :
					stack__hash_frame;

	w->fp = leaf->fp;
	w->hash = 0;
	w->first = leaf__pcs(leaf);
	w->ended = false;
	stack__add(w, leaf->pc, 0, room);
	if (leaf->second)
		stack__add(w, leaf->second, 1, room);
	w->n = w->first;
	if (!(w->fp & 7) && stack__slide(w) && depth > w->first)
		bpf_loop(depth - w->first, frame, w, 0);
	return (w->hash & HASH_MASK) | (u64)w->n << 56;
}

/*
 * The same walk for the hash of a shallow stack. This is the hot one: with all that it needs in
 * registers it costs about 10 ns less than bpf_loop(). So that the verifier meets the same state on
 * all ways through a round, no number that lives on gets narrower by a comparison (compare
 * differences), and what comes in comes through memory. 0: the stack is deeper.
 *
 * Global functions are verified once a program, not once a call.
 */
__weak __noinline u64 stack__hash(const struct leaf *leaf)
{
	u64 bytes[WINDOW / 8], hash, fp, base, off, next, pc;
	u32 first, i = 0;

	if (!leaf)
		return 0;
	hash = stack__mix(0, leaf->pc);
	if (leaf->second)
		hash = stack__mix(hash, leaf->second);
	first = leaf__pcs(leaf);
	fp = leaf->fp;
	if (!stack__fetch(bytes, fp, &base))
		goto end;
	for (; i < SHALLOW - 2; i++) {
		if (first + i >= config.stack_depth || fp & 7)
			goto end;
		off = fp - base;
		if (off > LAST) {
			if (!stack__fetch(bytes, fp, &base))
				goto end;
			off = fp - base;
		}
		off &= ~7ull;
		if (off > LAST)
			goto end;
		next = *(u64 *)((char *)bytes + off);
		pc = *(u64 *)((char *)bytes + off + 8);
		if (!pc)
			goto end;
		hash = stack__mix(hash, pc);
		if ((long)(next - fp) <= 0) {
			i++;
			goto end;
		}
		fp = next;
	}
	return 0;
end:
	return (hash & HASH_MASK) | (u64)(first + i) << 56;
}

__weak __noinline u64 stack__hash_deep(const struct leaf *leaf)
{
	struct walk w;

	return leaf ? stack__walk(&w, leaf, 0) : 0;
}

/*
 * The number of a stack, by which records name it: the place of its hash in seen[], and how often that place has
 * changed. Two stacks never have the same number at a time, whatever their hashes: a place holds one of them, and
 * all bits of the hash that the place itself does not say.
 */
static __always_inline u32 seen__number(u64 hash, u64 word)
{
	return (u32)(word & SEEN_CHANGES) << 16 | (u32)(hash % SEEN_SIZE);
}

/* 0: it is not there. One read: the word may change at any time. */
static __always_inline u32 seen__find(u64 hash)
{
	u64 word = *(volatile u64 *)&seen[hash % SEEN_SIZE];

	return (word ^ hash) & ~SEEN_CHANGES ? 0 : seen__number(hash, word);
}

#define CLAIM_TRIES 8

/*
 * Claims the place of a stack that is about to be sent: the stack that had it is not found from now on, nor is this one
 * before seen__commit(). Each claim has a number of its own, however many CPUs claim at once. 0: always another CPU was
 * faster.
 */
static __always_inline u32 seen__claim(u64 hash)
{
	u64 *place = &seen[hash % SEEN_SIZE], word = *(volatile u64 *)place, next, was;

	for (int i = 0; i < CLAIM_TRIES; i++) {
		next = ((word & SEEN_CHANGES) + 1) & SEEN_CHANGES ?: 1; /* number 0 is none */
		was = __sync_val_compare_and_swap(place, word, next);
		if (was == word)
			return seen__number(hash, next);
		word = was;
	}
	return 0;
}

/* Its record is in the ring. If another has claimed the place since, it is that one's. */
static __always_inline void seen__commit(u64 hash, u32 number)
{
	u64 changes = number >> 16;

	__sync_val_compare_and_swap(&seen[hash % SEEN_SIZE], changes,
				    (hash & ~SEEN_CHANGES) | changes);
}

static __always_inline void stack__finish(struct gt_record *rec, u64 hash, u32 number)
{
	struct gt_stack *stack = (void *)(rec + 1);

	stack->placed = 1;
	rec->object = hash;
	rec->stack = number;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

/*
 * Walks once more, into a record with room for `room` PCs (a constant; drain.c cuts the unused
 * rest). Returns the hash of what it sent, 0 when the ring is full.
 */
static __always_inline u64 stack__fill(struct walk *w, const struct leaf *leaf, u32 tid, u32 number,
				       u32 room)
{
	struct gt_record *rec =
		emit__begin(GT_STACK, 0, 0, tid, sizeof(struct gt_stack) + room * 8, NULL).rec;
	struct gt_stack *stack;
	u64 hash;

	if (!rec)
		return 0;
	stack = (void *)(rec + 1);
	w->pcs = stack->pc;
	hash = stack__walk(w, leaf, room);
	stack->depth = w->n < room ? w->n : room;
	stack->cut = !w->ended;
	stack__finish(rec, hash, number);
	return hash;
}

/*
 * Returns the number to name the stack by. It counts as seen only once its record is in the ring, and not if the second
 * walk came to another hash: then the number is that record's alone.
 */
__weak __noinline u32 stack__send(const struct leaf *leaf, u64 hash, u32 tid)
{
	u32 number;
	struct walk w;
	u64 sent;

	if (!leaf)
		return 0;
	number = seen__claim(hash);
	if (!number)
		return 0;
	if (HASH_DEPTH(hash) <= SHALLOW)
		sent = stack__fill(&w, leaf, tid, number, SHALLOW);
	else
		sent = stack__fill(&w, leaf, tid, number, GT_STACK_MAX);
	if (sent == hash)
		seen__commit(hash, number);
	return number;
}

/* The same by the module, which walks in one go: into a record with `room` for PCs, a constant. */
static __always_inline u64 stack__fill_by_module(struct gt_unwind *w, u32 tid, u32 number, u32 room)
{
	struct gt_record *rec =
		emit__begin(GT_STACK, 0, 0, tid, sizeof(struct gt_stack) + room * 8, NULL).rec;
	u32 depth = config.stack_depth;
	struct gt_stack *stack;
	u64 hash;

	if (!rec)
		return 0;
	stack = (void *)(rec + 1);
	hash = gotrace_stack_pcs(w, depth < room ? depth : room, stack->pc, room * 8);
	stack->depth = w->n < room ? w->n : room;
	stack->cut = w->cut;
	stack__finish(rec, hash, number);
	return hash;
}

/*
 * What just fills the smaller record goes into the larger one: it would be taken for cut. Kernels before 6.8
 * verify global functions that nothing calls, too: so it asks for the module once more.
 */
__weak __noinline u32 stack__send_by_module(struct gt_unwind *w, u64 hash, u32 tid)
{
	u32 number;
	u64 sent;

	if (!w || !module__walks())
		return 0;
	number = seen__claim(hash);
	if (!number)
		return 0;
	if (HASH_DEPTH(hash) < SHALLOW)
		sent = stack__fill_by_module(w, tid, number, SHALLOW);
	else
		sent = stack__fill_by_module(w, tid, number, GT_STACK_MAX);
	if (sent == hash)
		seen__commit(hash, number);
	return number;
}

/* A session keeps its stacks itself, and gives each a number. */
static __always_inline u32 stack__id_by_module(const struct leaf *leaf, u32 tid)
{
	struct gt_unwind w = { .pc = leaf->pc, .second = leaf->second, .fp = leaf->fp };
	u64 hash;

	if (config.session)
		return gotrace_stack_id(config.session, &w, config.stack_depth);
	hash = gotrace_stack_hash(&w, config.stack_depth);
	return seen__find(hash) ?: stack__send_by_module(&w, hash, tid);
}

/*
 * A record's `stack`: names the stack that begins at `leaf`, whose PCs were sent before. 0: none.
 * `hot` only where it counts: it takes the verifier 10 ms more, for a few percent of a hit.
 */
static __always_inline u32 stack__id_of(const struct leaf *leaf, u32 tid, bool hot)
{
	u64 hash;

	if (!config.stack_depth || !leaf->pc)
		return 0;
	if (module__walks())
		return stack__id_by_module(leaf, tid);
	hash = hot ? stack__hash(leaf) : 0;
	if (!hash)
		hash = stack__hash_deep(leaf);
	return seen__find(hash) ?: stack__send(leaf, hash, tid);
}

static __always_inline u32 stack__id(const struct leaf *leaf, u32 tid)
{
	return stack__id_of(leaf, tid, false);
}

static __always_inline u32 stack__id_hot(const struct leaf *leaf, u32 tid)
{
	return stack__id_of(leaf, tid, true);
}

#endif
