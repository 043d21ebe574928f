// SPDX-License-Identifier: GPL-2.0
/*
 * Legality of events in the output: ranges, garbage collection, tasks and regions.
 *
 * Part of rewrite_rules.c, for everything with a begin and an end.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "rewrite/rewrite_rules.h"

/* ranges */

bool rw_rule__stw_begin(const struct rw_step *s)
{
	struct rw_g *g = rw_step__user(s) ? rw_step__g(s) : NULL;

	if (!g || g->stw == STW_MAX)
		return false;
	for (unsigned int i = 0; i < g->stw; i++)
		if (g->stw_kind[i] == s->arg[0])
			return false;
	g->stw_kind[g->stw++] = (uint32_t)s->arg[0];
	return true;
}

/* Readers end the first open pause and move the last one to its place. */
bool rw_rule__stw_end(const struct rw_step *s)
{
	struct rw_g *g = rw_step__user(s) ? rw_step__g(s) : NULL;

	if (!g || !g->stw)
		return false;
	g->stw_kind[0] = g->stw_kind[--g->stw];
	return true;
}

static bool toggle(bool *open, bool to)
{
	bool possible = *open != to;

	*open = to;
	return possible;
}

bool rw_rule__assist_edge(const struct rw_step *s)
{
	struct rw_g *g = rw_step__user(s) ? rw_step__g(s) : NULL;

	return g && toggle(&g->assist, s->type == EV_GC_MARK_ASSIST_BEGIN);
}

bool rw_rule__sweep_edge(const struct rw_step *s)
{
	struct rw_p *p = rw_step__p(s);

	return p && toggle(&p->sweep, s->type == EV_GC_SWEEP_BEGIN);
}

/* A range that was open when the generation began: new in the first generation, known later. */
static bool is_active(const struct rw_step *s, bool *open)
{
	return s->r->first ? toggle(open, true) : *open;
}

bool rw_rule__assist_active(const struct rw_step *s)
{
	struct rw_g *g = rw__g(s->r, s->arg[0]);

	return g && is_active(s, &g->assist);
}

bool rw_rule__sweep_active(const struct rw_step *s)
{
	struct rw_p *p = rw__p(s->r, s->arg[0]);

	return p && is_active(s, &p->sweep);
}

/* The first GC event of a trace needs no context. */
bool rw_rule__gc(const struct rw_step *s)
{
	enum rw_gc old = s->r->gc, new = s->type == EV_GC_END ? RW_GC_OFF : RW_GC_ON;
	bool known = old != RW_GC_UNKNOWN;

	if (s->type == EV_GC_ACTIVE && (s->r->first ? known : old != RW_GC_ON))
		return false;
	if (s->type == EV_GC_END && old != RW_GC_ON)
		return false;
	if (s->type == EV_GC_BEGIN && old == RW_GC_ON)
		return false;
	if (known && !rw_step__user(s))
		return false;
	s->r->gc = new;
	s->arg[0] = ++s->r->gc_seq;
	return true;
}

/* annotations */

static bool push_region(struct rewrite *r, struct rw_g *g, uint64_t task)
{
	if (array__grow(&g->region, g->regions, &g->regions_cap, sizeof(*g->region))) {
		rw__set_error(r, -ENOMEM);
		return false;
	}
	g->region[g->regions++] = (struct rw_region){ task, r->region };
	return true;
}

/* Only the innermost region may end. If none is known, any may. */
bool rw_rule__region_edge(const struct rw_step *s)
{
	struct rw_g *g = rw_step__user(s) ? rw_step__g(s) : NULL;
	const struct rw_region *top;

	if (!g)
		return false;
	if (s->type == EV_USER_REGION_BEGIN)
		return push_region(s->r, g, s->arg[0]);
	top = g->regions ? &g->region[g->regions - 1] : NULL;
	if (top && (top->task != s->arg[0] || top->name != s->r->region))
		return false;
	g->regions -= top != NULL;
	return true;
}

bool rw_rule__task_begin(const struct rw_step *s)
{
	if (!rw_step__user(s) || map__get(&s->r->tasks, s->arg[0]))
		return false;
	rw__set_error(s->r, map__put(&s->r->tasks, s->arg[0], s->r));
	return true;
}

bool rw_rule__task_end(const struct rw_step *s)
{
	if (rw_step__user(s))
		map__remove(&s->r->tasks, s->arg[0]);
	return rw_step__user(s);
}
