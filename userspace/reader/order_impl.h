/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of the order: order.c (goroutines, table of rules), order_goroutines.c (new
 * goroutines), order_procs.c (Ps), order_ranges.c (ranges, GC, annotations), order_state.c (memory),
 * order_write.c (a writer's numbers).
 */
#ifndef READER_ORDER_IMPL_H
#define READER_ORDER_IMPL_H

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "reader/order.h"

/*
 * Of functions that run for most events: they become part of order__advance(), so that the step
 * stays in registers.
 */
#define FREQUENT inline __attribute__((always_inline))

/* The arguments of a rule. */
struct order_step {
	struct order *o;
	const struct order_event *ev;
	const struct order_place *at;
	struct order_m *m; /* NULL: not of a thread */
	struct trace_event *ret;
	struct error *err;
};

/* The context that an event requires; without it the trace is invalid. */
enum order_need { NEED_M = 1, NEED_P = 2, NEED_G = 4, NEED_NO_P = 8, NEED_NO_G = 16 };
#define NEED_USER (NEED_M | NEED_P | NEED_G) /* the context of user code */

int order_step__report_missing(const struct order_step *s,
			       unsigned int need); /* sets the error; -EBADMSG */

/* Checks the context. Returns 0, or -EBADMSG with a message. */
static FREQUENT int order_step__need(const struct order_step *s, unsigned int need)
{
	bool p = s->m && s->m->p != TRACE_NO_P, g = s->m && s->m->g != TRACE_NO_G;

	if (__builtin_expect(((need & NEED_M) && !s->m) | ((need & NEED_P) && !p) |
				     ((need & NEED_G) && !g) | ((need & NEED_NO_P) && p) |
				     ((need & NEED_NO_G) && g),
			     0))
		return order_step__report_missing(s, need);
	return 0;
}

struct order_g *order__look_up_g(struct order *o, uint64_t id); /* in the map */

/*
 * The goroutine of that id; NULL if it was never mentioned or has ended. Most events name one of few
 * goroutines. A struct is not freed before the end, and no two that are alive have the same id.
 */
static FREQUENT struct order_g *order__find_g(struct order *o, uint64_t id)
{
	struct order_g *g = o->recent[id % ORDER_RECENT];

	if (__builtin_expect(g && g->id == id && g->alive, 1))
		return g;
	return order__look_up_g(o, id);
}

/* The state of the thread's goroutine; NULL if it was never mentioned or has ended. */
static FREQUENT struct order_g *order_step__g(const struct order_step *s)
{
	struct order_g *g = s->m->gs;

	if (__builtin_expect(g && g->alive && g->id == s->m->g, 1))
		return g;
	s->m->gs = order__find_g(s->o, s->m->g);
	return s->m->gs;
}

/* Fills in the event to deliver, with the present context of the thread. Returns 1. */
static FREQUENT int order_step__fill(const struct order_step *s)
{
	struct trace_event *ret = s->ret;

	ret->time = ret->raw = s->ev->time;
	ret->type = s->ev->type;
	ret->extra = false;
	ret->old = 0;
	ret->m = s->at->m;
	ret->p = s->m ? s->m->p : TRACE_NO_P;
	ret->g = s->m ? s->m->g : TRACE_NO_G;
	memcpy(ret->arg, s->ev->arg,
	       sizeof(ret->arg)); /* arguments that the type lacks are ignored */
	return 1;
}

static FREQUENT struct order_seq order_step__seq(const struct order_step *s, uint64_t n)
{
	return (struct order_seq){ s->at->gen, n };
}

static FREQUENT bool order_step__succeeds(const struct order_step *s, uint64_t n,
					  struct order_seq old)
{
	return old.gen == s->at->gen && n == old.n + 1;
}

__attribute__((format(printf, 2, 3))) int order_step__broken(const struct order_step *s,
							     const char *fmt, ...);

/* An error of order_guess.h: sets a message for -EBADMSG. Returns err. */
int order_step__not_guessed(const struct order_step *s, int err);

/* Sets the error and returns -EBADMSG; for a writer, whose ids are not checked, returns 1. */
int order_step__undefined(const struct order_step *s, const char *what, uint64_t id);

/* Returns 1, or -EBADMSG if the id is undefined. */
static FREQUENT int order_step__stack(const struct order_step *s, uint64_t id)
{
	if (__builtin_expect(dictionary__has_stack(s->at->dictionary, id), 1))
		return 1;
	return order_step__undefined(s, "stack", id);
}

static FREQUENT int order_step__string(const struct order_step *s, uint64_t id)
{
	if (__builtin_expect(dictionary__has_string(s->at->dictionary, id), 1))
		return 1;
	return order_step__undefined(s, "string", id);
}

/* Like order_step__fill(), for any event type: checks strings and stacks first. */
int order_step__deliver(const struct order_step *s);

/* order_goroutines.c; return values as order__advance() */
int order_step__go_status(const struct order_step *s);
int order_step__go_create(const struct order_step *s); /* also of one that is blocked */
int order_step__go_create_syscall(const struct order_step *s);

/* order_procs.c; return values as order__advance() */
int order_step__proc_status(const struct order_step *s);
int order_step__proc_start(const struct order_step *s);
int order_step__proc_stop(const struct order_step *s);
int order_step__proc_steal(const struct order_step *s);

/* order_ranges.c; return values as order__advance() */
int order_step__range_begin(const struct order_step *s);
int order_step__range_end(const struct order_step *s);
int order_step__mark_assist_active(const struct order_step *s);
int order_step__sweep_begin(const struct order_step *s);
int order_step__sweep_end(const struct order_step *s);
int order_step__sweep_active(const struct order_step *s);
int order_step__gc_active(const struct order_step *s);
int order_step__gc_begin(const struct order_step *s);
int order_step__gc_end(const struct order_step *s);
int order_step__task_begin(const struct order_step *s);
int order_step__task_end(const struct order_step *s);
int order_step__region_begin(const struct order_step *s);
int order_step__region_end(const struct order_step *s);

/* order_state.c */
/* Whether such a range is open. Takes constant time even if a crafted trace opens many. */
bool order__has_range(const struct order_ranges *ranges, uint8_t type, uint64_t kind);
void order__close_range(struct order_ranges *ranges, uint32_t i); /* by index */
/* Returns the task, valid until the next one ends; NULL if its begin is unknown. */
const struct order_task *order__end_task(struct order *o, uint64_t id);

#endif
