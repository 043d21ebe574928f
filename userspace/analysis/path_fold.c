// SPDX-License-Identifier: GPL-2.0
/*
 * From events to a history: the states of goroutines, their threads and Ps, and what ended which
 * wait.
 *
 * Upstream: goroutine_tracker.c. Downstream: path_history.c, which stores the history, and
 * path_walk.c. path_threads.c has the states of threads.
 */
#include <errno.h>
#include <string.h>

#include "analysis/path_impl.h"
#include "reader/parking.h"

/* the tracker's record of a goroutine */
struct live {
	struct tracked_goroutine go;
	uint32_t index; /* of its history */
};

static const struct goroutine_client client;

void path_fold__init(struct path_fold *f, struct path_history *h)
{
	*f = (struct path_fold){ .h = h };
	goroutine_tracker__init(&f->tracker, &client, f, h->texts);
}

void path_fold__deinit(struct path_fold *f)
{
	goroutine_tracker__deinit(&f->tracker);
}

/* ---- ids ---- */

int path_fold__get(struct path_fold *f, struct path_table *t, uint64_t id, uint32_t *ret)
{
	/* TRACE_NO_… are all the same. */
	*ret = id == UINT64_MAX ? PATH_NONE : path_table__get(f->h, t, id);
	return id != UINT64_MAX && *ret == PATH_NONE ? -ENOMEM : 0;
}

/* The thread and the P that an event happened on. */
static int get_place(struct path_fold *f, const struct trace_event *ev, uint32_t *thread,
		     uint32_t *proc)
{
	int err = path_fold__get(f, &f->h->threads, transition__thread(ev), thread);

	return err ? err : path_fold__get(f, &f->h->procs, ev->p, proc);
}

/* ---- goroutines ---- */

/* It has left a thread or a P, unless another one has taken that. */
static int leave_place(struct path_fold *f, uint32_t g, struct path_list *on, int64_t time)
{
	const struct path_on *last = on->n ? (const struct path_on *)on->at + on->n - 1 : NULL;

	return last && last->goroutine == g ? path_history__on(f->h, on, time, PATH_NONE) : 0;
}

