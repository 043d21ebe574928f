// SPDX-License-Identifier: GPL-2.0
/*
 * Walks the stacks of parked goroutines by frame pointers: see parked.h.
 *
 * Go keeps frame pointers: [fp] is the caller's fp and [fp + 8] the return address, up to fp 0. The
 * memory belongs to the target, which may contain anything and change while it is read. So a frame
 * must be within the bounds of its stack and above the frame before it. A walk that ends in any
 * other way than at fp 0 or at the depth limit leaves the stack out, since a part of it could be
 * taken for the whole.
 *
 * The used part of most stacks has less than NEAR bytes, so one system call reads it for a batch of
 * goroutines. Deeper frames are read through windows of WINDOW bytes.
 */
#include "target/process/parked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gotrace/record.h"
#include "lib/array.h"
#include "lib/buf.h"
#include "target/arch/arch.h"
#include "target/process/snapshot.h"

#define NEAR	  1024u
#define WINDOW	  4096u
#define STACK_MAX (UINT64_C(1) << 31) /* bytes; the runtime's limit is 1 GB */

/* The walk of one stack. `bytes` has `size` bytes from `base` on. */
struct walk {
	const struct process *proc;
	uint64_t hi;
	const unsigned char *bytes;
	uint64_t base;
	size_t size;
	unsigned char window[WINDOW];
	uint64_t pc[GT_STACK_MAX];
	unsigned int n;
	bool cut;
};

void parked__deinit(struct parked *p)
{
	free(p->words);
	free(p->bytes);
	map__deinit(&p->by_hash);
	*p = (struct parked){};
}

/* Since Go 1.23 g.syscallbp leads to the frames of a goroutine in a system call or in C. */
static bool is_parked(const struct layout *l, const struct go_g *g)
{
	if (g->ok && g->goid && g->status == GS_SYSCALL)
		return l->derives_syscalls;
	return g->ok && g->goid && g->status == GS_WAITING &&
	       (g->wait_reason >= 64 || !((l->suspend_g_reasons >> g->wait_reason) & 1));
}

/* The frame at fp is on the stack. The largest stack cannot overflow: hi is a user address. */
static bool is_frame(uint64_t fp, uint64_t lo, uint64_t hi)
{
	return !(fp & 7) && fp >= lo && hi - 16 >= fp;
}

