// SPDX-License-Identifier: GPL-2.0
/*
 * Compares a guessed state with the real one, and merges the state of a generation into it: see
 * order_guess.h.
 *
 * Upstream: order_guess.c, which recorded what the rules assumed. Downstream: reader/parallel.c. The
 * result is the state that the rules would have made of the real one.
 */
#include <errno.h>
#include <string.h>

#include "lib/array.h"
#include "reader/order_guess.h"
#include "reader/order_impl.h"

/* ---- comparison with the real state ---- */

static bool ranges_agree(const struct guess_ranges *guess, const struct order_ranges *real,
			 uint8_t active)
{
	if (!guess->used)
		return true;
	return real->n == guess->active && (!guess->active || order__has_range(real, active, 0));
}

static bool goroutines_agree(const struct order *o, const struct order_guess *guess)
{
	const struct guess_g *assumed;
	const struct order_g *real;
	struct map_slot *slot;

	for (size_t i = 0; i < guess->g.cap; i++) {
		slot = &guess->g.slot[i];
		assumed = slot->value;
		if (!assumed)
			continue;
		real = map__get(&o->g, slot->key);
		if (assumed->created != !real)
			return false;
		if (real &&
		    (real->status != assumed->status ||
		     !ranges_agree(&assumed->ranges, &real->ranges, EV_GC_MARK_ASSIST_BEGIN)))
			return false;
	}
	return true;
}

static bool proc_agrees(const struct order *o, const struct guess_p *assumed,
			const struct order_p *real)
{
	const struct order_m *victim;

	if (!ranges_agree(&assumed->ranges, &real->ranges, EV_GC_SWEEP_BEGIN))
		return false;
	if (real->status == assumed->status)
		return true;
	victim = assumed->may_be_victims ? map__get(&o->m, assumed->victim) : NULL;
	return real->status == PROC_SYSCALL && victim && victim->p == real->id;
}

/* A P that did not exist is created by its status. */
static bool procs_agree(const struct order *o, const struct order_guess *guess)
{
	const struct guess_p *assumed;
	const struct order_p *real;
	struct map_slot *slot;

	for (size_t i = 0; i < guess->p.cap; i++) {
		slot = &guess->p.slot[i];
		assumed = slot->value;
		if (!assumed)
			continue;
		real = map__get(&o->p, slot->key);
		if (real ? !proc_agrees(o, assumed, real) : assumed->ranges.active)
			return false;
	}
	return true;
}

/* The P and goroutine of unknown id must be none of those that events have named. */
static bool some_p_agrees(const struct order *o, struct order_guess *guess,
			  const struct guess_m *assumed, uint64_t id)
{
	const struct order_p *p = map__get(&o->p, id);

	return p && p->status == assumed->p_status && !map__get(&guess->p, id) &&
	       map__put_new(&guess->p, id, sizeof(struct guess_p));
}

static bool some_g_agrees(const struct order *o, struct order_guess *guess,
			  const struct guess_m *assumed, uint64_t id)
{
	const struct order_g *g = map__get(&o->g, id);
	struct guess_g *unnamed;

	if (!g || g->status != assumed->g_status || map__get(&guess->g, id))
		return false;
	unnamed = map__put_new(&guess->g, id, sizeof(*unnamed));
	if (unnamed)
		unnamed->unnamed = true;
	return unnamed;
}

/* Whether the thread may have lost the P before it did anything: see struct guess_p. */
static bool was_victim(const struct order_guess *guess, uint64_t m, uint64_t p)
{
	const struct guess_p *stolen = map__get(&guess->p, p);

	return stolen && stolen->may_be_victims && stolen->victim == m;
}

