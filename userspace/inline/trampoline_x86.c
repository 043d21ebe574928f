// SPDX-License-Identifier: GPL-2.0
/*
 * The handler of inline probes: runs in the target, at a site's stub, and writes one record.
 *
 * It is compiled freestanding, without vector registers and without any reference outside of its
 * section (Makefile), because it is copied. It runs on a stack of Go, in place of the function that
 * was entered: the stack check has just passed, so that 928 bytes (Go 1.22 to 1.27, stackGuard) are
 * left. It may be interrupted by a signal at any instruction, and the signal's handler does not
 * come here. It reads only what the runtime itself keeps valid at that instruction: g, g.m, and
 * frames within g.stack.
 *
 * The registers that a record needs are those that kinds.h lists for the site, as saved by the stub.
 */
#include "inline/trampoline_x86.h"

#define PART static inline __attribute__((always_inline))

typedef gt_u64 u64;
typedef gt_u32 u32;

/* What a hit knows. */
struct hit {
	const struct gt_inline *in;
	struct gt_inline_ring *ring;
	u64 m, gp;
	u32 tid; /* as in the target's PID namespace */
};

/* Slots that a record has reserved. */
struct room {
	struct gt_inline_slot *slot; /* the first; NULL: none */
	u64 at;			     /* its number */
};

PART u64 load64(u64 addr)
{
	return *(const volatile u64 *)addr;
}

PART u32 load32(u64 addr)
{
	return *(const volatile u32 *)addr;
}

PART gt_u8 load8(u64 addr)
{
	return *(const volatile gt_u8 *)addr;
}

PART struct gt_inline_slot *slot_at(const struct hit *h, u64 at)
{
	return (struct gt_inline_slot *)((char *)h->ring + GT_INLINE_HEAD +
					 (at & (h->in->slots - 1)) * GT_INLINE_SLOT);
}

PART struct room reserve(const struct hit *h, enum gt_kind kind, u32 slots)
{
	struct gt_inline_ring *ring = h->ring;
	struct room room = {};

	if (__atomic_load_n(&ring->head, __ATOMIC_RELAXED) -
		    __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) >
	    h->in->slots - GT_INLINE_MARGIN) {
		__atomic_fetch_add(&ring->lost[kind], 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&ring->dropped, 1, __ATOMIC_RELAXED);
		return room;
	}
	room.at = __atomic_fetch_add(&ring->head, slots, __ATOMIC_RELAXED);
	room.slot = slot_at(h, room.at);
	return room;
}

/* After the slots were reserved: see capture/drain.c for why. */
PART void fill(const struct hit *h, struct room *room, enum gt_kind kind, u64 object, u32 stack)
{
	struct gt_record *rec = &room->slot->rec;
	u32 low, high, aux;

	asm volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(aux));
	rec->time = (u64)high << 32 | low;
	rec->tid = h->tid;
	rec->kind = kind;
	rec->cpu = aux & 0xfff; /* Linux: vdso_encode_cpunode() */
	rec->object = object;
	rec->stack = stack;
	rec->seq = 0;
}

PART void commit(const struct hit *h, const struct room *room)
{
	u64 word = (u32)(room->at + 1) & ~GT_INLINE_FURTHER;

	word |= __atomic_load_n(&h->ring->dropped, __ATOMIC_RELAXED) << 32;
	__atomic_store_n(&room->slot->word, word, __ATOMIC_RELEASE);
}

/* ---- stacks: as in bpf/stack.bpf.h ---- */

struct walk {
	u64 fp, low, high, hash;
	u32 n;
};

/* The PCs that are not found by frame pointers. */
struct leaf {
	u64 pc, second, fp;
	u64 low, high; /* of the goroutine's stack */
};

