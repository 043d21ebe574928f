// SPDX-License-Identifier: GPL-2.0
/*
 * See inline_rings.h.
 *
 * The program can write the area of rings at any time, even while it is read. So each value is
 * loaded from it exactly once, into a private copy, and checked there. Positions are private, too:
 * the tail in the area is only for the writers.
 *
 * A drain begins by reading the head of each ring, and stops there: a fast or hostile writer cannot
 * prolong it, and few records are later than its `now`.
 */
#include <errno.h>
#include <stdlib.h>

#include "inline/inline_rings.h"

#include "lib/clock.h"
#include "lib/buf.h"

#define PATIENCE       1000000000ull /* ns that a slot may stay uncommitted */
#define SHORT_PATIENCE 10000000ull   /* the same, of a ring that has exhausted it before */
#define RETURN_EVERY   256	    /* slots after which the writers get them back during a drain */
#define LOST_MAX       (1ull << 32) /* records by which the counters may grow per call */
#define GAP_MAX	       (1u << 30)   /* numbers that a gap skips: those of the past begin at 2^31 */
#define FIRST_INLINE   (GT_STACK_PLACES - GT_INLINE_SEEN) /* the first place of the inline half */

struct reader {
	struct gt_inline_ring *ring; /* in the area */
	struct gt_inline_slot *slot;
	uint64_t began;		/* the first slot */
	uint64_t at, returned;	/* the next slot to read; the tail in the area */
	uint64_t blocked_at;	/* an uncommitted slot, if `blocked` */
	uint64_t blocked_since; /* the drain that first found it so, ns */
	uint64_t blocked_head;	/* slots before it were reserved by then */
	bool has_given_up;
	bool blocked, skips;   /* skips: up to the next first slot */
	uint32_t seq, dropped; /* the last record's; the highest seen in a slot */
	uint32_t gap;	       /* numbers that were skipped for `dropped` since the last record */
};

struct inline_rings {
	struct reader reader[GT_INLINE_RINGS];
	struct inline_clock *clock;
	inline_tid_fn tid;
	void *tid_ctx;
	bool is_forged;				       /* a head that no writer of ours stores */
	uint32_t slots;				       /* per ring, a power of two */
	uint64_t base[GT_KIND_END], lost[GT_KIND_END]; /* the counters at first; since then */
};

/* A private copy of a record: the first slot's 56 bytes after the word, then further PCs. */
union copy {
	gt_u64 word[GT_INLINE_SLOT_PCS];
	struct {
		struct gt_record rec;
		union {
			struct gt_park park;
			struct {
				struct gt_stack stack;
				gt_u64 pc[GT_STACK_MAX];
			};
		};
	};
};

_Static_assert(offsetof(union copy, pc) == 48, "the first PC is the last word of the slot");
_Static_assert(sizeof(struct gt_inline_slot) == 8 + GT_INLINE_SLOT_PCS * 8, "a word and 7 PCs");

/* One drain, at one ring. */
struct scan {
	struct inline_rings *r;
	struct reader *rd;
	uint64_t now;
	uint64_t latest; /* no record below the heads is later, ns */
	uint64_t head;	 /* as read before the drain */
	uint64_t word;	 /* of the slot at rd->at */
};

/* ---- the area ---- */

static uint64_t load(const gt_u64 *from)
{
	return __atomic_load_n(from, __ATOMIC_RELAXED);
}

static struct gt_inline_slot *slot_at(const struct scan *s, uint64_t at)
{
	return &s->rd->slot[at & (s->r->slots - 1)];
}

static uint64_t load_word(const struct scan *s, uint64_t at)
{
	return __atomic_load_n(&slot_at(s, at)->word, __ATOMIC_ACQUIRE);
}

static bool is_first(uint64_t word, uint64_t at)
{
	return (uint32_t)word == ((uint32_t)(at + 1) & ~GT_INLINE_FURTHER);
}

