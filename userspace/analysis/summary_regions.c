// SPDX-License-Identifier: GPL-2.0
/*
 * Regions and tasks: the annotations of the program.
 *
 * Called by summary.c when they are asked for. A region's times are its goroutine's at the end less
 * those at the start. A goroutine that is created within a region begins with one of its own,
 * without a name, for the same task.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/summary_impl.h"
#include "lib/array.h"

/*
 * What regions may hold: a real trace needs half of it an event. More is needed only by one that is
 * made to have thousands of regions open in a goroutine with hundreds of reasons to block.
 */
#define BYTES_MAX   (64u << 20)
#define BYTES_EVENT 256u

static int list__push(struct summary_list *list, int64_t value)
{
	if (array__grow(&list->at, list->n, &list->cap, sizeof(*list->at)))
		return -ENOMEM;
	list->at[list->n++] = value;
	return 0;
}

static int compare_values(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void list__sort_unique(struct summary_list *list)
{
	size_t n = 0;

	array__sort(list->at, list->n, sizeof(*list->at), compare_values);
	for (size_t i = 0; i < list->n; i++)
		if (!n || list->at[i] != list->at[n - 1])
			list->at[n++] = list->at[i];
	list->n = n;
}

/* NULL: no memory. */
static struct summary_task *task__get(struct summary *s, uint64_t id)
{
	struct summary_task *t = map__get(&s->task, id);

	if (t)
		return t;
	t = map__put_new(&s->task, id, sizeof(*t));
	if (!t)
		return NULL;
	t->id = id;
	t->parent = TRACE_NO_TASK;
	t->start = t->end = t->last_end = SUMMARY_NEVER;
	return t;
}

static int task__add_goroutine(struct summary_task *t, uint64_t g)
{
	struct summary_list *list = &t->goroutines;

	if (list->n && list->at[list->n - 1] == (int64_t)g)
		return 0;
	return list__push(list, (int64_t)g);
}

static int task__add_region(struct summary *s, const struct summary_region *r, uint64_t g)
{
	struct summary_task *t = task__get(s, r->task);
	int err = t ? list__push(&t->regions, r->start) : -ENOMEM;

	return err ? err : task__add_goroutine(t, g);
}

static int task__set_parent(struct summary *s, struct summary_task *t, uint64_t id)
{
	struct summary_task *parent;

	if (id == TRACE_NO_TASK || t->parent != TRACE_NO_TASK)
		return 0;
	parent = task__get(s, id);
	if (!parent)
		return -ENOMEM;
	t->parent = id;
	return list__push(&parent->children, (int64_t)t->id);
}

/* The first end counts, which names the task if its begin is not in the trace. */
static void task__ended(struct summary_task *t)
{
	if (t->end != SUMMARY_NEVER)
		return;
	t->end = t->last_end;
	if (t->start == SUMMARY_NEVER)
		t->name = t->last_name;
}

int tasks__event(struct summary *s, const struct trace_event *ev, const struct semantics *m)
{
	struct summary_task *t = task__get(s, m->task);
	int err = t ? task__add_goroutine(t, ev->g) : -ENOMEM;

	if (err)
		return err;
	if (m->kind == SEMANTICS_LOG)
		return list__push(&t->logs, s->time);
	err = naming__name(&s->naming, m->name, &t->last_name);
	if (err)
		return err;
	if (m->kind == SEMANTICS_TASK_BEGIN) {
		t->name = t->last_name;
		t->start = s->time;
		t->end = SUMMARY_NEVER;
	} else {
		t->last_end = s->time;
		task__ended(t);
	}
	return task__set_parent(s, t, m->parent);
}

static int compare_tasks(const void *a, const void *b)
{
	const struct summary_task *const *x = a, *const *y = b;

	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

int tasks__finish(struct summary *s)
{
	void *value;

	if (!s->task.n)
		return 0;
	s->tasks = malloc(s->task.n * sizeof(struct summary_task *));
	if (!s->tasks)
		return -ENOMEM;
	for (size_t i = 0; map__next(&s->task, &i, &value);) {
		s->tasks[s->ntasks++] = value;
		list__sort_unique(&s->tasks[s->ntasks - 1]->goroutines);
	}
	array__sort(s->tasks, s->ntasks, sizeof(struct summary_task *), compare_tasks);
	return 0;
}

const struct summary_task *summary__task(const struct summary *s, size_t i)
{
	return i < s->ntasks ? s->tasks[i] : NULL;
}

void tasks__deinit(struct summary *s)
{
	struct summary_task *t;
	void *value;

	for (size_t i = 0; map__next(&s->task, &i, &value);) {
		t = value;
		free(t->children.at);
		free(t->goroutines.at);
		free(t->regions.at);
		free(t->logs.at);
	}
	map__free(&s->task);
	free(s->tasks);
}

static size_t region__bytes(const struct summary_region *r)
{
	return sizeof(*r) + (r->stats.block.cap + r->stats.ranges.cap) * sizeof(*r->stats.block.at);
}

static int region__charge(struct summary *s, size_t bytes)
{
	s->region_bytes += bytes;
	return s->region_bytes > BYTES_MAX + BYTES_EVENT * s->region_events ? -E2BIG : 0;
}

static void region__close(struct summary *s, struct summary_region *r)
{
	s->region_bytes -= region__bytes(r);
	summary_stats__deinit(&r->stats);
}

/* NULL: no memory. */
static struct live_regions *get_regions(struct live *g)
{
	if (!g->regions)
		g->regions = calloc(1, sizeof(*g->regions));
	return g->regions;
}

/* Not array__grow(): most goroutines with a region have one, and a region is large. */
static int live_regions__grow(struct live_regions *regions)
{
	uint32_t cap = regions->cap ? regions->cap * 2 : 1;
	struct summary_region *active;

	if (regions->n < regions->cap)
		return 0;
	active = reallocarray(regions->active, cap, sizeof(*active));
	if (!active)
		return -ENOMEM;
	regions->active = active;
	regions->cap = cap;
	return 0;
}

/* Takes over what its stats hold, on failure as well. */
static int region__push(struct summary *s, struct live *g, struct summary_region *r)
{
	struct live_regions *regions = get_regions(g);
	int err = region__charge(s, region__bytes(r));

	if (!err && (!regions || live_regions__grow(regions)))
		err = -ENOMEM;
	if (err)
		region__close(s, r);
	else
		regions->active[regions->n++] = *r;
	return err;
}

static bool region__is_in_window(const struct summary *s, const struct summary_region *r)
{
	return (r->start == SUMMARY_NEVER || r->start < s->to) &&
	       (r->end == SUMMARY_NEVER || r->end >= s->from);
}

/*
 * The region has ended, when the goroutine's times are `now`, which become its own: less those at
 * its start. Deinitializes `now`.
 */
static int region__done(struct summary *s, struct live *g, const struct summary_region *r,
			struct summary_stats *now)
{
	struct live_regions *regions = get_regions(g);
	size_t before = regions ? regions->done.len : 0;
	struct summary_region done = *r;
	int err = -ENOMEM;

	if (!region__is_in_window(s, r)) {
		summary_stats__deinit(now);
		return 0;
	}
	stats__subtract(now, &r->stats);
	done.stats = *now;
	if (regions)
		err = pack__region(&regions->done, &done);
	if (!err)
		err = region__charge(s, regions->done.len - before);
	summary_stats__deinit(now);
	return err;
}

int regions__inherit(struct summary *s, struct live *g, const struct live *creator, int64_t time)
{
	struct summary_region r = { .start = time, .end = SUMMARY_NEVER };

	if (!creator || !creator->regions || !creator->regions->n)
		return 0;
	s->region_events++;
	r.task = creator->regions->active[creator->regions->n - 1].task;
	return region__push(s, g, &r);
}

int regions__begin(struct summary *s, const struct trace_event *ev, const struct semantics *m)
{
	struct summary_region r = { .task = m->task, .start = s->time, .end = SUMMARY_NEVER };
	struct live *g = goroutine_tracker__find(&s->tracker, ev->g);
	int err;

	if (!g)
		return 0;
	s->region_events++;
	err = naming__name(&s->naming, m->name, &r.name);
	if (!err)
		err = task__add_region(s, &r, g->go.id);
	if (!err)
		err = live__snapshot(s, g, ev->time, &r.stats);
	return err ? err : region__push(s, g, &r);
}

/* An end without a beginning: it began before the trace, or with the goroutine. */
static int region__make(struct summary *s, const struct live *g, const struct semantics *m,
			struct summary_region *ret)
{
	*ret = (struct summary_region){ .task = m->task, .start = SUMMARY_NEVER };
	if (naming__name(&s->naming, m->name, &ret->name))
		return -ENOMEM;
	return task__add_region(s, ret, g->go.id);
}

int regions__end(struct summary *s, const struct trace_event *ev, const struct semantics *m)
{
	struct live *g = goroutine_tracker__find(&s->tracker, ev->g);
	struct summary_region r;
	struct summary_stats now;
	bool open = g && g->regions && g->regions->n;
	int err = 0;

	if (!g)
		return 0;
	s->region_events++;
	if (open)
		r = g->regions->active[--g->regions->n];
	else
		err = region__make(s, g, m, &r);
	if (err)
		return err;
	r.end = s->time;
	err = live__snapshot(s, g, ev->time, &now);
	if (!err)
		err = region__done(s, g, &r, &now);
	if (open)
		region__close(s, &r);
	return err;
}

int regions__finish(struct summary *s, struct live *g, int64_t end)
{
	bool system = summary__is_system(summary__name(s, g->go.name));
	struct live_regions *regions = g->regions;
	struct summary_stats now;
	int err = 0;

	for (uint32_t i = 0; regions && i < regions->n; i++) {
		struct summary_region *r = &regions->active[i];

		r->end = end;
		/* A system goroutine only seems to work for the task that happened to start it. */
		if (!err && !system) {
			err = stats__copy(&now, &g->stats);
			if (!err)
				err = region__done(s, g, r, &now);
		}
		region__close(s, r);
	}
	if (regions)
		regions->n = 0;
	return err;
}

void regions__destroy(struct summary *s, struct live_regions *regions)
{
	if (!regions)
		return;
	for (uint32_t i = 0; i < regions->n; i++)
		region__close(s, &regions->active[i]);
	free(regions->active);
	outbuf__deinit(&regions->done);
	free(regions);
}
