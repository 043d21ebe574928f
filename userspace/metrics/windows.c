// SPDX-License-Identifier: GPL-2.0
/*
 * Windows of a trace: see metrics/windows.h.
 *
 * The state at the end of a window is kept until the end of the next one, which has the differences.
 * Names, reasons and requests have numbers that do not change, since the engine is never restarted.
 */
#include "metrics/windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Generations of a second are a little longer or shorter than that: a window may be shorter than
 * requested by this share of it.
 */
#define SLACK 10

/* The sums at a time. */
struct state {
	int64_t time;
	uint64_t number[WINDOW_NUMBERS];
	struct window_intervals interval[INTERVAL_KINDS];
	struct goroutine_sums goroutines;
	struct function_sums *ended; /* goroutines.nfunctions of them */
	struct window_request request[REQUEST_NAMES];
};

struct windows {
	int64_t least;
	struct engine *engine;
	struct state *before, *now;
	bool started;
	bool pending; /* there was something since the last window */
};

void trace_window__destroy(struct trace_window *w)
{
	if (!w)
		return;
	free(w->function);
	free(w->reason);
	free(w->request);
	arena__deinit(&w->names);
	free(w);
}

static void state__clear(struct state *s)
{
	goroutine_sums__deinit(&s->goroutines);
	free(s->ended);
	memset(s, 0, sizeof(*s));
}

static void state__destroy(struct state *s)
{
	if (s)
		state__clear(s);
	free(s);
}

struct windows *windows__create(int64_t least)
{
	struct windows *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->least = least - (least == INT64_MAX ? 0 : least / SLACK);
	all->engine = engine__create();
	all->before = calloc(1, sizeof(*all->before));
	all->now = calloc(1, sizeof(*all->now));
	if (all->engine && all->before && all->now)
		return all;
	windows__destroy(all);
	return NULL;
}

void windows__destroy(struct windows *all)
{
	if (!all)
		return;
	engine__destroy(all->engine);
	state__destroy(all->before);
	state__destroy(all->now);
	free(all);
}

/* ---- the state ---- */

static void add_histogram(struct window_intervals *sum, const struct histogram *h)
{
	sum->count += histogram__count(h);
	sum->ns += h->sum;
}

static void read_intervals(const struct engine *e, struct state *s)
{
	const struct histogram *syscalls = e->kernel_calls ? e->kernel : e->go;

	add_histogram(&s->interval[INTERVAL_SCHED], &e->go[INTERVAL_SCHED]);
	add_histogram(&s->interval[INTERVAL_RUNQUEUE], &e->kernel[INTERVAL_RUNQUEUE]);
	add_histogram(&s->interval[INTERVAL_SYSCALL], &syscalls[INTERVAL_SYSCALL]);
	add_histogram(&s->interval[INTERVAL_GC], &e->go[INTERVAL_GC]);
	add_histogram(&s->interval[INTERVAL_BLOCK], &e->go[INTERVAL_BLOCK]);
	for (size_t i = 0; i <= INTERVAL_REASONS; i++)
		add_histogram(&s->interval[INTERVAL_STW], &e->stw[i]);
}

static void read_numbers(const struct engine *e, struct state *s)
{
	s->number[WINDOW_CREATED] = e->statistics.created;
	s->number[WINDOW_ENDED] = e->statistics.ended;
	s->number[WINDOW_EVENTS] = e->statistics.events;
	s->number[WINDOW_KERNEL_EVENTS] = e->kernel_events;
	s->number[WINDOW_LOST] = e->statistics.lost;
	s->number[WINDOW_GC_UNKNOWN] = e->gc_unknown;
	s->number[WINDOW_GC_ASSIST] = (uint64_t)s->goroutines.stats.gc_assist;
}

static void read_requests(const struct engine *e, struct state *s)
{
	const struct request_name *n;

	for (uint32_t i = 0; i < REQUEST_NAMES; i++) {
		n = requests__at(e->requests, i);
		if (n)
			s->request[i] = (struct window_request){
				.name = requests__name(e->requests, n->name),
				.count = n->lengths.count,
				.failed = n->failed,
				.ns = n->lengths.sum,
			};
	}
}

static int state__read(struct state *s, struct engine *e)
{
	const struct goroutine_sums *ended = &e->ended;
	int err = engine__goroutines(e, &s->goroutines);

	if (err)
		return err;
	s->ended = calloc(s->goroutines.nfunctions + 1, sizeof(*s->ended));
	if (!s->ended)
		return -ENOMEM;
	if (ended->nfunctions)
		memcpy(s->ended, ended->function, ended->nfunctions * sizeof(*s->ended));
	read_intervals(e, s);
	read_numbers(e, s);
	read_requests(e, s);
	return 0;
}

/* ---- the differences ---- */

static int copy_name(struct trace_window *w, struct trace_string *name)
{
	char *copy = arena__alloc(&w->names, name->len + 1);

	if (!copy)
		return -ENOMEM;
	if (name->len)
		memcpy(copy, name->data, name->len);
	name->data = copy;
	return 0;
}

