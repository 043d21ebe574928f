// SPDX-License-Identifier: GPL-2.0
/*
 * Which event may come next: goroutines and their system calls, and the table of all rules.
 *
 * Each function below tries one kind of event against the state. It returns 1 after it changed the
 * state and filled in what to deliver (the context is the one before the change), 0 if another
 * thread's event has to come first, and -EBADMSG if no order of the events could make it right. This
 * runs once an event of the file, so the thread's state is at hand and only events that name another
 * goroutine look it up.
 */
#include <stdarg.h>

#include "trace/order_impl.h"

#define GO_STATUS_MAX GO_WAITING

static const uint8_t go_state_of[] = {
	[GO_RUNNABLE] = GO_STATE_RUNNABLE,
	[GO_RUNNING] = GO_STATE_RUNNING,
	[GO_SYSCALL] = GO_STATE_SYSCALL,
	[GO_WAITING] = GO_STATE_WAITING,
};

int step__broken(const struct step *s, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return error__set(s->err, -EBADMSG, "%s", text);
}

int step__undefined(const struct step *s, const char *what, uint64_t id)
{
	return step__broken(s, "%s %" PRIu64 " is not defined", what, id);
}

int step__deliver(const struct step *s)
{
	const struct ev_spec *spec = spec__event(s->ev->type);
	int ret = 1;

	for (unsigned int i = 1; i < spec->nargs && ret > 0; i++) {
		if (spec->arg[i].type == ARG_STACK)
			ret = step__stack(s, s->ev->arg[i - 1]);
		else if (spec->arg[i].type == ARG_STRING)
			ret = step__string(s, s->ev->arg[i - 1]);
	}
	return ret > 0 ? step__fill(s) : ret;
}

int step__lacks(const struct step *s, unsigned int need)
{
	if ((need & NEED_M) && !s->m)
		return step__broken(s, "expected a thread but didn't have one");
	if ((need & NEED_P) && s->m->p == TRACE_NO_P)
		return step__broken(s, "expected a proc but didn't have one");
	if ((need & NEED_NO_P) && s->m->p != TRACE_NO_P)
		return step__broken(s, "expected no proc but had one");
	if (need & NEED_G)
		return step__broken(s, "expected a goroutine but didn't have one");
	return step__broken(s, "expected no goroutine but had one");
}

/* The goroutine that runs on the thread, which has one; NULL: it does not run, and that is said. */
static struct order_g *running_g(const struct step *s)
{
	struct order_g *g = step__g(s);

	if (g && g->status == GO_RUNNING)
		return g;
	if (g)
		step__broken(s, "goroutine %" PRIu64 " is not running", s->m->g);
	else
		step__broken(s, "goroutine %" PRIu64 " does not exist", s->m->g);
	return NULL;
}

/* The goroutine in a system call on the thread, which has one; NULL: it is in none. */
static struct order_g *syscall_g(const struct step *s)
{
	struct order_g *g = step__g(s);

	if (g && g->status == GO_SYSCALL)
		return g;
	step__broken(s, "goroutine %" PRIu64 " is not in a system call", s->m->g);
	return NULL;
}

static void unbind_g(struct order_m *m)
{
	m->g = TRACE_NO_G;
	m->gs = NULL;
}

static void bind_g(struct order_m *m, struct order_g *g)
{
	m->g = g->id;
	m->gs = g;
}

/* goroutines */

/* A goroutine in a system call all along, on a thread that no batch of the generation is of. */
static int asleep_in_syscall(const struct step *s, struct order_g *g, uint64_t m)
{
	struct order_m *sleeper = map__get(&s->o->m, m);

	step__fill(s);
	if (sleeper) {
		if (sleeper->g != g->id)
			return step__broken(s,
					    "goroutine %" PRIu64
					    " is in a system call on thread %" PRIu64
					    ", which has another one",
					    g->id, m);
		s->ret->g = g->id;
	} else {
		sleeper = order__new_m(s->o, m);
		if (!sleeper)
			return -ENOMEM;
		bind_g(sleeper, g);
	}
	s->ret->m = m;
	return 1;
}

