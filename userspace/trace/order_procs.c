// SPDX-License-Identifier: GPL-2.0
/*
 * Which event may come next: Ps, which threads start, stop and steal.
 *
 * The part of trace/order.c about Ps; its head says what each function returns.
 */
#include "trace/order_impl.h"

#define PROC_STATUS_MAX PROC_ABANDONED

static const uint8_t proc_state_of[] = {
	[PROC_RUNNING] = PROC_STATE_RUNNING,
	[PROC_IDLE] = PROC_STATE_IDLE,
	[PROC_SYSCALL] = PROC_STATE_RUNNING,
	[PROC_ABANDONED] = PROC_STATE_IDLE,
};

/*
 * The thread that holds a P which is about to be taken from it; NULL: none. All threads are looked
 * at only after the state came from an index, and if a crafted trace gave the P to several.
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
 * "Abandoned" of a P known to be in a system call: no information was lost after all. It keeps its
 * thread, and that is where the status belongs.
 */
static int proc_kept(const struct step *s, struct order_p *p)
{
	const struct order_m *holder = holder_of(s->o, p);
	uint64_t id = p->id;

	if (!holder)
		return step__broken(
			s, "no thread holds proc %" PRIu64 ", which is about to be stolen", id);
	step__fill(s);
	s->ret->arg[1] = PROC_SYSCALL;
	s->ret->old = PROC_STATE_RUNNING;
	s->ret->m = holder->id;
	s->ret->p = id;
	s->ret->g = holder->g;
	return 1;
}

int step__proc_status(const struct step *s)
{
	uint64_t id = s->ev->arg[0];
	uint8_t status = (uint8_t)s->ev->arg[1], old;
	struct order_p *p = map__get(&s->o->p, id);

	if (status > PROC_STATUS_MAX)
		return step__broken(s, "invalid status %u of proc %" PRIu64, status, id);
	old = proc_state_of[status];
	if (!p) {
		p = order__new_p(s->o, id);
		if (!p)
			return -ENOMEM;
		p->status = status;
		old = s->at->gen == s->o->first_gen ? PROC_STATE_UNDETERMINED :
						      PROC_STATE_NOT_EXIST;
	} else if (status == PROC_ABANDONED && p->status == PROC_SYSCALL) {
		p->seq = step__seq(s, 0);
		return proc_kept(s, p);
	} else if (p->status != status) {
		return step__broken(s, "proc %" PRIu64 " has status %u, not %u", id, p->status,
				    status);
	}
	p->seq = step__seq(s, 0);
	step__fill(s);
	s->ret->arg[1] = status;
	s->ret->old = old;
	if (s->m && (status == PROC_RUNNING || status == PROC_SYSCALL)) {
		s->m->p = id;
		s->m->ps = p;
		p->holder = s->m;
	}
	return 1;
}

int step__proc_start(const struct step *s)
{
	struct order_p *p = map__get(&s->o->p, s->ev->arg[0]);
	int err;

	if (!p || p->status != PROC_IDLE || !step__succeeds(s, s->ev->arg[1], p->seq) ||
	    (s->m && s->m->p != TRACE_NO_P))
		return 0;
	err = step__need(s, NEED_M | NEED_NO_P); /* a goroutine that leaves a system call may be */
	if (err)
		return err;
	p->status = PROC_RUNNING;
	p->seq = step__seq(s, s->ev->arg[1]);
	step__fill(s);
	s->m->p = p->id;
	s->m->ps = p;
	p->holder = s->m;
	return 1;
}

int step__proc_stop(const struct step *s)
{
	int err = step__need(s, NEED_M | NEED_P);
	struct order_p *p;

	if (err)
		return err;
	p = s->m->ps;
	if (p->status != PROC_RUNNING && p->status != PROC_SYSCALL)
		return step__broken(s, "proc %" PRIu64 " neither runs nor is in a system call",
				    p->id);
	p->status = PROC_IDLE;
	step__fill(s);
	step__unbind_p(s->m);
	return 1;
}

/* Takes the P from the thread that the event names. */
static int rob(const struct step *s, uint64_t p, uint64_t m)
{
	struct order_m *victim = m == s->at->m ? s->m : map__get(&s->o->m, m);

	if (!victim)
		return step__broken(
			s, "proc %" PRIu64 " stolen from thread %" PRIu64 ", which does not exist",
			p, m);
	if (victim->p != p)
		return step__broken(
			s, "proc %" PRIu64 " stolen from thread %" PRIu64 ", which has another one",
			p, m);
	step__unbind_p(victim);
	return 1;
}

int step__proc_steal(const struct step *s)
{
	struct order_p *p = map__get(&s->o->p, s->ev->arg[0]);
	uint8_t old;
	int err;

	if (!p || (p->status != PROC_SYSCALL && p->status != PROC_ABANDONED) ||
	    !step__succeeds(s, s->ev->arg[1], p->seq))
		return 0;
	err = step__need(s, NEED_M);
	if (err)
		return err;
	old = p->status;
	p->status = PROC_IDLE;
	p->seq = step__seq(s, s->ev->arg[1]);
	step__fill(s);
	s->ret->old = old;
	/* The thread that abandoned it may have moved on since, so it is not looked at. */
	return old == PROC_ABANDONED ? 1 : rob(s, p->id, s->ev->arg[2]);
}
