/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The runtime's g and m as the probes read them: one read covers the head of a g.
 *
 * g.m, g.sched, g.goid, g.waitreason and a few flags stand within the first 224 bytes in all
 * releases; a member that does not is read by itself. Which it is, the verifier decides, since the
 * offsets are constants to it: the branch not taken is cut out.
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

/* A goroutine that is not on its own stack right now, and where it was left. */
struct g {
	u64 addr;
	u64 m;
	struct leaf leaf;
	u64 wait_reason;
	u64 coro_exit;
};

/*
 * Functions of their own are these readers not for the code's size but for the BPF stack's: it has
 * 512 bytes for a probe and all that it calls into. 0, or negative and *ret knows no more than the
 * address: a transition is recorded even when its page could not be read.
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
	ret->wait_reason = G_MEMBER(&g, u8, config.g_waitreason);
	ret->coro_exit = 0;
	if (config.g_coroexit != GT_NO_OFFSET)
		ret->coro_exit = G_MEMBER(&g, u8, config.g_coroexit);
	ret->leaf.pc = G_MEMBER(&g, u64, config.g_sched + config.gobuf_pc);
	ret->leaf.fp = G_MEMBER(&g, u64, config.g_sched + config.gobuf_bp);
	ret->leaf.second = 0;
	/* Stopped in morestack, before the function pushed its frame: runtime/tracestack.go. */
	if (config.g_sync_safe_point != GT_NO_OFFSET && config.stack_depth > 1 &&
	    G_MEMBER(&g, u8, config.g_sync_safe_point))
		ret->leaf.second = go_read_u64(G_MEMBER(&g, u64, config.g_sched + config.gobuf_sp));
	return 0;
}

/* The p of the thread that the probe interrupted; g is its R14. */
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
 * Which goroutine runs on the thread of a g0: m.curg, remembered so that it need not be read
 * through g0.m. It is true if g.m, which is read with g.sched anyway, is that m: a goroutine that
 * leaves its thread, by whatever way, loses its m. Writer: execute() and curg__head(); reader:
 * curg__head(). Two g0s may share a place, and their threads write it at once: the key is made of
 * g0 and m, so that one's m and the other's g0 match nothing. 12 KiB.
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

#define CURG_HEAD 72 /* bytes: from g.m through g.sched, which stand side by side */

struct curg_head {
	u64 m;
	u64 word[CURG_HEAD / 8 - 1];
};

/* Reads the head of m.curg. Returns its address, 0: none runs on this thread. */
static __always_inline u64 curg__head(u64 g0, struct curg_head *head)
{
	struct curg_place *place = curg__place(g0);
	u64 curg = place->curg, m = place->m;

	if (place->key == (g0 ^ m) && !go_read(head, sizeof(*head), curg + config.g_m) &&
	    head->m == m)
		return curg;
	m = go_read_u64(g0 + config.g_m);
	curg = go_read_u64(m + config.m_curg);
	if (!curg || go_read(head, sizeof(*head), curg + config.g_m))
		return 0;
	place->m = m;
	place->curg = curg;
	place->key = g0 ^ m;
	return curg;
}

/*
 * Where the goroutine for which the runtime works on this thread's g0 was left. -1: none, the
 * scheduler itself is at work; 1: the goroutine itself is running, on no g0.
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
	 * There, g.sched has no frame for systemstack's caller, and as PC systemstack_switch's very
	 * first, which is no return address: one further it is taken for that function's.
	 */
	ret->pc += config.systemstack_frameless;
	if (config.systemstack_frameless)
		ret->second = go_read_u64(*(u64 *)((char *)&head + sp));
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
