// SPDX-License-Identifier: GPL-2.0
/*
 * Events of a v1 trace, made to obey the rules of v2.
 *
 * v1 events as trace/v1.h delivers them tell Ps, not threads: who was in a system call when tracing
 * began is on no thread, a P may be stopped from elsewhere, a system call ends on a P that does not
 * exist, and a goroutine may leave a P without it being said. Here is inserted what must have
 * happened before, and nothing else: the smallest steps from what the model says to where the event
 * fits.
 *
 * Before it in an event's way: rewrite.c. After it: rewrite_rules.c, for each step and the event
 * itself. An event that fits nowhere is left out, and those that need it are repaired in turn.
 */
#include "trace/rewrite_impl.h"

#define FAKE_P 1000000 /* v1's Ps from here on stand for timers, the network poller … */

static bool step(struct rewrite *r, uint64_t m, enum ev type, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t arg[EV_ARGS_MAX - 1] = { a, b, c };

	return rw__put(r, m, type, arg);
}

/* Out of a system call, without a P. */
static bool end_syscall(struct rewrite *r, const struct rw_g *g)
{
	const struct rw_m *m = rw_g__m(r, g);
	const struct rw_p *p = rw_m__p(r, m);

	if (!m || (p && p->status == PROC_SYSCALL && !step(r, m->id, EV_PROC_STOP, 0, 0, 0)))
		return false;
	return step(r, m->id, EV_GO_SYSCALL_END_BLOCKED, 0, 0, 0);
}

static bool stop_g(struct rewrite *r, const struct rw_g *g)
{
	const struct rw_m *m = rw_g__m(r, g);

	return m && step(r, m->id, EV_GO_STOP, 0, 0, 0);
}

static bool make_runnable(struct rewrite *r, uint64_t id)
{
	const struct rw_g *g = rw__g(r, id);

	if (!g)
		return step(r, TRACE_NO_M, EV_GO_STATUS, id, 0, GO_RUNNABLE);
	switch (g->status) {
	case GO_WAITING:
		return step(r, TRACE_NO_M, EV_GO_UNBLOCK, id, 0, 0);
	case GO_RUNNING:
		return stop_g(r, g);
	case GO_SYSCALL:
		return end_syscall(r, g);
	default:
		return g->status == GO_RUNNABLE;
	}
}

/* Takes a P from its thread, and a goroutine that runs there from it. */
static bool make_idle(struct rewrite *r, const struct rw_p *p)
{
	const struct rw_m *m = rw_p__m(r, p);
	const struct rw_g *g = rw_m__g(r, m);

	if (!m || (g && g->status == GO_RUNNING && !stop_g(r, g)))
		return false;
	return step(r, m->id, EV_PROC_STOP, 0, 0, 0);
}

/* The P runs on the thread from now on. */
static bool seat(struct rewrite *r, uint64_t m, uint64_t id)
{
	const struct rw_p *p = rw__p(r, id), *other = rw_m__p(r, rw__m(r, m));

	if (p && p == other && p->status == PROC_RUNNING)
		return true;
	if (other && other != p && !make_idle(r, other))
		return false;
	if (!p)
		return step(r, m, EV_PROC_STATUS, id, PROC_RUNNING, 0);
	if (p->status != PROC_IDLE && !make_idle(r, p))
		return false;
	return step(r, m, EV_PROC_START, id, 0, 0);
}

static bool real_p(const struct trace_event *ev)
{
	return ev->p < FAKE_P;
}

/* The thread of the event's P, with no goroutine on it. */
static uint64_t free_thread(struct rewrite *r, const struct trace_event *ev)
{
	const struct rw_m *m = rw_p__m(r, rw__p(r, ev->p));
	uint64_t id = m ? m->id : ev->m;
	const struct rw_g *g;

	if (id == TRACE_NO_M)
		return r->spare_m++;
	g = rw_m__g(r, rw__m(r, id));
	if (g && (g->status != GO_RUNNING || !stop_g(r, g)))
		return r->spare_m++; /* it sits in a system call there */
	return id;
}