static inline int goroutine__leave(void *context, void *goroutine, const struct trace_event *ev,
				   const struct semantics *m)
{
	struct path_fold *f = context;
	const struct live *g = goroutine;
	struct path_state *st;
	uint32_t by = PATH_NONE, thread, proc;
	int err;

	if (g->index == PATH_NONE)
		return 0;
	st = path_history__last_state(f->h, g->index);
	err = get_place(f, ev, &thread, &proc);
	switch (err ? GO_STATE_UNDETERMINED : st->state) {
	case GO_STATE_RUNNING:
	case GO_STATE_SYSCALL:
		if (m->to == GO_STATE_SYSCALL)
			return 0;
		if (st->thread != PATH_NONE)
			err = leave_place(f, g->index, &path_thread(f->h, st->thread)->on,
					  ev->time);
		if (!err && st->proc != PATH_NONE)
			err = leave_place(f, g->index, &path_proc(f->h, st->proc)->on, ev->time);
		return err;
	case GO_STATE_WAITING:
		if (parking__ended_by_goroutine(ev, m->stack,
						intern__text_at(f->h->texts, st->reason)))
			err = path_fold__get(f, &f->h->goroutines, ev->g, &by);
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

/* It is on the thread and the P of its state. */
static int take_place(struct path_fold *f, uint32_t g, const struct path_state *st)
{
	int err = 0;

	if (st->thread != PATH_NONE)
		err = path_history__on(f->h, &path_thread(f->h, st->thread)->on, st->time, g);
	if (!err && st->proc != PATH_NONE)
		err = path_history__on(f->h, &path_proc(f->h, st->proc)->on, st->time, g);
	return err;
}

static inline int goroutine__enter(void *context, void *goroutine, const struct trace_event *ev,
				   const struct semantics *m)
{
	struct path_fold *f = context;
	const struct live *g = goroutine;
	struct path_goroutine *known;
	struct path_state *st;
	int err;

	if (g->index == PATH_NONE)
		return 0;
	st = path_history__state(f->h, g->index,
				 m->from == GO_STATE_UNDETERMINED ? g->go.created : ev->time);
	if (!st)
		return -ENOMEM;
	known = path_goroutine(f->h, g->index);
	known->name = g->go.name;
	st->state = m->to;
	switch (m->to) {
	case GO_STATE_RUNNING:
		st->assist = known->assist;
		/* fallthrough */
	case GO_STATE_SYSCALL:
		err = get_place(f, ev, &st->thread, &st->proc);
		return err ? err : take_place(f, g->index, st);
	case GO_STATE_WAITING:
		st->by = st->by_thread = PATH_NONE;
		return intern__text(f->h->texts, m->name, &st->reason);
	case GO_STATE_RUNNABLE:
		st->got = PATH_NONE;
		return 0;
	case GO_STATE_NOT_EXIST:
		known->ended = true;
		if (st->time <= f->h->from)
			path_history__forget(f->h, g->index);
	}
	return 0;
}

static int goroutine__appear(void *context, void *goroutine, const struct trace_event *ev,
			     const struct semantics *m)
{
	static const char before[] = "not created yet";
	struct path_fold *f = context;
	struct live *g = goroutine;
	struct path_goroutine *known;
	uint32_t creator;
	int err = path_fold__get(f, &f->h->goroutines, g->go.id, &g->index);

	if (err || g->index == PATH_NONE)
		return err;
	g->go.name = path_goroutine(f->h, g->index)->name; /* of one that had the same id */
	if (m->from == GO_STATE_UNDETERMINED)
		return 0;
	err = path_fold__get(f, &f->h->goroutines, ev->g, &creator);
	known = path_goroutine(f->h, g->index);
	known->creator = creator;
	known->created = ev->time;
	known->created_in_trace = true;
	known->ended = known->assist = false;
	known->before = 0;
	if (!err && ev->g == TRACE_NO_G && m->to == GO_STATE_RUNNABLE)
		err = intern__text(f->h->texts, (struct trace_string){ before, strlen(before) },
				   &known->before);
	return err;
}

/* A P that was taken away from its goroutine, which is in a system call. */
static int proc__idle(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct path_fold *f = context;
	uint32_t proc;
	int err = path_fold__get(f, &f->h->procs, m->id, &proc);

	return err || proc == PATH_NONE ?
		       err :
		       path_history__on(f->h, &path_proc(f->h, proc)->on, ev->time, PATH_NONE);
}

/* A mark assist begins or ends: the goroutine's state is split there. */
static int assist(struct path_fold *f, const struct semantics *m, int64_t time, bool begins)
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

static int range__event(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct path_fold *f = context;
	bool begins = m->kind != SEMANTICS_RANGE_END;
	int64_t time = m->kind == SEMANTICS_RANGE_ACTIVE ? f->tracker.sync : ev->time;

	if (m->resource == RESOURCE_GOROUTINE && m->before[0])
		return path_history__stop(f->h, time, begins);
	return range__is_mark_assist(ev) ? assist(f, m, time, begins) : 0;
}

/* What the threads did is known from the generation's table alone, if records were lost. */
static int sync__event(void *context, const struct trace_event *ev, const struct semantics *m)
{
	struct path_fold *f = context;

	(void)ev;
	if (m->kind != SEMANTICS_SYNC || !f->threads_changed)
		return 0;
	f->threads_changed = false;
	return path_fold__threads(f, f->threads);
}

static const struct goroutine_client client = {
	.size = sizeof(struct live),
	.appear = goroutine__appear,
	.leave = goroutine__leave,
	.enter = goroutine__enter,
	.proc_idle = proc__idle,
	.range = range__event,
	.other = sync__event,
};

/* ---- in the middle of a trace ---- */

static int begin_goroutine(struct path_fold *f, const struct order_g *known, int64_t time)
{
	uint8_t state = semantics__go_state(known->status);
	struct live *g = goroutine_tracker__add(&f->tracker, known->id, time, state);
	struct path_state *st;
	int err = g ? path_fold__get(f, &f->h->goroutines, known->id, &g->index) : -ENOMEM;

	if (err || g->index == PATH_NONE)
		return err;
	st = path_history__state(f->h, g->index, time);
	if (!st)
		return -ENOMEM;
	st->state = state;
	st->thread = st->proc = PATH_NONE; /* of a wait: none yet */
	return 0;
}

static int begin_thread(struct path_fold *f, const struct order_m *known)
{
	uint32_t g = path_history__find_goroutine(f->h, known->g);
	struct path_state *st = g == PATH_NONE ? NULL : path_history__last_state(f->h, g);
	int err;

	if (!st || (st->state != GO_STATE_RUNNING && st->state != GO_STATE_SYSCALL))
		return 0;
	err = path_fold__get(f, &f->h->threads, known->id, &st->thread);
	if (!err)
		err = path_fold__get(f, &f->h->procs, known->p, &st->proc);
	return err ? err : take_place(f, g, st);
}

int path_fold__begin(struct path_fold *f, const struct order *order, int64_t time)
{
	size_t ng, nm;
	struct map_slot *g = map__sorted(&order->g, &ng), *m = map__sorted(&order->m, &nm);
	int err = g && m ? 0 : -ENOMEM;

	f->in_the_middle = true;
	for (size_t i = 0; !err && i < ng; i++) {
		const struct order_g *known = g[i].value;

		err = known->alive ? begin_goroutine(f, known, time) : 0;
	}
	for (size_t i = 0; !err && i < nm; i++)
		err = begin_thread(f, m[i].value);
	free(g);
	free(m);
	return err;
}

void path_fold__reread_threads(struct path_fold *f)
{
	f->threads_changed = true;
}

/* In the middle of a trace, the reason of a wait is known when the status of its goroutine comes. */
static int learn_reason(struct path_fold *f, const struct trace_event *ev)
{
	uint32_t g = path_history__find_goroutine(f->h, ev->arg[0]);
	struct path_state *st = g == PATH_NONE ? NULL : path_history__last_state(f->h, g);
	struct semantics m;

	if (!st || st->state != GO_STATE_WAITING || st->reason)
		return 0;
	semantics__of(ev, &m);
	m.from = GO_STATE_UNDETERMINED;
	semantics__add_reason(ev, &m);
	return m.name.len ? intern__text(f->h->texts, m.name, &st->reason) : 0;
}

int path_fold__event(struct path_fold *f, const struct trace_event *ev,
		     const struct kernel_threads *threads, uint64_t mono)
{
	f->ahead = mono - (uint64_t)ev->time;
	f->threads = threads;
	if (f->in_the_middle && (ev->type == EV_GO_STATUS || ev->type == EV_GO_STATUS_STACK) &&
	    learn_reason(f, ev))
		return -ENOMEM;
	return goroutine_tracker__event(&f->tracker, &client, ev, ev->time);
}
