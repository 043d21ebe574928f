// SPDX-License-Identifier: GPL-2.0
/*
 * Interprets events as begins and ends of tasks and regions: see annotation_tracker.h.
 *
 * Between reader/semantics.c and the clients. Events that are neither annotations nor the end of a
 * goroutine cost one comparison of their type.
 */
#include "analysis/annotation_tracker.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"

/* Of one goroutine; the innermost is the last. */
struct open_regions {
	struct tracked_region *region;
	size_t n, cap;
};

void annotation_tracker__init(struct annotation_tracker *t, const struct annotation_client *client,
			      void *context)
{
	*t = (struct annotation_tracker){ .client = client, .context = context };
	name_table__init(&t->names);
}

static void free_task(struct annotation_tracker *t, void *task)
{
	if (t->client->task_deinit)
		t->client->task_deinit(t->context, task);
	free(task);
}

static void free_regions(struct open_regions *open)
{
	free(open->region);
	free(open);
}

void annotation_tracker__deinit(struct annotation_tracker *t)
{
	void *value;

	for (size_t i = 0; map__next(&t->tasks, &i, &value);)
		free_task(t, value);
	map__deinit(&t->tasks);
	for (size_t i = 0; map__next(&t->goroutines, &i, &value);)
		free_regions(value);
	map__deinit(&t->goroutines);
	id_set__deinit(&t->ended);
	name_table__deinit(&t->names);
}

void *annotation_tracker__task(const struct annotation_tracker *t, uint64_t id)
{
	return map__get(&t->tasks, id);
}

/* NULL: no memory. */
static struct tracked_task *add_task(struct annotation_tracker *t, uint64_t id, uint64_t g,
				     int64_t begin)
{
	struct tracked_task *task = map__put_new(&t->tasks, id, t->client->task_size);

	if (task) {
		task->id = id;
		task->g = g;
		task->begin = begin;
	}
	return task;
}

void *annotation_tracker__foresee(struct annotation_tracker *t, uint64_t id, uint64_t g,
				  int64_t time, int *ret_err)
{
	bool known = map__get(&t->tasks, id);
	struct tracked_task *task = known ? NULL : add_task(t, id, g, time);

	*ret_err = known || task ? 0 : -ENOMEM;
	if (task)
		task->foreseen = true;
	return task;
}

void annotation_tracker__drop_foreseen(struct annotation_tracker *t, uint64_t id)
{
	struct tracked_task *task = map__get(&t->tasks, id);

	if (!task || !task->foreseen)
		return;
	map__remove(&t->tasks, id);
	free_task(t, task);
}

static int task_begin(struct annotation_tracker *t, const struct trace_event *ev,
		      const struct semantics *m)
{
	struct tracked_task *task = map__get(&t->tasks, m->task);

	if (task && task->foreseen && (task->g != ev->g || task->begin > t->now)) {
		annotation_tracker__drop_foreseen(t, m->task);
		task = NULL;
	}
	if (task && !task->foreseen) /* only in a v1 trace: the first begin counts */
		return 0;
	if (!task)
		task = add_task(t, m->task, ev->g, t->now);
	if (!task)
		return -ENOMEM;
	task->foreseen = false;
	task->parent = m->parent;
	if (name_table__get(&t->names, m->name, &task->name))
		return -ENOMEM;
	return t->client->task_begin ? t->client->task_begin(t->context, task) : 0;
}

/* The first end of a task counts: runtime/trace permits further ones, such as a deferred one. */
static int task_end(struct annotation_tracker *t, const struct trace_event *ev,
		    const struct semantics *m)
{
	struct tracked_task *task;
	bool again;
	int err;

	annotation_tracker__drop_foreseen(t, m->task); /* its begin was lost */
	task = map__remove(&t->tasks, m->task);
	again = !task && id_set__has(&t->ended, m->task);
	err = again ? 0 : id_set__add(&t->ended, m->task);

	if (task) {
		if (!err && t->client->task_end)
			err = t->client->task_end(t->context, task, ev->g, t->now, true);
		free_task(t, task);
		return err;
	}
	if (err || again || !t->client->task_unbegun)
		return err;
	return t->client->task_unbegun(t->context, t->now);
}