static bool start_g(struct rewrite *r, const struct trace_event *ev, uint64_t id)
{
	uint64_t m;

	if (!real_p(ev) || !make_runnable(r, id))
		return false;
	m = free_thread(r, ev);
	return seat(r, m, ev->p) && step(r, m, EV_GO_START, id, 0, 0);
}

/*
 * A thread where something runs user code, or only (if not `user`) has a P: that of the lowest number, so
 * that every run writes the same. NULL: there is none.
 */
static const struct rw_m *any_thread(const struct rewrite *r, bool user)
{
	const struct rw_m *m, *lowest = NULL;
	const struct rw_g *g;
	void *value;

	for (size_t i = 0; map__next(&r->m, &i, &value);) {
		m = value;
		g = rw_m__g(r, m);
		if (rw_m__p(r, m) && (g ? g->status == GO_RUNNING : !user) &&
		    (!lowest || m->id < lowest->id))
			lowest = m;
	}
	return lowest;
}

/* The thread that the event's goroutine runs on, with a P; it is made to run. NULL: it cannot. */
static const struct rw_m *running_thread(struct rewrite *r, const struct trace_event *ev)
{
	const struct rw_g *g = rw__g(r, ev->g);
	const struct rw_m *m = rw_g__m(r, g);

	if (ev->g == TRACE_NO_G)
		return NULL;
	if (g && g->status == GO_RUNNING && m) {
		if (m->p != TRACE_NO_P || (real_p(ev) && seat(r, m->id, ev->p)))
			return m;
		return NULL;
	}
	return start_g(r, ev, ev->g) ? rw_g__m(r, rw__g(r, ev->g)) : NULL;
}

/* As it is, on the thread of its goroutine. */
static bool on_goroutine(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	const struct rw_m *m = running_thread(r, ev);

	return m && rw__put(r, m->id, ev->type, arg);
}

/* What concerns the whole program: on any goroutine if on none that is named. */
static bool on_any_goroutine(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	const struct rw_g *g = rw__g(r, ev->g);
	const struct rw_m *m = g && g->status == GO_RUNNING ? rw_g__m(r, g) : NULL;

	if (!m || m->p == TRACE_NO_P)
		m = any_thread(r, true);
	return m && rw__put(r, m->id, ev->type, arg);
}

/* A range of the goroutine's own, if it is said whose: another one's times would be wrong by it. */
static bool stw_begin(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	const struct rw_m *m = rw_g__m(r, rw__g(r, ev->g));

	return m && rw__put(r, m->id, ev->type, arg);
}

/* The goroutine that stopped the world starts it again, whoever else is said to. */
static bool stw_end(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	const struct rw_m *m, *lowest = NULL;
	const struct rw_g *g;
	void *value;

	for (size_t i = 0; map__next(&r->m, &i, &value);) {
		m = value;
		g = rw_m__g(r, m);
		if (g && g->stw && (!lowest || m->id < lowest->id))
			lowest = m;
	}
	return lowest && rw__put(r, lowest->id, ev->type, arg);
}

/* What needs a P; the event's own one, or if it does not have to be that, any. */
static bool on_p(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg, bool own)
{
	const struct rw_m *m = rw_p__m(r, rw__p(r, ev->p));

	if (m && rw__put(r, m->id, ev->type, arg))
		return true;
	m = own ? NULL : any_thread(r, false);
	return m && rw__put(r, m->id, ev->type, arg);
}

static bool create(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	return ev->g == TRACE_NO_G ? on_p(r, ev, arg, false) : on_goroutine(r, ev, arg);
}

