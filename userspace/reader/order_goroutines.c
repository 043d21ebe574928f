// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of the event order: goroutines that are new, by their creation or by a status.
 *
 * Part of reader/order.c; its file comment describes what a rule returns. A status event states what
 * is known already, except in the first generation and for reader/order_guess.h.
 */
#include "reader/order_guess.h"
#include "reader/order_impl.h"
#include "reader/semantics.h"

#define GO_STATUS_MAX GO_WAITING

/* Handles a goroutine that stays in a system call, on a thread without events. */
static int bind_to_sleeper(const struct order_step *s, struct order_g *g, uint64_t m)
{
	struct order_m *sleeper = map__get(&s->o->m, m);

	order_step__fill(s);
	if (sleeper)
		s->ret->g = g->id;
	else
		sleeper = order__new_m(s->o, m);
	if (!sleeper)
		return -ENOMEM;
	order_m__bind_g(sleeper, g);
	s->ret->m = m;
	return 1;
}

static int bind_by_status(const struct order_step *s, struct order_g *g)
{
	uint64_t m = s->ev->arg[1];

	if (g->status == GO_SYSCALL && m != s->at->m)
		return bind_to_sleeper(s, g, m);
	order_step__fill(s);
	if (s->m && (g->status == GO_RUNNING || g->status == GO_SYSCALL))
		order_m__bind_g(s->m, g);
	return 1;
}

/* Checks the thread of a goroutine that is in a system call. Returns 0 or -EBADMSG. */
static int check_syscall_thread(const struct order_step *s)
{
	uint64_t g = s->ev->arg[0], m = s->ev->arg[1];
	const struct order_m *thread;

	if (m == TRACE_NO_M)
		return order_step__broken(
			s, "goroutine %" PRIu64 " is in a system call without a thread", g);
	thread = m == s->at->m ? s->m : map__get(&s->o->m, m);
	if (!thread || thread->g == g || (thread == s->m && s->at->gen == s->o->first_gen))
		return 0;
	return order_step__broken(s,
				  "goroutine %" PRIu64 " is in a system call on thread %" PRIu64
				  ", which has another one",
				  g, m);
}

/* Checks all that does not depend on the goroutine's state. Returns 0 or -EBADMSG. */
static int check_status(const struct order_step *s, uint8_t status)
{
	if (s->ev->type == EV_GO_STATUS_STACK && order_step__stack(s, s->ev->arg[3]) < 0)
		return -EBADMSG;
	return status == GO_SYSCALL ? check_syscall_thread(s) : 0;
}

int order_step__go_status(const struct order_step *s)
{
	uint64_t id = s->ev->arg[0];
	uint8_t status = (uint8_t)s->ev->arg[2], old;
	struct order_g *g = order__find_g(s->o, id);
	int ret;

	if (status > GO_STATUS_MAX)
		return order_step__broken(s, "invalid status %u of goroutine %" PRIu64, status, id);
	if (g && g->status != status)
		return order_step__broken(s, "goroutine %" PRIu64 " has status %u, not %u", id,
					  g->status, status);
	if (!g && s->at->gen != s->o->first_gen && !s->o->guess)
		return order_step__broken(s,
					  "goroutine %" PRIu64 " is new, but has a status event "
					  "after the first generation",
					  id);
	ret = check_status(s, status);
	if (ret)
		return ret;
	old = g || s->o->guess ? semantics__go_state(status) : GO_STATE_UNDETERMINED;
	if (!g && s->o->guess) {
		ret = order_guess__status_g(s->o, id, status, &g);
		if (ret)
			return order_step__not_guessed(s, ret);
	} else if (!g) {
		g = order__new_g(s->o, id);
		if (!g)
			return -ENOMEM;
	}
	g->status = status;
	g->seq = order_step__seq(s, 0);
	ret = bind_by_status(s, g);
	s->ret->arg[2] = status;
	s->ret->old = old;
	return ret;
}

static struct order_g *create_g(const struct order_step *s, uint8_t status, int *err)
{
	uint64_t id = s->ev->arg[0];
	struct order_g *g;

	if (map__get(&s->o->g, id)) {
		*err = order_step__broken(s, "goroutine %" PRIu64 " already exists", id);
		return NULL;
	}
	if (s->o->guess)
		*err = order_guess__create_g(s->o, id);
	if (*err) {
		order_step__not_guessed(s, *err);
		return NULL;
	}
	g = order__new_g(s->o, id);
	if (!g) {
		*err = -ENOMEM;
		return NULL;
	}
	g->status = status;
	g->seq = order_step__seq(s, 0);
	return g;
}

int order_step__go_create(const struct order_step *s)
{
	int err = order_step__need(s, NEED_M | NEED_P);
	struct order_g *creator;

	if (err)
		return err;
	creator = order_step__g(s); /* may be NULL */
	if (creator && creator->status != GO_RUNNING)
		return order_step__broken(s, "goroutine %" PRIu64 " is not running", s->m->g);
	if (!create_g(s, s->ev->type == EV_GO_CREATE ? GO_RUNNABLE : GO_WAITING, &err))
		return err;
	return order_step__deliver(s);
}

int order_step__go_create_syscall(const struct order_step *s)
{
	int err = order_step__need(s, NEED_M | NEED_NO_G);
	struct order_g *g;

	if (err)
		return err;
	g = create_g(s, GO_SYSCALL, &err);
	if (!g)
		return err;
	order_step__fill(s);
	order_m__bind_g(s->m, g);
	return 1;
}
