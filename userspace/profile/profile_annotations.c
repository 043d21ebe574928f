// SPDX-License-Identifier: GPL-2.0
/*
 * The profiles of tasks and regions: how long they lasted, with the stack of
 * their begin. See profile.h.
 *
 * analysis/annotation_tracker.c follows them. It has no stacks, so those of a goroutine's open
 * regions are kept here, in the same order.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "profile/profile_impl.h"

struct open_stacks {
	uint32_t *stack; /* the innermost region's is the last */
	size_t n, cap;
};

struct profiled_task {
	struct tracked_task task;
	uint32_t stack;
};

static int add_annotation(struct profile *p, uint64_t g, const char *what, uint32_t name,
			  struct held *held)
{
	int err = profile__leaf(p, what, name_table__at(&p->annotations.names, name), &held->leaf);

	return err || !held->ns ? err :
				  profile__add(p, goroutine_tracker__find(&p->tracker, g), held);
}

static int region__begin(void *context, uint64_t g, const struct tracked_region *region)
{
	struct profile *p = context;
	struct open_stacks *open = map__get(&p->region_stacks, g);

	(void)region;
	if (!open)
		open = map__put_new(&p->region_stacks, g, sizeof(*open));
	if (!open || array__grow(&open->stack, open->n, &open->cap, sizeof(*open->stack)))
		return -ENOMEM;
	open->stack[open->n++] = p->begin_stack;
	return 0;
}

static int region__end(void *context, uint64_t g, const struct tracked_region *region, int64_t time,
		       bool ended)
{
	struct profile *p = context;
	struct open_stacks *open = map__get(&p->region_stacks, g);
	struct held held = { .thread = TRACE_NO_M, .task = region->task };

	if (region->begin == ANNOTATION_NEVER || !open || !open->n)
		return 0;
	held.stack = open->stack[--open->n];
	if (!open->n) {
		free(open->stack);
		free(map__remove(&p->region_stacks, g));
	}
	held.ns = profile__part(p, region->begin, time);
	return ended ? add_annotation(p, g, "region", region->name, &held) : 0;
}

static int task__begin(void *context, struct tracked_task *task)
{
	struct profile *p = context;

	((struct profiled_task *)task)->stack = p->begin_stack;
	return 0;
}

static int task__end(void *context, struct tracked_task *task, uint64_t g, int64_t time, bool ended)
{
	struct profile *p = context;
	struct held held = {
		.ns = profile__part(p, task->begin, time),
		.thread = TRACE_NO_M,
		.task = task->id,
		.stack = ((struct profiled_task *)task)->stack,
	};

	(void)g;
	return ended ? add_annotation(p, task->g, "task", task->name, &held) : 0;
}

static const struct annotation_client regions = {
	.regions = true,
	.region_names = true,
	.region_begin = region__begin,
	.region_end = region__end,
};

static const struct annotation_client tasks = {
	.task_size = sizeof(struct profiled_task),
	.task_begin = task__begin,
	.task_end = task__end,
};

void profile__init_annotations(struct profile *p)
{
	annotation_tracker__init(&p->annotations, p->opts.kind == PROFILE_TASK ? &tasks : &regions,
				 p);
}

void profile__deinit_annotations(struct profile *p)
{
	struct open_stacks *open;
	void *value;

	annotation_tracker__deinit(&p->annotations);
	for (size_t i = 0; map__next(&p->region_stacks, &i, &value);) {
		open = value;
		free(open->stack);
	}
	map__free(&p->region_stacks);
}

/* The end of a goroutine ends its regions, so this precedes goroutine_tracker__event(). */
int profile__annotation(struct profile *p, const struct trace_event *ev)
{
	struct semantics m;
	int err = 0;

	if (p->opts.kind != PROFILE_REGION && p->opts.kind != PROFILE_TASK)
		return 0;
	if (ev->type == EV_USER_REGION_BEGIN || ev->type == EV_USER_TASK_BEGIN) {
		semantics__of(ev, &m);
		err = samples__stack(&p->samples, ev->dictionary, m.stack, &p->begin_stack);
	}
	return err ? err : annotation_tracker__event(&p->annotations, ev);
}
