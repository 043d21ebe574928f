// SPDX-License-Identifier: GPL-2.0
/*
 * The model: goroutines, Ps and threads as a reader of the output sees them.
 *
 * Upstream: rewrite.c, or rewrite_repair.c for a v1 trace. Downstream: the pending events, which
 * rewrite.c passes to writer/writer.c with their times. The rules of reader/order.c decide whether
 * an event is legal, and update the model with each event, even before the output begins;
 * rewrite_prologue.c writes its state.
 */
#include <errno.h>
#include <string.h>

#include "rewrite/rewrite_impl.h"

void rw__set_error(struct rewrite *r, int err)
{
	if (err && !r->error)
		r->error = err;
}

void rw__begin(struct rewrite *r, bool first)
{
	r->gen++;
	if (first)
		r->model.first_gen = r->gen;
}

bool rw__put(struct rewrite *r, uint64_t m, enum ev type, const uint64_t *arg)
{
	struct order_place at = { .gen = r->gen, .m = m, .name = &r->name };
	struct rw_event *ev = &r->pending[r->npending];
	int ret;

	if (r->npending == PENDING_MAX)
		return false;
	ev->m = m;
	ev->type = type;
	if (arg != ev->arg)
		memcpy(ev->arg, arg, sizeof(ev->arg));
	ret = order__write(&r->model, (uint8_t)type, ev->arg, &at);
	if (ret == -ENOMEM)
		rw__set_error(r, ret);
	r->npending += ret > 0;
	return ret > 0;
}

/* The state before the output */

/*
 * The kinds of pauses are strings of an earlier generation, so they cannot be distinguished, and no
 * event reports an open pause.
 */
static int load_g(struct order *o, const struct order_g *from)
{
	struct order_g *g = order__new_g(o, from->id);

	if (!g)
		return -ENOMEM;
	g->status = from->status;
	g->lost = order__pauses(&from->ranges);
	return from->ranges.other ? order__open_range(&g->ranges, EV_GC_MARK_ASSIST_BEGIN, 0) : 0;
}

static int load_p(struct order *o, const struct order_p *from)
{
	struct order_p *p = order__new_p(o, from->id);

	if (!p)
		return -ENOMEM;
	p->status = from->status;
	return from->ranges.other ? order__open_range(&p->ranges, EV_GC_SWEEP_BEGIN, 0) : 0;
}

static int load_m(struct rewrite *r, const struct order_m *from)
{
	struct order_m *m = order__new_m(&r->model, from->id);

	if (!m)
		return -ENOMEM;
	m->p = from->p;
	m->g = from->g;
	m->ps = rw_m__p(r, m);
	m->gs = rw_m__g(r, m);
	if (m->ps)
		m->ps->holder = m;
	if (m->gs)
		m->gs->holder = m;
	return 0;
}

int rw__load(struct rewrite *r, const struct order *state)
{
	void *value;
	int err = 0;

	for (size_t i = 0; !err && map__next(&state->g, &i, &value);)
		err = load_g(&r->model, value);
	for (size_t i = 0; !err && map__next(&state->p, &i, &value);)
		err = load_p(&r->model, value);
	for (size_t i = 0; !err && map__next(&state->m, &i, &value);)
		err = load_m(r, value);
	r->model.gc = state->gc;
	return err;
}
