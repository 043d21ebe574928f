// SPDX-License-Identifier: GPL-2.0
/*
 * Decides whether an event is legal in the output, and if so numbers it and updates the model.
 *
 * Upstream: rewrite.c, or rewrite_repair.c for a v1 trace. Downstream: the pending events, which
 * rewrite.c passes to writer/writer.c with their times. The rules are those of reader/order.c.
 * Since the order is given, no event ever waits, and sequence numbers result from the order: they
 * count from each status or creation in a generation.
 */
#include <string.h>

#include "rewrite/rewrite_rules.h"

static struct rw_g *running_g(const struct rw_step *s)
{
	struct rw_g *g = rw_step__user(s) ? rw_step__g(s) : NULL;

	return g && g->status == GO_RUNNING ? g : NULL;
}

/* The goroutine, if it has this status, and had a status or creation in this generation. */
static struct rw_g *numbered_g(const struct rw_step *s, uint64_t id, uint8_t status)
{
	struct rw_g *g = rw__g(s->r, id);

	return g && g->status == status && g->stamp == s->r->stamp ? g : NULL;
}

static struct rw_p *numbered_p(const struct rw_step *s, uint64_t id)
{
	struct rw_p *p = rw__p(s->r, id);

	return p && p->stamp == s->r->stamp ? p : NULL;
}

static void bind_p(const struct rw_step *s, struct rw_p *p)
{
	if (s->m) {
		s->m->p = p->id;
		p->m = s->m->id;
	}
}

static void bind_g(struct rw_m *m, struct rw_g *g)
{
	m->g = g->id;
	g->m = m->id;
}

/* Ps */

static bool proc_status(const struct rw_step *s)
{
	struct rw_p *p = rw__p(s->r, s->arg[0]);
	uint64_t status = s->arg[1];

	if (status > PROC_ABANDONED || (p && p->status != status))
		return false;
	if (!p)
		p = rw__new_p(s->r, s->arg[0]);
	if (!p)
		return false;
	p->status = (uint8_t)status;
	p->stamp = s->r->stamp;
	p->seq = 0;
	if (status == PROC_RUNNING || status == PROC_SYSCALL)
		bind_p(s, p);
	return true;
}

static bool proc_start(const struct rw_step *s)
{
	struct rw_p *p = numbered_p(s, s->arg[0]);

	if (!p || p->status != PROC_IDLE || !s->m || rw_step__has_p(s))
		return false;
	p->status = PROC_RUNNING;
	s->arg[1] = ++p->seq;
	bind_p(s, p);
	return true;
}

static bool proc_stop(const struct rw_step *s)
{
	struct rw_p *p = rw_step__p(s);

	if (!p || (p->status != PROC_RUNNING && p->status != PROC_SYSCALL))
		return false;
	p->status = PROC_IDLE;
	s->m->p = TRACE_NO_P;
	return true;
}

static bool proc_steal(const struct rw_step *s)
{
	struct rw_p *p = numbered_p(s, s->arg[0]);
	struct rw_m *victim;

	if (!p || !s->m || (p->status != PROC_SYSCALL && p->status != PROC_ABANDONED))
		return false;
	if (p->status == PROC_SYSCALL) {
		victim = rw__m(s->r, s->arg[2]);
		if (!victim || victim->p != p->id)
			return false;
		victim->p = TRACE_NO_P;
	}
	p->status = PROC_IDLE;
	s->arg[1] = ++p->seq;
	return true;
}

/* goroutines */

/* The thread to which a status binds its goroutine; NULL: none. Returns false if it is illegal. */
static bool thread_of_status(const struct rw_step *s, struct rw_m **ret)
{
	uint64_t id = s->arg[0], m = s->arg[1], status = s->arg[2];
	struct rw_m *sleeper;

	*ret = NULL;
	if (status == GO_RUNNING)
		*ret = s->m;
	if (status != GO_SYSCALL)
		return true;
	if (m == TRACE_NO_M)
		return false;
	sleeper = rw__m(s->r, m);
	if (sleeper && sleeper->g != id && !(s->m == sleeper && s->r->first))
		return false;
	*ret = rw__make_m(s->r, m);
	return *ret != NULL;
}

