// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers stw, gc, goroutines and heap: see phases.h.
 *
 * Pauses and collections are waits of which there is one at a time. A number meets a condition when
 * it reaches the limit, and again only after it was below nine tenths of it: a value that oscillates
 * around the limit is one cause.
 */
#include "trigger/phases.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sequence/sequencer.h"
#include "trigger/wait_list.h"
#include "writer/intern.h"

enum { PAUSE = 1, COLLECTION }; /* keys of waits */

/* A number that is watched, with the conditions on it. */
struct level {
	struct {
		struct trigger *trigger;
		bool armed; /* the number was low enough since it last met the condition */
	} watch[CONDITIONS_MAX];
	size_t n;
};

struct phases {
	struct triggers *t;
	struct wait_table table;
	struct wait_list pauses, collections;
	struct level goroutines, heap;
	bool started;
};

static bool evaluate(void *ctx, const struct condition *c, const struct wait *wait,
		     char ret[WAIT_TEXT_MAX])
{
	const struct phases *p = ctx;
	struct trace_string why = intern__text_at(p->t->intern, wait->reason);
	double ms = (double)c->limit / 1e6;

	if (wait->key == PAUSE)
		snprintf(ret, WAIT_TEXT_MAX, "stop-the-world pause (%.*s) for %.1f ms",
			 (int)why.len, why.data ? why.data : "", ms);
	else
		snprintf(ret, WAIT_TEXT_MAX, "garbage collection for %.1f ms", ms);
	return true;
}

static void watch_level(struct level *level, struct triggers *t, enum trigger_kind kind)
{
	for (struct trigger *tr = NULL; (tr = trigger__next(t, kind, tr));)
		level->watch[level->n++].trigger = tr;
}

int phases__create(struct phases **ret, struct triggers *t)
{
	struct phases *p = calloc(1, sizeof(*p));

	*ret = p;
	if (!p)
		return -ENOMEM;
	p->t = t;
	wait_table__init(&p->table, t, evaluate, p);
	wait_list__watch(&p->pauses, t, TRIGGER_STW);
	wait_list__watch(&p->collections, t, TRIGGER_GC);
	watch_level(&p->goroutines, t, TRIGGER_GOROUTINES);
	watch_level(&p->heap, t, TRIGGER_HEAP);
	if (p->pauses.n || p->collections.n || p->goroutines.n || p->heap.n)
		return 0;
	phases__destroy(p);
	*ret = NULL;
	return 0;
}

void phases__destroy(struct phases *p)
{
	if (!p)
		return;
	wait_table__deinit(&p->table);
	free(p);
}

/* A number that is below the limit at the start is armed, however close it is. */
static void level__start(struct level *level, uint64_t value)
{
	for (size_t i = 0; i < level->n; i++)
		level->watch[i].armed = value < level->watch[i].trigger->condition.limit;
}

/* Returns the condition that the value meets, or NULL, and moves on in *i. */
static struct trigger *level__met(struct level *level, uint64_t value, size_t *i)
{
	while (*i < level->n) {
		bool *armed = &level->watch[*i].armed;
		struct trigger *trigger = level->watch[(*i)++].trigger;
		uint64_t limit = trigger->condition.limit;

		if (value >= limit && *armed) {
			*armed = false;
			return trigger;
		}
		if (value < limit - limit / 10)
			*armed = true;
	}
	return NULL;
}

static void set_goroutines(struct phases *p, uint64_t n, uint64_t time)
{
	struct trigger *trigger;

	for (size_t i = 0; (trigger = level__met(&p->goroutines, n, &i));)
		trigger__met(p->t, trigger, time, "%llu goroutines", (unsigned long long)n);
}

static void set_heap(struct phases *p, uint64_t bytes, uint64_t time)
{
	struct trigger *trigger;

	for (size_t i = 0; (trigger = level__met(&p->heap, bytes, &i));)
		trigger__met(p->t, trigger, time, "%llu bytes of heap", (unsigned long long)bytes);
}

/* The model counts a goroutine before the event that creates it, and until after its last one. */
void phases__event(struct phases *p, const struct watch_event *ev)
{
	if (!p->started) {
		level__start(&p->goroutines, sequencer__stats(p->t->sequencer)->at_start);
		level__start(&p->heap, 0);
		p->started = true;
	}
	switch (ev->type) {
	case EV_STW_BEGIN:
		wait_table__begin(&p->table, &p->pauses, PAUSE, ev->time, (uint32_t)ev->args[0]);
		break;
	case EV_STW_END:
		wait_table__end(&p->table, PAUSE, ev->time);
		break;
	case EV_GC_BEGIN:
		wait_table__begin(&p->table, &p->collections, COLLECTION, ev->time, 0);
		break;
	case EV_GC_END:
		wait_table__end(&p->table, COLLECTION, ev->time);
		break;
	case EV_GO_CREATE:
	case EV_GO_CREATE_BLOCKED:
	case EV_GO_CREATE_SYSCALL:
		set_goroutines(p, sequencer__goroutines(p->t->sequencer), ev->time);
		break;
	case EV_GO_DESTROY:
	case EV_GO_DESTROY_SYSCALL:
	case EV_GO_SWITCH_DESTROY:
		set_goroutines(p, sequencer__goroutines(p->t->sequencer) - 1, ev->time);
		break;
	case EV_HEAP_ALLOC:
		set_heap(p, ev->args[0], ev->time);
		break;
	default:
		break;
	}
}

void phases__watermark(struct phases *p, uint64_t time)
{
	struct wait_list *const lists[] = { &p->pauses, &p->collections };

	wait_table__watermark(&p->table, lists, 2, triggers__doubts(p->t), time);
}
