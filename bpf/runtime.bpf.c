// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of the runtime around goroutines: Ps, stop-the-world, garbage collection.
 *
 * As goroutine.bpf.c: is it ours, read, emit. These are rare against goroutines' transitions.
 */
#include "filter.bpf.h"
#include "g.bpf.h"
#include "site.bpf.h"

static __always_inline void proc(enum gt_kind kind, u32 tid, u64 p)
{
	if (tid)
		emit_value(kind, p, 0, tid, go_read_u32(p + config.p_id));
}

SEC("uprobe.multi")
int p_start(struct pt_regs *ctx)
{
	proc(GT_P_START, filter__ours(), GO_ARG1(ctx));
	return 0;
}

SEC("uprobe.multi")
int p_stop(struct pt_regs *ctx)
{
	u32 tid = filter__ours();

	if (tid)
		proc(GT_P_STOP, tid, current_p(GO_G(ctx)));
	return 0;
}

SEC("uprobe.multi")
int p_handoff(struct pt_regs *ctx)
{
	u64 cookie = cookie__site(ctx), p;
	u32 tid = filter__ours();

	if (site__object(ctx, cookie, GT_COOKIE_VALUE(cookie) ? GO_ARG3(ctx) : GO_ARG1(ctx), &p))
		proc(GT_P_HANDOFF, tid, p);
	return 0;
}

/*
 * The stack of what runs on g0 or on the goroutine itself: at a function's first instruction, or,
 * `framed`, behind its prologue; the function itself is left out either way.
 */
static __always_inline u32 here(struct pt_regs *ctx, u32 tid, bool framed)
{
	struct leaf leaf = {};
	int where;

	if (!config.stack_depth)
		return 0;
	where = curg__leaf(GO_G(ctx), &leaf);
	if (where < 0)
		return 0;
	if (where > 0) {
		leaf.pc = go_read_u64(framed ? ctx->bp + 8 : ctx->sp);
		leaf.fp = framed ? go_read_u64(ctx->bp) : ctx->bp;
	}
	return stack__id(&leaf, tid);
}

PROBE_PART stw_begin(struct pt_regs *ctx)
{
	u64 cookie = cookie__site(ctx);
	u64 reason = cookie ? cookie - GT_STW_REASON(0) : (u8)GO_ARG1(ctx);
	u32 tid = filter__ours();

	if (tid)
		emit_value(GT_STW_BEGIN, 0, here(ctx, tid, false), tid, reason);
	return 0;
}

EMIT_PROBE(stw_end, emit_plain(GT_STW_END, 0, 0, tid))
EMIT_PART(gc_begin, emit_plain(GT_GC_BEGIN, 0, here(ctx, tid, cookie__site(ctx)), tid))
EMIT_PROBE(gc_end, emit_plain(GT_GC_END, 0, 0, tid))
EMIT_PART(procs, emit_value(GT_PROCS, 0, here(ctx, tid, false), tid, (u32)GO_ARG1(ctx)))

SEC("uprobe.multi")
int runtime_rare(struct pt_regs *ctx)
{
	switch (cookie__probe(ctx)) {
	case GT_PROBE_STW_BEGIN:
		return stw_begin(ctx);
	case GT_PROBE_GC_BEGIN:
		return gc_begin(ctx);
	case GT_PROBE_PROCS:
		return procs(ctx);
	default:
		return 0;
	}
}

char LICENSE[] SEC("license") = "GPL";
