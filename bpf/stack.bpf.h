/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names a goroutine's stack by a number, and sends its PCs to userspace if they were not sent
 * before.
 *
 * Go keeps frame pointers: [fp] is the caller's fp and [fp + 8] the return address, up to fp 0. The
 * stack is walked once for its hash, without storing PCs, and once more, directly into the ring, if
 * the hash is new. The stack does not change in between, because its goroutine is the one that this
 * thread runs or just switched away from; the second walk must give the same hash nevertheless. A
 * value that is no address of a frame, because it is not a multiple of 8, ends a walk.
 *
 * With the kernel module, one call of it replaces each walk, with the same result.
 *
 * PCs are those of the runtime's own traceStack() (pcBuf[1:]); userspace
 * (userspace/sequence/stacks.c) omits what traceStack() omits later.
 */
#ifndef BPF_STACK_H
#define BPF_STACK_H

#include "emit.bpf.h"
#include "gotrace/window.h"

/* The first PCs, which are not found by frame pointers, and where the walk begins. */
struct leaf {
	u64 pc;
	u64 second; /* 0: none */
	u64 fp;
};

/*
 * The number of PCs, 1 or 2. Without a branch, so that the verifier does not follow the walk once
 * for each number; the asm keeps the compiler from adding one.
 */
static __always_inline u32 leaf__pcs(const struct leaf *leaf)
{
	u64 minus = -leaf->second;

	asm volatile("" : "+r"(minus));
	return 1 + (u32)((leaf->second | minus) >> 63);
}

/*
 * Frames are read through a window of the stack: near frames need one read of user memory instead
 * of one each, which would cost more than the rest of the walk. The first window of a walk is on the
 * BPF stack; deep stacks, which have larger frames, are read through wider ones.
 */
#define NEAR		208
#define GT_WINDOW_BYTES 4096
#define LAST		(NEAR - 16) /* the last position of a frame in a near window */

/* See gotrace/window.h. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GT_WINDOWS);
	__type(key, u32);
	__type(value, struct gt_window);
} windows __weak SEC(".maps");

struct walk {
	u64 fp;
	u64 base; /* the address of window->bytes */
	u64 last; /* the last position of a frame in them */
	u64 hash;
	u64 *pcs;   /* where PCs are stored */
	u32 n;	    /* PCs so far */
	u32 first;  /* number of these that are not from frames */
	bool ended; /* no further frame */
	struct gt_window *window;
};

/* The top byte of a hash is the number of PCs. */
#define HASH_DEPTH(hash) ((u32)((hash) >> 56))
#define HASH_MASK	 ((1ull << 56) - 1)

