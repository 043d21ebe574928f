// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of the event order: ranges, garbage collection, tasks and regions.
 *
 * Part of reader/order.c, for everything with a begin and an end. Ranges belong to a goroutine
 * (stop-the-world, mark assist) or to a P (sweep); a GC cycle belongs to the program.
 */
#include <string.h>

#include "lib/printable.h"
#include "reader/order_guess.h"
#include "reader/order_impl.h"

#define REGION_SHOWN 64 /* bytes of the name of a region in a message */

static int open_range(const struct order_step *s, struct order_ranges *r, uint8_t type,
		      uint64_t kind)
{
	if (order__has_range(r, type, kind))
		return order_step__broken(s, "the range is already open");
	return order__open_range(r, type, kind);
}

/*
 * Closes the first open range of the type; *ret_kind is the kind that its begin had. At most one
 * range is not STW, so the first STW range is at index 0 or 1.
 */
static int close_range(const struct order_step *s, struct order_ranges *r, uint8_t type,
		       uint64_t *ret_kind)
{
	uint32_t i = type != EV_STW_BEGIN ? r->other - 1 : r->other == 1;

	if (i >= r->n || r->open[i].type != type)
		return order_step__broken(s, "no such range is open");
	*ret_kind = r->open[i].kind;
	order__close_range(r, i);
	return 0;
}

/* Records that the ranges of the goroutine or P are used, if its state at the start is guessed. */
static int guess_ranges(const struct order_step *s, uint8_t type, uint64_t id, bool active)
{
	int err = 0;

	if (s->o->guess)
		err = type == EV_GC_SWEEP_BEGIN ? order_guess__range_p(s->o, id, active) :
						  order_guess__range_g(s->o, id, active);
	return err ? order_step__not_guessed(s, err) : 0;
}

/* If the state at the start is guessed, a range that is needed and not open has been open since then. */
static int guess_open(const struct order_step *s, struct order_ranges *r, uint8_t type, uint64_t id)
{
	if (!s->o->guess || order__has_range(r, type, 0))
		return 0;
	return guess_ranges(s, type, id, true) ?: order__open_range(r, type, 0);
}

/*
 * Handles a range of the goroutine or P `id` that was open when the generation began: it opens one
 * in the first generation, and must be open already in later ones.
 */
static int expect_open(const struct order_step *s, struct order_ranges *r, uint8_t type,
		       uint64_t id)
{
	if (s->at->gen == s->o->first_gen)
		return open_range(s, r, type, 0);
	if (s->o->guess)
		return guess_open(s, r, type, id);
	if (!order__has_range(r, type, 0))
		return order_step__broken(s, "no such range is open");
	return 0;
}

static struct order_g *known_g(const struct order_step *s)
{
	struct order_g *g = order_step__g(s);

	if (!g)
		order_step__broken(s, "goroutine %" PRIu64 " does not exist", s->m->g);
	return g;
}

/* STWBegin, GCMarkAssistBegin */
int order_step__range_begin(const struct order_step *s)
{
	int err = order_step__need(s, NEED_USER);
	struct order_g *g;

	if (err)
		return err;
	g = known_g(s);
	if (!g)
		return -EBADMSG;
	err = guess_ranges(s, s->ev->type, g->id, false);
	err = err   ?:
		      open_range(s, &g->ranges, s->ev->type,
				 s->ev->type == EV_STW_BEGIN ? s->ev->arg[0] : 0);
	return err ? err : order_step__deliver(s);
}

/* STWEnd, GCMarkAssistEnd */
int order_step__range_end(const struct order_step *s)
{
	int err = order_step__need(s, NEED_USER);
	struct order_g *g;
	uint64_t kind = 0;

	if (err)
		return err;
	g = known_g(s);
	if (!g)
		return -EBADMSG;
	if (s->ev->type == EV_GC_MARK_ASSIST_END)
		err = guess_open(s, &g->ranges, EV_GC_MARK_ASSIST_BEGIN, g->id);
	err = err ?: close_range(s, &g->ranges, spec__event(s->ev->type)->start, &kind);
	if (err)
		return err;
	order_step__fill(s);
	if (s->ev->type == EV_STW_END)
		s->ret->arg[0] = kind;
	return 1;
}