PART u64 mix(u64 hash, u64 pc)
{
	hash = (hash ^ pc) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

PART int next_frame(struct walk *w, u64 *pc)
{
	u64 fp = w->fp, next;

	if (fp & 7 || fp < w->low || fp > w->high - 16)
		return 0;
	*pc = load64(fp + 8);
	if (!*pc)
		return 0;
	next = load64(fp);
	w->fp = next > fp ? next : 0;
	return 1;
}

PART void begin_walk(struct walk *w, const struct leaf *leaf)
{
	*w = (struct walk){ .fp = leaf->fp, .low = leaf->low, .high = leaf->high, .n = 1 };
	w->hash = mix(0, leaf->pc);
	if (leaf->second) {
		w->hash = mix(w->hash, leaf->second);
		w->n = 2;
	}
}

PART u64 stack_hash(const struct leaf *leaf, u32 depth, u32 *ret_n)
{
	struct walk w;
	u64 pc;

	begin_walk(&w, leaf);
	while (w.n < depth && next_frame(&w, &pc)) {
		w.hash = mix(w.hash, pc);
		w.n++;
	}
	*ret_n = w.n;
	return (w.hash & ((1ull << 56) - 1)) | (u64)w.n << 56;
}

PART u64 *seen_place(const struct hit *h, u64 hash)
{
	return (u64 *)h->in->rings + hash % GT_INLINE_SEEN;
}

PART u32 seen_number(u64 hash, u64 word)
{
	return GT_STACK_NUMBER(GT_STACK_SEEN + hash % GT_INLINE_SEEN, word);
}

PART u32 seen_claim(u64 *place, u64 hash)
{
	u64 word = __atomic_load_n(place, __ATOMIC_RELAXED), next;

	for (int i = 0; i < 8; i++) {
		next = ((word & 0x7fff) + 1) & 0x7fff;
		next += !next;
		if (__atomic_compare_exchange_n(place, &word, next, 0, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return seen_number(hash, next);
	}
	return 0;
}

PART void put_pc(const struct hit *h, const struct room *room, u32 i, u64 pc)
{
	if (!i)
		room->slot->pc[GT_INLINE_SLOT_PCS - 1] = pc;
	else
		slot_at(h, room->at + 1 + (i - 1) / GT_INLINE_SLOT_PCS)
			->pc[(i - 1) % GT_INLINE_SLOT_PCS] = pc;
}

PART u64 send_pcs(const struct hit *h, const struct room *room, const struct leaf *leaf, u32 n)
{
	struct walk w;
	u32 i;
	u64 pc;

	begin_walk(&w, leaf);
	put_pc(h, room, 0, leaf->pc);
	if (leaf->second && n > 1)
		put_pc(h, room, 1, leaf->second);
	for (i = w.n; i < n; i++) {
		if (!next_frame(&w, &pc))
			pc = 0;
		w.hash = mix(w.hash, pc);
		put_pc(h, room, i, pc);
	}
	return (w.hash & ((1ull << 56) - 1)) | (u64)n << 56;
}

/* A function of its own: rare, and its variables should not lengthen the others. */
__attribute__((noinline, section("trampoline"))) static u32
send_stack(const struct hit *h, const struct leaf *leaf, u64 hash, u32 n)
{
	u32 slots = 1 + (n - 1 + GT_INLINE_SLOT_PCS - 1) / GT_INLINE_SLOT_PCS, number, i;
	u64 *place = seen_place(h, hash), changes;
	struct gt_stack *stack;
	struct room room;

	number = seen_claim(place, hash);
	if (!number)
		return 0;
	room = reserve(h, GT_STACK, slots);
	if (!room.slot)
		return 0;
	fill(h, &room, GT_STACK, hash, number);
	stack = (struct gt_stack *)room.slot->payload;
	stack->depth = n;
	stack->cut = n >= h->in->config.stack_depth;
	stack->placed = 1;
	if (send_pcs(h, &room, leaf, n) == hash) {
		changes = number >> 17;
		__atomic_compare_exchange_n(place, &changes, (hash & ~0xffffull) | changes, 0,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	}
	for (i = 1; i < slots; i++)
		__atomic_store_n(&slot_at(h, room.at + i)->word,
				 (u32)(room.at + i + 1) | GT_INLINE_FURTHER, __ATOMIC_RELEASE);
	commit(h, &room);
	return number;
}

PART u32 stack_id(const struct hit *h, const struct leaf *leaf)
{
	u32 depth = h->in->config.stack_depth, n;
	u64 hash, word;

	if (!depth || !leaf->pc)
		return 0;
	hash = stack_hash(leaf, depth, &n);
	word = __atomic_load_n(seen_place(h, hash), __ATOMIC_RELAXED);
	if (!((word ^ hash) & ~0xffffull))
		return seen_number(hash, word);
	return send_stack(h, leaf, hash, n);
}

/* Where a goroutine was left that does not run on its own stack. */
PART void left_leaf(const struct hit *h, u64 gp, struct leaf *ret)
{
	const struct gt_config *c = &h->in->config;

	ret->pc = load64(gp + c->g_sched + c->gobuf_pc);
	ret->fp = load64(gp + c->g_sched + c->gobuf_bp);
	ret->low = load64(gp);
	ret->high = load64(gp + 8);
	ret->second = 0;
}

/* ---- the events: as the programs of the same names in bpf/goroutine.bpf.c ---- */

/* A goroutine starts to run, or ends. */
PART void put_goid(const struct hit *h, enum gt_kind kind)
{
	struct room room = reserve(h, kind, 1);

	if (!room.slot)
		return;
	room.slot->payload[0] = load64(h->gp + h->in->config.g_goid);
	fill(h, &room, kind, h->gp, 0);
	commit(h, &room);
}

PART void park(const struct hit *h)
{
	const struct gt_config *c = &h->in->config;
	struct leaf leaf = {};
	struct gt_park *park;
	struct room room;
	u32 stack;

	left_leaf(h, h->gp, &leaf);
	/* Stopped in morestack, before the function pushed its frame: see bpf/g.bpf.h. */
	if (c->g_sync_safe_point != GT_NO_OFFSET && c->stack_depth > 1 &&
	    load8(h->gp + c->g_sync_safe_point)) {
		u64 sp = load64(h->gp + c->g_sched + c->gobuf_sp);

		if (sp >= leaf.low && sp <= leaf.high - 8)
			leaf.second = load64(sp);
	}
	stack = stack_id(h, &leaf);
	room = reserve(h, GT_PARK, 1);
	if (!room.slot)
		return;
	park = (struct gt_park *)room.slot->payload;
	park->block_reason = load8(h->m + c->m_block_reason);
	park->wait_reason = load8(h->gp + c->g_waitreason);
	park->derived = 0;
	park->skip = load32(h->m + c->m_skip);
	fill(h, &room, GT_PARK, h->gp, stack);
	commit(h, &room);
}

/* The stack of the goroutine for which the thread's g0 works; 0: none. */
PART u32 curg_stack(const struct hit *h, u64 g)
{
	u64 curg = load64(h->m + h->in->config.m_curg);
	struct leaf leaf;

	if (!h->in->config.stack_depth || !curg || curg == g)
		return 0;
	left_leaf(h, curg, &leaf);
	return stack_id(h, &leaf);
}

PART void put_ready(const struct hit *h, u32 via, u32 mode, u32 skip, u32 stack)
{
	struct room room = reserve(h, GT_READY, 1);
	struct gt_ready *ready;

	if (!room.slot)
		return;
	ready = (struct gt_ready *)room.slot->payload;
	ready->via = (gt_u16)via;
	ready->mode = (gt_u16)mode;
	ready->skip = skip;
	fill(h, &room, GT_READY, h->gp, stack);
	commit(h, &room);
}

PART void ready(const struct hit *h, u64 g, u32 skip)
{
	put_ready(h, GT_VIA_READY, 0, skip, curg_stack(h, g));
}

/* A call of casgstatus(g, old, new): choose.c accepts no other form. */
PART void cas_runnable(const struct hit *h, u64 g, u64 cookie, const struct trampoline_saved *saved)
{
	u32 via = GT_COOKIE_VALUE(cookie), mode = 0, stack = 0;

	if (GT_COOKIE_NEW_REG(cookie) &&
	    ((u32)saved->rbx != GT_COOKIE_OLD(cookie) || (u32)saved->rcx != GT_COOKIE_NEW(cookie)))
		return;
	if (via == GT_VIA_GC_WORKER)
		mode = load8(load64(h->m + h->in->config.m_p) + h->in->config.p_gc_mode);
	else if (via == GT_VIA_SCHEDULER)
		stack = curg_stack(h, g);
	put_ready(h, via, mode, 0, stack);
}

PART void create(const struct hit *h, u64 g, u64 newg)
{
	const struct gt_config *c = &h->in->config;
	u32 stack = curg_stack(h, g);
	struct room room = reserve(h, GT_CREATE, 1);
	struct gt_create *create;

	if (!room.slot)
		return;
	create = (struct gt_create *)room.slot->payload;
	create->goid = load64(newg + c->g_goid);
	create->startpc = load64(newg + c->g_startpc);
	create->parent = load64(newg + c->g_parent_goid);
	fill(h, &room, GT_CREATE, newg, stack);
	commit(h, &room);
}

__attribute__((section("trampoline"))) void
trampoline__handler(const struct gt_inline *in, const struct trampoline_saved *saved, u32 index,
		    u64 g)
{
	const struct gt_inline_site *site = &in->site[index];
	struct hit h = { .in = in, .gp = saved->rax };

	if (!load64(in->flag))
		return;
	h.m = load64(g + in->config.g_m);
	h.tid = load32(h.m + in->m_procid);
	h.ring = (void *)(in->rings + GT_INLINE_SEEN_BYTES +
			  (h.tid & (GT_INLINE_RINGS - 1)) * in->stride);
	if (site->probe == GT_PROBE_EXECUTE)
		put_goid(&h, GT_EXECUTE);
	else if (site->probe == GT_PROBE_PARK)
		park(&h);
	else if (site->probe == GT_PROBE_READY)
		ready(&h, g, (u32)saved->rbx);
	else if (site->probe == GT_PROBE_CAS_RUNNABLE)
		cas_runnable(&h, g, site->cookie, saved);
	else if (site->probe == GT_PROBE_CREATE)
		create(&h, g, GT_COOKIE_VALUE(site->cookie) ? saved->rax : saved->rbx);
	else if (site->probe == GT_PROBE_DESTROY)
		put_goid(&h, GT_DESTROY);
}