static bool thread_agrees(const struct order *o, struct order_guess *guess,
			  const struct guess_m *assumed, const struct order_m *real)
{
	if (assumed->p == GUESS_SOME ? !some_p_agrees(o, guess, assumed, real->p) :
	    assumed->p == TRACE_NO_P && real->p != TRACE_NO_P ?
				       !was_victim(guess, real->id, real->p) :
				       assumed->p != real->p)
		return false;
	return assumed->g == GUESS_SOME ? some_g_agrees(o, guess, assumed, real->g) :
					  assumed->g == real->g;
}

/* To be called after those above: it adds the Ps and goroutines of unknown id to the guess. */
static bool threads_agree(const struct order *o, const struct order *part)
{
	const struct guess_m *assumed;
	const struct order_m *m, *real;
	void *value;

	for (size_t i = 0; map__next(&part->m, &i, &value);) {
		m = value;
		real = map__get(&o->m, m->id);
		assumed = map__get(&part->guess->m, m->id);
		if (!assumed) { /* without events of its own: only its goroutine was looked at */
			if (real && real->g != m->g)
				return false;
		} else if (real ? !thread_agrees(o, part->guess, assumed, real) :
				  assumed->p != TRACE_NO_P || assumed->g != TRACE_NO_G) {
			return false;
		}
	}
	return true;
}

static bool gc_agrees(const struct order *o, const struct order_guess *guess)
{
	if (!guess->gc_known || (guess->gc_may_be_new && o->gc == ORDER_GC_UNKNOWN))
		return true;
	return o->gc == guess->gc && o->gc_seq == guess->gc_seq;
}

/* The regions that ended must have been the innermost ones. Those from before the trace are unknown. */
static bool regions_agree(const struct order *o, struct order_guess *guess)
{
	const struct order_region *inner;
	const struct guess_pop *pop;
	const struct order_g *g;

	for (size_t i = 0; i < guess->pops; i++) {
		pop = &guess->pop[i];
		g = map__get(&o->g, pop->id);
		if (!g || pop->g->pops == g->regions)
			continue;
		inner = &g->region[g->regions - ++pop->g->pops];
		if (inner->task != pop->task || inner->len != pop->name.len ||
		    memcmp(inner->name, pop->name.data, inner->len))
			return false;
	}
	return true;
}

static bool tasks_agree(const struct order *o, const struct order_guess *guess)
{
	struct map ended = {};
	bool agree = true;

	for (size_t i = 0; agree && i < guess->tasks; i++) {
		if (guess->task[i].end)
			agree = !map__put(&ended, guess->task[i].id, &ended);
		else
			agree = !map__get(&o->task, guess->task[i].id) ||
				map__get(&ended, guess->task[i].id);
	}
	map__deinit(&ended);
	return agree;
}

/* ---- merge ---- */

static void take_ranges(struct order_ranges *to, struct order_ranges *from)
{
	struct order_ranges old = *to;

	*to = *from;
	*from = old; /* freed with its owner */
}

/* Appends the regions that the generation has begun, after those that it has ended. */
static int take_regions(struct order_g *to, struct order_g *from, size_t pops)
{
	while (pops--)
		order__close_region(to);
	for (size_t i = 0; i < from->regions; i++) {
		if (array__grow(&to->region, to->regions, &to->regions_cap, sizeof(*to->region)))
			return -ENOMEM;
		to->region[to->regions++] = from->region[i];
		from->region[i].name = NULL; /* order__close_region() frees it */
	}
	return 0;
}

static int take_g(struct order *o, uint64_t id, const struct guess_g *guess, struct order_g *from)
{
	struct order_g *to = map__get(&o->g, id);

	if (to && (!from || guess->renewed)) {
		order__forget_g(o, to);
		to = NULL;
	}
	if (!from)
		return 0;
	if (!to)
		to = order__new_g(o, id);
	if (!to)
		return -ENOMEM;
	to->status = from->status;
	to->seq = from->seq;
	if (guess->ranges.used || guess->created || guess->renewed)
		take_ranges(&to->ranges, &from->ranges);
	return take_regions(to, from, guess->renewed ? 0 : guess->pops);
}

