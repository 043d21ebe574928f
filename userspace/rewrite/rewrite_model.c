// SPDX-License-Identifier: GPL-2.0
/*
 * Goroutines, Ps and threads as a reader of the output sees them.
 *
 * rewrite_rules.c updates them with each event, even before the output begins; rewrite_prologue.c
 * writes their state. Threads refer to others by id, as in reader/order.c, because a valid trace
 * may bind one goroutine to two threads.
 */
#include <errno.h>
#include <stdlib.h>

#include "rewrite/rewrite_impl.h"

void rw__set_error(struct rewrite *r, int err)
{
	if (err && !r->error)
		r->error = err;
}

struct rw_g *rw__g(const struct rewrite *r, uint64_t id)
{
	return map__get(&r->g, id);
}

struct rw_p *rw__p(const struct rewrite *r, uint64_t id)
{
	return map__get(&r->p, id);
}

struct rw_m *rw__m(const struct rewrite *r, uint64_t id)
{
	return map__get(&r->m, id);
}

/* Creates a struct in its map. Returns NULL if memory is exhausted. */
static void *add(struct rewrite *r, struct map *map, uint64_t id, size_t size)
{
	void *p = map__put_new(map, id, size);

	if (!p)
		rw__set_error(r, -ENOMEM);
	return p;
}

struct rw_g *rw__new_g(struct rewrite *r, uint64_t id)
{
	struct rw_g *g = add(r, &r->g, id, sizeof(*g));

	if (g) {
		g->id = id;
		g->m = TRACE_NO_M;
		g->stamp = r->stamp;
	}
	return g;
}

struct rw_p *rw__new_p(struct rewrite *r, uint64_t id)
{
	struct rw_p *p = add(r, &r->p, id, sizeof(*p));

	if (p) {
		p->id = id;
		p->m = TRACE_NO_M;
		p->stamp = r->stamp;
	}
	return p;
}

struct rw_m *rw__make_m(struct rewrite *r, uint64_t id)
{
	struct rw_m *m = rw__m(r, id);

	if (m)
		return m;
	m = add(r, &r->m, id, sizeof(*m));
	if (m)
		*m = (struct rw_m){ id, TRACE_NO_P, TRACE_NO_G };
	return m;
}

void rw__forget_g(struct rewrite *r, struct rw_g *g)
{
	map__remove(&r->g, g->id);
	free(g->region);
	free(g);
}

void rw__forget_p(struct rewrite *r, struct rw_p *p)
{
	map__remove(&r->p, p->id);
	free(p);
}

struct rw_m *rw_g__m(const struct rewrite *r, const struct rw_g *g)
{
	struct rw_m *m = g ? rw__m(r, g->m) : NULL;

	return m && m->g == g->id ? m : NULL;
}

struct rw_m *rw_p__m(const struct rewrite *r, const struct rw_p *p)
{
	struct rw_m *m = p ? rw__m(r, p->m) : NULL;

	return m && m->p == p->id ? m : NULL;
}

static bool has_range(const struct order_ranges *ranges, uint8_t type)
{
	for (uint32_t i = 0; i < ranges->n; i++)
		if (ranges->open[i].type == type)
			return true;
	return false;
}

static void load_g(struct rewrite *r, const struct order_g *from)
{
	struct rw_g *g = rw__new_g(r, from->id);

	if (!g)
		return;
	g->status = from->status;
	g->assist = has_range(&from->ranges, EV_GC_MARK_ASSIST_BEGIN);
	/* Their kinds are strings of an earlier generation, so they cannot be distinguished. */
	for (uint32_t i = 0; i < from->ranges.n; i++)
		if (from->ranges.open[i].type == EV_STW_BEGIN && g->stw_lost < UINT8_MAX)
			g->stw_lost++;
}

static void load_p(struct rewrite *r, const struct order_p *from)
{
	struct rw_p *p = rw__new_p(r, from->id);

	if (!p)
		return;
	p->status = from->status;
	p->sweep = has_range(&from->ranges, EV_GC_SWEEP_BEGIN);
}

static void load_m(struct rewrite *r, const struct order_m *from)
{
	struct rw_m *m = rw__make_m(r, from->id);
	struct rw_g *g;
	struct rw_p *p;

	if (!m)
		return;
	m->p = from->p;
	m->g = from->g;
	g = rw_m__g(r, m);
	p = rw_m__p(r, m);
	if (g)
		g->m = m->id;
	if (p)
		p->m = m->id;
}

int rw__load(struct rewrite *r, const struct order *state)
{
	static const enum rw_gc gc[] = {
		[ORDER_GC_UNKNOWN] = RW_GC_UNKNOWN,
		[ORDER_GC_OFF] = RW_GC_OFF,
		[ORDER_GC_ON] = RW_GC_ON,
	};
	void *value;

	for (size_t i = 0; map__next(&state->g, &i, &value) && !r->error;)
		load_g(r, value);
	for (size_t i = 0; map__next(&state->p, &i, &value) && !r->error;)
		load_p(r, value);
	for (size_t i = 0; map__next(&state->m, &i, &value) && !r->error;)
		load_m(r, value);
	r->gc = gc[state->gc];
	return r->error;
}

void rw__deinit(struct rewrite *r)
{
	void *value;

	for (size_t i = 0; map__next(&r->g, &i, &value);)
		free(((struct rw_g *)value)->region);
	map__free(&r->g);
	map__free(&r->p);
	map__free(&r->m);
	map__deinit(&r->tasks);
}