static int bind_by_status(const struct step *s, struct order_g *g, uint8_t status)
{
	uint64_t m = s->ev->arg[1];

	if (s->ev->type == EV_GO_STATUS_STACK && step__stack(s, s->ev->arg[3]) < 0)
		return -EBADMSG;
	if (status == GO_SYSCALL && m == TRACE_NO_M)
		return step__broken(s, "goroutine %" PRIu64 " is in a system call without a thread",
				    g->id);
	if (status == GO_SYSCALL && m != s->at->m)
		return asleep_in_syscall(s, g, m);
	if (status == GO_SYSCALL && s->at->gen != s->o->first_gen && s->m->g != g->id)
		return step__broken(s,
				    "goroutine %" PRIu64 " is in a system call on thread %" PRIu64
				    ", which has another one",
				    g->id, m);
	step__fill(s);
	if (s->m && (status == GO_RUNNING || status == GO_SYSCALL))
		bind_g(s->m, g);
	return 1;
}

static int go_status(const struct step *s)
{
	uint64_t id = s->ev->arg[0];
	uint8_t status = (uint8_t)s->ev->arg[2], old;
	struct order_g *g = map__get(&s->o->g, id);
	int ret;

	if (status > GO_STATUS_MAX)
		return step__broken(s, "invalid status %u of goroutine %" PRIu64, status, id);
	old = go_state_of[status];
	if (g) {
		if (g->status != status)
			return step__broken(s, "goroutine %" PRIu64 " has status %u, not %u", id,
					    g->status, status);
	} else if (s->at->gen == s->o->first_gen) {
		g = order__new_g(s->o, id);
		if (!g)
			return -ENOMEM;
		g->status = status;
		old = GO_STATE_UNDETERMINED;
	} else {
		return step__broken(s,
				    "a status of goroutine %" PRIu64
				    ", of which the first generation knows nothing",
				    id);
	}
	g->seq = step__seq(s, 0);
	ret = bind_by_status(s, g, status);
	s->ret->arg[2] = status;
	s->ret->old = old;
	return ret;
}

static struct order_g *create_g(const struct step *s, uint8_t status, int *err)
{
	uint64_t id = s->ev->arg[0];
	struct order_g *g;

	if (map__get(&s->o->g, id)) {
		*err = step__broken(s, "goroutine %" PRIu64 " exists already", id);
		return NULL;
	}
	g = order__new_g(s->o, id);
	if (!g) {
		*err = -ENOMEM;
		return NULL;
	}
	g->status = status;
	g->seq = step__seq(s, 0);
	return g;
}

static int go_create(const struct step *s)
{
	int err = step__need(s, NEED_M | NEED_P);
	struct order_g *creator;

	if (err)
		return err;
	creator = step__g(s); /* there need not be one */
	if (creator && creator->status != GO_RUNNING)
		return step__broken(s, "goroutine %" PRIu64 " is not running", s->m->g);
	if (!create_g(s, s->ev->type == EV_GO_CREATE ? GO_RUNNABLE : GO_WAITING, &err))
		return err;
	return step__deliver(s);
}

static int go_create_syscall(const struct step *s)
{
	int err = step__need(s, NEED_M | NEED_NO_G);
	struct order_g *g;

	if (err)
		return err;
	g = create_g(s, GO_SYSCALL, &err);
	if (!g)
		return err;
	step__fill(s);
	bind_g(s->m, g);
	return 1;
}

static int go_start(const struct step *s)
{
	struct order_g *g = map__get(&s->o->g, s->ev->arg[0]);
	int err;

	if (!g || g->status != GO_RUNNABLE || !step__succeeds(s, s->ev->arg[1], g->seq))
		return 0;
	err = step__need(s, NEED_M | NEED_P | NEED_NO_G);
	if (err)
		return err;
	g->status = GO_RUNNING;
	g->seq.n = s->ev->arg[1];
	step__fill(s);
	bind_g(s->m, g);
	return 1;
}

/* GoStop, GoBlock, GoDestroy */
static int go_leave(const struct step *s)
{
	int err = step__need(s, NEED_USER);
	struct order_g *g;

	if (err)
		return err;
	g = running_g(s);
	if (!g)
		return -EBADMSG;
	if (s->ev->type == EV_GO_DESTROY)
		order__forget_g(s->o, g);
	else if (step__string(s, s->ev->arg[0]) < 0 || step__stack(s, s->ev->arg[1]) < 0)
		return -EBADMSG;
	else
		g->status = s->ev->type == EV_GO_STOP ? GO_RUNNABLE : GO_WAITING;
	step__fill(s);
	unbind_g(s->m);
	return 1;
}

