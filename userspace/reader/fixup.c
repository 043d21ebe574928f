// SPDX-License-Identifier: GPL-2.0
/*
 * Computes times that agree with the partial order: see fixup.h.
 *
 * Upstream: reader/reader.c. Downstream: `gotrace events --fixup`. Each thread, goroutine and P has
 * the time of the last event that involved it. An event gets the maximum of its own time and
 * theirs, and all of them take over the result. This examines each edge that ends in the event and
 * propagates the time along those that begin there.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/map.h"
#include "reader/fixup.h"

/* thread, goroutine and P of the context, and up to two from the arguments */
#define ENTITIES_MAX 5

struct entity {
	int64_t time; /* of the last event that involved it */
};

struct fixup {
	struct map g, p, m; /* by id, to struct entity */
	struct entity gc;
};

struct fixup_set {
	struct entity *entity[ENTITIES_MAX];
	unsigned int n;
};

struct fixup *fixup__create(void)
{
	struct fixup *f = calloc(1, sizeof(*f));

	if (f)
		f->gc.time = INT64_MIN;
	return f;
}

void fixup__destroy(struct fixup *f)
{
	if (!f)
		return;
	map__free(&f->g);
	map__free(&f->p);
	map__free(&f->m);
	free(f);
}

/* UINT64_MAX is TRACE_NO_M, TRACE_NO_P and TRACE_NO_G. */
static int add_entity(struct fixup_set *t, struct map *entities, uint64_t id)
{
	struct entity *entity;

	if (id == UINT64_MAX)
		return 0;
	entity = map__get(entities, id);
	if (!entity) {
		entity = map__put_new(entities, id, sizeof(*entity));
		if (!entity)
			return -ENOMEM;
		entity->time = INT64_MIN;
	}
	t->entity[t->n++] = entity;
	return 0;
}

/* Adds what the event's arguments refer to: the first one, by the table of spec.c. */
static int add_arguments(struct fixup *f, const struct trace_event *ev, struct fixup_set *t)
{
	enum ev_arg first = spec__event(ev->type)->arg[1].type;

	if (first == ARG_G)
		return add_entity(t, &f->g, ev->arg[0]);
	/*
	 * The thread ends its system call after it has lost the P, unless it has given up the P
	 * itself: then it may already do something else.
	 */
	if (ev->type == EV_PROC_STEAL && ev->old != PROC_ABANDONED &&
	    add_entity(t, &f->m, ev->arg[2]))
		return -ENOMEM;
	if (first == ARG_P)
		return add_entity(t, &f->p, ev->arg[0]);
	if (ev->type == EV_GC_ACTIVE || ev->type == EV_GC_BEGIN || ev->type == EV_GC_END)
		t->entity[t->n++] = &f->gc;
	return 0;
}

static int add_all(struct fixup *f, const struct trace_event *ev, struct fixup_set *t)
{
	if (add_entity(t, &f->m, ev->m) || add_entity(t, &f->p, ev->p) ||
	    add_entity(t, &f->g, ev->g))
		return -ENOMEM;
	return add_arguments(f, ev, t);
}

int fixup__event(struct fixup *f, const struct trace_event *ev, int64_t *ret_time)
{
	struct fixup_set set = {};
	int64_t time = ev->raw;
	unsigned int i;

	/* A CPU sample has no order relative to the events of its thread. */
	if (ev->type == EV_CPU_SAMPLE) {
		*ret_time = time;
		return 0;
	}
	if (add_all(f, ev, &set))
		return -ENOMEM;
	for (i = 0; i < set.n; i++)
		if (set.entity[i]->time > time)
			time = set.entity[i]->time;
	for (i = 0; i < set.n; i++)
		set.entity[i]->time = time;
	if (ev->type == EV_GO_DESTROY || ev->type == EV_GO_DESTROY_SYSCALL)
		free(map__remove(&f->g, ev->g));
	*ret_time = time;
	return 0;
}