static bool has_stack(const struct go_g *g)
{
	return g->stack_lo && g->stack_hi < ARCH_USER_MAX && g->stack_lo < g->stack_hi &&
	       g->stack_hi - g->stack_lo >= 16 && g->stack_hi - g->stack_lo <= STACK_MAX &&
	       !(g->stack_hi & 7) && g->sp >= g->stack_lo && g->sp < g->stack_hi && g->pc &&
	       g->pc < ARCH_USER_MAX && is_frame(g->bp, g->sp, g->stack_hi);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* Not seeded: it is written to raw files. A target that forges it distorts its own trace only. */
uint32_t parked__context(const struct layout *l, const struct go_g *g)
{
	const uint64_t words[] = { g->goid, g->sp, g->pc, g->bp, g->stack_lo, g->stack_hi };
	uint64_t hash = (uint64_t)g->status << 8 | g->wait_reason;

	if (!is_parked(l, g) || !has_stack(g))
		return 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		hash = mix(hash, words[i]);
	hash ^= hash >> 32;
	return (uint32_t)hash ?: 1;
}

/* Makes the frame at fp readable. False: it is not. */
static bool walk__slide(struct walk *w, uint64_t fp)
{
	uint64_t left = w->hi - fp;

	if (fp >= w->base && fp - w->base <= w->size && w->size - (fp - w->base) >= 16)
		return true;
	w->size = left < WINDOW ? (size_t)left : WINDOW;
	w->bytes = w->window;
	w->base = fp;
	PARSER_STEPS(w->size / 8);
	return !process__read(w->proc, fp, w->window, w->size);
}

static bool walk__frames(struct walk *w, uint64_t fp, uint64_t lo, unsigned int depth)
{
	uint64_t frame[2];

	for (; fp; lo = fp + 16, fp = frame[0]) {
		if (w->n >= depth) {
			w->cut = true;
			return true;
		}
		PARSER_STEPS(1);
		if (!is_frame(fp, lo, w->hi) || !walk__slide(w, fp))
			return false;
		memcpy(frame, w->bytes + (fp - w->base), sizeof(frame));
		if (!frame[1] || frame[1] >= ARCH_USER_MAX)
			return false;
		w->pc[w->n++] = frame[1];
	}
	return true;
}

/* The place of the stack plus 1; 0: there is no room for it. */
static int intern(struct parked *p, const struct walk *w, uint32_t *ret)
{
	uint64_t hash = w->cut, *place;
	uintptr_t known;

	for (unsigned int i = 0; i < w->n; i++)
		hash = hash__fold(hash ^ w->pc[i], hash__seed[0]) + hash__seed[1];
	known = (uintptr_t)map__get(&p->by_hash, hash);
	place = known ? &p->words[known - 1] : NULL;
	if (place && (uint32_t)*place == (w->n | (w->cut ? SNAPSHOT_STACK_CUT : 0)) &&
	    !memcmp(place + 1, w->pc, w->n * sizeof(*w->pc))) {
		*ret = (uint32_t)known;
		return 0;
	}
	if (p->n + 1 + w->n > PARKED_WORDS_MAX) {
		p->left_out++;
		return 0;
	}
	while (p->cap < p->n + 1 + w->n)
		if (array__enlarge(&p->words, p->cap, &p->cap, sizeof(*p->words)))
			return -ENOMEM;
	if (map__put(&p->by_hash, hash, (void *)(uintptr_t)(p->n + 1)))
		return -ENOMEM;
	p->words[p->n] = w->n | (w->cut ? SNAPSHOT_STACK_CUT : 0);
	memcpy(p->words + p->n + 1, w->pc, w->n * sizeof(*w->pc));
	*ret = (uint32_t)p->n + 1;
	p->n += 1 + w->n;
	return 0;
}

static int walk_one(struct parked *p, struct walk *w, const struct go_g *g, uint32_t *ret)
{
	w->hi = g->stack_hi;
	w->pc[0] = g->pc;
	w->n = 1;
	w->cut = false;
	return walk__frames(w, g->bp, g->sp, p->depth) ? intern(p, w, ret) : 0;
}

struct batch {
	struct process_range range[PARKED_BATCH];
	bool ok[PARKED_BATCH];
	struct go_g again[PARKED_BATCH];
	struct walk walk;
};

int parked__read(struct parked *p, const struct process *proc, const struct layout *l,
		 const uint64_t *addr, const struct go_g *g, size_t n, uint32_t *ret)
{
	struct batch *b = calloc(1, sizeof(*b));
	size_t at = 0;
	int err = 0;

	memset(ret, 0, n * sizeof(*ret));
	if (!p->bytes)
		p->bytes = malloc((size_t)PARKED_BATCH * NEAR);
	if (!b || !p->bytes || n > PARKED_BATCH)
		err = -ENOMEM;
	for (size_t i = 0; i < n && !err; i++) {
		uint64_t left = g[i].stack_hi - g[i].bp;

		b->range[i] = (struct process_range){ g[i].bp, left < NEAR ? (size_t)left : NEAR };
	}
	if (!err)
		err = process__read_ranges(proc, b->range, n, p->bytes, b->ok);
	for (size_t i = 0; i < n && !err; at += b->range[i++].len) {
		b->walk.proc = proc;
		b->walk.bytes = p->bytes + at;
		b->walk.base = g[i].bp;
		b->walk.size = b->range[i].len;
		if (b->ok[i])
			err = walk_one(p, &b->walk, &g[i], &ret[i]);
	}
	/* Stacks move, and goroutines continue: what was read meanwhile may be of another use. */
	if (!err)
		err = go_gs__read(proc, l, addr, n, b->again);
	for (size_t i = 0; i < n && !err; i++)
		if (parked__context(l, &b->again[i]) != parked__context(l, &g[i]))
			ret[i] = 0;
	free(b);
	return err;
}
