// SPDX-License-Identifier: GPL-2.0
/*
 * Times made to agree with the partial order: see fixup.h.
 *
 * Each thread, goroutine and P has the time of the latest event that had to do with it. An event
 * takes the latest of its own time and theirs, and hands it on to all of them: that is both the
 * look at each edge that ends in it and the propagation along those that begin there.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/map.h"
#include "trace/fixup.h"

/* Thread, goroutine and P of the context, and whom else the event is about. */
#define TOUCHED_MAX 5

struct thing {
	int64_t time; /* of the latest event that touched it */
};

struct fixup {
	struct map g, p, m; /* by id, to struct thing */
	struct thing gc;
};

struct touched {
	struct thing *thing[TOUCHED_MAX];
	unsigned int n;
};

struct fixup *fixup__create(void)
{
	struct fixup *f = calloc(1, sizeof(*f));

	if (f)
		f->gc.time = INT64_MIN;
	return f;
}

static void free_things(struct map *things)
{
	void *thing;

	for (size_t i = 0; map__next(things, &i, &thing);)
		free(thing);
	map__deinit(things);
}

void fixup__destroy(struct fixup *f)
{
	if (!f)
		return;
	free_things(&f->g);
	free_things(&f->p);
	free_things(&f->m);
	free(f);
}

static struct thing *new_thing(struct map *things, uint64_t id)
{
	struct thing *thing = malloc(sizeof(*thing));

	if (!thing)
		return NULL;
	thing->time = INT64_MIN;
	if (map__put(things, id, thing)) {
		free(thing);
		return NULL;
	}
	return thing;
}

/* UINT64_MAX is TRACE_NO_M, TRACE_NO_P and TRACE_NO_G: nothing. */
static int touch(struct touched *t, struct map *things, uint64_t id)
{
	struct thing *thing;

	if (id == UINT64_MAX)
		return 0;
	thing = map__get(things, id);
	if (!thing)
		thing = new_thing(things, id);
	if (!thing)
		return -ENOMEM;
	t->thing[t->n++] = thing;
	return 0;
}

/* Whom an event is about beside those of its context. */
static int touch_arguments(struct fixup *f, const struct trace_event *ev, struct touched *t)
{
	switch (ev->type) {
	case EV_GO_CREATE:
	case EV_GO_CREATE_BLOCKED:
	case EV_GO_CREATE_SYSCALL:
	case EV_GO_START:
	case EV_GO_UNBLOCK:
	case EV_GO_SWITCH:
	case EV_GO_SWITCH_DESTROY:
	case EV_GO_STATUS:
	case EV_GO_STATUS_STACK:
	case EV_GC_MARK_ASSIST_ACTIVE:
		return touch(t, &f->g, ev->arg[0]);
	case EV_PROC_START:
	case EV_PROC_STATUS:
	case EV_GC_SWEEP_ACTIVE:
		return touch(t, &f->p, ev->arg[0]);
	case EV_PROC_STEAL:
		/* Its thread cannot end the system call before it has lost the P, unless it has
		   given the P up by itself and may be anywhere by now. */
		if (ev->old != PROC_ABANDONED && touch(t, &f->m, ev->arg[2]))
			return -ENOMEM;
		return touch(t, &f->p, ev->arg[0]);
	case EV_GC_ACTIVE:
	case EV_GC_BEGIN:
	case EV_GC_END:
		t->thing[t->n++] = &f->gc;
		return 0;
	default:
		return 0;
	}
}

static int touch_all(struct fixup *f, const struct trace_event *ev, struct touched *t)
{
	if (touch(t, &f->m, ev->m) || touch(t, &f->p, ev->p) || touch(t, &f->g, ev->g))
		return -ENOMEM;
	return touch_arguments(f, ev, t);
}

int fixup__event(struct fixup *f, const struct trace_event *ev, int64_t *ret_time)
{
	struct touched touched = {};
	int64_t time = ev->raw;
	unsigned int i;

	/* A sample is put where its time belongs, whatever its thread's events do: nothing follows
	   from it. */
	if (ev->type == EV_CPU_SAMPLE) {
		*ret_time = time;
		return 0;
	}
	if (touch_all(f, ev, &touched))
		return -ENOMEM;
	for (i = 0; i < touched.n; i++)
		if (touched.thing[i]->time > time)
			time = touched.thing[i]->time;
	for (i = 0; i < touched.n; i++)
		touched.thing[i]->time = time;
	if (ev->type == EV_GO_DESTROY || ev->type == EV_GO_DESTROY_SYSCALL)
		free(map__remove(&f->g, ev->g));
	*ret_time = time;
	return 0;
}
