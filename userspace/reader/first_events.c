// SPDX-License-Identifier: GPL-2.0
/*
 * Guesses which P and goroutine each thread has at the start of a generation, from its first events:
 * statuses, and what the event after them requires.
 *
 * Upstream: reader/parallel.c, which has decoded the generation. Downstream: order_guess.c, which keeps
 * the guess. Any guess is valid: a wrong one is noticed later.
 */
#include "reader/order_guess.h"
#include "reader/reader_impl.h"

#define FIRST_MAX 32 /* events of a thread that are looked at */

struct first_state {
	uint64_t p, g;
	uint8_t p_status, g_status;
};

/* Takes the status into account. Returns false if the event is none. */
static bool take_status(const struct order_event *ev, uint64_t m, struct first_state *ret)
{
	uint64_t status;

	if (ev->type == EV_PROC_STATUS) {
		status = ev->arg[1];
		if (ret->p == TRACE_NO_P && (status == PROC_RUNNING || status == PROC_SYSCALL)) {
			ret->p = ev->arg[0];
			ret->p_status = (uint8_t)status;
		}
		return true;
	}
	if (ev->type != EV_GO_STATUS && ev->type != EV_GO_STATUS_STACK)
		return false;
	status = ev->arg[2];
	if (ret->g == TRACE_NO_G &&
	    (status == GO_RUNNING || (status == GO_SYSCALL && ev->arg[1] == m))) {
		ret->g = ev->arg[0];
		ret->g_status = (uint8_t)status;
	}
	return true;
}

/* What the first event that is not a status requires, if no status has shown it. */
static void take_need(uint8_t type, struct first_state *ret)
{
	enum { P = 1, G = 2, CALL = 4 };
	static const uint8_t need[EV_END] = {
		[EV_PROC_STOP] = P,
		[EV_GO_START] = P,
		[EV_GO_BLOCK] = P | G,
		[EV_GO_STOP] = P | G,
		[EV_GO_DESTROY] = P | G,
		[EV_GO_CREATE] = P | G,
		[EV_GO_CREATE_BLOCKED] = P | G,
		[EV_GO_SWITCH] = P | G,
		[EV_GO_SWITCH_DESTROY] = P | G,
		[EV_STW_BEGIN] = P | G,
		[EV_STW_END] = P | G,
		[EV_GC_BEGIN] = P | G,
		[EV_GC_END] = P | G,
		[EV_HEAP_ALLOC] = P | G,
		[EV_HEAP_GOAL] = P | G,
		[EV_GO_LABEL] = P | G,
		[EV_USER_TASK_BEGIN] = P | G,
		[EV_USER_TASK_END] = P | G,
		[EV_USER_LOG] = P | G,
		[EV_GO_SYSCALL_END] = P | G | CALL,
		[EV_GO_SYSCALL_END_BLOCKED] = G | CALL,
		[EV_GO_DESTROY_SYSCALL] = G | CALL,
	};

	if ((need[type] & P) && ret->p == TRACE_NO_P) {
		ret->p = GUESS_SOME;
		ret->p_status = need[type] & CALL ? PROC_SYSCALL : PROC_RUNNING;
	}
	if ((need[type] & G) && ret->g == TRACE_NO_G) {
		ret->g = GUESS_SOME;
		ret->g_status = need[type] & CALL ? GO_SYSCALL : GO_RUNNING;
	}
}

/* What a thread has at the start, according to its first events. */
static int guess_thread(struct reader *r, struct gen_thread *thread)
{
	struct first_state first = { .p = TRACE_NO_P, .g = TRACE_NO_G };
	struct error ignored = {};
	struct cursor c;

	if (thread->m == TRACE_NO_M)
		return 0; /* has no state */
	cursor__init(&c, &r->gen, thread);
	for (unsigned int i = 0; i < FIRST_MAX; i++) {
		if (cursor__next(r, &c, &ignored) <= 0)
			break;
		/* Any thread may make these two, with and without a P. */
		if (take_status(&c.ev, thread->m, &first) || c.ev.type == EV_GO_UNBLOCK ||
		    c.ev.type == EV_PROC_STEAL)
			continue;
		take_need(c.ev.type, &first);
		break;
	}
	return order__guess_thread(&r->order, thread->m, first.p, first.p_status, first.g,
				   first.g_status);
}

int reader__guess(struct reader *r)
{
	int err = order__guess(&r->order, r->gen.number);

	for (size_t i = 0; !err && i < r->gen.nthreads; i++)
		err = guess_thread(r, &r->gen.threads[i]);
	return err;
}
