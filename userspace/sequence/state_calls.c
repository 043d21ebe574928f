// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of functions that are recorded as regions and tasks.
 *
 * Upstream: state.c; the records are those of bpf/user.bpf.c. Downstream: open_regions.c.
 */
#include "sequence/members.h"
#include "sequence/open_regions.h"

void calls__end(struct step *st, struct regions *r, uint64_t depth, bool by_panic)
{
	uint32_t keep = r->n;

	for (uint32_t i = r->n; i > 0; i--) {
		const struct open_region *open = &r->open[i - 1];

		if (open->depth && open->depth < depth)
			break;
		if (open->depth)
			keep = i - 1;
	}
	while (r->n > keep) {
		if (by_panic && r->open[r->n - 1].request)
			open_requests__end_innermost(st);
		else
			open_regions__end(st, r, 0);
	}
}

/*
 * An exit ends the call whose frame is at its depth; that of a call that began before the window
 * ends none. Calls are not counted, so that a lost record leaves nothing wrong for long.
 */
enum apply_result apply_func_call(struct step *st)
{
	const struct gt_func_call *call = st->payload;
	struct goroutine *g = st->t->g;
	struct open_region region = { .text = call->name, .depth = call->depth };

	if (!call->depth || call->depth > CALL_DEPTH_MAX || call->ends > GT_CALL_RECOVERED ||
	    call->task > GT_AS_TASK_INHERITED)
		return step__drop(st);
	if (g->regions)
		calls__end(st, g->regions, call->depth, call->ends == GT_CALL_RECOVERED);
	if (call->ends)
		return DONE;
	region.is_task = call->task != GT_AS_REGION;
	region.inherits = call->task == GT_AS_TASK_INHERITED;
	members__leave(st->s, st->t, st->time); /* of a task that has ended: not the region's */
	region.task = open_regions__task(g);
	return open_regions__begin(st, &region, step__stack(st, 0)) ? DONE : step__drop(st);
}
