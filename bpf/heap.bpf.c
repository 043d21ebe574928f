// SPDX-License-Identifier: GPL-2.0
/*
 * Probes of the heap: how large it is and is to become, and the ends of marking and sweeping.
 *
 * As runtime.bpf.c, which has those that walk a stack. What they emit is put together to the
 * runtime's own events by userspace/sequence/state_heap.c.
 */
#include "filter.bpf.h"
#include "emit.bpf.h"
#include "site.bpf.h"

/* By far the most frequent here: at each new span of a P's cache. */
SEC("uprobe.multi")
int heap_alloc(struct pt_regs *ctx)
{
	u32 tid = filter__ours(), reg = GT_COOKIE_OBJECT(cookie__site(ctx));

	if (tid)
		emit_value(GT_HEAP_ALLOC, 0, 0, tid, site__register(ctx, reg - 1));
	return 0;
}

/* From 1.25 on the tracer says 0 when there is no goal by growth, but one by the memory limit. */
static __always_inline void heap_goal(struct pt_regs *ctx, u32 tid, u64 cookie)
{
	u64 goal = GO_ARG2(ctx);

	if (cookie && (int)go_read_u32(GT_COOKIE_PLACE(cookie, REGISTER(ctx, ip))) < 0)
		goal = 0;
	emit_value(GT_HEAP_GOAL, 0, 0, tid, goal);
}

static __always_inline void sweep_left(struct pt_regs *ctx, u32 tid, u64 chunk)
{
	struct gt_left *payload, left = {};

	if (chunk)
		left.pages = GO_ARG1(ctx);
	else
		left.objects = go_read_u32(GO_ARG1(ctx) + config.span_alloc_count) & 0xffff;
	emit (rec, GT_SWEEP_LEFT, 0, 0, tid, sizeof(*payload)) {
		payload = (void *)(rec + 1);
		*payload = left;
	}
}

SEC("uprobe.multi")
int heap_rare(struct pt_regs *ctx)
{
	u64 cookie = bpf_get_attach_cookie(ctx);
	u32 tid = filter__ours();

	if (!tid)
		return 0;
	switch (GT_COOKIE_PROBE(cookie)) {
	case GT_PROBE_ASSIST_END:
		emit_plain(GT_ASSIST_END, GO_G(ctx), 0, tid);
		break;
	case GT_PROBE_HEAP_GOAL:
		heap_goal(ctx, tid, GT_COOKIE_SITE(cookie));
		break;
	case GT_PROBE_SWEEP_BEGIN:
		emit_plain(GT_SWEEP_BEGIN, 0, 0, tid);
		break;
	case GT_PROBE_SWEEP_LEFT:
		sweep_left(ctx, tid, GT_COOKIE_SITE(cookie));
		break;
	case GT_PROBE_SWEEP_END:
		emit_plain(GT_SWEEP_END, 0, 0, tid);
		break;
	default:
		break;
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