/* Of the goroutines that events have named. */
static int take_goroutines(struct order *o, struct order *part)
{
	const struct guess_g *guess;
	struct map_slot *slot;
	int err = 0;

	for (size_t i = 0; !err && i < part->guess->g.cap; i++) {
		slot = &part->guess->g.slot[i];
		guess = slot->value;
		if (guess && !guess->unnamed)
			err = take_g(o, slot->key, guess, map__get(&part->g, slot->key));
	}
	return err;
}

static int take_procs(struct order *o, struct order *part)
{
	const struct guess_p *guess;
	struct order_p *from, *to;
	struct order_m *victim;
	void *value;

	for (size_t i = 0; map__next(&part->p, &i, &value);) {
		from = value;
		guess = map__get(&part->guess->p, from->id);
		to = map__get(&o->p, from->id);
		if (!to)
			to = order__new_p(o, from->id);
		if (!to)
			return -ENOMEM;
		victim = to->status == PROC_SYSCALL && guess->may_be_victims ?
				 map__get(&o->m, guess->victim) :
				 NULL;
		if (victim)
			order_m__unbind_p(victim);
		to->status = from->status;
		to->seq = from->seq;
		if (guess->ranges.used)
			take_ranges(&to->ranges, &from->ranges);
	}
	return 0;
}

/* Brings the P and goroutine of unknown id, which the thread had, to their states at the end. */
static void take_some(struct order *o, const struct guess_m *guess, const struct order_m *m)
{
	struct order_p *p = guess->some_p ? map__get(&o->p, m->p) : NULL;
	struct order_g *g = guess->some_g ? map__get(&o->g, m->g) : NULL;

	if (p)
		p->status = guess->some_p->status;
	if (g && guess->some_g->alive && guess->some_g->id == GUESS_SOME)
		g->status = guess->some_g->status;
	else if (g)
		order__forget_g(o, g);
}

static void take_thread(struct order *o, const struct guess_m *guess, const struct order_m *from,
			struct order_m *to)
{
	if (guess)
		take_some(o, guess, to);
	if (guess && from->p != GUESS_SOME) {
		to->p = from->p;
		to->ps = to->p == TRACE_NO_P ? NULL : map__get(&o->p, to->p);
		if (to->ps)
			to->ps->holder = to;
	}
	if (from->g != GUESS_SOME)
		to->g = from->g;
	to->gs = NULL;
}

static int take_threads(struct order *o, struct order *part)
{
	struct order_m *from, *to;
	void *value;

	for (size_t i = 0; map__next(&part->m, &i, &value);) {
		from = value;
		to = map__get(&o->m, from->id);
		if (!to)
			to = order__new_m(o, from->id);
		if (!to)
			return -ENOMEM;
		take_thread(o, map__get(&part->guess->m, from->id), from, to);
	}
	return 0;
}

static int take_tasks(struct order *o, struct order *part)
{
	struct order_task *task;
	void *value;
	int err = 0;

	for (size_t i = 0; i < part->guess->tasks; i++)
		if (part->guess->task[i].end)
			order__end_task(o, part->guess->task[i].id);
	for (size_t i = 0; !err && map__next(&part->task, &i, &value);) {
		task = value;
		err = order__open_task(o, task->id, task->parent,
				       &(struct trace_string){ task->name, task->len });
	}
	return err;
}

int order__merge(struct order *o, struct order *part)
{
	int err;

	if (!goroutines_agree(o, part->guess) || !procs_agree(o, part->guess) ||
	    !threads_agree(o, part) || !gc_agrees(o, part->guess) ||
	    !regions_agree(o, part->guess) || !tasks_agree(o, part->guess))
		return 0;
	err = take_goroutines(o, part);
	err = err ?: take_procs(o, part);
	err = err ?: take_threads(o, part);
	err = err ?: take_tasks(o, part);
	if (part->guess->gc_known) {
		o->gc = part->gc;
		o->gc_seq = part->gc_seq;
	}
	return err ?: 1;
}