static bool is_further(uint64_t word, uint64_t at)
{
	return (uint32_t)word == ((uint32_t)(at + 1) | GT_INLINE_FURTHER);
}

static void return_slots(struct reader *rd)
{
	if (rd->returned == rd->at)
		return;
	rd->returned = rd->at;
	__atomic_store_n(&rd->ring->tail, rd->at, __ATOMIC_RELEASE);
}

static void consume(struct scan *s, unsigned int n)
{
	struct reader *rd = s->rd;

	for (; n; n--, rd->at++)
		__atomic_store_n(&slot_at(s, rd->at)->word, 0, __ATOMIC_RELAXED);
	if (rd->at - rd->returned >= RETURN_EVERY)
		return_slots(rd);
}

/* ---- records ---- */

static bool is_of_probes(unsigned int kind)
{
	switch (kind) {
	case GT_EXECUTE:
	case GT_PARK:
	case GT_READY:
	case GT_CREATE:
	case GT_DESTROY:
	case GT_YIELD:
	case GT_STACK:
		return true;
	}
	return false;
}

static bool is_inline_stack(uint32_t number)
{
	return (number & (GT_STACK_PLACES - 1)) >= FIRST_INLINE;
}

static unsigned int stack_slots(uint32_t depth)
{
	return 1 + (depth - 1 + GT_INLINE_SLOT_PCS - 1) / GT_INLINE_SLOT_PCS;
}

/* Copies the further slots of a stack. The number of its slots; 0: it is invalid. */
static unsigned int copy_pcs(const struct scan *s, union copy *c)
{
	uint32_t depth = c->stack.depth, done = 1, n;
	unsigned int slots, i;

	if (depth < 1 || depth > GT_STACK_MAX || !is_inline_stack(c->rec.stack))
		return 0;
	slots = stack_slots(depth);
	if (s->head - s->rd->at < slots)
		return 0;
	for (i = 1; i < slots; i++, done += n) {
		uint64_t at = s->rd->at + i;

		PARSER_STEPS(1);
		n = depth - done < GT_INLINE_SLOT_PCS ? depth - done : GT_INLINE_SLOT_PCS;
		if (!is_further(load_word(s, at), at))
			return 0;
		for (uint32_t k = 0; k < n; k++)
			c->pc[done + k] = load(&slot_at(s, at)->pc[k]);
	}
	c->stack.cut = !!c->stack.cut;
	c->stack.placed = 1;
	return slots;
}

/* Replaces what only this side knows. False: the thread is unknown. */
static bool translate(const struct scan *s, struct gt_record *rec)
{
	uint64_t ns = inline_clock__ns(s->r->clock, rec->time);

	rec->time = ns < s->latest ? ns : s->latest;
	rec->tid = s->r->tid(s->r->tid_ctx, rec->tid);
	return rec->tid != 0;
}

/* Copies the record whose first slot is at rd->at. Its size in bytes; 0: it is invalid. */
static size_t copy_record(const struct scan *s, union copy *c, unsigned int *ret_slots)
{
	const struct gt_inline_slot *slot = slot_at(s, s->rd->at);
	unsigned int slots = 1;
	size_t size;

	for (unsigned int i = 0; i < GT_INLINE_SLOT_PCS; i++)
		c->word[i] = load(&slot->pc[i]);
	if (!is_of_probes(c->rec.kind) || (c->rec.stack && !is_inline_stack(c->rec.stack)))
		return 0;
	size = sizeof(c->rec) + (size_t)gt_payload_size(c->rec.kind);
	if (c->rec.kind == GT_STACK) {
		slots = copy_pcs(s, c);
		if (!slots)
			return 0;
		size += c->stack.depth * sizeof(*c->pc);
	} else if (c->rec.kind == GT_PARK) {
		c->park.derived = 0;
	}
	if (!translate(s, &c->rec))
		return 0;
	*ret_slots = slots;
	return size;
}

