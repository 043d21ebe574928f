// SPDX-License-Identifier: GPL-2.0
/*
 * Rules of the event order: goroutines that run, block and make system calls, and the table of all
 * rules.
 *
 * Upstream: reader/reader.c, which offers the next event of a thread. Each rule checks one event
 * type against the state. It returns 1 after it has updated the state and filled in the event to
 * deliver, with the context before the update; 0 if an event of another thread must come first;
 * -EBADMSG if no order can make the event valid. A rule runs for each event of the file. So the
 * state of the thread is passed to it, and only events that name another goroutine look one up.
 */
#include <stdarg.h>

#include "reader/order_impl.h"

int order_step__broken(const struct order_step *s, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return error__set(s->err, -EBADMSG, "%s", text);
}

int order_step__undefined(const struct order_step *s, const char *what, uint64_t id)
{
	return s->at->name ? 1 : order_step__broken(s, "%s %" PRIu64 " is not defined", what, id);
}

int order_step__not_guessed(const struct order_step *s, int err)
{
	return err == -EBADMSG ? order_step__broken(s, "the state at the start is needed") : err;
}

int order_step__deliver(const struct order_step *s)
{
	const struct ev_spec *spec = spec__event(s->ev->type);
	int ret = 1;

	for (unsigned int i = 1; i < spec->nargs && ret > 0; i++) {
		if (spec->arg[i].type == ARG_STACK)
			ret = order_step__stack(s, s->ev->arg[i - 1]);
		else if (spec->arg[i].type == ARG_STRING)
			ret = order_step__string(s, s->ev->arg[i - 1]);
	}
	return ret > 0 ? order_step__fill(s) : ret;
}

int order_step__report_missing(const struct order_step *s, unsigned int need)
{
	if ((need & NEED_M) && !s->m)
		return order_step__broken(s, "expected a thread but didn't have one");
	if ((need & NEED_P) && s->m->p == TRACE_NO_P)
		return order_step__broken(s, "expected a proc but didn't have one");
	if ((need & NEED_NO_P) && s->m->p != TRACE_NO_P)
		return order_step__broken(s, "expected no proc but had one");
	if (need & NEED_G)
		return order_step__broken(s, "expected a goroutine but didn't have one");
	return order_step__broken(s, "expected no goroutine but had one");
}

/* The running goroutine of the thread, which has one; NULL with an error if it is not running. */
static FREQUENT struct order_g *running_g(const struct order_step *s)
{
	struct order_g *g = order_step__g(s);

	if (g && g->status == GO_RUNNING)
		return g;
	if (g)
		order_step__broken(s, "goroutine %" PRIu64 " is not running", s->m->g);
	else
		order_step__broken(s, "goroutine %" PRIu64 " does not exist", s->m->g);
	return NULL;
}

/* The goroutine of the thread, which has one; NULL with an error if it is not in a system call. */
static FREQUENT struct order_g *syscall_g(const struct order_step *s)
{
	struct order_g *g = order_step__g(s);

	if (g && g->status == GO_SYSCALL)
		return g;
	order_step__broken(s, "goroutine %" PRIu64 " is not in a system call", s->m->g);
	return NULL;
}

/* goroutines */

static FREQUENT int go_start(const struct order_step *s)
{
	struct order_g *g = order__find_g(s->o, s->ev->arg[0]);
	int err;

	if (!g || g->status != GO_RUNNABLE || !order_step__succeeds(s, s->ev->arg[1], g->seq))
		return 0;
	err = order_step__need(s, NEED_M | NEED_P | NEED_NO_G);
	if (err)
		return err;
	g->status = GO_RUNNING;
	g->seq.n = s->ev->arg[1];
	order_step__fill(s);
	order_m__bind_g(s->m, g);
	return 1;
}

/* GoStop, GoBlock, GoDestroy */
static FREQUENT int go_leave(const struct order_step *s)
{
	int err = order_step__need(s, NEED_USER);
	struct order_g *g;

	if (err)
		return err;
	g = running_g(s);
	if (!g)
		return -EBADMSG;
	if (s->ev->type == EV_GO_DESTROY)
		order__forget_g(s->o, g);
	else if (order_step__string(s, s->ev->arg[0]) < 0 ||
		 order_step__stack(s, s->ev->arg[1]) < 0)
		return -EBADMSG;
	else
		g->status = s->ev->type == EV_GO_STOP ? GO_RUNNABLE : GO_WAITING;
	order_step__fill(s);
	order_m__unbind_g(s->m);
	return 1;
}

static FREQUENT int go_unblock(const struct order_step *s)
{
	struct order_g *g = order__find_g(s->o, s->ev->arg[0]);

	if (!g || g->status != GO_WAITING || !order_step__succeeds(s, s->ev->arg[1], g->seq))
		return 0;
	g->status = GO_RUNNABLE;
	g->seq.n = s->ev->arg[1];
	order_step__fill(s); /* from any context: the network poller, sysmon */
	return order_step__stack(s, s->ev->arg[2]);
}