static int region_name(struct annotation_tracker *t, const struct semantics *m, uint32_t *ret)
{
	return t->client->region_names ? name_table__get(&t->names, m->name, ret) : 0;
}

static int region_begin(struct annotation_tracker *t, const struct trace_event *ev,
			const struct semantics *m)
{
	struct tracked_region region = { .task = m->task, .begin = t->now };
	struct open_regions *open = map__get(&t->goroutines, ev->g);

	if (!open)
		open = map__put_new(&t->goroutines, ev->g, sizeof(*open));
	if (!open || region_name(t, m, &region.name) ||
	    array__grow(&open->region, open->n, &open->cap, sizeof(region)))
		return -ENOMEM;
	open->region[open->n++] = region;
	return t->client->region_begin ? t->client->region_begin(t->context, ev->g, &region) : 0;
}

static int region_end(struct annotation_tracker *t, const struct trace_event *ev,
		      const struct semantics *m)
{
	struct tracked_region region = { .task = m->task, .begin = ANNOTATION_NEVER };
	struct open_regions *open = map__get(&t->goroutines, ev->g);

	if (open && open->n)
		region = open->region[--open->n];
	else if (region_name(t, m, &region.name))
		return -ENOMEM;
	if (!t->client->region_end)
		return 0;
	return t->client->region_end(t->context, ev->g, &region, t->now, true);
}

/* Ends its open regions, the innermost first; or (`ended` is false) they are open at the end. */
static int leave_open(struct annotation_tracker *t, uint64_t g, struct open_regions *open,
		      bool ended)
{
	int err = 0;

	while (!err && open->n && t->client->region_end)
		err = t->client->region_end(t->context, g, &open->region[--open->n], t->now, ended);
	return err;
}

static int goroutine_end(struct annotation_tracker *t, uint64_t g)
{
	struct open_regions *open = map__remove(&t->goroutines, g);
	int err;

	if (!open)
		return 0;
	err = leave_open(t, g, open, true);
	free_regions(open);
	return err;
}

static int log_event(struct annotation_tracker *t, const struct semantics *m)
{
	struct tracked_task *task = map__get(&t->tasks, m->task);

	return task && t->client->log ? t->client->log(t->context, task, m) : 0;
}

static bool is_followed(const struct annotation_tracker *t, uint8_t type)
{
	switch (type) {
	case EV_USER_TASK_BEGIN:
	case EV_USER_TASK_END:
	case EV_USER_LOG:
		return t->client->task_size;
	case EV_USER_REGION_BEGIN:
	case EV_USER_REGION_END:
	case EV_GO_DESTROY:
	case EV_GO_DESTROY_SYSCALL:
		return t->client->regions;
	default:
		return false;
	}
}

int annotation_tracker__event(struct annotation_tracker *t, const struct trace_event *ev)
{
	struct semantics m;

	t->now = ev->time;
	if (!is_followed(t, ev->type))
		return 0;
	semantics__of(ev, &m);
	switch (m.kind) {
	case SEMANTICS_TASK_BEGIN:
		return task_begin(t, ev, &m);
	case SEMANTICS_TASK_END:
		return task_end(t, ev, &m);
	case SEMANTICS_REGION_BEGIN:
		return region_begin(t, ev, &m);
	case SEMANTICS_REGION_END:
		return region_end(t, ev, &m);
	case SEMANTICS_LOG:
		return log_event(t, &m);
	case SEMANTICS_STATE_TRANSITION:
		return goroutine_end(t, m.id);
	default:
		return 0;
	}
}

static int finish_tasks(struct annotation_tracker *t)
{
	size_t n;
	struct map_slot *task = map__sorted(&t->tasks, &n);
	int err = task ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < n && t->client->task_end; i++)
		err = t->client->task_end(t->context, task[i].value, TRACE_NO_G, t->now, false);
	free(task);
	return err;
}

int annotation_tracker__finish(struct annotation_tracker *t, int64_t least)
{
	size_t n;
	struct map_slot *g = map__sorted(&t->goroutines, &n);
	int err = g ? 0 : -ENOMEM;

	if (t->now < least)
		t->now = least;
	for (size_t i = 0; !err && i < n; i++)
		err = leave_open(t, g[i].key, g[i].value, false);
	free(g);
	return err ? err : finish_tasks(t);
}