/* Records dropped since the last one. Slots may be committed in another order than reserved. */
static uint32_t dropped_before(struct reader *rd, uint32_t dropped)
{
	uint32_t more = dropped - rd->dropped;

	if ((int32_t)more <= 0)
		return 0;
	rd->dropped = dropped;
	if (more > GAP_MAX - rd->gap)
		more = GAP_MAX - rd->gap;
	rd->gap += more;
	return more;
}

static void reject(struct scan *s)
{
	s->rd->seq++;
	s->rd->blocked = false;
	s->rd->skips = true; /* its further slots, if it has any */
	consume(s, 1);
}

/* The first slot at rd->at is committed. */
static int pass_on(struct scan *s, unsigned int ring, inline_rings_fn fn, void *ctx)
{
	struct reader *rd = s->rd;
	unsigned int slots;
	union copy copy;
	size_t size = copy_record(s, &copy, &slots);
	int err;

	rd->blocked = false;
	rd->seq += dropped_before(rd, (uint32_t)(s->word >> 32));
	if (!size) {
		reject(s);
		return 0;
	}
	rd->skips = false;
	rd->gap = 0;
	copy.rec.seq = ++rd->seq;
	err = fn(ctx, ring, &copy.rec, size);
	consume(s, slots);
	return err < 0 ? err : 0;
}

/* ---- slots without a record ---- */

/*
 * The slot at rd->at is not committed: its thread was preempted. True: it is given up. All slots up
 * to blocked_head were reserved no later than the one that blocked, and are given up with it.
 */
static bool give_up(struct scan *s)
{
	struct reader *rd = s->rd;

	if (rd->blocked && rd->skips && rd->at < rd->blocked_head) {
		consume(s, 1);
		return true;
	}
	if (!rd->blocked || rd->blocked_at != rd->at) {
		rd->blocked = true;
		rd->skips = false;
		rd->blocked_at = rd->at;
		rd->blocked_since = s->now;
		rd->blocked_head = s->head;
	}
	if (s->now < rd->blocked_since ||
	    s->now - rd->blocked_since <= (rd->has_given_up ? SHORT_PATIENCE : PATIENCE))
		return false;
	rd->has_given_up = true; /* a process must not delay the others' records again and again */
	rd->seq++;
	rd->skips = true;
	consume(s, 1);
	return true;
}

/* The slot at rd->at is a further one, of a record that was rejected or given up, or forged. */
static void skip_further(struct scan *s)
{
	if (s->rd->skips)
		consume(s, 1);
	else
		reject(s);
}

/* ---- all rings ---- */

/* 0, what `fn` returned, or 1: a slot is not committed. */
static int drain_ring(struct scan *s, unsigned int ring, inline_rings_fn fn, void *ctx)
{
	struct reader *rd = s->rd;
	int err = 0;

	while (rd->at != s->head && !err) {
		PARSER_STEPS(1);
		s->word = load_word(s, rd->at);
		if (is_first(s->word, rd->at))
			err = pass_on(s, ring, fn, ctx);
		else if (is_further(s->word, rd->at))
			skip_further(s);
		else if (!give_up(s))
			err = 1;
	}
	return_slots(rd);
	return err;
}

/* Nothing of a ring whose head is out of range is read. */
static void read_heads(struct inline_rings *r, uint64_t ret[GT_INLINE_RINGS])
{
	inline_clock__fence(); /* `now` was computed from the TSC: no load may precede that */
	for (unsigned int i = 0; i < GT_INLINE_RINGS; i++) {
		const struct reader *rd = &r->reader[i];

		ret[i] = __atomic_load_n(&rd->ring->head, __ATOMIC_ACQUIRE);
		if (ret[i] - rd->at <= r->slots)
			continue;
		r->is_forged = true;
		ret[i] = rd->at;
	}
}

