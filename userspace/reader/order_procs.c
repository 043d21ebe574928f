// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of the event order: Ps, which threads start, stop and steal.
 *
 * Part of reader/order.c; its file comment describes what a rule returns.
 */
#include "reader/order_guess.h"
#include "reader/order_impl.h"
#include "reader/semantics.h"

#define PROC_STATUS_MAX PROC_ABANDONED

/*
 * The thread that holds a P which is about to be stolen; NULL: none. All threads are searched only
 * after the state was loaded from an index, or if a crafted trace gave the P to several threads.
 */
static struct order_m *holder_of(const struct order *o, struct order_p *p)
{
	struct order_m *m;
	void *value;

	if (p->holder && p->holder->p == p->id)
		return p->holder;
	for (size_t i = 0; map__next(&o->m, &i, &value);) {
		m = value;
		if (m->p == p->id && (!p->holder || p->holder->p != p->id || m->id < p->holder->id))
			p->holder = m;
	}
	return p->holder && p->holder->p == p->id ? p->holder : NULL;
}

/*
 * A P with status "abandoned" that is known to be in a system call: nothing was lost, the P keeps
 * its thread, and the status is delivered in the context of that thread.
 */
static int keep_p_in_syscall(const struct order_step *s, struct order_p *p)
{
	const struct order_m *holder = holder_of(s->o, p);
	uint64_t id = p->id;

	if (!holder)
		return order_step__broken(
			s, "no thread holds proc %" PRIu64 ", which is about to be stolen", id);
	order_step__fill(s);
	s->ret->arg[1] = PROC_SYSCALL;
	s->ret->old = PROC_STATE_RUNNING;
	s->ret->m = holder->id;
	s->ret->p = id;
	s->ret->g = holder->g;
	p->seq = order_step__seq(s, 0);
	return 1;
}

static void bind_p(struct order_m *m, struct order_p *p)
{
	m->p = p->id;
	m->ps = p;
	m->took_p = true;
	p->holder = m;
}

int order_step__proc_status(const struct order_step *s)
{
	uint64_t id = s->ev->arg[0];
	uint8_t status = (uint8_t)s->ev->arg[1], old;
	struct order_p *p = map__get(&s->o->p, id);
	int err;

	if (status > PROC_STATUS_MAX)
		return order_step__broken(s, "invalid status %u of proc %" PRIu64, status, id);
	old = semantics__proc_state(status);
	if (!p) {
		err = s->o->guess ? order_guess__status_p(s->o, id, status) : 0;
		if (err)
			return order_step__not_guessed(s, err);
		p = order__new_p(s->o, id);
		if (!p)
			return -ENOMEM;
		p->status = status;
		old = s->at->gen == s->o->first_gen ? PROC_STATE_UNDETERMINED :
						      PROC_STATE_NOT_EXIST;
	} else if (status == PROC_ABANDONED && p->status == PROC_SYSCALL) {
		return keep_p_in_syscall(s, p);
	} else if (p->status != status) {
		return order_step__broken(s, "proc %" PRIu64 " has status %u, not %u", id,
					  p->status, status);
	}
	p->seq = order_step__seq(s, 0);
	order_step__fill(s);
	s->ret->arg[1] = status;
	s->ret->old = old;
	if (s->m && (status == PROC_RUNNING || status == PROC_SYSCALL)) {
		bind_p(s->m, p);
	}
	return 1;
}

int order_step__proc_start(const struct order_step *s)
{
	struct order_p *p = map__get(&s->o->p, s->ev->arg[0]);
	int err;

	if (!p || p->status != PROC_IDLE || !order_step__succeeds(s, s->ev->arg[1], p->seq) ||
	    (s->m && s->m->p != TRACE_NO_P))
		return 0;
	err = order_step__need(
		s, NEED_M | NEED_NO_P); /* a goroutine that leaves a system call may be present */
	if (err)
		return err;
	p->status = PROC_RUNNING;
	p->seq = order_step__seq(s, s->ev->arg[1]);
	order_step__fill(s);
	bind_p(s->m, p);
	return 1;
}

int order_step__proc_stop(const struct order_step *s)
{
	int err = order_step__need(s, NEED_M | NEED_P);
	struct order_p *p;

	if (err)
		return err;
	p = s->m->ps;
	if (p->status != PROC_RUNNING && p->status != PROC_SYSCALL)
		return order_step__broken(
			s, "proc %" PRIu64 " neither runs nor is in a system call", p->id);
	p->status = PROC_IDLE;
	order_step__fill(s);
	order_m__unbind_p(s->m);
	return 1;
}

/* Takes the P from the thread that the event names. */
static int take_p_from(const struct order_step *s, uint64_t p, uint64_t m)
{
	struct order_m *victim = m == s->at->m ? s->m : map__get(&s->o->m, m);

	if (!victim)
		return order_step__broken(
			s, "proc %" PRIu64 " stolen from thread %" PRIu64 ", which does not exist",
			p, m);
	if (victim->p != p)
		return order_step__broken(
			s, "proc %" PRIu64 " stolen from thread %" PRIu64 ", which has another one",
			p, m);
	order_m__unbind_p(victim);
	return 1;
}

int order_step__proc_steal(const struct order_step *s)
{
	struct order_p *p = map__get(&s->o->p, s->ev->arg[0]);
	uint8_t old;
	int err;

	if (!p || (p->status != PROC_SYSCALL && p->status != PROC_ABANDONED) ||
	    !order_step__succeeds(s, s->ev->arg[1], p->seq))
		return 0;
	err = order_step__need(s, NEED_M);
	if (err)
		return err;
	old = p->status;
	if (s->o->guess && old == PROC_ABANDONED)
		order_guess__steal(s->o, p->id, s->ev->arg[2]);
	order_step__fill(s);
	s->ret->old = old;
	/* The thread that abandoned the P may already have another one, so it is not checked. */
	if (old != PROC_ABANDONED && take_p_from(s, p->id, s->ev->arg[2]) < 0)
		return -EBADMSG;
	p->status = PROC_IDLE;
	p->seq = order_step__seq(s, s->ev->arg[1]);
	return 1;
}
