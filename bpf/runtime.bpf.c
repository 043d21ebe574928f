// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of the runtime around goroutines: stop-the-world pauses, garbage collection, sweeping.
 *
 * As goroutine.bpf.c, but rare in comparison. Upstream: userspace/target/probe/site.c. Downstream:
 * emit.bpf.h.
 */
#include "filter.bpf.h"
#include "g.bpf.h"
#include "site.bpf.h"

/*
 * The stack of what runs on g0 or on the goroutine itself, without the current function: at its
 * first instruction or, `framed`, after its prologue.
 */
static __always_inline u32 stack_here(struct pt_regs *ctx, u32 tid, bool framed)
{
	struct leaf leaf = {};
	int where;

	if (!config.stack_depth)
		return 0;
	where = curg__leaf(GO_G(ctx), &leaf);
	if (where < 0)
		return 0;
	if (where > 0) {
		leaf.pc = go_return_address(ctx, framed);
		leaf.fp = go_caller_fp(ctx, framed);
	}
	return stack__id(&leaf, tid);
}

PROBE_PART stw_begin(struct pt_regs *ctx)
{
	u64 cookie = cookie__site(ctx);
	u64 reason = cookie ? cookie - GT_STW_REASON(0) : (u8)GO_ARG1(ctx);
	u32 tid = filter__ours();

	if (tid)
		emit_value(GT_STW_BEGIN, 0, stack_here(ctx, tid, false), tid, reason);
	return 0;
}

EMIT_PROBE(stw_end, emit_plain(GT_STW_END, 0, 0, tid))
EMIT_PART(gc_begin, emit_plain(GT_GC_BEGIN, 0, stack_here(ctx, tid, cookie__site(ctx)), tid))
EMIT_PROBE(gc_end, emit_plain(GT_GC_END, 0, 0, tid))

/*
 * The same with the current function, at `place` or, if that is 0, its first instruction. The
 * tracer's own function, which the runtime has on top, is omitted.
 */
static __always_inline u32 stack_inside(struct pt_regs *ctx, u32 tid, u64 place)
{
	struct leaf leaf = {};
	int where;

	if (!config.stack_depth)
		return 0;
	where = curg__leaf(GO_G(ctx), &leaf);
	if (where < 0)
		return 0;
	if (where > 0) {
		leaf.fp = REGS_FP(ctx);
		leaf.pc = GO_PC(ctx);
		if (place)
			leaf.pc = GT_COOKIE_PLACE(place, leaf.pc);
		else
			leaf.second = go_return_address(ctx, false);
		leaf.pc += !place; /* after its instruction, as return addresses are */
	}
	return stack__id(&leaf, tid);
}

EMIT_PART(assist_begin,
	  emit_plain(GT_ASSIST_BEGIN, GO_G(ctx), stack_inside(ctx, tid, cookie__site(ctx)), tid))

#define CHUNK_PAGES 512 /* pagesPerReclaimerChunk */

PROBE_PART sweep_span(struct pt_regs *ctx)
{
	u64 chunk = cookie__site(ctx);
	u32 tid = filter__ours(), stack;
	struct gt_span *payload, span = {};
	u64 s;

	if (!tid || (!chunk && entry__repeats(ctx)))
		return 0;
	if (chunk) {
		span.bytes = CHUNK_PAGES * GT_PAGE;
	} else {
		s = go_read_u64(GO_ARG1(ctx));
		span.bytes = go_read_u64(s + config.span_npages) * GT_PAGE;
		span.size = go_read_u64(s + config.span_elem_size);
		span.objects = go_read_u32(s + config.span_alloc_count) & 0xffff;
	}
	stack = stack_inside(ctx, tid, chunk);
	emit (rec, GT_SWEEP_SPAN, 0, stack, tid, sizeof(*payload)) {
		payload = (void *)(rec + 1);
		*payload = span;
	}
	return 0;
}

/* Since 1.25 the tracer reports 0 if there is no goal by growth, but one by the memory limit. */
PROBE_PART heap_goal(struct pt_regs *ctx)
{
	u32 tid = filter__ours();
	u64 cookie = cookie__site(ctx);
	u64 goal = GO_ARG2(ctx);

	if (!tid)
		return 0;
	if (cookie && (int)go_read_u32(GT_COOKIE_PLACE(cookie, GO_PC(ctx))) < 0)
		goal = 0;
	emit_value(GT_HEAP_GOAL, 0, 0, tid, goal);
	return 0;
}

PROBE_PART sweep_left(struct pt_regs *ctx)
{
	u64 chunk = cookie__site(ctx);
	u32 tid = filter__ours();
	struct gt_left *payload, left = {};

	if (!tid)
		return 0;
	if (chunk)
		left.pages = GO_ARG1(ctx);
	else
		left.objects = go_read_u32(GO_ARG1(ctx) + config.span_alloc_count) & 0xffff;
	emit (rec, GT_SWEEP_LEFT, 0, 0, tid, sizeof(*payload)) {
		payload = (void *)(rec + 1);
		*payload = left;
	}
	return 0;
}

EMIT_PART(assist_end, emit_plain(GT_ASSIST_END, GO_G(ctx), 0, tid))
EMIT_PART(sweep_begin, emit_plain(GT_SWEEP_BEGIN, 0, 0, tid))
EMIT_PART(sweep_end, emit_plain(GT_SWEEP_END, 0, 0, tid))
EMIT_PART(procs, emit_value(GT_PROCS, 0, stack_here(ctx, tid, false), tid, (u32)GO_ARG1(ctx)))

SEC("uprobe.multi")
int runtime_rare(struct pt_regs *ctx)
{
	use_kernel_stack(ctx);
	switch (cookie__probe(ctx)) {
	case GT_PROBE_STW_BEGIN:
		return stw_begin(ctx);
	case GT_PROBE_GC_BEGIN:
		return gc_begin(ctx);
	case GT_PROBE_PROCS:
		return procs(ctx);
	case GT_PROBE_ASSIST_BEGIN:
		return assist_begin(ctx);
	case GT_PROBE_ASSIST_END:
		return assist_end(ctx);
	case GT_PROBE_HEAP_GOAL:
		return heap_goal(ctx);
	case GT_PROBE_SWEEP_BEGIN:
		return sweep_begin(ctx);
	case GT_PROBE_SWEEP_SPAN:
		return sweep_span(ctx);
	case GT_PROBE_SWEEP_LEFT:
		return sweep_left(ctx);
	case GT_PROBE_SWEEP_END:
		return sweep_end(ctx);
	default:
		return 0;
	}
}

char LICENSE[] SEC("license") = "GPL";
