// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the events of a v1 trace legal by the rules of v2.
 *
 * v1 events, as delivered by v1/v1.h, refer to Ps, not to threads. A goroutine that was in a system
 * call when tracing began is on no thread; a P may be stopped from elsewhere; a system call may end
 * on a P that does not exist; a goroutine may leave a P without an event. This file inserts what
 * must have happened before an event, by the fewest transitions from the model's state to one in
 * which the event is legal.
 *
 * Upstream: rewrite.c. Downstream: rewrite_model.c, for inserted events and the event itself. An
 * event without a legal place is omitted, and later events that depend on it are repaired.
 */
#include "rewrite/rewrite_impl.h"

#define FAKE_P 1000000 /* Ps of v1 from here on represent timers, the network poller, ... */

static bool insert(struct rewrite *r, uint64_t m, enum ev type, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t arg[EV_ARGS_MAX - 1] = { a, b, c };

	return rw__put(r, m, type, arg);
}

/* Ends the system call of a goroutine, without a P. */
static bool end_syscall(struct rewrite *r, const struct order_g *g)
{
	const struct order_m *m = rw_g__m(g);
	const struct order_p *p = rw_m__p(r, m);

	if (!m || (p && p->status == PROC_SYSCALL && !insert(r, m->id, EV_PROC_STOP, 0, 0, 0)))
		return false;
	return insert(r, m->id, EV_GO_SYSCALL_END_BLOCKED, 0, 0, 0);
}

static bool stop_g(struct rewrite *r, const struct order_g *g)
{
	const struct order_m *m = rw_g__m(g);

	return m && insert(r, m->id, EV_GO_STOP, 0, 0, 0);
}

static bool make_runnable(struct rewrite *r, uint64_t id)
{
	const struct order_g *g = rw__g(r, id);

	if (!g)
		return insert(r, TRACE_NO_M, EV_GO_STATUS, id, 0, GO_RUNNABLE);
	switch (g->status) {
	case GO_WAITING:
		return insert(r, TRACE_NO_M, EV_GO_UNBLOCK, id, 0, 0);
	case GO_RUNNING:
		return stop_g(r, g);
	case GO_SYSCALL:
		return end_syscall(r, g);
	default:
		return g->status == GO_RUNNABLE;
	}
}

/* Takes a P from its thread, after stopping a goroutine that runs there. */
static bool make_idle(struct rewrite *r, const struct order_p *p)
{
	const struct order_m *m = rw_p__m(p);
	const struct order_g *g = rw_m__g(r, m);

	if (!m || (g && g->status == GO_RUNNING && !stop_g(r, g)))
		return false;
	return insert(r, m->id, EV_PROC_STOP, 0, 0, 0);
}

/* Makes thread m run the P. */
static bool acquire_p(struct rewrite *r, uint64_t m, uint64_t id)
{
	const struct order_p *p = rw__p(r, id), *other = rw_m__p(r, rw__m(r, m));

	if (p && p == other && p->status == PROC_RUNNING)
		return true;
	if (other && other != p && !make_idle(r, other))
		return false;
	if (!p)
		return insert(r, m, EV_PROC_STATUS, id, PROC_RUNNING, 0);
	if (p->status != PROC_IDLE && !make_idle(r, p))
		return false;
	return insert(r, m, EV_PROC_START, id, 0, 0);
}

static bool has_real_p(const struct trace_event *ev)
{
	return ev->p < FAKE_P;
}

/* The thread of the event's P, without a goroutine. */
static uint64_t free_thread(struct rewrite *r, const struct trace_event *ev)
{
	const struct order_m *m = rw_p__m(rw__p(r, ev->p));
	uint64_t id = m ? m->id : ev->m;
	const struct order_g *g;

	if (id == TRACE_NO_M)
		return r->spare_m++;
	g = rw_m__g(r, rw__m(r, id));
	if (g && (g->status != GO_RUNNING || !stop_g(r, g)))
		return r->spare_m++; /* that goroutine is in a system call */
	return id;
}

static bool start_g(struct rewrite *r, const struct trace_event *ev, uint64_t id)
{
	uint64_t m;

	if (!has_real_p(ev) || !make_runnable(r, id))
		return false;
	m = free_thread(r, ev);
	return acquire_p(r, m, ev->p) && insert(r, m, EV_GO_START, id, 0, 0);
}

/* The thread with the lowest id that fits, so that all runs write the same. NULL: none. */
static const struct order_m *lowest_thread(const struct rewrite *r,
					   bool (*fits)(const struct rewrite *r,
							const struct order_m *m))
{
	const struct order_m *m, *lowest = NULL;
	void *value;

	for (size_t i = 0; map__next(&r->model.m, &i, &value);) {
		m = value;
		if ((!lowest || m->id < lowest->id) && fits(r, m))
			lowest = m;
	}
	return lowest;
}

static bool runs_goroutine(const struct rewrite *r, const struct order_m *m)
{
	const struct order_g *g = rw_m__g(r, m);

	return rw_m__p(r, m) && g && g->status == GO_RUNNING;
}

/* It has a P, and its goroutine, if any, runs. */
static bool can_emit(const struct rewrite *r, const struct order_m *m)
{
	return rw_m__p(r, m) && (!rw_m__g(r, m) || runs_goroutine(r, m));
}

static bool stopped_the_world(const struct rewrite *r, const struct order_m *m)
{
	const struct order_g *g = rw_m__g(r, m);

	return g && order__pauses(&g->ranges);
}

