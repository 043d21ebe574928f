// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the state at the start of the output, so that it is self-contained: statuses of all
 * goroutines and Ps, and open ranges.
 *
 * Upstream: rewrite_model.c, updated by the events before. Downstream: writer/writer.c. State that
 * a trace cannot express is discarded here, so that the rules omit events that depend on it: an
 * open stop-the-world pause (no event reports one), and from crafted traces a status of 0 or a
 * running goroutine without a thread. Open user regions and tasks need no event, since they may end
 * without a begin.
 */
#include <errno.h>
#include <stdlib.h>

#include "rewrite/rewrite_impl.h"

uint64_t rw__prologue_size(const struct rewrite *r)
{
	const struct order *o = &r->model;
	uint64_t n = o->g.n + o->p.n + (o->gc == ORDER_GC_ON);
	void *value;

	for (size_t i = 0; map__next(&o->g, &i, &value);)
		n += ((struct order_g *)value)->ranges.other != 0;
	for (size_t i = 0; map__next(&o->p, &i, &value);)
		n += ((struct order_p *)value)->ranges.other != 0;
	return n;
}

/*
 * Finds the thread of a G or P, TRACE_NO_M if it is not on one. Returns false if it must be on one
 * but is not.
 */
static bool find_thread(const struct order_m *m, bool runs, uint64_t *ret)
{
	*ret = runs && m ? m->id : TRACE_NO_M;
	return m || !runs;
}

static int write_p(struct rewrite *r, struct order_p *p)
{
	bool runs = p->status == PROC_RUNNING || p->status == PROC_SYSCALL;
	uint64_t m;

	if (!p->status || !find_thread(rw_p__m(p), runs, &m)) {
		order__forget_p(&r->model, p);
		return 0;
	}
	p->seq = (struct order_seq){ r->gen, 0 };
	return writer__proc_status(r->writer, m, p->id, p->status);
}

static int write_g(struct rewrite *r, struct order_g *g)
{
	bool runs = g->status == GO_RUNNING || g->status == GO_SYSCALL;
	uint32_t stack = start_functions__of(&r->functions, g->id);
	uint64_t m;

	if (!g->status || !find_thread(rw_g__m(g), runs, &m)) {
		order__forget_g(&r->model, g);
		return 0;
	}
	g->seq = (struct order_seq){ r->gen, 0 };
	g->lost += order__close_pauses(&g->ranges);
	while (g->regions)
		order__close_region(g);
	if (stack) {
		stack = start_functions__copy_stack(r->in, r->functions.in, stack);
		if (!stack)
			return -ENOMEM;
	}
	return writer__go_status(r->writer, m, g->id, g->status, stack);
}

/*
 * Unbinds threads from what the prologue has not reported there. A crafted trace can bind a P or
 * goroutine to two threads and let it leave one of them.
 */
static void unbind_threads(struct rewrite *r)
{
	const struct order_g *g;
	const struct order_p *p;
	struct order_m *m;
	void *value;

	for (size_t i = 0; map__next(&r->model.m, &i, &value);) {
		m = value;
		p = rw_m__p(r, m);
		if (rw_p__m(p) != m || (p->status != PROC_RUNNING && p->status != PROC_SYSCALL))
			order_m__unbind_p(m);
		g = rw_m__g(r, m);
		if (rw_g__m(g) != m || (g->status != GO_RUNNING && g->status != GO_SYSCALL))
			order_m__unbind_g(m);
	}
}

static int write_active(struct rewrite *r, int64_t time, enum ev type, uint64_t id)
{
	return writer__event(r->writer, TRACE_NO_M, (uint64_t)time, type, &id, 1);
}

/* Must follow the statuses, which have removed what cannot be reported. */
static int write_ranges(struct rewrite *r, int64_t time)
{
	size_t np, ng;
	struct map_slot *ps = map__sorted(&r->model.p, &np), *gs = map__sorted(&r->model.g, &ng);
	int err = ps && gs ? 0 : -ENOMEM;
	const struct order_g *g;
	const struct order_p *p;

	r->model.gc_seq = 0; /* with an index, the number of earlier ones is unknown */
	if (r->model.gc == ORDER_GC_ON && !err) {
		err = write_active(r, time, EV_GC_ACTIVE, ++r->model.gc_seq);
	} else {
		r->model.gc = ORDER_GC_UNKNOWN;
	}
	for (size_t i = 0; !err && i < np; i++) {
		p = ps[i].value;
		if (p->ranges.other)
			err = write_active(r, time, EV_GC_SWEEP_ACTIVE, p->id);
	}
	for (size_t i = 0; !err && i < ng; i++) {
		g = gs[i].value;
		if (g->ranges.other)
			err = write_active(r, time, EV_GC_MARK_ASSIST_ACTIVE, g->id);
	}
	free(ps);
	free(gs);
	return err;
}

int rw__prologue(struct rewrite *r, int64_t start)
{
	size_t i, np, ng;
	struct map_slot *ps = map__sorted(&r->model.p, &np), *gs = map__sorted(&r->model.g, &ng);
	int err = ps && gs ? 0 : -ENOMEM;

	for (i = 0; !err && i < np; i++)
		err = write_p(r, ps[i].value);
	for (i = 0; !err && i < ng; i++)
		err = write_g(r, gs[i].value);
	unbind_threads(r);
	order__forget_tasks(&r->model);
	free(ps);
	free(gs);
	return err ?: write_ranges(r, start + 1);
}
