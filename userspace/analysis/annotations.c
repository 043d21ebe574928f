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
	struct annotation_filter filter;
	int64_t from, to;
	uint64_t unbegun; /* tasks */
	uint64_t left_out;
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

/* One of goroutine `g`. */
static int count(struct annotations *a, uint64_t g, uint32_t name, int64_t begin, int64_t end,
		 bool ended)
{
	struct annotation_name *n;
	bool wanted;
	int err;

	if (end < a->from || end >= a->to)
		return 0;
	err = annotation_filter__accepts(&a->filter, &a->tracker.names, g, name, &wanted);
	a->left_out += !err && !wanted;
	if (err || !wanted)
		return err;
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
	return count(context, task->g, task->name, task->begin, time, ended);
}

static int task_unbegun(void *context, int64_t time)
{
	struct annotations *a = context;

	bool accepted = annotation_filter__accepts_unknown(&a->filter);
	bool in_window = time >= a->from && time < a->to;

	a->unbegun += in_window && accepted;
	a->left_out += in_window && !accepted;
	return 0;
}

static int region_end(void *context, uint64_t g, const struct tracked_region *region, int64_t time,
		      bool ended)
{
	return count(context, g, region->name, region->begin, time, ended);
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

void annotations__set_filter(struct annotations *a, const struct annotation_filter *filter)
{
	a->filter = *filter;
}

int annotations__event(struct annotations *a, const struct trace_event *ev)
{
	return annotation_tracker__event(&a->tracker, ev);
}

int annotations__finish(struct annotations *a)
{
	return annotation_tracker__finish(&a->tracker, a->from);
}

uint64_t annotations__left_out(const struct annotations *a)
{
	return a->left_out;
}

uint64_t annotations__unbegun(const struct annotations *a)
{
	return a->unbegun;
}

struct trace_string annotations__name(const struct annotations *a, uint32_t name)
{
	return name_table__at(&a->tracker.names, name);
}

const struct annotation_name **annotations__sorted(const struct annotations *a,
						   enum lengths_key key, size_t *ret_n)
{
	const struct annotation_name **list = malloc((NAME_TABLE_MAX + 1) * sizeof(*list));
	struct name_rank ranks[NAME_TABLE_MAX + 1];
	size_t n = 0;

	if (!list)
		return NULL;
	for (uint32_t i = 0; i <= NAME_TABLE_MAX; i++)
		if (a->by_name[i])
			ranks[n++] =
				(struct name_rank){ lengths__key(&a->by_name[i]->lengths, key), i };
	name_ranks__sort(ranks, n);
	for (size_t i = 0; i < n; i++)
		list[i] = a->by_name[ranks[i].name];
	*ret_n = n;
	return list;
}
