// SPDX-License-Identifier: GPL-2.0
/*
 * From events to a history: what goroutines did since when, where, and who ended which wait.
 *
 * Before it: trace/timeline.c. After it: path_history.c, which keeps, and path_walk.c. What the
 * kernel did with the threads: path_threads.c.
 */
#include <errno.h>
#include <string.h>

#include "trace/meaning.h"
#include "trace/path_impl.h"

void path_fold__init(struct path_fold *f, struct path_history *h)
{
	*f = (struct path_fold){ .h = h };
}

/* ---- ids ---- */

int path_fold__intern(struct path_fold *f, const char *data, size_t len, uint32_t *ret)
{
	uint32_t id = intern__string(f->h->words, data, len);

	if (!id && len)
		return -ENOMEM;
	*ret = id;
	return 0;
}

int path_fold__get(uint32_t (*find)(struct path_history *h, uint64_t id), struct path_fold *f,
		   uint64_t id, uint32_t *ret)
{
	*ret = id == UINT64_MAX ? PATH_NONE : find(f->h, id); /* TRACE_NO_… are all the same */
	return id != UINT64_MAX && *ret == PATH_NONE ? -ENOMEM : 0;
}

/* The thread and the P that an event happened on. */
static int get_place(struct path_fold *f, const struct trace_event *ev, uint32_t *thread,
		     uint32_t *proc)
{
	bool status = ev->type == EV_GO_STATUS || ev->type == EV_GO_STATUS_STACK;
	int err = path_fold__get(path_history__thread, f, status ? ev->arg[1] : ev->m, thread);

	return err ? err : path_fold__get(path_history__proc, f, ev->p, proc);
}

/* ---- goroutines ---- */

/* Its start function is the outermost frame of any of its stacks. */
static int name_it(struct path_fold *f, const struct trace_event *ev, uint64_t stack,
		   struct path_goroutine *g)
{
	size_t n = g->name ? 0 : dictionary__frames(ev->words, stack);
	struct trace_string func;

	if (!n ||
	    !dictionary__string(ev->words, dictionary__frame(ev->words, stack, n - 1)->func, &func))
		return 0;
	return path_fold__intern(f, func.data, func.len, &g->name);
}

/* It has left its thread, and its P unless another one has taken that. */
static int leave_place(struct path_fold *f, uint32_t g, const struct path_state *st, int64_t time)
{
	int err = 0;

	if (st->thread != PATH_NONE && path_history__of_thread(f->h, st->thread, INT64_MAX) == g)
		err = path_history__on_thread(f->h, st->thread, time, PATH_NONE);
	if (!err && st->proc != PATH_NONE && path_history__of_proc(f->h, st->proc, INT64_MAX) == g)
		err = path_history__on_proc(f->h, st->proc, time, PATH_NONE);
	return err;
}

static int leave(struct path_fold *f, uint32_t g, const struct trace_event *ev, uint8_t to)
{
	struct path_state *st = path_history__last_state(f->h, g);
	uint32_t by, thread, proc;
	int err;

	if (!st)
		return 0;
	err = get_place(f, ev, &thread, &proc);
	switch (err ? GO_STATE_UNDETERMINED : st->state) {
	case GO_STATE_RUNNING:
	case GO_STATE_SYSCALL:
		return to == GO_STATE_SYSCALL ? 0 : leave_place(f, g, st, ev->time);
	case GO_STATE_WAITING:
		err = path_fold__get(path_history__goroutine, f, ev->g, &by);
		if (err)
			return err;
		st->over = true;
		st->by = by;
		st->by_thread = thread;
		return 0;
	case GO_STATE_RUNNABLE:
		st->over = true;
		st->got = proc;
	}
	return err;
}

static int enter_place(struct path_fold *f, uint32_t g, const struct trace_event *ev,
		       struct path_state *st)
{
	int err = get_place(f, ev, &st->thread, &st->proc);

	if (!err && st->thread != PATH_NONE)
		err = path_history__on_thread(f->h, st->thread, st->time, g);
	if (!err && st->proc != PATH_NONE)
		err = path_history__on_proc(f->h, st->proc, st->time, g);
	return err;
}

static int enter(struct path_fold *f, uint32_t g, const struct trace_event *ev,
		 const struct meaning *m, int64_t time)
{
	struct path_state *st = path_history__state(f->h, g, time);

	if (!st)
		return -ENOMEM;
	st->state = m->to;
	switch (m->to) {
	case GO_STATE_RUNNING:
		st->assist = path_goroutine(f->h, g)->assist;
		return enter_place(f, g, ev, st);
	case GO_STATE_SYSCALL:
		return enter_place(f, g, ev, st);
	case GO_STATE_WAITING:
		st->by = st->by_thread = PATH_NONE;
		return path_fold__intern(f, m->name.data, m->name.len, &st->reason);
	case GO_STATE_RUNNABLE:
		st->got = PATH_NONE;
		return 0;
	case GO_STATE_NOT_EXIST:
		path_goroutine(f->h, g)->ended = true;
		if (st->time <= f->h->from)
			path_history__forget(f->h, g);
	}
	return 0;
}

static int be_born(struct path_fold *f, uint32_t index, const struct trace_event *ev)
{
	struct path_goroutine *g = path_goroutine(f->h, index);
	uint32_t creator;
	int err = path_fold__get(path_history__goroutine, f, ev->g, &creator);

	g = path_goroutine(f->h, index);
	g->creator = creator;
	g->created = ev->time;
	g->born = true;
	g->ended = g->assist = false;
	return err;
}

