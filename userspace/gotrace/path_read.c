// SPDX-License-Identifier: GPL-2.0
/*
 * Builds the history of a time window of a trace, for `gotrace path`.
 *
 * Input: reader/timeline.c, which merges events and kernel events. analysis/path_fold.c builds the
 * history. Reading stops after the end of the window, as soon as the goroutine no longer waits.
 */
#include "path_read.h"

#include <errno.h>
#include <inttypes.h>

int path__take_step(const struct timeline *t, struct path_fold *f, const struct timeline_step *step)
{
	const struct kernel_threads *threads = timeline__threads(t);

	if (step->table || step->loss)
		path_fold__reread_threads(f);
	if (step->item)
		return path_fold__item(f, step->item, threads);
	return path_fold__event(f, step->event, threads, timeline__mono(t, step->event->time));
}

/* At the first event the requested times become known. */
static int begin(struct path_fold *f, const struct path_request *a, const struct order *order,
		 int64_t time, struct path_window *window)
{
	bool in_the_middle = window->start != INT64_MIN;

	if (!in_the_middle)
		window->start = time;
	window->from = a->in.have_from ? moment__time(&a->in.from, window->start) : INT64_MIN;
	window->to = a->in.have_to ? moment__time(&a->in.to, window->start) : INT64_MAX;
	f->h->from = window->from;
	return in_the_middle && order ? path_fold__begin(f, order, time) : 0;
}

static int read_all(struct timeline *t, const struct order *order, struct path_fold *f,
		    const struct path_request *a, struct path_window *window, struct error *error)
{
	struct timeline_step step;
	bool started = false;
	int err;

	while ((err = timeline__next(t, &step, error)) > 0) {
		err = 0;
		if (step.event && !started)
			err = begin(f, a, order, step.event->time, window);
		started |= step.event != NULL;
		if (!err)
			err = path__take_step(t, f, &step);
		if (err)
			return error__set(error, err, "out of memory");
		window->lossy |= step.event && timeline__lossy(t);
		if (!started || (f->tracker.now < window->to && !path_history__full(f->h)))
			continue;
		if (f->tracker.now < window->to)
			return error__set(
				error, -E2BIG,
				"the history up to here exceeds the limit of %zu MB; request a "
				"shorter time with --from and --to",
				f->h->limit >> 20);
		if (path_history__full(f->h) ||
		    !path_history__is_pending(f->h, a->goroutine, f->tracker.now))
			return 0;
	}
	return err;
}

/*
 * Limit the window to the trace and to the lifetime of the goroutine; without options it is both.
 */
static void clip(const struct path_history *h, uint32_t index, int64_t last,
		 const struct path_request *a, struct path_window *window)
{
	const struct path_goroutine *g = path_goroutine(h, index);
	const struct path_state *st = path_history__last_state(h, index);

	if (window->to > last)
		window->to = last;
	if (g->ended && (!st || window->to > st->time))
		window->to = st ? st->time : window->from;
	if (!a->in.have_from && g->created_in_trace)
		window->from = g->created;
	else if (window->from < window->start)
		window->from = window->start;
}

int path__read(struct reader *r, int64_t start, const struct path_request *a,
	       struct path_history *h, struct path_window *ret, struct error *error)
{
	struct path_window window = { .start = start };
	struct timeline *t;
	struct path_fold f;
	int err = timeline__create(&t, r);
	uint32_t g;

	if (err)
		return error__set(error, err, "out of memory");
	path_fold__init(&f, h);
	err = read_all(t, reader__order(r), &f, a, &window, error);
	h->kernel = timeline__has_kernel(t);
	path_fold__deinit(&f);
	timeline__destroy(t);
	if (err)
		return err;
	g = path_history__find_goroutine(h, a->goroutine);
	if (g == PATH_NONE && start == INT64_MIN)
		return error__set(error, -ENOENT, "there is no goroutine %" PRIu64, a->goroutine);
	if (g != PATH_NONE)
		clip(h, g, f.tracker.now, a, &window);
	if (g == PATH_NONE || window.from >= window.to)
		return error__set(error, -ENOENT,
				  "goroutine %" PRIu64 " does not exist in the requested time: "
				  "it ended before it, or was created after it",
				  a->goroutine);
	window.goroutine = g;
	*ret = window;
	return 0;
}