static bool unblock(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	const struct rw_g *g = rw__g(r, arg[0]), *by = rw__g(r, ev->g);
	const struct rw_m *m = rw_g__m(r, by);

	if (g && g->status != GO_WAITING)
		return g->status == GO_SYSCALL ? end_syscall(r, g) : g->status == GO_RUNNABLE;
	if (!g && !step(r, TRACE_NO_M, EV_GO_STATUS, arg[0], 0, GO_WAITING))
		return false;
	if (!m && ev->g == TRACE_NO_G)
		m = rw_p__m(r, rw__p(r, ev->p));
	if (m && !by && m->g != TRACE_NO_G)
		m = NULL; /* it was not that goroutine's doing */
	return rw__put(r, m ? m->id : TRACE_NO_M, ev->type, arg);
}

static bool proc_stop(struct rewrite *r, uint64_t id)
{
	const struct rw_p *p = rw__p(r, id);
	const struct rw_m *m = rw_p__m(r, p);

	if (!p)
		return step(r, TRACE_NO_M, EV_PROC_STATUS, id, PROC_IDLE, 0);
	return p->status == PROC_IDLE || (m && step(r, m->id, EV_PROC_STOP, 0, 0, 0));
}

static bool proc_start(struct rewrite *r, const struct trace_event *ev, uint64_t id)
{
	return seat(r, ev->m == TRACE_NO_M ? r->spare_m++ : ev->m, id);
}

/* How a goroutine is when tracing begins. */
static bool new_status(struct rewrite *r, const struct trace_event *ev, uint64_t id,
		       uint64_t status)
{
	uint64_t m = TRACE_NO_M;

	if (status == GO_SYSCALL) {
		m = r->spare_m++;
	} else if (status == GO_RUNNING) {
		m = free_thread(r, ev);
		if (!real_p(ev) || !seat(r, m, ev->p))
			return false;
	}
	return step(r, m, EV_GO_STATUS, id, m == TRACE_NO_M ? 0 : m, status);
}

static bool go_status(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	const struct rw_g *g = rw__g(r, arg[0]);

	if (!g)
		return new_status(r, ev, arg[0], arg[2]);
	if (g->status == arg[2])
		return true;
	if (arg[2] == GO_RUNNABLE)
		return make_runnable(r, arg[0]);
	return arg[2] == GO_RUNNING && start_g(r, ev, arg[0]);
}

static bool syscall_end(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	const struct rw_m *m = rw_g__m(r, rw__g(r, ev->g));

	return m && rw__put(r, m->id, ev->type, arg);
}

bool rw__put_v1(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	switch (ev->type) {
	case EV_PROC_STATUS:
		return arg[1] == PROC_IDLE ? proc_stop(r, arg[0]) : proc_start(r, ev, arg[0]);
	case EV_PROC_START:
		return proc_start(r, ev, arg[0]);
	case EV_PROC_STOP:
		return proc_stop(r, ev->p);
	case EV_GO_STATUS:
		return go_status(r, ev, arg);
	case EV_GO_CREATE:
		return create(r, ev, arg);
	case EV_GO_START:
		return start_g(r, ev, arg[0]);
	case EV_GO_UNBLOCK:
		return unblock(r, ev, arg);
	case EV_GO_SYSCALL_END:
		return syscall_end(r, ev, arg);
	case EV_GO_SYSCALL_END_BLOCKED:
		return ev->g != TRACE_NO_G && make_runnable(r, ev->g);
	case EV_STW_BEGIN:
		return stw_begin(r, ev, arg);
	case EV_GC_BEGIN:
	case EV_GC_END:
	case EV_PROCS_CHANGE:
		return on_any_goroutine(r, ev, arg);
	case EV_STW_END:
		return stw_end(r, ev, arg);
	case EV_GC_SWEEP_BEGIN:
	case EV_GC_SWEEP_END:
		return on_p(r, ev, arg, true);
	case EV_HEAP_ALLOC:
	case EV_HEAP_GOAL:
		return on_p(r, ev, arg, false);
	default:
		return on_goroutine(r, ev, arg);
	}
}
