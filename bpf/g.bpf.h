/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the runtime's g and m: one read covers the head of a g.
 *
 * g.m, g.sched, g.goid, g.waitreason and a few flags are within the first 224 bytes in all
 * releases; a member that is not is read separately. The offsets are constants, so the verifier
 * removes the branch not taken. Upstream: the probes. Downstream: stack.bpf.h.
 */
#ifndef BPF_G_H
#define BPF_G_H

#include "stack.bpf.h"

#define G_HEAD 176 /* bytes, from g.m on */

struct g_head {
	u64 addr;
	u64 word[G_HEAD / 8];
};

#define G_MEMBER(g, type, offset)                                                                  \
	({                                                                                         \
		u32 off_ = (offset) - config.g_m;                                                  \
		type value_ = 0;                                                                   \
                                                                                                   \
		if (off_ <= G_HEAD - sizeof(type))                                                 \
			value_ = *(type *)((char *)(g)->word + off_);                              \
		else                                                                               \
			go_read(&value_, sizeof(value_), (g)->addr + (offset));                    \
		value_;                                                                            \
	})

/* A goroutine that is not running on its own stack, and where it was left. */
struct g {
	u64 addr;
	u64 m;
	u64 goid;
	u64 sp;
	u64 status;
	struct leaf leaf;
	u64 wait_reason;
	u64 coro_exit;
};

/*
 * These readers are functions of their own because of the BPF stack, which has 512 bytes for a
 * probe and its callees. Return 0, or negative with only the address in *ret: a transition is
 * recorded even if its page could not be read.
 */
__weak __noinline int g__read(u64 addr, struct g *ret)
{
	struct g_head g = { .addr = addr };

	if (!ret)
		return -1;
	*ret = (struct g){ .addr = addr };
	if (go_read(g.word, G_HEAD, addr + config.g_m)) {
		COUNT(read_errors);
		return -1;
	}
	ret->m = G_MEMBER(&g, u64, config.g_m);
	ret->goid = G_MEMBER(&g, u64, config.g_goid);
	ret->sp = G_MEMBER(&g, u64, config.g_sched + config.gobuf_sp);
	ret->status = G_MEMBER(&g, u32, config.g_status);
	ret->wait_reason = G_MEMBER(&g, u8, config.g_waitreason);
	ret->coro_exit = 0;
	if (config.g_coroexit != GT_NO_OFFSET)
		ret->coro_exit = G_MEMBER(&g, u8, config.g_coroexit);
	ret->leaf.pc = G_MEMBER(&g, u64, config.g_sched + config.gobuf_pc);
	ret->leaf.fp = G_MEMBER(&g, u64, config.g_sched + config.gobuf_bp);
	ret->leaf.second = 0;
	/* Stopped in morestack, before the function pushed its frame: see runtime/tracestack.go. */
	if (config.g_sync_safe_point != GT_NO_OFFSET && config.stack_depth > 1 &&
	    G_MEMBER(&g, u8, config.g_sync_safe_point))
		ret->leaf.second = go_left_return(ret->sp);
	return 0;
}

/* The p of the interrupted thread; g is its current one. */
static __always_inline u64 current_p(u64 g)
{
	return go_read_u64(go_read_u64(g + config.g_m) + config.m_p);
}

/* The goroutine for which the thread of a g0 works. */
static __always_inline u64 current_curg(u64 g0)
{
	return go_read_u64(go_read_u64(g0 + config.g_m) + config.m_curg);
}

/*
 * A cache of m.curg by g0, which avoids a read through g0.m. An entry is valid if g.m, which is
 * read with g.sched anyway, is that m: a goroutine that leaves its thread loses its m. Writer:
 * execute() and curg__head(); reader: curg__head(). Two g0s may share a place, and their threads
 * may write it at the same time: the key combines g0 and m, so that a mix of two entries matches
 * neither. 12 KiB.
 */
struct curg_place {
	u64 key; /* g0 ^ m */
	u64 m, curg;
};

static __always_inline struct curg_place *curg__place(u64 g0)
{
	return (struct curg_place *)curg_cache[(g0 >> 6) % CURG_CACHE];
}

static __always_inline void curg__set(u64 g0, u64 g)
{
	struct curg_place *place = curg__place(g0);

	if (place->key == (g0 ^ place->m))
		place->curg = g;
}

#define CURG_HEAD 72 /* bytes: g.m through g.sched, which are adjacent */

struct curg_head {
	u64 m;
	u64 word[CURG_HEAD / 8 - 1];
};

/* Reads the head of m.curg. Returns its address; 0: no goroutine runs on this thread. */
static __always_inline u64 curg__head(u64 g0, struct curg_head *head)
{
	struct curg_place *place = curg__place(g0);
	u64 curg = place->curg, m = place->m;

	if (place->key == (g0 ^ m) && !go_read(head, sizeof(*head), curg + config.g_m) &&
	    head->m == m)
		return curg;
	m = go_read_u64(g0 + config.g_m);
	curg = go_read_u64(m + config.m_curg);
	if (!curg)
		return 0;
	if (go_read(head, sizeof(*head), curg + config.g_m)) {
		COUNT(read_errors);
		return 0;
	}
	place->m = m;
	place->curg = curg;
	place->key = g0 ^ m;
	return curg;
}

/*
 * Where the goroutine was left for which the runtime works on this thread's g0. -1: none, the
 * scheduler itself runs; 1: the goroutine itself runs, not g0.
 */
__weak __noinline int curg__leaf(u64 g0, struct leaf *ret)
{
	u32 pc = config.g_sched + config.gobuf_pc - config.g_m;
	u32 bp = config.g_sched + config.gobuf_bp - config.g_m;
	u32 sp = config.g_sched + config.gobuf_sp - config.g_m;
	struct curg_head head;
	u64 curg;

	if (!ret || pc > CURG_HEAD - 8 || bp > CURG_HEAD - 8 || sp > CURG_HEAD - 8)
		return -1;
	curg = curg__head(g0, &head);
	if (!curg)
		return -1;
	if (curg == g0)
		return 1;
	ret->pc = *(u64 *)((char *)&head + pc);
	ret->fp = *(u64 *)((char *)&head + bp);
	ret->second = 0;
	/*
	 * There, g.sched has no frame for systemstack's caller, and its PC is the first of
	 * systemstack_switch, which is no return address: plus 1 it is in that function.
	 */
	ret->pc += config.systemstack_frameless;
	if (config.systemstack_frameless)
		ret->second = go_left_return(*(u64 *)((char *)&head + sp));
	return 0;
}

static __always_inline u32 curg__stack(u64 g0, u32 tid)
{
	struct leaf leaf = {};

	if (!config.stack_depth || curg__leaf(g0, &leaf))
		return 0;
	return stack__id(&leaf, tid);
}

static __always_inline u32 curg__stack_hot(u64 g0, u32 tid)
{
	struct leaf leaf = {};

	if (!config.stack_depth || curg__leaf(g0, &leaf))
		return 0;
	return stack__id_hot(&leaf, tid);
}

#endif
