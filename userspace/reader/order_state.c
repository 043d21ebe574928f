// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of the order: structs of goroutines, Ps, threads and tasks.
 *
 * Used by order.c, order_procs.c and order_ranges.c for each event, and by order_save.c to load an
 * index. The struct of a destroyed goroutine is reused but not freed before the end. So a thread's
 * cached pointer always points to a goroutine, possibly another one.
 */
#include <stdlib.h>

#include "lib/array.h"
#include "reader/order_guess.h"
#include "reader/order_impl.h"

#define STATES_BLOCK (64u << 10)
#define MANY_RANGES  32 /* open on one goroutine; real programs have at most one of each kind */

void order__init(struct order *o)
{
	*o = (struct order){ .arena.block = STATES_BLOCK };
}

static void forget_kinds(struct order_ranges *ranges)
{
	if (ranges->stw)
		map__deinit(ranges->stw);
	free(ranges->stw);
	ranges->stw = NULL;
}

static void order_g__deinit(struct order_g *g)
{
	while (g->regions)
		order__close_region(g);
	free(g->region);
	free(g->ranges.open);
	forget_kinds(&g->ranges);
}

static void order_task__destroy(struct order_task *task)
{
	if (task)
		free(task->name);
	free(task);
}

void order__forget_tasks(struct order *o)
{
	void *value;

	for (size_t i = 0; map__next(&o->task, &i, &value);)
		order_task__destroy(value);
	map__deinit(&o->task);
}

void order__deinit(struct order *o)
{
	void *value;

	for (size_t i = 0; map__next(&o->g, &i, &value);)
		order_g__deinit(value);
	for (size_t i = 0; map__next(&o->p, &i, &value);)
		free(((struct order_p *)value)->ranges.open);
	order__forget_tasks(o);
	while (o->spares)
		order_g__deinit(o->spare[--o->spares]);
	order_task__destroy(o->ended);
	order_guess__destroy(o->guess);
	free(o->spare);
	map__deinit(&o->g);
	map__deinit(&o->p);
	map__deinit(&o->m);
	arena__deinit(&o->arena);
	*o = (struct order){};
}

struct order_g *order__new_g(struct order *o, uint64_t id)
{
	struct order_g *g;

	if (o->spares) {
		g = o->spare[o->spares - 1];
	} else {
		g = arena__alloc(&o->arena, sizeof(*g));
		if (!g)
			return NULL;
		*g = (struct order_g){};
	}
	if (map__put(&o->g, id, g))
		return NULL;
	if (o->spares)
		o->spares--;
	g->id = id;
	g->alive = true;
	g->lost = 0;
	g->holder = NULL;
	return g;
}

__attribute__((noinline)) struct order_g *order__look_up_g(struct order *o, uint64_t id)
{
	struct order_g *g = map__get(&o->g, id);

	if (g)
		o->recent[id % ORDER_RECENT] = g;
	return g;
}

struct order_p *order__new_p(struct order *o, uint64_t id)
{
	struct order_p *p = arena__alloc(&o->arena, sizeof(*p));

	if (!p || map__put(&o->p, id, p))
		return NULL;
	*p = (struct order_p){ .id = id };
	return p;
}

struct order_m *order__new_m(struct order *o, uint64_t id)
{
	struct order_m *m = arena__alloc(&o->arena, sizeof(*m));

	if (!m || map__put(&o->m, id, m))
		return NULL;
	*m = (struct order_m){ .id = id, .p = TRACE_NO_P, .g = TRACE_NO_G };
	return m;
}

void order__forget_g(struct order *o, struct order_g *g)
{
	map__remove(&o->g, g->id);
	while (g->regions)
		order__close_region(g);
	g->ranges.n = g->ranges.other = 0;
	forget_kinds(&g->ranges);
	g->alive = false;
	if (array__grow(&o->spare, o->spares, &o->spares_cap, sizeof(struct order_g *))) {
		order_g__deinit(g); /* leave it unused */
		g->region = NULL;
		g->ranges = (struct order_ranges){};
		return;
	}
	o->spare[o->spares++] = g;
}

