// SPDX-License-Identifier: GPL-2.0
/*
 * What goes on when the output begins, so that it stands on its own: a status of every goroutine
 * and P, and the ranges that are open.
 *
 * Before it: the model, which has followed the events that are not written. After it:
 * trace/generation.c. What cannot be said is forgotten here, so that the rules leave out what would
 * come of it: a stop-the-world that has begun (no event says that one goes on), and what only a
 * hostile trace has, a status of 0 or a running goroutine on no thread. User regions and tasks need
 * no word: their ends may come without a begin.
 */
#include <errno.h>
#include <stdlib.h>

#include "trace/rewrite_impl.h"

uint64_t rw__prologue_size(const struct rewrite *r)
{
	uint64_t n = r->g.n + r->p.n + (r->gc == RW_GC_ON);
	void *value;

	for (size_t i = 0; map__next(&r->g, &i, &value);)
		n += ((struct rw_g *)value)->assist;
	for (size_t i = 0; map__next(&r->p, &i, &value);)
		n += ((struct rw_p *)value)->sweep;
	return n;
}

/* The thread of what runs on one, TRACE_NO_M of what does not. False: it should, but on none. */
static bool place_of(const struct rw_m *m, bool runs, uint64_t *ret)
{
	*ret = runs && m ? m->id : TRACE_NO_M;
	return m || !runs;
}

static int write_p(struct rewrite *r, struct rw_p *p)
{
	bool runs = p->status == PROC_RUNNING || p->status == PROC_SYSCALL;
	uint64_t m;

	if (!p->status || !place_of(rw_p__m(r, p), runs, &m)) {
		rw__forget_p(r, p);
		return 0;
	}
	p->stamp = r->stamp;
	p->seq = 0;
	return writer__proc_status(r->writer, m, p->id, p->status);
}

static int write_g(struct rewrite *r, struct rw_g *g)
{
	bool runs = g->status == GO_RUNNING || g->status == GO_SYSCALL;
	uint32_t stack = origins__of(&r->origins, g->id);
	uint64_t m;

	if (!g->status || !place_of(rw_g__m(r, g), runs, &m)) {
		rw__forget_g(r, g);
		return 0;
	}
	g->stamp = r->stamp;
	g->seq = 0;
	g->regions = 0;
	g->stw_lost += g->stw;
	g->stw = 0;
	if (stack && r->opts.version >= 23) {
		stack = origins__copy_stack(r->in, r->origins.in, stack);
		if (!stack)
			return -ENOMEM;
	}
	return writer__go_status(r->writer, m, g->id, g->status, r->opts.version >= 23 ? stack : 0);
}

/*
 * A thread holds only what has just been said to be there. A hostile trace can bind one P or goroutine
 * to two threads, and have it leave one of them.
 */
static void settle_threads(struct rewrite *r)
{
	const struct rw_g *g;
	const struct rw_p *p;
	struct rw_m *m;
	void *value;

	for (size_t i = 0; map__next(&r->m, &i, &value);) {
		m = value;
		p = rw_m__p(r, m);
		if (rw_p__m(r, p) != m || (p->status != PROC_RUNNING && p->status != PROC_SYSCALL))
			m->p = TRACE_NO_P;
		g = rw_m__g(r, m);
		if (rw_g__m(r, g) != m || (g->status != GO_RUNNING && g->status != GO_SYSCALL))
			m->g = TRACE_NO_G;
	}
}

static int write_active(struct rewrite *r, int64_t time, enum ev type, uint64_t id)
{
	return writer__event(r->writer, TRACE_NO_M, (uint64_t)time, type, &id, 1);
}

/* After the statuses of what they are ranges of; those dropped what cannot be. */
static int write_ranges(struct rewrite *r, int64_t time)
{
	void **ps = rw__sorted(&r->p), **gs = rw__sorted(&r->g);
	int err = ps && gs ? 0 : -ENOMEM;
	const struct rw_g *g;
	const struct rw_p *p;

	if (r->gc == RW_GC_ON && !err) {
		r->gc_seq = 1;
		err = write_active(r, time, EV_GC_ACTIVE, r->gc_seq);
	} else {
		r->gc = RW_GC_UNKNOWN;
	}
	for (size_t i = 0; !err && i < r->p.n; i++) {
		p = ps[i];
		if (p->sweep)
			err = write_active(r, time, EV_GC_SWEEP_ACTIVE, p->id);
	}
	for (size_t i = 0; !err && i < r->g.n; i++) {
		g = gs[i];
		if (g->assist)
			err = write_active(r, time, EV_GC_MARK_ASSIST_ACTIVE, g->id);
	}
	free(ps);
	free(gs);
	return err;
}

int rw__prologue(struct rewrite *r, int64_t start)
{
	void **ps = rw__sorted(&r->p), **gs = rw__sorted(&r->g);
	size_t i, np = r->p.n, ng = r->g.n;
	int err = ps && gs ? 0 : -ENOMEM;

	for (i = 0; !err && i < np; i++)
		err = write_p(r, ps[i]);
	for (i = 0; !err && i < ng; i++)
		err = write_g(r, gs[i]);
	settle_threads(r);
	map__deinit(&r->tasks);
	free(ps);
	free(gs);
	return err ?: write_ranges(r, start + 1);
}
