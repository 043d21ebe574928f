/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the rules of the output: rewrite_rules.c (threads, Ps, goroutines) and rewrite_ranges.c
 * (ranges, garbage collection, annotations).
 */
#ifndef REWRITE_RULES_H
#define REWRITE_RULES_H

#include "rewrite/rewrite_impl.h"

/*
 * The arguments of a rule. A rule returns whether the event is legal, and if so has updated the
 * model.
 */
struct rw_step {
	struct rewrite *r;
	struct rw_m *m; /* NULL: of no thread */
	enum ev type;
	uint64_t *arg;
};

static inline bool rw_step__has_p(const struct rw_step *s)
{
	return s->m && s->m->p != TRACE_NO_P;
}

static inline bool rw_step__has_g(const struct rw_step *s)
{
	return s->m && s->m->g != TRACE_NO_G;
}

static inline struct rw_g *rw_step__g(const struct rw_step *s)
{
	return rw_m__g(s->r, s->m);
}

static inline struct rw_p *rw_step__p(const struct rw_step *s)
{
	return rw_m__p(s->r, s->m);
}

/* The context of user code. */
static inline bool rw_step__user(const struct rw_step *s)
{
	return rw_step__has_p(s) && rw_step__has_g(s);
}

/* rewrite_ranges.c */
bool rw_rule__stw_begin(const struct rw_step *s);
bool rw_rule__stw_end(const struct rw_step *s);
bool rw_rule__assist_edge(const struct rw_step *s);
bool rw_rule__sweep_edge(const struct rw_step *s);
bool rw_rule__assist_active(const struct rw_step *s);
bool rw_rule__sweep_active(const struct rw_step *s);
bool rw_rule__gc(const struct rw_step *s);
bool rw_rule__region_edge(const struct rw_step *s);
bool rw_rule__task_begin(const struct rw_step *s);
bool rw_rule__task_end(const struct rw_step *s);

#endif
