/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the order share: order.c (goroutines, the table of rules), order_procs.c (Ps),
 * order_ranges.c (ranges, GC, annotations), order_state.c (memory).
 */
#ifndef TRACE_ORDER_IMPL_H
#define TRACE_ORDER_IMPL_H

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "trace/order.h"

/* One try of an event. */
struct step {
	struct order *o;
	const struct order_event *ev;
	const struct order_place *at;
	struct order_m *m; /* NULL: of no thread */
	struct trace_event *ret;
	struct error *err;
};

/* What an event needs to have around it; else the trace is broken. */
enum need { NEED_M = 1, NEED_P = 2, NEED_G = 4, NEED_NO_P = 8, NEED_NO_G = 16 };
#define NEED_USER (NEED_M | NEED_P | NEED_G) /* what runs user code, or nearly so */

int step__lacks(const struct step *s, unsigned int need); /* says so; -EBADMSG */

/* 0, or -EBADMSG with what is missing or too much. */
static inline int step__need(const struct step *s, unsigned int need)
{
	bool p = s->m && s->m->p != TRACE_NO_P, g = s->m && s->m->g != TRACE_NO_G;

	if (__builtin_expect(((need & NEED_M) && !s->m) | ((need & NEED_P) && !p) |
				     ((need & NEED_G) && !g) | ((need & NEED_NO_P) && p) |
				     ((need & NEED_NO_G) && g),
			     0))
		return step__lacks(s, need);
	return 0;
}

/* The state of the thread's goroutine; NULL: nobody said anything of it, or it ended. */
static inline struct order_g *step__g(const struct step *s)
{
	struct order_g *g = s->m->gs;

	if (__builtin_expect(g && g->alive && g->id == s->m->g, 1))
		return g;
	s->m->gs = map__get(&s->o->g, s->m->g);
	return s->m->gs;
}

/* Fills in what is delivered: the event as it stands, in the thread's present context. 1. */
static inline int step__fill(const struct step *s)
{
	struct trace_event *ret = s->ret;

	ret->time = ret->raw = s->ev->time;
	ret->type = s->ev->type;
	ret->extra = false;
	ret->old = 0;
	ret->m = s->at->m;
	ret->p = s->m ? s->m->p : TRACE_NO_P;
	ret->g = s->m ? s->m->g : TRACE_NO_G;
	memcpy(ret->arg, s->ev->arg, sizeof(ret->arg)); /* those it has none of are nobody's */
	return 1;
}

static inline struct order_seq step__seq(const struct step *s, uint64_t n)
{
	return (struct order_seq){ s->at->gen, n };
}

static inline bool step__succeeds(const struct step *s, uint64_t n, struct order_seq old)
{
	return old.gen == s->at->gen && n == old.n + 1;
}

static inline void step__unbind_p(struct order_m *m)
{
	m->p = TRACE_NO_P;
	m->ps = NULL;
}

__attribute__((format(printf, 2, 3))) int step__broken(const struct step *s, const char *fmt, ...);

int step__undefined(const struct step *s, const char *what, uint64_t id);

/* 1, or -EBADMSG: the id stands for nothing. */
static inline int step__stack(const struct step *s, uint64_t id)
{
	if (__builtin_expect(dictionary__has_stack(s->at->words, id), 1))
		return 1;
	return step__undefined(s, "stack", id);
}

static inline int step__string(const struct step *s, uint64_t id)
{
	if (__builtin_expect(dictionary__has_string(s->at->words, id), 1))
		return 1;
	return step__undefined(s, "string", id);
}

/* As step__fill(), of an event of any type: looks at its strings and stacks first. */
int step__deliver(const struct step *s);

/* order_procs.c; each 1, 0 or negative as order__advance(). */
int step__proc_status(const struct step *s);
int step__proc_start(const struct step *s);
int step__proc_stop(const struct step *s);
int step__proc_steal(const struct step *s);

/* order_ranges.c; each 1, 0 or negative as order__advance(). */
int step__range_begin(const struct step *s);
int step__range_end(const struct step *s);
int step__mark_assist_active(const struct step *s);
int step__sweep_begin(const struct step *s);
int step__sweep_end(const struct step *s);
int step__sweep_active(const struct step *s);
int step__gc_active(const struct step *s);
int step__gc_begin(const struct step *s);
int step__gc_end(const struct step *s);
int step__task_begin(const struct step *s);
int step__task_end(const struct step *s);
int step__region_begin(const struct step *s);
int step__region_end(const struct step *s);

/* order_state.c */
/* Whether such a range is open: in constant time, however many a crafted trace opens. */
bool order__has_range(const struct order_ranges *ranges, uint8_t type, uint64_t kind);
void order__close_range(struct order_ranges *ranges, uint32_t i); /* the i-th one */
void order__forget_g(struct order *o, struct order_g *g);	  /* destroyed */
void order__close_region(struct order_g *g);			  /* the innermost one */
/* What it was, until the next one ends; NULL: nobody said that it began. */
const struct order_task *order__end_task(struct order *o, uint64_t id);

#endif
