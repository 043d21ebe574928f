/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parks and ends of goroutines without hits of their own: see include/gotrace/slot.h.
 *
 * A slot holds the goroutine that its thread runs. When the thread starts another one (execute), or
 * does something else as the scheduler, the goroutine in the slot has parked or ended: its status,
 * m.waitTrace* and g.sched show how. Probes that report another way to leave (yields, preemption,
 * coroutines, system calls without a P) empty the slot. Upstream: goroutine.bpf.c. Downstream:
 * emit.bpf.h.
 *
 * The goroutine may run elsewhere by now: then its stack is not sent.
 */
#ifndef BPF_SLOT_H
#define BPF_SLOT_H

#include "g.bpf.h"
#include "gotrace/slot.h"

/* By TID. Writers and readers: the probes on that thread; target/process/slots.c adds. 2 MiB. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, GT_SLOTS);
	__type(key, u32);
	__type(value, struct gt_slot);
} slots __weak SEC(".maps");

/* How the goroutine of a slot left its thread. In: the slot's members. */
struct left {
	u64 g, goid, m;
	struct gt_park park;
	u32 stack;
	bool ended;
};

#define STATUS_RUNNABLE 1
#define STATUS_WAITING	4
#define STATUS_DEAD	6
#define STATUS_SCAN	0x1000

static __always_inline struct gt_slot *slot__find(u32 tid)
{
	return config.derives ? bpf_map_lookup_elem(&slots, &tid) : NULL;
}

/* The slot of a thread that is on its g0; a new one holds the M's current goroutine, or none. */
static __always_inline struct gt_slot *slot__get(u64 g0, u32 tid)
{
	struct gt_slot *slot = slot__find(tid), fresh;

	if (!config.derives || (slot && slot->g0 == g0))
		return slot;
	fresh.g0 = g0;
	fresh.m = go_read_u64(g0 + config.g_m);
	fresh.g = go_read_u64(fresh.m + config.m_curg);
	fresh.goid = fresh.g ? go_read_u64(fresh.g + config.g_goid) : 0;
	bpf_map_update_elem(&slots, &tid, &fresh, BPF_ANY);
	return bpf_map_lookup_elem(&slots, &tid);
}

static __always_inline void slot__set(u64 g0, u32 tid, u64 g, u64 goid)
{
	struct gt_slot *slot = slot__get(g0, tid);

	if (!slot)
		return;
	slot->g = g;
	slot->goid = goid;
}

/* m.waitTraceBlockReason and m.waitTraceSkip are adjacent, in either order: one read. */
static __always_inline void read_park(u64 m, struct gt_park *park)
{
	bool skip_first = config.m_skip < config.m_block_reason;
	u64 why[2] = {};

	go_read(why, sizeof(why), m + (skip_first ? config.m_skip : config.m_block_reason));
	park->block_reason = why[skip_first];
	park->skip = why[!skip_first];
}

/*
 * The stack of a goroutine that waits. While it is copied to another place, its status has the scan
 * bit; afterwards, or once the goroutine runs, g.sched.sp has changed.
 */
static __always_inline u32 left__stack(const struct g *g, u32 tid)
{
	u32 stack;

	if (!config.stack_depth || (g->status != STATUS_WAITING && g->status != STATUS_RUNNABLE))
		return 0;
	stack = stack__id_hot(&g->leaf, tid);
	return go_read_u64(g->addr + config.g_sched + config.gobuf_sp) == g->sp ? stack : 0;
}

__weak __noinline int left__read(u32 tid, struct left *left)
{
	struct g g;
	int err;

	if (!left)
		return -1;
	err = g__read(left->g, &g);
	left->ended = !err && (g.goid != left->goid || (g.status & ~STATUS_SCAN) == STATUS_DEAD);
	left->stack = 0;
	read_park(left->m, &left->park);
	left->park.wait_reason = g.wait_reason;
	left->park.derived = 1;
	if (!err && !left->ended)
		left->stack = left__stack(&g, tid);
	return 0;
}

static __always_inline void left__ended(const struct left *left, struct gt_ended *ret)
{
	ret->goid = left->goid;
	ret->park = left->park;
}

/* A hit of the scheduler, on g0: reports the goroutine of the slot if it has left this thread. */
__weak __noinline int slot__flush(u64 g0, u32 tid)
{
	struct gt_slot *slot = slot__find(tid);
	struct left left = {};

	if (!slot) {
		slot__get(g0, tid);
		return 0;
	}
	if (!slot->g || slot->g0 != g0 || go_read_u64(slot->m + config.m_curg) == slot->g)
		return 0;
	left.g = slot->g;
	left.goid = slot->goid;
	left.m = slot->m;
	slot->g = 0;
	left__read(tid, &left);
	if (left.ended) {
		emit (rec, GT_ENDED, left.g, 0, tid, sizeof(struct gt_ended))
			left__ended(&left, (void *)(rec + 1));
		return 0;
	}
	emit (rec, GT_PARK, left.g, left.stack, tid, sizeof(left.park))
		*(struct gt_park *)(rec + 1) = left.park;
	return 0;
}

static __always_inline void slot__flush_if_derived(u64 g0, u32 tid)
{
	if (config.derives)
		slot__flush(g0, tid);
}

#endif