/* Adds an event that is not in the file; the reader delivers it after the present one. */
static struct trace_event *add_extra(const struct order_step *s, enum ev type)
{
	struct trace_event *e = &s->o->extra[s->o->extras++];

	*e = *s->ret;
	e->type = type;
	e->extra = true;
	memset(e->arg, 0, sizeof(e->arg));
	return e;
}

/* A coroutine switch: one event in the file, three to deliver. */
static int go_switch(const struct order_step *s)
{
	int err = order_step__need(s, NEED_USER);
	struct order_g *g, *next;
	struct trace_event *start;

	if (err)
		return err;
	g = running_g(s);
	if (!g)
		return -EBADMSG;
	next = order__find_g(s->o, s->ev->arg[0]);
	if (!next || next->status != GO_WAITING ||
	    !order_step__succeeds(s, s->ev->arg[1], next->seq))
		return 0;
	order_step__fill(s);
	if (s->ev->type == EV_GO_SWITCH) {
		g->status = GO_WAITING;
		add_extra(s, EV_GO_BLOCK);
	} else {
		order__forget_g(s->o, g);
		add_extra(s, EV_GO_DESTROY);
	}
	next->status = GO_RUNNING;
	next->seq.n = s->ev->arg[1];
	start = add_extra(s, EV_GO_START);
	start->g = TRACE_NO_G;
	start->arg[0] = next->id;
	start->arg[1] = s->ev->arg[1];
	order_m__bind_g(s->m, next);
	return 1;
}

/* system calls */

static FREQUENT int go_syscall_begin(const struct order_step *s)
{
	int err = order_step__need(s, NEED_USER);
	struct order_p *p;
	struct order_g *g;

	if (err)
		return err;
	g = running_g(s);
	if (!g)
		return -EBADMSG;
	p = s->m->ps;
	/*
	 * The sequence number identifies the system call for a ProcSteal. The P runs on this
	 * thread, so there is no other event to wait for.
	 */
	if (!order_step__succeeds(s, s->ev->arg[0], p->seq))
		return order_step__broken(s,
					  "sequence number %" PRIu64 " of proc %" PRIu64
					  " does not follow %" PRIu64 " of generation %" PRIu64,
					  s->ev->arg[0], p->id, p->seq.n, p->seq.gen);
	g->status = GO_SYSCALL;
	p->status = PROC_SYSCALL;
	p->seq.n = s->ev->arg[0];
	order_step__fill(s);
	return order_step__stack(s, s->ev->arg[1]);
}

static FREQUENT int go_syscall_end(const struct order_step *s)
{
	int err = order_step__need(s, NEED_USER);
	struct order_g *g;

	if (err)
		return err;
	g = syscall_g(s);
	if (!g)
		return -EBADMSG;
	if (s->m->ps->status != PROC_SYSCALL)
		return order_step__broken(s, "proc %" PRIu64 " is not in a system call", s->m->p);
	g->status = GO_RUNNING;
	s->m->ps->status = PROC_RUNNING;
	return order_step__fill(s);
}

static int go_syscall_end_blocked(const struct order_step *s)
{
	struct order_g *g;
	int err;

	/* The thread has lost its P; the event that takes it must come first. */
	if (s->m && s->m->p != TRACE_NO_P && s->m->ps->status == PROC_SYSCALL)
		return 0;
	err = order_step__need(s, NEED_M | NEED_G); /* it may already have a new P */
	if (err)
		return err;
	g = syscall_g(s);
	if (!g)
		return -EBADMSG;
	g->status = GO_RUNNABLE;
	order_step__fill(s);
	order_m__unbind_g(s->m);
	return 1;
}

/* The end of a call from C to Go: ends the goroutine and separates the P from the thread. */
static int go_destroy_syscall(const struct order_step *s)
{
	int err = order_step__need(s, NEED_M | NEED_G);
	struct trace_event *e = s->ret;
	struct order_g *g;

	if (err)
		return err;
	g = syscall_g(s);
	if (!g)
		return -EBADMSG;
	order_step__fill(s);
	if (s->m->p != TRACE_NO_P) {
		if (s->m->ps->status != PROC_SYSCALL)
			return order_step__broken(s, "proc %" PRIu64 " is not in a system call",
						  s->m->p);
		s->m->ps->status = PROC_ABANDONED;
		/* Deliver before it: the thread takes the P from itself. */
		s->o->extra[s->o->extras++] = *e;
		e->type = EV_PROC_STEAL;
		e->extra = true;
		e->old = PROC_SYSCALL;
		memset(e->arg, 0, sizeof(e->arg));
		e->arg[0] = s->m->p;
		order_m__unbind_p(s->m);
	}
	order__forget_g(s->o, g);
	order_m__unbind_g(s->m);
	return 1;
}

/* events that only require a certain context */