static bool go_status(const struct rw_step *s)
{
	struct rw_g *g = rw__g(s->r, s->arg[0]);
	uint64_t status = s->arg[2];
	struct rw_m *m;

	if (status > GO_WAITING || (g ? g->status != status : !s->r->first))
		return false;
	if (!thread_of_status(s, &m))
		return false;
	if (!g)
		g = rw__new_g(s->r, s->arg[0]);
	if (!g)
		return false;
	g->status = (uint8_t)status;
	g->stamp = s->r->stamp;
	g->seq = 0;
	if (m)
		bind_g(m, g);
	return true;
}

static struct rw_g *create_g(const struct rw_step *s, uint8_t status)
{
	struct rw_g *g = rw__g(s->r, s->arg[0]) ? NULL : rw__new_g(s->r, s->arg[0]);

	if (g)
		g->status = status;
	return g;
}

static bool go_create(const struct rw_step *s)
{
	const struct rw_g *creator;

	if (!rw_step__has_p(s))
		return false;
	creator = rw__g(
		s->r,
		s->m->g); /* m->g may be TRACE_NO_G, the id of a goroutine in crafted traces */
	if (creator && creator->status != GO_RUNNING)
		return false;
	return create_g(s, s->type == EV_GO_CREATE ? GO_RUNNABLE : GO_WAITING);
}

static bool go_create_syscall(const struct rw_step *s)
{
	struct rw_g *g = s->m && !rw_step__has_g(s) ? create_g(s, GO_SYSCALL) : NULL;

	if (g)
		bind_g(s->m, g);
	return g;
}

static bool go_start(const struct rw_step *s)
{
	struct rw_g *g = numbered_g(s, s->arg[0], GO_RUNNABLE);

	if (!g || !rw_step__has_p(s) || rw_step__has_g(s))
		return false;
	g->status = GO_RUNNING;
	s->arg[1] = ++g->seq;
	bind_g(s->m, g);
	return true;
}

/* GoStop, GoBlock, GoDestroy */
static bool go_leave(const struct rw_step *s)
{
	struct rw_g *g = running_g(s);

	if (!g)
		return false;
	s->m->g = TRACE_NO_G;
	g->status = s->type == EV_GO_STOP ? GO_RUNNABLE : GO_WAITING;
	if (s->type == EV_GO_DESTROY)
		rw__forget_g(s->r, g);
	return true;
}

static bool go_unblock(const struct rw_step *s)
{
	struct rw_g *g = numbered_g(s, s->arg[0], GO_WAITING);

	if (!g)
		return false;
	g->status = GO_RUNNABLE;
	s->arg[1] = ++g->seq;
	return true;
}

static bool go_switch(const struct rw_step *s)
{
	struct rw_g *g = running_g(s), *next = numbered_g(s, s->arg[0], GO_WAITING);

	if (!g || !next)
		return false;
	g->status = GO_WAITING;
	if (s->type == EV_GO_SWITCH_DESTROY)
		rw__forget_g(s->r, g);
	next->status = GO_RUNNING;
	s->arg[1] = ++next->seq;
	bind_g(s->m, next);
	return true;
}

/* system calls */

static bool go_syscall_begin(const struct rw_step *s)
{
	struct rw_p *p = rw_step__has_p(s) ? numbered_p(s, s->m->p) : NULL;
	struct rw_g *g = running_g(s);

	if (!g || !p)
		return false;
	g->status = GO_SYSCALL;
	p->status = PROC_SYSCALL;
	s->arg[0] = ++p->seq;
	return true;
}

static bool go_syscall_end(const struct rw_step *s)
{
	struct rw_g *g = rw_step__g(s);
	struct rw_p *p = rw_step__p(s);

	if (!g || g->status != GO_SYSCALL || !p || p->status != PROC_SYSCALL)
		return false;
	g->status = GO_RUNNING;
	p->status = PROC_RUNNING;
	return true;
}

