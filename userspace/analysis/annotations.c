// SPDX-License-Identifier: GPL-2.0
/*
 * The durations of tasks or regions, by name: see annotations.h.
 *
 * A client of annotation_tracker.c; lengths.c counts the durations.
 */
#include "analysis/annotations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/annotation_tracker.h"
#include "analysis/durations.h"

struct annotations {
	struct annotation_tracker tracker;
	int64_t from, to;
	uint64_t unbegun;				     /* tasks */
	struct annotation_name *by_name[NAME_TABLE_MAX + 1]; /* NULL: nothing counted yet */
};

/* NULL: no memory. */
static struct annotation_name *get(struct annotations *a, uint32_t name)
{
	if (!a->by_name[name]) {
		a->by_name[name] = calloc(1, sizeof(*a->by_name[name]));
		if (a->by_name[name])
			a->by_name[name]->name = name;
	}
	return a->by_name[name];
}

static int count(struct annotations *a, uint32_t name, int64_t begin, int64_t end, bool ended)
{
	struct annotation_name *n;

	if (end < a->from || end >= a->to)
		return 0;
	n = get(a, name);
	if (!n)
		return -ENOMEM;
	if (!ended)
		n->unfinished++;
	else if (begin == ANNOTATION_NEVER)
		n->unbegun++;
	else
		lengths__add(&n->lengths, time_sub(end, begin));
	return 0;
}

static int task_end(void *context, struct tracked_task *task, uint64_t g, int64_t time, bool ended)
{
	return count(context, task->name, task->begin, time, ended);
}

static int task_unbegun(void *context, int64_t time)
{
	struct annotations *a = context;

	a->unbegun += time >= a->from && time < a->to;
	return 0;
}

static int region_end(void *context, uint64_t g, const struct tracked_region *region, int64_t time,
		      bool ended)
{
	return count(context, region->name, region->begin, time, ended);
}

static const struct annotation_client clients[] = {
	[ANNOTATION_TASKS] = {
		.task_size = sizeof(struct tracked_task),
		.task_end = task_end,
		.task_unbegun = task_unbegun,
	},
	[ANNOTATION_REGIONS] = {
		.regions = true,
		.region_names = true,
		.region_end = region_end,
	},
};

struct annotations *annotations__create(enum annotation_kind kind)
{
	struct annotations *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	annotation_tracker__init(&a->tracker, &clients[kind], a);
	annotations__set_window(a, INT64_MIN, INT64_MAX);
	return a;
}

void annotations__destroy(struct annotations *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; i <= NAME_TABLE_MAX; i++)
		free(a->by_name[i]);
	annotation_tracker__deinit(&a->tracker);
	free(a);
}

void annotations__set_window(struct annotations *a, int64_t from, int64_t to)
{
	a->from = from;
	a->to = to;
}

int annotations__event(struct annotations *a, const struct trace_event *ev)
{
	return annotation_tracker__event(&a->tracker, ev);
}

int annotations__finish(struct annotations *a)
{
	return annotation_tracker__finish(&a->tracker, a->from);
}

uint64_t annotations__unbegun(const struct annotations *a)
{
	return a->unbegun;
}

struct trace_string annotations__name(const struct annotations *a, uint32_t name)
{
	return name_table__at(&a->tracker.names, name);
}

/* Equal ones in the order in which their names first appeared. */
static int compare(const void *a, const void *b)
{
	const struct annotation_name *x = *(const struct annotation_name *const *)a;
	const struct annotation_name *y = *(const struct annotation_name *const *)b;

	if (x->lengths.sum != y->lengths.sum)
		return x->lengths.sum > y->lengths.sum ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

const struct annotation_name **annotations__sorted(const struct annotations *a, size_t *ret_n)
{
	const struct annotation_name **list = malloc((NAME_TABLE_MAX + 1) * sizeof(*list));
	size_t n = 0;

	if (!list)
		return NULL;
	for (uint32_t i = 0; i <= NAME_TABLE_MAX; i++)
		if (a->by_name[i])
			list[n++] = a->by_name[i];
	qsort(list, n, sizeof(*list), compare);
	*ret_n = n;
	return list;
}
