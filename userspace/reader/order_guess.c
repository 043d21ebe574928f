// SPDX-License-Identifier: GPL-2.0
/*
 * Assumptions about the state at the start of a generation: see order_guess.h.
 *
 * Upstream: the rules in reader/order*.c. Downstream: order_merge.c, which compares them with the real
 * state. What a rule reads of the state at the start is either recorded here, or the rule fails
 * and the generation is ordered again later; so a merged state is the one that the rules would have
 * made of the real one.
 */
#include "reader/order_guess.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "reader/order_impl.h"

int order__guess(struct order *o, uint64_t gen)
{
	order__init(o);
	o->guess = calloc(1, sizeof(*o->guess));
	o->first_gen = gen == 1 ? 2 : 1; /* another one than this */
	return o->guess ? 0 : -ENOMEM;
}

void order_guess__destroy(struct order_guess *guess)
{
	if (!guess)
		return;
	map__free(&guess->g);
	map__free(&guess->p);
	map__free(&guess->m);
	free(guess->pop);
	free(guess->task);
	free(guess);
}

int order_guess__status_g(struct order *o, uint64_t id, uint8_t status, struct order_g **ret)
{
	struct guess_g *guess;

	/* It has ended in this generation, or the id has another meaning. */
	if (map__get(&o->guess->g, id) || id >= GUESS_SOME)
		return -EBADMSG;
	guess = map__put_new(&o->guess->g, id, sizeof(*guess));
	*ret = guess ? order__new_g(o, id) : NULL;
	if (!*ret)
		return -ENOMEM;
	guess->status = status;
	(*ret)->status = status;
	return 0;
}

int order_guess__status_p(struct order *o, uint64_t id, uint8_t status)
{
	struct guess_p *guess;

	if (id >= GUESS_SOME)
		return -EBADMSG;
	guess = map__put_new(&o->guess->p, id, sizeof(*guess));
	if (!guess)
		return -ENOMEM;
	guess->status = status;
	return 0;
}

int order_guess__create_g(struct order *o, uint64_t id)
{
	struct guess_g *guess = map__get(&o->guess->g, id);

	if (id >= GUESS_SOME)
		return -EBADMSG;
	if (guess) {
		guess->renewed = true;
		return 0;
	}
	guess = map__put_new(&o->guess->g, id, sizeof(*guess));
	if (!guess)
		return -ENOMEM;
	guess->created = true;
	return 0;
}

static int use_ranges(struct guess_ranges *ranges, bool active)
{
	if (active && ranges->used)
		return -EBADMSG; /* what happened to it before would be wrong */
	ranges->used = true;
	ranges->active |= active;
	return 0;
}

int order_guess__range_g(struct order *o, uint64_t id, bool active)
{
	struct guess_g *guess = map__get(&o->guess->g, id);

	if (!guess)
		return -EBADMSG;
	if (guess->created || guess->renewed)
		return active ? -EBADMSG : 0;
	return use_ranges(&guess->ranges, active);
}

int order_guess__range_p(struct order *o, uint64_t id, bool active)
{
	struct guess_p *guess = map__get(&o->guess->p, id);

	return guess ? use_ranges(&guess->ranges, active) : -EBADMSG;
}

void order_guess__steal(struct order *o, uint64_t p, uint64_t m)
{
	struct guess_p *guess = map__get(&o->guess->p, p);
	const struct order_m *victim = map__get(&o->m, m);
	const struct order_g *g = victim ? map__get(&o->g, victim->g) : NULL;
	const struct guess_g *assumed = g ? map__get(&o->guess->g, g->id) : NULL;

	if (guess->stolen)
		return;
	guess->stolen = true;
	guess->victim = m;
	/* It must still be in the system call in which it was at the start. */
	guess->may_be_victims = guess->status == PROC_ABANDONED &&
				(!victim || (assumed && !assumed->created && !assumed->renewed &&
					     g->status == GO_SYSCALL && !g->seq.n &&
					     victim->p == TRACE_NO_P && !victim->took_p));
}