/* Makes the event's goroutine run on a thread with a P. NULL: impossible. */
static const struct order_m *running_thread(struct rewrite *r, const struct trace_event *ev)
{
	const struct order_g *g = rw__g(r, ev->g);
	const struct order_m *m = rw_g__m(g);

	if (ev->g == TRACE_NO_G)
		return NULL;
	if (g && g->status == GO_RUNNING && m) {
		if (m->p != TRACE_NO_P || (has_real_p(ev) && acquire_p(r, m->id, ev->p)))
			return m;
		return NULL;
	}
	return start_g(r, ev, ev->g) ? rw_g__m(rw__g(r, ev->g)) : NULL;
}

/* Puts the event on the thread of its goroutine. */
static bool put_on_goroutine(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	const struct order_m *m = running_thread(r, ev);

	return m && rw__put(r, m->id, ev->type, arg);
}

/*
 * Puts the event on the thread that its goroutine is on, if it is on one. A stop-the-world pause is
 * a range of its goroutine, so it is omitted otherwise: on another one it would falsify times.
 */
static bool put_on_own_thread(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	const struct order_m *m = rw_g__m(rw__g(r, ev->g));

	return m && rw__put(r, m->id, ev->type, arg);
}

/* Puts an event of the whole program on the event's goroutine or any other that runs. */
static bool put_on_any_goroutine(struct rewrite *r, const struct trace_event *ev,
				 const uint64_t *arg)
{
	const struct order_g *g = rw__g(r, ev->g);
	const struct order_m *m = g && g->status == GO_RUNNING ? rw_g__m(g) : NULL;

	if (!m || m->p == TRACE_NO_P)
		m = lowest_thread(r, runs_goroutine);
	return m && rw__put(r, m->id, ev->type, arg);
}

/* The pause must end on the goroutine that began it, even if the event names another one. */
static bool stw_end(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	const struct order_m *m = lowest_thread(r, stopped_the_world);

	return m && rw__put(r, m->id, ev->type, arg);
}

/* Puts an event on the event's P, or unless `own` on any P. */
static bool put_on_p(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg, bool own)
{
	const struct order_m *m = rw_p__m(rw__p(r, ev->p));

	if (m && rw__put(r, m->id, ev->type, arg))
		return true;
	m = own ? NULL : lowest_thread(r, can_emit);
	return m && rw__put(r, m->id, ev->type, arg);
}

static bool create(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	return ev->g == TRACE_NO_G ? put_on_p(r, ev, arg, false) : put_on_goroutine(r, ev, arg);
}

static bool unblock(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	const struct order_g *g = rw__g(r, arg[0]), *by = rw__g(r, ev->g);
	const struct order_m *m = rw_g__m(by);

	if (g && g->status != GO_WAITING)
		return g->status == GO_SYSCALL ? end_syscall(r, g) : g->status == GO_RUNNABLE;
	if (!g && !insert(r, TRACE_NO_M, EV_GO_STATUS, arg[0], 0, GO_WAITING))
		return false;
	if (!m && ev->g == TRACE_NO_G)
		m = rw_p__m(rw__p(r, ev->p));
	if (m && !by && m->g != TRACE_NO_G)
		m = NULL; /* not caused by that goroutine */
	return rw__put(r, m ? m->id : TRACE_NO_M, ev->type, arg);
}

static bool proc_stop(struct rewrite *r, uint64_t id)
{
	const struct order_p *p = rw__p(r, id);
	const struct order_m *m = rw_p__m(p);

	if (!p)
		return insert(r, TRACE_NO_M, EV_PROC_STATUS, id, PROC_IDLE, 0);
	return p->status == PROC_IDLE || (m && insert(r, m->id, EV_PROC_STOP, 0, 0, 0));
}

static bool proc_start(struct rewrite *r, const struct trace_event *ev, uint64_t id)
{
	return acquire_p(r, ev->m == TRACE_NO_M ? r->spare_m++ : ev->m, id);
}

/* Writes the state of a goroutine when tracing began. */
static bool new_status(struct rewrite *r, const struct trace_event *ev, uint64_t id,
		       uint64_t status)
{
	uint64_t m = TRACE_NO_M;

	if (status == GO_SYSCALL) {
		m = r->spare_m++;
	} else if (status == GO_RUNNING) {
		m = free_thread(r, ev);
		if (!has_real_p(ev) || !acquire_p(r, m, ev->p))
			return false;
	}
	return insert(r, m, EV_GO_STATUS, id, m == TRACE_NO_M ? 0 : m, status);
}

static bool go_status(struct rewrite *r, const struct trace_event *ev, const uint64_t *arg)
{
	const struct order_g *g = rw__g(r, arg[0]);

	if (!g)
		return new_status(r, ev, arg[0], arg[2]);
	if (g->status == arg[2])
		return true;
	if (arg[2] == GO_RUNNABLE)
		return make_runnable(r, arg[0]);
	return arg[2] == GO_RUNNING && start_g(r, ev, arg[0]);
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
	case EV_STW_BEGIN:
		return put_on_own_thread(r, ev, arg);
	case EV_GO_SYSCALL_END_BLOCKED:
		return ev->g != TRACE_NO_G && make_runnable(r, ev->g);
	case EV_GC_BEGIN:
	case EV_GC_END:
	case EV_PROCS_CHANGE:
		return put_on_any_goroutine(r, ev, arg);
	case EV_STW_END:
		return stw_end(r, ev, arg);
	case EV_GC_SWEEP_BEGIN:
	case EV_GC_SWEEP_END:
		return put_on_p(r, ev, arg, true);
	case EV_HEAP_ALLOC:
	case EV_HEAP_GOAL:
		return put_on_p(r, ev, arg, false);
	default:
		return put_on_goroutine(r, ev, arg);
	}
}