static int go_unblock(const struct step *s)
{
	struct order_g *g = map__get(&s->o->g, s->ev->arg[0]);

	if (!g || g->status != GO_WAITING || !step__succeeds(s, s->ev->arg[1], g->seq))
		return 0;
	g->status = GO_RUNNABLE;
	g->seq.n = s->ev->arg[1];
	step__fill(s); /* of anybody: the network poller, sysmon */
	return step__stack(s, s->ev->arg[2]);
}

/* An event that the file does not have, delivered after the present one. */
static struct trace_event *extra(const struct step *s, enum ev type)
{
	struct trace_event *e = &s->o->extra[s->o->extras++];

	*e = *s->ret;
	e->type = type;
	e->extra = true;
	memset(e->arg, 0, sizeof(e->arg));
	return e;
}

/* One goroutine hands the thread to another: three events, of which the file has one. */
static int go_switch(const struct step *s)
{
	int err = step__need(s, NEED_USER);
	struct order_g *g, *next;
	struct trace_event *start;

	if (err)
		return err;
	g = running_g(s);
	if (!g)
		return -EBADMSG;
	next = map__get(&s->o->g, s->ev->arg[0]);
	if (!next || next->status != GO_WAITING || !step__succeeds(s, s->ev->arg[1], next->seq))
		return 0;
	step__fill(s);
	if (s->ev->type == EV_GO_SWITCH) {
		g->status = GO_WAITING;
		extra(s, EV_GO_BLOCK);
	} else {
		order__forget_g(s->o, g);
		extra(s, EV_GO_DESTROY);
	}
	next->status = GO_RUNNING;
	next->seq.n = s->ev->arg[1];
	start = extra(s, EV_GO_START);
	start->g = TRACE_NO_G;
	start->arg[0] = next->id;
	start->arg[1] = s->ev->arg[1];
	bind_g(s->m, next);
	return 1;
}

/* system calls */

static int go_syscall_begin(const struct step *s)
{
	int err = step__need(s, NEED_USER);
	struct order_p *p;
	struct order_g *g;

	if (err)
		return err;
	g = running_g(s);
	if (!g)
		return -EBADMSG;
	p = s->m->ps;
	/* The sequence number tells which system call a ProcSteal is about; a P that runs here can
	   wait for nobody. */
	if (!step__succeeds(s, s->ev->arg[0], p->seq))
		return step__broken(s,
				    "sequence number %" PRIu64 " of proc %" PRIu64
				    " does not follow %" PRIu64 " of generation %" PRIu64,
				    s->ev->arg[0], p->id, p->seq.n, p->seq.gen);
	g->status = GO_SYSCALL;
	p->status = PROC_SYSCALL;
	p->seq.n = s->ev->arg[0];
	step__fill(s);
	return step__stack(s, s->ev->arg[1]);
}

static int go_syscall_end(const struct step *s)
{
	int err = step__need(s, NEED_USER);
	struct order_g *g;

	if (err)
		return err;
	g = syscall_g(s);
	if (!g)
		return -EBADMSG;
	if (s->m->ps->status != PROC_SYSCALL)
		return step__broken(s, "proc %" PRIu64 " is not in a system call", s->m->p);
	g->status = GO_RUNNING;
	s->m->ps->status = PROC_RUNNING;
	return step__fill(s);
}

static int go_syscall_end_blocked(const struct step *s)
{
	struct order_g *g;
	int err;

	/* The event tells that the P was lost meanwhile; that comes first. */
	if (s->m && s->m->p != TRACE_NO_P && s->m->ps->status == PROC_SYSCALL)
		return 0;
	err = step__need(s, NEED_M | NEED_G); /* a new P may be there already */
	if (err)
		return err;
	g = syscall_g(s);
	if (!g)
		return -EBADMSG;
	g->status = GO_RUNNABLE;
	step__fill(s);
	unbind_g(s->m);
	return 1;
}