int order_guess__region_begin(struct order *o, uint64_t g)
{
	return map__get(&o->guess->g, g) ? 0 : -EBADMSG;
}

int order_guess__region_end(struct order *o, uint64_t g, uint64_t task,
			    const struct trace_string *name)
{
	struct order_guess *guess = o->guess;
	struct guess_g *of = map__get(&guess->g, g);

	if (!of)
		return -EBADMSG;
	if (of->created || of->renewed)
		return 0; /* no region is open */
	if (array__grow(&guess->pop, guess->pops, &guess->pops_cap, sizeof(*guess->pop)))
		return -ENOMEM;
	guess->pop[guess->pops++] = (struct guess_pop){ of, g, task, *name };
	return 0;
}

int order_guess__task(struct order *o, uint64_t id, bool end)
{
	struct order_guess *guess = o->guess;

	if (array__grow(&guess->task, guess->tasks, &guess->tasks_cap, sizeof(*guess->task)))
		return -ENOMEM;
	guess->task[guess->tasks++] = (struct guess_task){ id, end };
	return 0;
}

void order_guess__gc(struct order *o, uint8_t type, uint64_t seq)
{
	struct order_guess *guess = o->guess;

	if (guess->gc_known)
		return;
	guess->gc_known = true;
	guess->gc_may_be_new = type == EV_GC_BEGIN;
	o->gc = guess->gc = type == EV_GC_BEGIN ? ORDER_GC_OFF : ORDER_GC_ON;
	o->gc_seq = guess->gc_seq = seq - 1;
}

/* A struct for the P or goroutine of unknown id that the thread has, from the state's arena. */
static int make_some_p(struct order *o, struct order_p **ret)
{
	*ret = arena__alloc(&o->arena, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	**ret = (struct order_p){ .id = GUESS_SOME };
	return 0;
}

static int make_some_g(struct order *o, uint8_t status, struct order_g **ret)
{
	*ret = arena__alloc(&o->arena, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	**ret = (struct order_g){ .id = GUESS_SOME, .status = status, .alive = true };
	return 0;
}

static int guess_p_of(struct order *o, struct order_m *m, struct guess_m *guess)
{
	int err;

	if (guess->p == TRACE_NO_P)
		return 0;
	if (guess->p == GUESS_SOME) {
		err = make_some_p(o, &guess->some_p);
		m->ps = guess->some_p;
	} else {
		if (map__get(&o->p, guess->p))
			return -EBADMSG;
		err = order_guess__status_p(o, guess->p, guess->p_status);
		m->ps = err ? NULL : order__new_p(o, guess->p);
	}
	if (!m->ps)
		return err ?: -ENOMEM;
	m->ps->status = guess->p_status;
	m->ps->holder = m;
	m->p = guess->p;
	return 0;
}

static int guess_g_of(struct order *o, struct order_m *m, struct guess_m *guess)
{
	int err;

	if (guess->g == TRACE_NO_G)
		return 0;
	if (guess->g == GUESS_SOME) {
		err = make_some_g(o, guess->g_status, &guess->some_g);
		m->gs = guess->some_g;
	} else {
		err = order_guess__status_g(o, guess->g, guess->g_status, &m->gs);
	}
	m->g = guess->g;
	return err;
}

int order__guess_thread(struct order *o, uint64_t m, uint64_t p, uint8_t p_status, uint64_t g,
			uint8_t g_status)
{
	struct order_m *thread = order__new_m(o, m);
	struct guess_m *guess = map__put_new(&o->guess->m, m, sizeof(*guess));

	if (!thread || !guess)
		return -ENOMEM;
	*guess = (struct guess_m){ .p = p, .g = g, .p_status = p_status, .g_status = g_status };
	return guess_p_of(o, thread, guess) ?: guess_g_of(o, thread, guess);
}