static int annotation(const struct order_step *s)
{
	int err = order_step__need(s, NEED_USER);

	return err ? err : order_step__deliver(s);
}

static int heap_metric(const struct order_step *s)
{
	int err = order_step__need(s, NEED_M | NEED_P);

	return err ? err : order_step__deliver(s);
}

static int alloc_free(const struct order_step *s)
{
	int err = order_step__need(s, NEED_M);

	return err ? err : order_step__deliver(s);
}

static int (*const rule[256])(const struct order_step *s) = {
	[EV_PROCS_CHANGE] = annotation,
	[EV_PROC_START] = order_step__proc_start,
	[EV_PROC_STOP] = order_step__proc_stop,
	[EV_PROC_STEAL] = order_step__proc_steal,
	[EV_PROC_STATUS] = order_step__proc_status,
	[EV_GO_CREATE] = order_step__go_create,
	[EV_GO_CREATE_SYSCALL] = order_step__go_create_syscall,
	[EV_GO_START] = go_start,
	[EV_GO_DESTROY] = go_leave,
	[EV_GO_DESTROY_SYSCALL] = go_destroy_syscall,
	[EV_GO_STOP] = go_leave,
	[EV_GO_BLOCK] = go_leave,
	[EV_GO_UNBLOCK] = go_unblock,
	[EV_GO_SYSCALL_BEGIN] = go_syscall_begin,
	[EV_GO_SYSCALL_END] = go_syscall_end,
	[EV_GO_SYSCALL_END_BLOCKED] = go_syscall_end_blocked,
	[EV_GO_STATUS] = order_step__go_status,
	[EV_STW_BEGIN] = order_step__range_begin,
	[EV_STW_END] = order_step__range_end,
	[EV_GC_ACTIVE] = order_step__gc_active,
	[EV_GC_BEGIN] = order_step__gc_begin,
	[EV_GC_END] = order_step__gc_end,
	[EV_GC_SWEEP_ACTIVE] = order_step__sweep_active,
	[EV_GC_SWEEP_BEGIN] = order_step__sweep_begin,
	[EV_GC_SWEEP_END] = order_step__sweep_end,
	[EV_GC_MARK_ASSIST_ACTIVE] = order_step__mark_assist_active,
	[EV_GC_MARK_ASSIST_BEGIN] = order_step__range_begin,
	[EV_GC_MARK_ASSIST_END] = order_step__range_end,
	[EV_HEAP_ALLOC] = heap_metric,
	[EV_HEAP_GOAL] = heap_metric,
	[EV_GO_LABEL] = annotation,
	[EV_USER_TASK_BEGIN] = order_step__task_begin,
	[EV_USER_TASK_END] = order_step__task_end,
	[EV_USER_REGION_BEGIN] = order_step__region_begin,
	[EV_USER_REGION_END] = order_step__region_end,
	[EV_USER_LOG] = annotation,
	[EV_GO_SWITCH] = go_switch,
	[EV_GO_SWITCH_DESTROY] = go_switch,
	[EV_GO_CREATE_BLOCKED] = order_step__go_create,
	[EV_GO_STATUS_STACK] = order_step__go_status,
	[EV_SPAN] = alloc_free,
	[EV_SPAN_ALLOC] = alloc_free,
	[EV_SPAN_FREE] = alloc_free,
	[EV_HEAP_OBJECT] = alloc_free,
	[EV_HEAP_OBJECT_ALLOC] = alloc_free,
	[EV_HEAP_OBJECT_FREE] = alloc_free,
	[EV_GOROUTINE_STACK] = alloc_free,
	[EV_GOROUTINE_STACK_ALLOC] = alloc_free,
	[EV_GOROUTINE_STACK_FREE] = alloc_free,
};

int order__advance(struct order *o, const struct order_event *ev, struct order_place *at,
		   struct trace_event *ret, struct error *error)
{
	struct order_step s = { .o = o, .ev = ev, .at = at, .ret = ret, .err = error };

	if (!o->first_gen)
		o->first_gen = at->gen;
	if (!at->state && at->m != TRACE_NO_M) {
		at->state = map__get(&o->m, at->m);
		if (!at->state)
			at->state = order__new_m(o, at->m);
		if (!at->state)
			return -ENOMEM;
	}
	s.m = at->state;
	switch (ev->type) { /* nine of ten events, without an indirect call */
	case EV_GO_START:
		return go_start(&s);
	case EV_GO_UNBLOCK:
		return go_unblock(&s);
	case EV_GO_STOP:
	case EV_GO_BLOCK:
		return go_leave(&s);
	case EV_GO_SYSCALL_BEGIN:
		return go_syscall_begin(&s);
	case EV_GO_SYSCALL_END:
		return go_syscall_end(&s);
	}
	if (!rule[ev->type])
		return order_step__broken(&s, "an event of this type is not allowed here");
	return rule[ev->type](&s);
}
