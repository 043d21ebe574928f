// SPDX-License-Identifier: GPL-2.0
/*
 * Which event may come next: ranges of time, the garbage collector, tasks and regions.
 *
 * The part of trace/order.c about what has a begin and an end. Ranges belong to a goroutine
 * (stop-the-world, mark assist) or to a P (sweep); the garbage collector's cycle is the program's.
 */
#include "trace/order_impl.h"

static int begin(const struct step *s, struct order_ranges *r, uint8_t type, uint64_t kind)
{
	if (order__has_range(r, type, kind))
		return step__broken(s, "its range is open already");
	return order__open_range(r, type, kind);
}

/*
 * Ends the first open range of the type; *ret_kind is what its begin named. At most one is no STW
 * range, so that the first one that is comes first or second.
 */
static int end(const struct step *s, struct order_ranges *r, uint8_t type, uint64_t *ret_kind)
{
	uint32_t i = type != EV_STW_BEGIN ? r->other - 1 : r->other == 1;

	if (i >= r->n || r->open[i].type != type)
		return step__broken(s, "no such range is open");
	*ret_kind = r->open[i].kind;
	order__close_range(r, i);
	return 0;
}

/* Open all along: in the first generation news, later a reminder. */
static int active(const struct step *s, struct order_ranges *r, uint8_t type)
{
	if (s->at->gen == s->o->first_gen)
		return begin(s, r, type, 0);
	if (!order__has_range(r, type, 0))
		return step__broken(s, "no such range is open");
	return 0;
}

static struct order_g *known_g(const struct step *s)
{
	struct order_g *g = step__g(s);

	if (!g)
		step__broken(s, "goroutine %" PRIu64 " does not exist", s->m->g);
	return g;
}

/* STWBegin, GCMarkAssistBegin */
int step__range_begin(const struct step *s)
{
	int err = step__need(s, NEED_USER);
	struct order_g *g;

	if (err)
		return err;
	g = known_g(s);
	if (!g)
		return -EBADMSG;
	err = begin(s, &g->ranges, s->ev->type, s->ev->type == EV_STW_BEGIN ? s->ev->arg[0] : 0);
	return err ? err : step__deliver(s);
}

/* STWEnd, GCMarkAssistEnd */
int step__range_end(const struct step *s)
{
	int err = step__need(s, NEED_USER);
	struct order_g *g;
	uint64_t kind = 0;

	if (err)
		return err;
	g = known_g(s);
	if (!g)
		return -EBADMSG;
	err = end(s, &g->ranges, spec__event(s->ev->type)->start, &kind);
	if (err)
		return err;
	step__fill(s);
	if (s->ev->type == EV_STW_END)
		s->ret->arg[0] = kind;
	return 1;
}

int step__mark_assist_active(const struct step *s)
{
	struct order_g *g = map__get(&s->o->g, s->ev->arg[0]);
	int err;

	if (!g)
		return step__broken(s, "goroutine %" PRIu64 " is not known", s->ev->arg[0]);
	err = active(s, &g->ranges, EV_GC_MARK_ASSIST_BEGIN);
	return err ? err : step__deliver(s);
}

int step__sweep_begin(const struct step *s)
{
	int err = step__need(s, NEED_M | NEED_P);

	if (!err)
		err = begin(s, &s->m->ps->ranges, EV_GC_SWEEP_BEGIN, 0);
	return err ? err : step__deliver(s);
}

int step__sweep_end(const struct step *s)
{
	int err = step__need(s, NEED_M | NEED_P);
	uint64_t kind = 0;

	if (!err)
		err = end(s, &s->m->ps->ranges, EV_GC_SWEEP_BEGIN, &kind);
	return err ? err : step__deliver(s);
}

int step__sweep_active(const struct step *s)
{
	struct order_p *p = map__get(&s->o->p, s->ev->arg[0]);
	int err;

	if (!p)
		return step__broken(s, "proc %" PRIu64 " is not known", s->ev->arg[0]);
	err = active(s, &p->ranges, EV_GC_SWEEP_BEGIN);
	return err ? err : step__deliver(s);
}

/* The garbage collector: begin and end may be of different threads, hence a sequence of its own. */

