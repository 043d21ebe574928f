// SPDX-License-Identifier: GPL-2.0
/*
 * The table `requests`: each task and each region of a trace (runtime/trace.NewTask, WithRegion).
 *
 * analysis/requests.h reports the tasks that end, with the time of the goroutines that worked for
 * them. Regions, and tasks that the trace has not completely, are from a tracker of its own.
 */
#include "analysis/durations.h"
#include "analysis/requests.h"

#include <stdlib.h>

#include "analysis/annotation_tracker.h"
#include "sql/parts.h"

enum { KIND, NAME, TASK, PARENT, G, END_G, START, END, NS, FAILED, PARTS };

static const struct column columns[] = {
	[KIND] = { "kind", "VARCHAR", "task or region" },
	[NAME] = { "name", "VARCHAR", "after 1000 names of a trace: other" },
	[TASK] = { "task", "BIGINT", "the task; of a region: its task, 0: of none" },
	[PARENT] = { "parent", "BIGINT", "of a task; null: none, or unknown" },
	[G] = { "g", "BIGINT", "the goroutine on which it began" },
	[END_G] = { "end_g", "BIGINT", "the goroutine on which it ended" },
	[START] = { "start_ns", "BIGINT",
		    "clock of the trace; of a request its arrival; null: before the trace" },
	[END] = { "end_ns", "BIGINT",
		  "of a request that of its answer; null: it has not ended; a region ends with its "
		  "goroutine at the latest" },
	[NS] = { "ns", "BIGINT", "duration; null: it began before the trace, or has not ended" },
	[FAILED] = { "failed", "BIGINT",
		     "1: a task with a log of category error, or status of 500 or more" },
	[PARTS] = PARTS_LIST,
};

struct producer {
	struct rows *rows;
	struct requests *requests;
	struct annotation_tracker tracker;
	struct text_cache request_names, names;
	struct map parents; /* of open tasks with one, by ID, to 1 + it as a pointer */
	struct duckdb_text task, region;
};

static void put_times(struct rows *r, int64_t begin, int64_t end, bool ended)
{
	bool begun = begin != ANNOTATION_NEVER;

	row__number(r, START, begun ? begin : ROW_NULL);
	row__number(r, END, ended ? end : ROW_NULL);
	row__number(r, NS, begun && ended ? time_sub(end, begin) : ROW_NULL);
}

/* The parent is looked up, because a request that has ended no longer has it. */
static int add_request(void *context, const struct request_single *single)
{
	struct producer *p = context;
	struct rows *r = p->rows;
	uintptr_t parent = (uintptr_t)map__remove(&p->parents, single->id);
	struct trace_string name = requests__name(p->requests, single->name);

	if (rows__add(r))
		return -ENOMEM;
	row__text(r, KIND, p->task);
	row__text(r, NAME, text_cache__get(&p->request_names, r, single->name, name));
	row__id(r, TASK, single->id);
	row__id(r, PARENT, parent ? parent - 1 : TRACE_NO_TASK);
	row__id(r, G, single->creator);
	row__id(r, END_G, single->g);
	put_times(r, single->begin, single->end, true);
	row__number(r, FAILED, single->failed);
	row__parts(r, PARTS, &single->time);
	return 0;
}

static int task_begin(void *context, struct tracked_task *task)
{
	struct producer *p = context;

	if (task->parent == TRACE_NO_TASK)
		return 0;
	return map__put(&p->parents, task->id, (void *)(uintptr_t)(1 + task->parent));
}

/* Those that end are reported by add_request(). */
static int task_end(void *context, struct tracked_task *task, uint64_t g, int64_t time, bool ended)
{
	struct producer *p = context;
	struct rows *r = p->rows;
	struct trace_string name = name_table__at(&p->tracker.names, task->name);

	(void)g;
	if (ended)
		return 0;
	if (rows__add(r))
		return -ENOMEM;
	row__text(r, KIND, p->task);
	row__text(r, NAME, text_cache__get(&p->names, r, task->name, name));
	row__id(r, TASK, task->id);
	row__id(r, PARENT, task->parent);
	row__id(r, G, task->g);
	row__id(r, END_G, TRACE_NO_G);
	put_times(r, task->begin, time, false);
	row__number(r, FAILED, ROW_NULL);
	row__no_parts(r, PARTS);
	return 0;
}

static int region_end(void *context, uint64_t g, const struct tracked_region *region, int64_t time,
		      bool ended)
{
	struct producer *p = context;
	struct rows *r = p->rows;
	struct trace_string name = name_table__at(&p->tracker.names, region->name);

	if (rows__add(r))
		return -ENOMEM;
	row__text(r, KIND, p->region);
	row__text(r, NAME, text_cache__get(&p->names, r, region->name, name));
	row__id(r, TASK, region->task);
	row__id(r, PARENT, TRACE_NO_TASK);
	row__id(r, G, g);
	row__id(r, END_G, ended ? g : TRACE_NO_G);
	put_times(r, region->begin, time, ended);
	row__number(r, FAILED, ROW_NULL);
	row__no_parts(r, PARTS);
	return 0;
}

static const struct annotation_client client = {
	.task_size = sizeof(struct tracked_task),
	.regions = true,
	.region_names = true,
	.task_begin = task_begin,
	.task_end = task_end,
	.region_end = region_end,
};

static void destroy(void *producer)
{
	struct producer *p = producer;

	requests__destroy(p->requests);
	annotation_tracker__deinit(&p->tracker);
	map__deinit(&p->parents);
	text_cache__deinit(&p->names);
	text_cache__deinit(&p->request_names);
	free(p);
}

static void *create(struct rows *rows, const struct source *source, const struct reader *reader)
{
	struct producer *p = calloc(1, sizeof(*p));

	(void)source;
	(void)reader;
	if (!p)
		return NULL;
	p->rows = rows;
	annotation_tracker__init(&p->tracker, &client, p);
	p->task = text__static("task");
	p->region = text__static("region");
	p->requests = requests__create_single(add_request, p);
	if (p->requests)
		return p;
	destroy(p);
	return NULL;
}

struct requests *requests_producer__requests(void *producer)
{
	const struct producer *p = producer;

	return p->requests;
}

/* The tracker first: the parent of a task must be known, and is removed, when it ends. */
static int step(void *producer, const struct timeline *t, const struct timeline_step *step,
		struct error *error)
{
	struct producer *p = producer;

	if (step->event && annotation_tracker__event(&p->tracker, step->event))
		return producer__out_of_memory(error);
	return requests__step(p->requests, t, step, error);
}

static int finish(void *producer, struct error *error)
{
	struct producer *p = producer;

	if (annotation_tracker__finish(&p->tracker, INT64_MIN) || requests__finish(p->requests))
		return producer__out_of_memory(error);
	return 0;
}

static const struct producer_ops ops = {
	.create = create,
	.step = step,
	.finish = finish,
	.destroy = destroy,
};

const struct table requests_table = {
	.name = "requests",
	.what = "a task, with the time of the goroutines that worked for it; or a region",
	.columns = columns,
	.ncolumns = sizeof(columns) / sizeof(*columns),
	.ops = &ops,
};