static int goroutine__event(struct path_fold *f, const struct trace_event *ev,
			    const struct meaning *m)
{
	int64_t time = ev->time;
	uint32_t g;
	int err;

	if (m->from == m->to) /* it was told again */
		return 0;
	err = path_fold__get(path_history__goroutine, f, m->id, &g);
	if (err || g == PATH_NONE)
		return err;
	err = name_it(f, ev, m->transition_stack, path_goroutine(f->h, g));
	if (!err && m->from == GO_STATE_UNDETERMINED)
		time = f->sync; /* it has been so since the generation began */
	else if (!err && m->from == GO_STATE_NOT_EXIST)
		err = be_born(f, g, ev);
	else if (!err)
		err = leave(f, g, ev, m->to);
	return err ? err : enter(f, g, ev, m, time);
}

/* A P that was taken away from its goroutine, which is in a system call. */
static int proc__event(struct path_fold *f, const struct trace_event *ev, const struct meaning *m)
{
	uint32_t proc;
	int err;

	if (m->from == m->to || m->to != PROC_STATE_IDLE)
		return 0;
	err = path_fold__get(path_history__proc, f, m->id, &proc);
	if (err || proc == PATH_NONE)
		return err;
	return path_history__on_proc(f->h, proc, ev->time, PATH_NONE);
}

/* A mark assist begins or ends: the goroutine's state is told anew from there on. */
static int assist(struct path_fold *f, const struct meaning *m, int64_t time, bool begins)
{
	uint32_t g = path_history__find_goroutine(f->h, m->id);
	struct path_state *st = g == PATH_NONE ? NULL : path_history__last_state(f->h, g), was;

	if (g != PATH_NONE)
		path_goroutine(f->h, g)->assist = begins;
	if (!st || st->state != GO_STATE_RUNNING || st->assist == begins)
		return 0;
	was = *st;
	st = path_history__state(f->h, g, time);
	if (!st)
		return -ENOMEM;
	was.time = st->time;
	was.assist = begins;
	*st = was;
	return 0;
}

static int range__event(struct path_fold *f, const struct trace_event *ev, const struct meaning *m)
{
	static const char name[] = "GC mark assist";
	bool begins = m->kind != MEANING_RANGE_END;
	int64_t time = m->kind == MEANING_RANGE_ACTIVE ? f->sync : ev->time;

	if (m->resource != RESOURCE_GOROUTINE)
		return 0;
	if (m->before[0])
		return path_history__stop(f->h, time, begins);
	if (m->name.len == sizeof(name) - 1 && !memcmp(m->name.data, name, m->name.len))
		return assist(f, m, time, begins);
	return 0;
}

/* ---- in the middle of a trace ---- */

static uint8_t state_of(uint8_t status)
{
	switch (status) {
	case GO_RUNNABLE:
		return GO_STATE_RUNNABLE;
	case GO_RUNNING:
		return GO_STATE_RUNNING;
	case GO_SYSCALL:
		return GO_STATE_SYSCALL;
	case GO_WAITING:
		return GO_STATE_WAITING;
	default:
		return GO_STATE_UNDETERMINED;
	}
}

static int begin_goroutine(struct path_fold *f, const struct order_g *known, int64_t time)
{
	struct path_state *st;
	uint32_t g;
	int err = path_fold__get(path_history__goroutine, f, known->id, &g);

	if (err || g == PATH_NONE)
		return err;
	st = path_history__state(f->h, g, time);
	if (!st)
		return -ENOMEM;
	st->state = state_of(known->status);
	st->thread = st->proc = PATH_NONE; /* of a wait: nobody yet */
	return 0;
}

static int begin_thread(struct path_fold *f, const struct order_m *known, int64_t time)
{
	uint32_t g = path_history__find_goroutine(f->h, known->g), thread, proc;
	struct path_state *st = g == PATH_NONE ? NULL : path_history__last_state(f->h, g);
	int err;

	if (!st || (st->state != GO_STATE_RUNNING && st->state != GO_STATE_SYSCALL))
		return 0;
	err = path_fold__get(path_history__thread, f, known->id, &thread);
	if (!err)
		err = path_fold__get(path_history__proc, f, known->p, &proc);
	if (err)
		return err;
	st->thread = thread;
	st->proc = proc;
	if (thread != PATH_NONE)
		err = path_history__on_thread(f->h, thread, time, g);
	if (!err && proc != PATH_NONE)
		err = path_history__on_proc(f->h, proc, time, g);
	return err;
}

int path_fold__begin(struct path_fold *f, const struct order *order, int64_t time)
{
	const struct order_g *g;
	void *value;
	int err = 0;

	for (size_t i = 0; !err && map__next(&order->g, &i, &value);) {
		g = value;
		err = g->alive ? begin_goroutine(f, g, time) : 0;
	}
	for (size_t i = 0; !err && map__next(&order->m, &i, &value);)
		err = begin_thread(f, value, time);
	return err;
}

int path_fold__event(struct path_fold *f, const struct trace_event *ev,
		     const struct kernel_threads *threads, uint64_t mono)
{
	struct meaning m;

	f->last = ev->time;
	f->ahead = mono - (uint64_t)ev->time;
	if (ev->type == EV_SYNC) {
		f->sync = ev->time;
		if (!f->retold)
			return 0;
		f->retold = false;
		return path_fold__threads(f, threads);
	}
	meaning__of(ev, &m);
	if (m.kind == MEANING_STATE_TRANSITION && m.resource == RESOURCE_GOROUTINE)
		return goroutine__event(f, ev, &m);
	if (m.kind == MEANING_STATE_TRANSITION)
		return proc__event(f, ev, &m);
	if (m.kind >= MEANING_RANGE_BEGIN && m.kind <= MEANING_RANGE_END)
		return range__event(f, ev, &m);
	return 0;
}