int step__gc_active(const struct step *s)
{
	struct order *o = s->o;
	int err;

	if (s->at->gen == o->first_gen) {
		if (o->gc != ORDER_GC_UNKNOWN)
			return step__broken(s,
					    "in the first generation it is the first event of GC");
		o->gc_seq = s->ev->arg[0];
		o->gc = ORDER_GC_ON;
		return step__deliver(s);
	}
	if (s->ev->arg[0] != o->gc_seq + 1)
		return 0;
	if (o->gc != ORDER_GC_ON)
		return step__broken(s, "no GC is in progress");
	err = step__need(s, NEED_USER);
	if (err)
		return err;
	o->gc_seq++;
	return step__deliver(s);
}

int step__gc_begin(const struct step *s)
{
	struct order *o = s->o;
	int err;

	if (o->gc == ORDER_GC_UNKNOWN) {
		o->gc_seq = s->ev->arg[0];
		o->gc = ORDER_GC_ON;
		return step__deliver(s);
	}
	if (s->ev->arg[0] != o->gc_seq + 1)
		return 0;
	if (o->gc == ORDER_GC_ON)
		return step__broken(s, "a GC is in progress already");
	err = step__need(s, NEED_USER);
	if (err)
		return err;
	o->gc_seq++;
	o->gc = ORDER_GC_ON;
	return step__deliver(s);
}

int step__gc_end(const struct step *s)
{
	struct order *o = s->o;
	int err;

	if (s->ev->arg[0] != o->gc_seq + 1)
		return 0;
	if (o->gc != ORDER_GC_ON)
		return step__broken(s, "no GC is known to be in progress");
	err = step__need(s, NEED_USER);
	if (err)
		return err;
	o->gc_seq++;
	o->gc = ORDER_GC_OFF;
	return step__deliver(s);
}

/* annotations */

/* The string that an argument names; false: there is none, which breaks the trace. */
static bool name_of(const struct step *s, uint64_t id, struct trace_string *ret)
{
	if (dictionary__string(s->at->words, id, ret))
		return true;
	step__broken(s, "string %" PRIu64 " is not defined", id);
	return false;
}

int step__task_begin(const struct step *s)
{
	uint64_t id = s->ev->arg[0], parent = s->ev->arg[1] ? s->ev->arg[1] : TRACE_NO_TASK;
	struct trace_string name;
	int err;

	if (map__get(&s->o->task, id))
		return step__broken(s, "task %" PRIu64 " has begun already", id);
	if (!name_of(s, s->ev->arg[2], &name))
		return -EBADMSG;
	err = step__need(s, NEED_USER);
	if (!err)
		err = order__open_task(s->o, id, parent, &name);
	if (err)
		return err;
	err = step__deliver(s);
	s->ret->arg[1] = parent;
	return err;
}

/* Of a task that nobody saw begin, or a second time: fine. */
int step__task_end(const struct step *s)
{
	int err = step__need(s, NEED_USER);
	const struct order_task *task;

	if (err)
		return err;
	task = order__end_task(s->o, s->ev->arg[0]);
	err = step__deliver(s);
	s->ret->parent = task ? task->parent : TRACE_NO_TASK;
	s->ret->name = task ? (struct trace_string){ task->name, task->len } :
			      (struct trace_string){ "", 0 };
	return err;
}

int step__region_begin(const struct step *s)
{
	int err = step__need(s, NEED_USER);
	struct trace_string name;
	struct order_g *g;

	if (err)
		return err;
	if (!name_of(s, s->ev->arg[1], &name))
		return -EBADMSG;
	g = known_g(s);
	if (!g)
		return -EBADMSG;
	err = order__open_region(g, s->ev->arg[0], &name);
	return err ? err : step__deliver(s);
}

/* The innermost region ends; one that began before the trace is not known, and may end. */
int step__region_end(const struct step *s)
{
	int err = step__need(s, NEED_USER);
	const struct order_region *inner;
	struct trace_string name;
	struct order_g *g;

	if (err)
		return err;
	if (!name_of(s, s->ev->arg[1], &name))
		return -EBADMSG;
	g = known_g(s);
	if (!g)
		return -EBADMSG;
	if (g->regions) {
		inner = &g->region[g->regions - 1];
		if (inner->task != s->ev->arg[0] || inner->len != name.len ||
		    memcmp(inner->name, name.data, name.len))
			return step__broken(
				s, "another region of goroutine %" PRIu64 " is the innermost one",
				g->id);
		order__close_region(g);
	}
	return step__deliver(s);
}