static int subtract_functions(struct trace_window *w, const struct windows *all)
{
	const struct goroutine_sums *now = &all->now->goroutines;
	const struct state *before = all->before;
	struct window_function *f;
	bool known;

	w->function = calloc(now->nfunctions + 1, sizeof(*w->function));
	if (!w->function)
		return -ENOMEM;
	for (size_t i = 0; i < now->nfunctions; i++) {
		f = &w->function[w->functions];
		known = i < before->goroutines.nfunctions;
		f->goroutines = now->function[i].goroutines;
		f->goroutines -= known ? before->ended[i].goroutines : 0;
		if (!f->goroutines)
			continue;
		f->total = 0;
		for (unsigned int part = 0; part < LATENCY_PARTS; part++) {
			f->part[part] = now->function[i].part[part];
			if (known)
				f->part[part] = time_sub(f->part[part],
							 before->goroutines.function[i].part[part]);
			f->total = time_add(f->total, f->part[part]);
		}
		f->name = latency__name(requests__latency(all->engine->requests), (uint32_t)i);
		if (copy_name(w, &f->name))
			return -ENOMEM;
		w->functions++;
	}
	return 0;
}

/* The numbers of reasons are limited (analysis/naming.h), so each is searched among those before. */
static int subtract_reasons(struct trace_window *w, const struct windows *all)
{
	const struct durations *now = &all->now->goroutines.stats.reasons;
	const struct durations *before = &all->before->goroutines.stats.reasons;
	const struct duration *old;
	struct window_reason *r;

	w->reason = calloc(now->n + 1, sizeof(*w->reason));
	if (!w->reason)
		return -ENOMEM;
	for (uint32_t i = 0; i < now->n; i++) {
		old = durations__find(before, now->at[i].kind);
		r = &w->reason[w->reasons];
		*r = (struct window_reason){
			.name = latency__reason(requests__latency(all->engine->requests),
						now->at[i].kind),
			.part = latency_reason__part(now->at[i].kind),
			.ns = time_sub(now->at[i].ns, old ? old->ns : 0),
		};
		if (r->ns && copy_name(w, &r->name))
			return -ENOMEM;
		w->reasons += r->ns != 0;
	}
	return 0;
}

static int subtract_requests(struct trace_window *w, const struct windows *all)
{
	struct window_request r;
	const struct window_request *old;

	w->request = calloc(REQUEST_NAMES, sizeof(*w->request));
	if (!w->request)
		return -ENOMEM;
	for (uint32_t i = 0; i < REQUEST_NAMES; i++) {
		r = all->now->request[i];
		old = &all->before->request[i];
		r.count -= old->count;
		r.failed -= old->failed;
		r.ns = time_sub(r.ns, old->ns);
		if (!r.count)
			continue;
		if (copy_name(w, &r.name))
			return -ENOMEM;
		w->request[w->requests++] = r;
	}
	return 0;
}

static int subtract(struct trace_window *w, const struct windows *all)
{
	const struct state *now = all->now, *before = all->before;
	const struct engine *e = all->engine;
	int err;

	w->from = before->time;
	w->to = now->time;
	w->has_kernel = now->number[WINDOW_KERNEL_EVENTS] != 0;
	memcpy(w->state, now->goroutines.alive, sizeof(w->state));
	w->gomaxprocs = e->statistics.gomaxprocs;
	w->gc_open = intervals__open(e->intervals, INTERVAL_GC);
	w->heap = e->heap;
	w->heap_goal = e->heap_goal;
	for (size_t i = 0; i < WINDOW_NUMBERS; i++)
		w->number[i] = now->number[i] - before->number[i];
	for (size_t i = 0; i < INTERVAL_KINDS; i++) {
		w->interval[i].count = now->interval[i].count - before->interval[i].count;
		w->interval[i].ns = now->interval[i].ns - before->interval[i].ns;
	}
	err = subtract_functions(w, all);
	err = err ?: subtract_reasons(w, all);
	return err ?: subtract_requests(w, all);
}

static int end_window(struct windows *all, int64_t time, struct trace_window **ret)
{
	struct trace_window *w = calloc(1, sizeof(*w));
	struct state *before = all->before;
	int err;

	if (!w)
		return -ENOMEM;
	arena__init(&w->names, 4096);
	all->now->time = time;
	err = state__read(all->now, all->engine);
	err = err ?: subtract(w, all);
	if (err) {
		trace_window__destroy(w);
		return err;
	}
	state__clear(before);
	all->before = all->now;
	all->now = before;
	all->pending = false;
	*ret = w;
	return 0;
}

int windows__step(struct windows *all, const struct timeline *t, const struct timeline_step *step,
		  struct trace_window **ret, struct error *error)
{
	const struct trace_event *ev = step->event;
	int err = engine__step(all->engine, t, step, error);

	*ret = NULL;
	if (err)
		return err;
	all->pending = true;
	if (ev && !all->started) {
		all->started = true;
		all->before->time = ev->time;
		return 0;
	}
	if (!ev || ev->type != EV_SYNC || !ev->sync->generation ||
	    time_sub(ev->time, all->before->time) < all->least)
		return 0;
	err = end_window(all, ev->time, ret);
	return err ? error__set(error, err, "%s", strerror(-err)) : 0;
}

int windows__finish(struct windows *all, struct trace_window **ret)
{
	*ret = NULL;
	if (!all->pending || all->engine->statistics.end == all->before->time)
		return 0;
	return end_window(all, all->engine->statistics.end, ret);
}
