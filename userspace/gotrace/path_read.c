// SPDX-License-Identifier: GPL-2.0
/*
 * The history of a window of a trace, for `gotrace path`.
 *
 * Before it: trace/timeline.c, which has events and the kernel's items in one order. trace/path_fold.c
 * makes a history of them. It stops behind the window's end, as soon as what the goroutine waits for
 * then has come.
 */
#include "path_read.h"

#include <errno.h>
#include <inttypes.h>

#include "trace/path_impl.h"
#include "trace/timeline.h"

/* Does the goroutine still wait for something that the trace may yet tell of? */
static bool is_pending(const struct path_history *h, uint64_t id)
{
	uint32_t g = path_history__find_goroutine(h, id);
	const struct path_state *st = g == PATH_NONE ? NULL : path_history__last_state(h, g);
	const struct path_run *run;

	if (!st || st->state == GO_STATE_NOT_EXIST)
		return false;
	if (st->state == GO_STATE_WAITING || st->state == GO_STATE_RUNNABLE)
		return true;
	run = st->thread == PATH_NONE ? NULL : path_history__last_run(h, st->thread);
	return run && run->run > KERNEL_RUNNING && run->run < KERNEL_GONE;
}

static int take_step(const struct timeline *t, struct path_fold *f, uint64_t *retold,
		     const struct timeline_step *step)
{
	const struct kernel_threads *threads = timeline__threads(t);
	uint64_t now = timeline__tables(t) + timeline__losses(t);

	f->retold |= now != *retold;
	*retold = now;
	if (step->item)
		return path_fold__item(f, step->item, threads);
	return path_fold__event(f, step->event, threads, timeline__mono(t, step->event->time));
}

/* The first event: from now on it is known which times are asked for. */
static int begin(struct path_fold *f, const struct path_request *a, const struct order *order,
		 int64_t time, struct path_window *window)
{
	bool in_the_middle = window->start != INT64_MIN;

	f->sync = time;
	if (!in_the_middle)
		window->start = time;
	window->from = a->in.have_from ? moment__time(&a->in.from, window->start) : INT64_MIN;
	window->to = a->in.have_to ? moment__time(&a->in.to, window->start) : INT64_MAX;
	f->h->from = window->from;
	return in_the_middle && order ? path_fold__begin(f, order, time) : 0;
}

static int read_all(struct timeline *t, const struct order *order, struct path_fold *f,
		    const struct path_request *a, struct path_window *window, struct error *err)
{
	struct timeline_step step;
	bool started = false;
	uint64_t retold = 0;
	int code;

	while ((code = timeline__next(t, &step, err)) > 0) {
		code = 0;
		if (step.event && !started)
			code = begin(f, a, order, step.event->time, window);
		started |= step.event != NULL;
		if (!code)
			code = take_step(t, f, &retold, &step);
		if (code)
			return error__set(err, code, "out of memory");
		window->lossy |= step.event && timeline__lossy(t);
		if (!started || (f->last < window->to && !path_history__full(f->h)))
			continue;
		if (f->last < window->to)
			return error__set(
				err, -E2BIG,
				"up to here it is more history than the %zu MB that may be "
				"held; ask for a shorter time with --from and --to",
				f->h->limit >> 20);
		if (path_history__full(f->h) || !is_pending(f->h, a->goroutine))
			return 0;
	}
	return code;
}

/* The window ends with the trace and with the goroutine, and begins with them unless it is given. */
static void clip(const struct path_history *h, uint32_t index, int64_t last,
		 const struct path_request *a, struct path_window *window)
{
	const struct path_goroutine *g = path_goroutine(h, index);
	const struct path_state *st = path_history__last_state(h, index);

	if (window->to > last)
		window->to = last;
	if (g->ended && (!st || window->to > st->time))
		window->to = st ? st->time : window->from;
	if (!a->in.have_from && g->born)
		window->from = g->created;
	else if (window->from < window->start)
		window->from = window->start;
}

int path__read(struct reader *r, int64_t start, const struct path_request *a,
	       struct path_history *h, struct path_window *ret, struct error *err)
{
	struct path_window window = { .start = start };
	struct timeline *t;
	struct path_fold f;
	int code = timeline__create(&t, r);
	uint32_t g;

	if (code)
		return error__set(err, code, "out of memory");
	path_fold__init(&f, h);
	code = read_all(t, reader__order(r), &f, a, &window, err);
	h->kernel = timeline__has_kernel(t);
	timeline__destroy(t);
	if (code)
		return code;
	g = path_history__find_goroutine(h, a->goroutine);
	if (g == PATH_NONE && start == INT64_MIN)
		return error__set(err, -ENOENT, "there is no goroutine %" PRIu64, a->goroutine);
	if (g != PATH_NONE)
		clip(h, g, f.last, a, &window);
	if (g == PATH_NONE || window.from >= window.to)
		return error__set(err, -ENOENT,
				  "goroutine %" PRIu64
				  " is not there then: it has ended before, or "
				  "begins after it",
				  a->goroutine);
	window.goroutine = g;
	*ret = window;
	return 0;
}