int inline_rings__drain(struct inline_rings *r, uint64_t now, inline_rings_fn fn, void *ctx,
			bool *ret_complete)
{
	struct scan s = { .r = r, .now = now };
	uint64_t head[GT_INLINE_RINGS], latest;
	bool complete = true;
	int err = 0;

	read_heads(r, head);
	latest = clock__now();
	for (unsigned int i = 0; i < GT_INLINE_RINGS && err >= 0; i++) {
		s.latest = latest;
		s.rd = &r->reader[i];
		s.head = head[i];
		err = drain_ring(&s, i, fn, ctx);
		complete = complete && !err;
	}
	if (err < 0)
		return err;
	*ret_complete = complete;
	return 0;
}

bool inline_rings__is_forged(const struct inline_rings *r)
{
	return r->is_forged;
}

bool inline_rings__is_used(const struct inline_rings *r, unsigned int ring)
{
	return r->reader[ring].at != r->reader[ring].began;
}

unsigned int inline_rings__fill(const struct inline_rings *r)
{
	uint64_t most = 0, used;

	for (unsigned int i = 0; i < GT_INLINE_RINGS; i++) {
		used = load(&r->reader[i].ring->head) - r->reader[i].at;
		if (used > most)
			most = used;
	}
	return most < r->slots ? (unsigned int)(most * 100 / r->slots) : 100;
}

/* ---- losses ---- */

static uint64_t count_lost(const struct inline_rings *r, unsigned int kind)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < GT_INLINE_RINGS; i++)
		sum += load(&r->reader[i].ring->lost[kind]);
	return sum;
}

uint64_t inline_rings__lost(struct inline_rings *r, uint64_t ret[GT_KIND_END])
{
	uint64_t left = LOST_MAX, sum = 0;

	for (unsigned int kind = 0; kind < GT_KIND_END; kind++) {
		uint64_t more = count_lost(r, kind) - r->base[kind] - r->lost[kind];

		if ((int64_t)more < 0)
			more = 0;
		if (more > left)
			more = left;
		left -= more;
		r->lost[kind] += more;
		ret[kind] = r->lost[kind];
		sum += ret[kind];
	}
	return sum;
}

/* ---- open and close ---- */

static bool is_valid(const struct gt_inline *map)
{
	uint64_t slots = map->slots, needed = GT_INLINE_HEAD + slots * GT_INLINE_SLOT;

	return slots > GT_INLINE_MARGIN && !(slots & (slots - 1)) && map->stride >= needed &&
	       !(map->stride % GT_INLINE_SLOT) && map->ring_bytes > GT_INLINE_SEEN_BYTES &&
	       (map->ring_bytes - GT_INLINE_SEEN_BYTES) / GT_INLINE_RINGS >= map->stride;
}

static void begin(struct reader *rd, struct gt_inline_ring *ring)
{
	rd->ring = ring;
	rd->slot = (void *)((char *)ring + GT_INLINE_HEAD);
	rd->at = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	rd->returned = rd->began = rd->at;
	rd->dropped = (uint32_t)load(&ring->dropped);
	__atomic_store_n(&ring->tail, rd->at, __ATOMIC_RELEASE);
}

int inline_rings__open(struct inline_rings **ret, const struct gt_inline *map, void *area,
		       struct inline_clock *clock, inline_tid_fn tid, void *tid_ctx)
{
	struct inline_rings *r;

	if (!is_valid(map))
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->slots = map->slots;
	r->clock = clock;
	r->tid = tid;
	r->tid_ctx = tid_ctx;
	for (unsigned int i = 0; i < GT_INLINE_RINGS; i++)
		begin(&r->reader[i],
		      (void *)((char *)area + GT_INLINE_SEEN_BYTES + i * map->stride));
	for (unsigned int kind = 0; kind < GT_KIND_END; kind++)
		r->base[kind] = count_lost(r, kind);
	*ret = r;
	return 0;
}

void inline_rings__close(struct inline_rings *r)
{
	free(r);
}
