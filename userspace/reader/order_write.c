// SPDX-License-Identifier: GPL-2.0
/*
 * The rules of the event order for a writer: sequence numbers.
 *
 * Upstream: rewrite/rewrite_model.c, with events in the order of the output. Downstream: order.c,
 * whose rules decide whether an event is legal. No event waits for another, so each receives the
 * number that follows the present one: they count from each status or creation in a generation.
 */
#include "reader/order_impl.h"

/* Stores the number in the argument that has it. Without a resource the event is illegal anyway. */
static void number(struct order *o, uint8_t type, uint64_t *arg, const struct order_m *m)
{
	const struct order_g *g;
	const struct order_p *p;

	switch (type) {
	case EV_GO_START:
	case EV_GO_UNBLOCK:
	case EV_GO_SWITCH:
	case EV_GO_SWITCH_DESTROY:
		g = order__find_g(o, arg[0]);
		arg[1] = g ? g->seq.n + 1 : 0;
		return;
	case EV_PROC_START:
	case EV_PROC_STEAL:
		p = map__get(&o->p, arg[0]);
		arg[1] = p ? p->seq.n + 1 : 0;
		return;
	case EV_GO_SYSCALL_BEGIN: /* of the P that the thread has */
		arg[0] = m && m->ps ? m->ps->seq.n + 1 : 0;
		return;
	case EV_GC_ACTIVE:
	case EV_GC_BEGIN:
	case EV_GC_END:
		arg[0] = o->gc_seq + 1;
		return;
	}
}

int order__write(struct order *o, uint8_t type, uint64_t *arg, struct order_place *at)
{
	static const struct dictionary empty;
	const struct order_event ev = { .arg = arg, .type = type };
	struct trace_event ret;

	at->dictionary = &empty;
	if (!at->state && at->m != TRACE_NO_M)
		at->state = map__get(&o->m, at->m);
	number(o, type, arg, at->state);
	o->extras = 0;
	return order__advance(o, &ev, at, &ret, NULL);
}