static __always_inline u64 stack__mix(u64 hash, u64 pc)
{
	hash = (hash ^ pc) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/*
 * Adds PC number `n`. `room`, a constant: space for PCs (0: only the hash is computed). `n` is the
 * loop's: the verifier would follow a number in the walk value by value.
 */
static __always_inline void stack__add(struct walk *w, u64 pc, u64 n, u32 room)
{
	w->hash = stack__mix(w->hash, pc);
	if (n < room)
		w->pcs[n] = pc;
	w->n = n + 1;
}

/* Fills a near window from fp on; near the end of mapped memory, with just that frame at its end. */
static __always_inline bool stack__fetch(u64 *bytes, u64 fp, u64 *ret_base)
{
	*ret_base = fp;
	if (!go_read(bytes, NEAR, fp))
		return true;
	*ret_base = fp - LAST;
	return !go_read((char *)bytes + LAST, 16, fp);
}

/* NULL: all are in use. */
static __always_inline struct gt_window *window__take(void)
{
	struct gt_window *window;

	for (u32 i = 0; i < GT_WINDOWS; i++) {
		u32 key = i;

		window = bpf_map_lookup_elem(&windows, &key);
		if (window && !__sync_lock_test_and_set(&window->busy, 1))
			return window;
	}
	return NULL;
}

static __always_inline void window__release(struct gt_window *window)
{
	*(volatile u64 *)&window->busy = 0;
}

#define PAGE 4096 /* the smallest */

/* Moves the window up to w->fp; near the end of mapped memory, it ends with the page. */
static __always_inline bool stack__slide(struct walk *w)
{
	u64 size = PAGE - (w->fp & (PAGE - 1));

	w->base = w->fp;
	w->last = GT_WINDOW_BYTES - 16;
	if (!go_read(w->window->bytes, GT_WINDOW_BYTES, w->fp))
		return true;
	if (size >= GT_WINDOW_BYTES)
		return false;
	if (size < 16)
		size = 16; /* a frame across two pages */
	w->last = size - 16;
	return !go_read(w->window->bytes, (u32)size, w->fp);
}

/* Reads the frame at w->fp: its caller's, and its return address. False: there is none. */
static __always_inline bool stack__read(struct walk *w, u64 *next, u64 *pc)
{
	u64 off = w->fp - w->base;

	if (w->fp & 7)
		return false;
	if (off > w->last) {
		if (!stack__slide(w))
			return false;
		off = 0;
	}
	off &= ~7ull; /* off is aligned already; for the verifier */
	if (off > GT_WINDOW_BYTES - 16)
		return false;
	*next = *(u64 *)((char *)w->window->bytes + off);
	*pc = *(u64 *)((char *)w->window->bytes + off + 8);
	return *pc;
}

/* One frame: 1 ends the loop. */
static __always_inline long stack__frame(struct walk *w, u64 i, u32 room)
{
	u64 next, pc;

	if (!stack__read(w, &next, &pc))
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

static __always_inline u64 walk__hash(const struct walk *w)
{
	return (w->hash & HASH_MASK) | (u64)w->n << 56;
}

/*
 * Calls `frame` for up to `n` frames from w->fp on. bpf_loop() because the verifier then checks one
 * iteration instead of 128 and their paths. Without a window the stack is cut.
 */
static __always_inline void stack__frames(struct walk *w, u32 n, void *frame, void *arg)
{
	w->window = window__take();
	if (!w->window)
		return;
	if (stack__slide(w))
		bpf_loop(n, frame, arg, 0);
	window__release(w->window);
}

/* Walks on from w->fp, after w->n PCs. */
static __always_inline u64 stack__go_on(struct walk *w, u32 room)
{
	u32 depth = config.stack_depth;
	void *frame = room == SHALLOW ? stack__shallow_frame :
		      room	      ? stack__deep_frame :
					stack__hash_frame;

	w->first = w->n;
	w->ended = false;
	if (depth > w->first && !(w->fp & 7))
		stack__frames(w, depth - w->first, frame, w);
	return walk__hash(w);
}

static __always_inline u64 stack__walk(struct walk *w, const struct leaf *leaf, u32 room)
{
	w->fp = leaf->fp;
	w->hash = 0;
	stack__add(w, leaf->pc, 0, room);
	if (leaf->second)
		stack__add(w, leaf->second, 1, room);
	w->n = leaf__pcs(leaf);
	return stack__go_on(w, room);
}

/* Where the walk of near frames stopped: stack__hash_deep() goes on. */
struct halfway {
	u64 fp, hash;
	u32 n; /* 0: there are no further frames */
};

/*
 * The same walk for the hash of a stack whose frames are near each other, the most frequent case:
 * with all data in registers it costs about 10 ns less than bpf_loop(). The verifier must find the
 * same state on all paths through an iteration: so no live number is narrowed by a comparison
 * (differences are compared), and inputs come through memory. 0: the stack is larger.
 *
 * Global functions are verified once per program, not once per call.
 */
__weak __noinline u64 stack__hash(const struct leaf *leaf, struct halfway *farther)
{
	u64 bytes[NEAR / 8], hash, fp, base, off, next, pc;
	u32 first, i = 0;

	if (!leaf || !farther)
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
		if (off > LAST)
			break;
		off &= ~7ull;
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
	farther->fp = fp;
	farther->hash = hash;
	farther->n = first + i;
	return 0;
end:
	return (hash & HASH_MASK) | (u64)(first + i) << 56;
}

/* From the stack's first frame, or from where stack__hash() has stopped; NULL: it was not called. */
__weak __noinline u64 stack__hash_deep(const struct leaf *leaf, const struct halfway *from)
{
	struct walk w;

	if (!leaf)
		return 0;
	if (!from || !from->n)
		return stack__walk(&w, leaf, 0);
	w.fp = from->fp;
	w.hash = from->hash;
	w.n = from->n;
	return stack__go_on(&w, 0);
}

/*
 * The number of a stack in records: the place of its hash in seen[], and how often that place has
 * changed. Two stacks never have one number at the same time, whatever their hashes: a place holds
 * one of them, with all bits of the hash that the place does not imply.
 */
static __always_inline u32 seen__number(u64 hash, u64 word)
{
	return GT_STACK_NUMBER(hash % SEEN_SIZE, word);
}

/* 0: not there. One read: the word may change at any time. */
static __always_inline u32 seen__find(u64 hash)
{
	u64 word = *(volatile u64 *)&seen[hash % SEEN_SIZE];

	return (word ^ hash) & ~SEEN_LOW ? 0 : seen__number(hash, word);
}

#define CLAIM_TRIES 8

/*
 * Claims the place of a stack that is about to be sent: its former stack is no longer found, and
 * this one only after seen__commit(). Each claim gets a number of its own, however many CPUs claim
 * at once. 0: another CPU was faster each time.
 */
static __always_inline u32 seen__claim(u64 hash)
{
	u64 *place = &seen[hash % SEEN_SIZE], word = *(volatile u64 *)place, next, was;

	for (int i = 0; i < CLAIM_TRIES; i++) {
		next = ((word & SEEN_CHANGES) + 1) & SEEN_CHANGES ?: 1; /* 0 is no number */
		was = __sync_val_compare_and_swap(place, word, next);
		if (was == word)
			return seen__number(hash, next);
		word = was;
	}
	return 0;
}

/* Its record is in the ring. If another CPU has claimed the place since, nothing changes. */
static __always_inline void seen__commit(u64 hash, u32 number)
{
	u64 changes = number >> 17;

	__sync_val_compare_and_swap(&seen[hash % SEEN_SIZE], changes, (hash & ~SEEN_LOW) | changes);
}

/* A number for the stack; 0, which is counted: the event has no stack. */
static __always_inline u32 stack__claim(u64 hash)
{
	u32 number = seen__claim(hash);

	if (!number)
		COUNT(lost[GT_STACK]);
	return number;
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
 * Walks once more, into a record with `room` for PCs (a constant; drain.c cuts the unused rest).
 * Returns the hash of what was sent; 0: the ring is full.
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
 * Returns the number of the stack. It counts as seen only once its record is in the ring, and only
 * if the second walk gave the same hash: otherwise the number is used by that record only.
 */
__weak __noinline u32 stack__send(const struct leaf *leaf, u64 hash, u32 tid)
{
	u32 number;
	struct walk w;
	u64 sent;

	if (!leaf)
		return 0;
	number = stack__claim(hash);
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

/* The same by the module, which walks once: into a record with `room` for PCs, a constant. */
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
 * A stack that exactly fills the smaller record goes into the larger one, because it may have been
 * cut. Kernels before 6.8 verify uncalled global functions, too: so the module is checked for
 * again.
 */
__weak __noinline u32 stack__send_by_module(struct gt_unwind *w, u64 hash, u32 tid)
{
	u32 number;
	u64 sent;

	if (!w || !module__walks())
		return 0;
	number = stack__claim(hash);
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

/* A session stores its stacks itself, and gives each an id. */
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
 * A record's `stack`: the number of the stack that begins at `leaf`, whose PCs were sent before. 0:
 * none. Use `hot` only in frequent probes: it saves a few percent of a hit, and costs 10 ms of
 * verification.
 */
static __always_inline u32 stack__id_of(const struct leaf *leaf, u32 tid, bool hot)
{
	u64 hash;

	if (!config.stack_depth || !leaf->pc)
		return 0;
	if (module__walks())
		return stack__id_by_module(leaf, tid);
	if (hot) {
		struct halfway farther = {};

		hash = stack__hash(leaf, &farther) ?: stack__hash_deep(leaf, &farther);
	} else {
		hash = stack__hash_deep(leaf, NULL);
	}
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