int order_step__mark_assist_active(const struct order_step *s)
{
	struct order_g *g = map__get(&s->o->g, s->ev->arg[0]);
	int err;

	if (!g)
		return order_step__broken(s, "unknown goroutine %" PRIu64, s->ev->arg[0]);
	err = expect_open(s, &g->ranges, EV_GC_MARK_ASSIST_BEGIN, g->id);
	return err ? err : order_step__deliver(s);
}

int order_step__sweep_begin(const struct order_step *s)
{
	int err = order_step__need(s, NEED_M | NEED_P);

	if (!err)
		err = guess_ranges(s, EV_GC_SWEEP_BEGIN, s->m->p, false);
	if (!err)
		err = open_range(s, &s->m->ps->ranges, EV_GC_SWEEP_BEGIN, 0);
	return err ? err : order_step__deliver(s);
}

int order_step__sweep_end(const struct order_step *s)
{
	int err = order_step__need(s, NEED_M | NEED_P);
	uint64_t kind = 0;

	if (!err)
		err = guess_open(s, &s->m->ps->ranges, EV_GC_SWEEP_BEGIN, s->m->p);
	if (!err)
		err = close_range(s, &s->m->ps->ranges, EV_GC_SWEEP_BEGIN, &kind);
	return err ? err : order_step__deliver(s);
}

int order_step__sweep_active(const struct order_step *s)
{
	struct order_p *p = map__get(&s->o->p, s->ev->arg[0]);
	int err;

	if (!p)
		return order_step__broken(s, "unknown proc %" PRIu64, s->ev->arg[0]);
	err = expect_open(s, &p->ranges, EV_GC_SWEEP_BEGIN, p->id);
	return err ? err : order_step__deliver(s);
}

/* GC: begin and end may be on different threads, so they have their own sequence numbers. */

int order_step__gc_active(const struct order_step *s)
{
	struct order *o = s->o;
	int err;

	if (o->guess)
		order_guess__gc(o, s->ev->type, s->ev->arg[0]);
	if (s->at->gen == o->first_gen) {
		if (o->gc != ORDER_GC_UNKNOWN)
			return order_step__broken(
				s, "in the first generation it must be the first event of the GC");
		o->gc_seq = s->ev->arg[0];
		o->gc = ORDER_GC_ON;
		return order_step__deliver(s);
	}
	if (s->ev->arg[0] != o->gc_seq + 1)
		return 0;
	if (o->gc != ORDER_GC_ON)
		return order_step__broken(s, "no GC is in progress");
	err = order_step__need(s, NEED_USER);
	if (err)
		return err;
	o->gc_seq++;
	return order_step__deliver(s);
}

int order_step__gc_begin(const struct order_step *s)
{
	struct order *o = s->o;
	int err;

	if (o->guess)
		order_guess__gc(o, s->ev->type, s->ev->arg[0]);
	if (o->gc == ORDER_GC_UNKNOWN) {
		o->gc_seq = s->ev->arg[0];
		o->gc = ORDER_GC_ON;
		return order_step__deliver(s);
	}
	if (s->ev->arg[0] != o->gc_seq + 1)
		return 0;
	if (o->gc == ORDER_GC_ON)
		return order_step__broken(s, "a GC is already in progress");
	err = order_step__need(s, NEED_USER);
	if (err)
		return err;
	o->gc_seq++;
	o->gc = ORDER_GC_ON;
	return order_step__deliver(s);
}

int order_step__gc_end(const struct order_step *s)
{
	struct order *o = s->o;
	int err;

	if (o->guess)
		order_guess__gc(o, s->ev->type, s->ev->arg[0]);
	if (s->ev->arg[0] != o->gc_seq + 1)
		return 0;
	if (o->gc != ORDER_GC_ON)
		return order_step__broken(s, "no GC is known to be in progress");
	err = order_step__need(s, NEED_USER);
	if (err)
		return err;
	o->gc_seq++;
	o->gc = ORDER_GC_OFF;
	return order_step__deliver(s);
}

/* annotations */