void order__forget_p(struct order *o, struct order_p *p)
{
	map__remove(&o->p, p->id);
	free(p->ranges.open);
}

bool order__has_range(const struct order_ranges *ranges, uint8_t type, uint64_t kind)
{
	if (type != EV_STW_BEGIN)
		return ranges->other && ranges->open[ranges->other - 1].type == type;
	if (ranges->stw)
		return map__get(ranges->stw, kind);
	for (uint32_t i = 0; i < ranges->n; i++)
		if (ranges->open[i].type == type && ranges->open[i].kind == kind)
			return true;
	return false;
}

void order__close_range(struct order_ranges *ranges, uint32_t i)
{
	if (ranges->stw && ranges->open[i].type == EV_STW_BEGIN)
		map__remove(ranges->stw, ranges->open[i].kind);
	if (ranges->other == i + 1)
		ranges->other = 0;
	ranges->open[i] = ranges->open[--ranges->n];
	if (ranges->other == ranges->n + 1)
		ranges->other = i + 1;
}

uint32_t order__close_pauses(struct order_ranges *ranges)
{
	uint32_t n = order__pauses(ranges);

	for (uint32_t i = 0; i < n; i++)
		order__close_range(ranges, ranges->other == 1);
	return n;
}

/* Adds the last opened range to the map of kinds; adds all once they become many. */
static int note_kind(struct order_ranges *ranges)
{
	uint32_t i = ranges->n - 1;
	int err = 0;

	if (ranges->n < MANY_RANGES && !ranges->stw)
		return 0;
	if (!ranges->stw) {
		ranges->stw = calloc(1, sizeof(*ranges->stw));
		i = 0;
	}
	if (!ranges->stw)
		return -ENOMEM;
	for (; !err && i < ranges->n; i++)
		if (ranges->open[i].type == EV_STW_BEGIN)
			err = map__put(ranges->stw, ranges->open[i].kind, ranges);
	return err;
}

int order__open_range(struct order_ranges *ranges, uint8_t type, uint64_t kind)
{
	if (array__grow(&ranges->open, ranges->n, &ranges->cap, sizeof(*ranges->open)))
		return -ENOMEM;
	ranges->open[ranges->n++] = (struct order_range){ .kind = kind, .type = type };
	if (type != EV_STW_BEGIN)
		ranges->other = ranges->n;
	return note_kind(ranges);
}

/* Copies the bytes of a string. Returns NULL if memory is exhausted. */
static char *copy_of(const struct trace_string *s)
{
	char *copy = malloc(s->len + 1);

	if (copy)
		memcpy(copy, s->data, s->len);
	return copy;
}

int order__open_region(struct order_g *g, uint64_t task, const struct trace_string *name)
{
	char *copy = copy_of(name);

	if (!copy || array__grow(&g->region, g->regions, &g->regions_cap, sizeof(*g->region))) {
		free(copy);
		return -ENOMEM;
	}
	g->region[g->regions++] = (struct order_region){ task, copy, name->len };
	return 0;
}

void order__close_region(struct order_g *g)
{
	free(g->region[--g->regions].name);
}

int order__open_task(struct order *o, uint64_t id, uint64_t parent, const struct trace_string *name)
{
	struct order_task *task = malloc(sizeof(*task));
	char *copy = copy_of(name);

	if (!task || !copy || map__put(&o->task, id, task)) {
		free(task);
		free(copy);
		return -ENOMEM;
	}
	*task = (struct order_task){ id, parent, copy, name->len };
	return 0;
}

const struct order_task *order__end_task(struct order *o, uint64_t id)
{
	struct order_task *task = map__remove(&o->task, id);

	if (task) {
		order_task__destroy(o->ended);
		o->ended = task;
	}
	return task;
}
