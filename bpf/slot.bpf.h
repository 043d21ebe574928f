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

/*
 * By TID, created by capture/rings.c. Writers and readers: the programs on that thread;
 * target/process/slots.c adds. 2 MiB.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, GT_SLOTS);
	__type(key, u32);
	__type(value, struct gt_slot);
} slots __weak SEC(".maps");

#define STATUS_RUNNABLE 1
#define STATUS_SYSCALL	3
#define STATUS_WAITING	4
#define STATUS_DEAD	6
#define STATUS_SCAN	0x1000

static __always_inline struct gt_slot *slot__find(u32 tid)
{
	return config.derives || config.syscall_at ? bpf_map_lookup_elem(&slots, &tid) : NULL;
}

/*
 * The slot for the state of a thread's system calls. If parks are not derived (inline probes), no
 * probe creates slots, and they contain nothing else.
 */
static __always_inline struct gt_slot *slot__of_calls(u32 tid)
{
	struct gt_slot *slot = slot__find(tid), none = {};

	if (slot || config.derives || !config.syscall_at)
		return slot;
	bpf_map_update_elem(&slots, &tid, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&slots, &tid);
}

/*
 * Set by capture/probes.c when all probes are attached: before, a goroutine could leave its thread
 * unnoticed, and its slot would be wrong.
 */
extern gt_u64 slots_live;

/* For a thread that is on its g0: the slot holds the M's current goroutine, or none. */
__weak __noinline int slot__create(u64 g0, u32 tid)
{
	struct gt_slot slot = { .g0 = g0 };

	if (!*(volatile gt_u64 *)&slots_live)
		return 0;
	if (go_read(&slot.m, sizeof(slot.m), g0 + config.g_m) ||
	    go_read(&slot.g, sizeof(slot.g), slot.m + config.m_curg))
		return 0;
	slot.goid = slot.g ? go_read_u64(slot.g + config.g_goid) : 0;
	return bpf_map_update_elem(&slots, &tid, &slot, BPF_ANY);
}

/* The slot of a thread that is on its g0; NULL: parks are not derived, or there is no room. */
static __always_inline struct gt_slot *slot__get(u64 g0, u32 tid)
{
	struct gt_slot *slot = slot__find(tid);

	if (!config.derives || (slot && slot->g0 == g0))
		return slot;
	slot__create(g0, tid);
	return bpf_map_lookup_elem(&slots, &tid);
}

static __always_inline void slot__set(u64 g0, u32 tid, u64 g, u64 goid)
{
	struct gt_slot *slot = config.derives ? slot__get(g0, tid) : NULL;

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

/* What was read of the slot's goroutine. */
static __always_inline struct g *slot__g(struct gt_slot *slot)
{
	_Static_assert(sizeof(struct g) <= sizeof(slot->scratch), "fits");
	return (struct g *)slot->scratch;
}

/* Reads how the goroutine of the slot left its thread. Returns 1 if it has ended. */
__weak __noinline int left__read(struct gt_slot *slot)
{
	struct g *g;

	if (!slot)
		return 0;
	g = slot__g(slot);
	read_park(slot->m, &slot->park);
	if (g__read(slot->g, g)) {
		slot->park.wait_reason = 0;
		return 0;
	}
	slot->park.wait_reason = g->wait_reason;
	if (!slot->goid) /* could not be read before */
		slot->goid = g->goid;
	return g->goid != slot->goid || (g->status & ~STATUS_SCAN) == STATUS_DEAD;
}

/*
 * The stack of the goroutine that left__read() read, which waits. While it is copied to another
 * place, its status has the scan bit; afterwards, or once the goroutine runs, g.sched.sp has changed.
 */
static __always_inline u32 left__stack(struct gt_slot *slot, u32 tid, bool hot)
{
	struct g *g = slot__g(slot);
	u32 stack;

	if (!config.stack_depth)
		return 0;
	if (g->status == STATUS_WAITING || g->status == STATUS_RUNNABLE) {
		stack = stack__id_of(&g->leaf, tid, hot);
		if (go_read_u64(g->addr + config.g_sched + config.gobuf_sp) == g->sp)
			return stack;
	}
	if (g->status) /* it was read */
		COUNT(stacks_gone);
	return 0;
}

/* `start`: after the first reads of the hit's program; the others can take as long as the trap. */
static __always_inline void left__park(const struct gt_slot *slot, const struct gt_record *rec,
				       u64 start, struct gt_park *ret)
{
	u64 ns = (rec->time ?: bpf_ktime_get_ns()) - start + config.derived_ns;

	*ret = slot->park;
	ret->derived = ns < GT_DERIVED_NS_MAX ? ns : GT_DERIVED_NS_MAX;
}

static __always_inline void left__ended(const struct gt_slot *slot, const struct gt_record *rec,
					u64 start, struct gt_ended *ret)
{
	ret->goid = slot->goid;
	left__park(slot, rec, start, &ret->park);
}

static __always_inline u32 status_of(u64 g)
{
	u32 status;

	return go_read(&status, sizeof(status), g + config.g_status) ? STATUS_SCAN :
								       status & ~STATUS_SCAN;
}

/* Whether it waits or has ended, wherever its thread is; false: its page cannot be read. */
static __always_inline bool left__is_off(const struct gt_slot *slot)
{
	u32 status = status_of(slot->g);

	return status == STATUS_WAITING || status == STATUS_DEAD;
}

/* Whether the goroutine of the slot has left the thread: by m.curg, or else by its status. */
static __always_inline bool left__thread(const struct gt_slot *slot)
{
	u64 g;

	if (go_read(&g, sizeof(g), slot->m + config.m_curg)) {
		COUNT(read_errors);
		return left__is_off(slot);
	}
	return g != slot->g;
}

/* A hit of the scheduler, on g0: reports the goroutine of the slot if it has left this thread. */
__weak __noinline int slot__flush(u64 g0, u32 tid)
{
	struct gt_slot *slot = slot__find(tid);
	u64 start;
	u32 stack;

	if (!slot)
		return slot__create(g0, tid);
	if (!slot->g || slot->g0 != g0 || !left__thread(slot))
		return 0;
	start = bpf_ktime_get_ns();
	if (left__read(slot)) {
		emit (rec, GT_ENDED, slot->g, 0, tid, sizeof(struct gt_ended))
			left__ended(slot, rec, start, (void *)(rec + 1));
	} else {
		stack = left__stack(slot, tid, false);
		emit (rec, GT_PARK, slot->g, stack, tid, sizeof(slot->park))
			left__park(slot, rec, start, (void *)(rec + 1));
	}
	slot->g = 0;
	return 0;
}

/*
 * Whether the goroutine of the slot has left the thread, outside of hits. At the entry of execute,
 * where a signal or another thread may come in between, m.curg is not set yet: but then the
 * goroutine is runnable.
 */
static __always_inline bool slot__has_left(const struct gt_slot *slot)
{
	return slot->g && left__thread(slot) && left__is_off(slot);
}

static __always_inline void slot__flush_if_derived(u64 g0, u32 tid)
{
	if (config.derives)
		slot__flush(g0, tid);
}

#endif