/* The string of an argument. Returns false with an error if it is undefined. */
static bool find_name(const struct order_step *s, uint64_t id, struct trace_string *ret)
{
	if (s->at->name) {
		*ret = *s->at->name;
		return true;
	}
	if (dictionary__string(s->at->dictionary, id, ret))
		return true;
	order_step__undefined(s, "string", id);
	return false;
}

int order_step__task_begin(const struct order_step *s)
{
	uint64_t id = s->ev->arg[0], parent = s->ev->arg[1] ? s->ev->arg[1] : TRACE_NO_TASK;
	struct trace_string name;
	int err;

	if (map__get(&s->o->task, id))
		return order_step__broken(s, "task %" PRIu64 " has already begun", id);
	if (!find_name(s, s->ev->arg[2], &name))
		return -EBADMSG;
	err = order_step__need(s, NEED_USER);
	if (!err && s->o->guess)
		err = order_guess__task(s->o, id, false);
	if (!err)
		err = order__open_task(s->o, id, parent, &name);
	if (err)
		return err;
	err = order_step__deliver(s);
	s->ret->arg[1] = parent;
	return err;
}

/* The task may have begun before the trace, or ended already: both are valid. */
int order_step__task_end(const struct order_step *s)
{
	int err = order_step__need(s, NEED_USER);
	const struct order_task *task;

	if (err)
		return err;
	task = order__end_task(s->o, s->ev->arg[0]);
	if (!task && s->o->guess)
		err = order_guess__task(s->o, s->ev->arg[0], true);
	err = err ?: order_step__deliver(s);
	s->ret->parent = task ? task->parent : TRACE_NO_TASK;
	s->ret->name = task ? (struct trace_string){ task->name, task->len } :
			      (struct trace_string){ "", 0 };
	return err;
}

int order_step__region_begin(const struct order_step *s)
{
	int err = order_step__need(s, NEED_USER);
	struct trace_string name;
	struct order_g *g;

	if (err)
		return err;
	if (!find_name(s, s->ev->arg[1], &name))
		return -EBADMSG;
	g = known_g(s);
	if (!g)
		return -EBADMSG;
	if (s->o->guess)
		err = order_guess__region_begin(s->o, g->id);
	if (err)
		return order_step__not_guessed(s, err);
	err = order__open_region(g, s->ev->arg[0], &name);
	return err ? err : order_step__deliver(s);
}

/* A name as a part of a message, cut to its size. */
static void copy_name(char ret[REGION_SHOWN], const char *name, size_t len)
{
	len = len < REGION_SHOWN - 1 ? len : REGION_SHOWN - 1;
	memset(ret, 0, REGION_SHOWN);
	if (len)
		memcpy(ret, name, len);
	printable__clean(ret, REGION_SHOWN);
}

/* Region.End may have been called twice, on another goroutine, or in the wrong order. */
static int wrong_region(const struct order_step *s, const struct order_g *g,
			const struct order_region *inner, const struct trace_string *name)
{
	char ends[REGION_SHOWN], innermost[REGION_SHOWN];

	copy_name(ends, name->data, name->len);
	copy_name(innermost, inner->name, inner->len);
	return order_step__broken(s,
				  "region \"%s\" of task %" PRIu64 " ends, but another region of "
				  "goroutine %" PRIu64
				  " is the innermost one: \"%s\" of task %" PRIu64,
				  ends, s->ev->arg[0], g->id, innermost, inner->task);
}

/* Ends the innermost region. A region that began before the trace is unknown and may end. */
int order_step__region_end(const struct order_step *s)
{
	int err = order_step__need(s, NEED_USER);
	const struct order_region *inner;
	struct trace_string name;
	struct order_g *g;

	if (err)
		return err;
	if (!find_name(s, s->ev->arg[1], &name))
		return -EBADMSG;
	g = known_g(s);
	if (!g)
		return -EBADMSG;
	if (g->regions) {
		inner = &g->region[g->regions - 1];
		if (inner->task != s->ev->arg[0] || inner->len != name.len ||
		    memcmp(inner->name, name.data, name.len))
			return wrong_region(s, g, inner, &name);
		order__close_region(g);
	} else if (s->o->guess) {
		err = order_guess__region_end(s->o, g->id, s->ev->arg[0], &name);
	}
	return err ? order_step__not_guessed(s, err) : order_step__deliver(s);
}