static bool go_syscall_end_blocked(const struct rw_step *s)
{
	const struct rw_p *p = rw_step__p(s);
	struct rw_g *g = rw_step__g(s);

	if (!g || g->status != GO_SYSCALL || (p && p->status == PROC_SYSCALL))
		return false;
	g->status = GO_RUNNABLE;
	s->m->g = TRACE_NO_G;
	return true;
}

static bool go_destroy_syscall(const struct rw_step *s)
{
	struct rw_g *g = rw_step__g(s);
	struct rw_p *p = rw_step__p(s);

	if (!g || g->status != GO_SYSCALL ||
	    (rw_step__has_p(s) && (!p || p->status != PROC_SYSCALL)))
		return false;
	if (p)
		p->status = PROC_ABANDONED;
	s->m->p = TRACE_NO_P;
	s->m->g = TRACE_NO_G;
	rw__forget_g(s->r, g);
	return true;
}

static bool has_thread(const struct rw_step *s)
{
	return s->m != NULL;
}

static bool (*const rule[EV_END])(const struct rw_step *s) = {
	[EV_PROCS_CHANGE] = rw_step__user,
	[EV_PROC_START] = proc_start,
	[EV_PROC_STOP] = proc_stop,
	[EV_PROC_STEAL] = proc_steal,
	[EV_PROC_STATUS] = proc_status,
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
	[EV_STW_BEGIN] = rw_rule__stw_begin,
	[EV_STW_END] = rw_rule__stw_end,
	[EV_GC_ACTIVE] = rw_rule__gc,
	[EV_GC_BEGIN] = rw_rule__gc,
	[EV_GC_END] = rw_rule__gc,
	[EV_GC_SWEEP_ACTIVE] = rw_rule__sweep_active,
	[EV_GC_SWEEP_BEGIN] = rw_rule__sweep_edge,
	[EV_GC_SWEEP_END] = rw_rule__sweep_edge,
	[EV_GC_MARK_ASSIST_ACTIVE] = rw_rule__assist_active,
	[EV_GC_MARK_ASSIST_BEGIN] = rw_rule__assist_edge,
	[EV_GC_MARK_ASSIST_END] = rw_rule__assist_edge,
	[EV_HEAP_ALLOC] = rw_step__has_p,
	[EV_HEAP_GOAL] = rw_step__has_p,
	[EV_GO_LABEL] = rw_step__user,
	[EV_USER_TASK_BEGIN] = rw_rule__task_begin,
	[EV_USER_TASK_END] = rw_rule__task_end,
	[EV_USER_REGION_BEGIN] = rw_rule__region_edge,
	[EV_USER_REGION_END] = rw_rule__region_edge,
	[EV_USER_LOG] = rw_step__user,
	[EV_GO_SWITCH] = go_switch,
	[EV_GO_SWITCH_DESTROY] = go_switch,
	[EV_GO_CREATE_BLOCKED] = go_create,
	[EV_GO_STATUS_STACK] = go_status,
	[EV_SPAN] = has_thread,
	[EV_SPAN_ALLOC] = has_thread,
	[EV_SPAN_FREE] = has_thread,
	[EV_HEAP_OBJECT] = has_thread,
	[EV_HEAP_OBJECT_ALLOC] = has_thread,
	[EV_HEAP_OBJECT_FREE] = has_thread,
	[EV_GOROUTINE_STACK] = has_thread,
	[EV_GOROUTINE_STACK_ALLOC] = has_thread,
	[EV_GOROUTINE_STACK_FREE] = has_thread,
};

bool rw__put(struct rewrite *r, uint64_t m, enum ev type, const uint64_t *arg)
{
	struct rw_event *ev = &r->pending[r->npending];
	struct rw_step s = { .r = r, .type = type, .arg = ev->arg };

	if (r->npending == PENDING_MAX || !rule[type])
		return false;
	if (m != TRACE_NO_M) {
		s.m = rw__make_m(r, m);
		if (!s.m)
			return false;
	}
	ev->m = m;
	ev->type = type;
	memcpy(ev->arg, arg, sizeof(ev->arg));
	if (!rule[type](&s))
		return false;
	r->npending++;
	return true;
}
