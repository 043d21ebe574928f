// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks, regions and logs of an export.
 *
 * A task may end on any goroutine and overlap with others, so each open task has a lane of its own;
 * lanes are used again, and there are as many as tasks were open at a time. Regions are nested on a
 * track below that of their goroutine, since they outlast its states.
 */
#include <errno.h>
#include <inttypes.h>

#include "analysis/labels.h"
#include "export/export_impl.h"
#include "lib/array.h"
#include "text/labels.h"

struct exported_task {
	struct tracked_task task;
	uint32_t lane;
};

/* The lane of the last task that ended, or a new one. 0 or -ENOMEM. */
static int take_lane(struct export *e, uint32_t *ret)
{
	struct task_lanes *l = &e->tasks;

	if (l->nfree) {
		*ret = l->free[--l->nfree];
		return 0;
	}
	/* Room for all of them to be free, so that the end of a task cannot fail. */
	if (l->n == UINT32_MAX || array__grow(&l->at, l->n, &l->cap, sizeof(*l->at)) ||
	    array__grow(&l->free, l->n, &l->cap_free, sizeof(*l->free)))
		return -ENOMEM;
	l->at[l->n] = (struct lane){};
	export__lane(e, &l->at[l->n], EXPORT_TASKS, 0, l->n, "Tasks");
	*ret = (uint32_t)l->n++;
	return 0;
}

static int task__begin(void *context, struct tracked_task *tracked)
{
	struct export *e = context;
	struct exported_task *task = (struct exported_task *)tracked;
	struct export_event slice = {
		.name = name_table__at(&e->annotations.names, tracked->name),
		.state = STATE_TASK,
	};
	int err = take_lane(e, &task->lane);

	if (err)
		return err;
	add_number(&slice, "task", tracked->id);
	if (tracked->parent != TRACE_NO_TASK)
		add_number(&slice, "parent", tracked->parent);
	if (tracked->g != TRACE_NO_G)
		add_number(&slice, "goroutine", tracked->g);
	lane__begin(e, &e->tasks.at[task->lane], e->now, &slice);
	return 0;
}

static int task__end(void *context, struct tracked_task *tracked, uint64_t g, int64_t time,
		     bool ended)
{
	struct export *e = context;
	struct exported_task *task = (struct exported_task *)tracked;

	(void)g;
	(void)time;
	(void)ended;
	lane__close(e, &e->tasks.at[task->lane], e->now);
	e->tasks.free[e->tasks.nfree++] = task->lane;
	return 0;
}

static int region__begin(void *context, uint64_t id, const struct tracked_region *region)
{
	struct export *e = context;
	struct exported *g = export__goroutine(e, id);
	struct export_event slice = {
		.name = name_table__at(&e->annotations.names, region->name),
	};

	if (!g || !g->lane.track)
		return 0;
	if (region->task)
		add_number(&slice, "task", region->task);
	export__lane(e, &g->regions, EXPORT_GOROUTINES, g->lane.track, 0, "regions of G %" PRIu64,
		     g->go.id);
	lane__begin(e, &g->regions, e->now, &slice);
	return 0;
}

static int region__end(void *context, uint64_t id, const struct tracked_region *region,
		       int64_t time, bool ended)
{
	struct export *e = context;
	struct exported *g = export__goroutine(e, id);

	(void)time;
	(void)ended;
	if (g && region->begin != ANNOTATION_NEVER)
		lane__end(e, &g->regions, e->now);
	return 0;
}

const struct annotation_client export_annotations = {
	.task_size = sizeof(struct exported_task),
	.regions = true,
	.region_names = true,
	.task_begin = task__begin,
	.task_end = task__end,
	.region_begin = region__begin,
	.region_end = region__end,
};

void export__log(struct export *e, const struct trace_event *ev, const struct semantics *m)
{
	struct exported *g = export__goroutine(e, ev->g);
	struct export_event instant = { .name = m->name.len ? m->name : text_of("log") };

	if (!g || !g->lane.track)
		return;
	add_text(&instant, "message", m->message);
	if (m->task)
		add_number(&instant, "task", m->task);
	lane__instant(e, &g->lane, &instant);
}

/* The label of a GC worker is not shown. */
void export__label(struct export *e, const struct trace_event *ev, const struct semantics *m)
{
	struct semantics log = { .name = text_of(LABELS_CATEGORY) };

	if (labels__are_set(m, &log.message))
		export__log(e, ev, &log);
}