/* The end of a callback from C: the goroutine goes, and with it what ties the P to the thread. */
static int go_destroy_syscall(const struct step *s)
{
	int err = step__need(s, NEED_M | NEED_G);
	struct trace_event *e = s->ret;
	struct order_g *g;

	if (err)
		return err;
	g = syscall_g(s);
	if (!g)
		return -EBADMSG;
	step__fill(s);
	if (s->m->p != TRACE_NO_P) {
		if (s->m->ps->status != PROC_SYSCALL)
			return step__broken(s, "proc %" PRIu64 " is not in a system call", s->m->p);
		s->m->ps->status = PROC_ABANDONED;
		/* Delivered before it: the thread takes the P from itself. */
		s->o->extra[s->o->extras++] = *e;
		e->type = EV_PROC_STEAL;
		e->extra = true;
		e->old = PROC_SYSCALL;
		memset(e->arg, 0, sizeof(e->arg));
		e->arg[0] = s->m->p;
		step__unbind_p(s->m);
	}
	order__forget_g(s->o, g);
	unbind_g(s->m);
	return 1;
}

/* what only has to have the right surroundings */

static int annotation(const struct step *s)
{
	int err = step__need(s, NEED_USER);

	return err ? err : step__deliver(s);
}

static int heap_metric(const struct step *s)
{
	int err = step__need(s, NEED_M | NEED_P);

	return err ? err : step__deliver(s);
}

static int alloc_free(const struct step *s)
{
	int err = step__need(s, NEED_M);

	return err ? err : step__deliver(s);
}

static int (*const rule[256])(const struct step *s) = {
	[EV_PROCS_CHANGE] = annotation,
	[EV_PROC_START] = step__proc_start,
	[EV_PROC_STOP] = step__proc_stop,
	[EV_PROC_STEAL] = step__proc_steal,
	[EV_PROC_STATUS] = step__proc_status,
	[EV_GO_CREATE] = go_create,
	[EV_GO_CREATE_SYSCALL] = go_create_syscall,
	[EV_GO_START] = go_start,
	[EV_GO_DESTROY] = go_leave,
	[EV_GO_DESTROY_SYSCALL] = go_destroy_syscall,
	[EV_GO_STOP] = go_leave,
	[EV_GO_BLOCK] = go_leave,
	[EV_GO_UNBLOCK] = go_unblock,
	[EV_GO_SYSCALL_BEGIN] = go_syscall_begin,
	[EV_GO_SYSCALL_END] = go_syscall_end,
	[EV_GO_SYSCALL_END_BLOCKED] = go_syscall_end_blocked,
	[EV_GO_STATUS] = go_status,
	[EV_STW_BEGIN] = step__range_begin,
	[EV_STW_END] = step__range_end,
	[EV_GC_ACTIVE] = step__gc_active,
	[EV_GC_BEGIN] = step__gc_begin,
	[EV_GC_END] = step__gc_end,
	[EV_GC_SWEEP_ACTIVE] = step__sweep_active,
	[EV_GC_SWEEP_BEGIN] = step__sweep_begin,
	[EV_GC_SWEEP_END] = step__sweep_end,
	[EV_GC_MARK_ASSIST_ACTIVE] = step__mark_assist_active,
	[EV_GC_MARK_ASSIST_BEGIN] = step__range_begin,
	[EV_GC_MARK_ASSIST_END] = step__range_end,
	[EV_HEAP_ALLOC] = heap_metric,
	[EV_HEAP_GOAL] = heap_metric,
	[EV_GO_LABEL] = annotation,
	[EV_USER_TASK_BEGIN] = step__task_begin,
	[EV_USER_TASK_END] = step__task_end,
	[EV_USER_REGION_BEGIN] = step__region_begin,
	[EV_USER_REGION_END] = step__region_end,
	[EV_USER_LOG] = annotation,
	[EV_GO_SWITCH] = go_switch,
	[EV_GO_SWITCH_DESTROY] = go_switch,
	[EV_GO_CREATE_BLOCKED] = go_create,
	[EV_GO_STATUS_STACK] = go_status,
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
		   struct trace_event *ret, struct error *err)
{
	struct step s = { .o = o, .ev = ev, .at = at, .ret = ret, .err = err };

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
	switch (ev->type) { /* nine of ten events: without a detour */
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
		return step__broken(&s, "an event of this type has no place among others");
	return rule[ev->type](&s);
}
