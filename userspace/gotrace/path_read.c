// SPDX-License-Identifier: GPL-2.0
/*
 * Builds the history of a time window of a trace, for `gotrace path`, and chooses the goroutines.
 *
 * Input: reader/timeline.c, which merges events and kernel events. analysis/path_fold.c builds the
 * history. Reading stops after the end of the window, as soon as no such goroutine waits any more.
 */
#include "path_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/durations.h"
#include "lib/array.h"
#include "reader/timeline.h"

/* What is read: the whole window, before it is limited to the lifetime of a goroutine. */
struct reading {
	struct path_request *request;
	struct path_history *h;
	int64_t start, from, to;
	bool lossy;
	/* goroutines that waited at the end of the window, perhaps still; up to which thread none waits */
	uint64_t *waiting;
	size_t nwaiting, cap;
	uint32_t thread;
	bool ended;
};

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
static int begin(struct reading *r, struct path_fold *f, const struct order *order, int64_t time)
{
	const struct trace_args *a = &r->request->in;
	bool in_the_middle = r->start != INT64_MIN;

	if (!in_the_middle)
		r->start = time;
	r->from = a->have_from ? moment__time(&a->from, r->start) : INT64_MIN;
	r->to = a->have_to ? moment__time(&a->to, r->start) : INT64_MAX;
	r->h->from = r->from;
	r->h->to = r->to;
	return in_the_middle && order ? path_fold__begin(f, order, time) : 0;
}

/* Whether the filters accept a goroutine. 0 or -ENOMEM. */
static int is_selected(struct reading *r, uint32_t index, bool *ret)
{
	const struct path_goroutine *g = path_goroutine(r->h, index);
	struct selection *select = &r->request->in.select;

	*ret = false;
	if (select->have_goroutine && g->id != select->goroutine)
		return 0;
	return selection__function(select, g->name, intern__text_at(r->h->texts, g->name), ret);
}

/* The window has ended. */
static int note_waiting(struct reading *r)
{
	bool selected;
	int err = 0;

	r->ended = true;
	for (uint32_t i = 0; !err && i < r->h->goroutines.n; i++) {
		err = is_selected(r, i, &selected);
		if (err || !selected)
			continue;
		err = array__grow(&r->waiting, r->nwaiting, &r->cap, sizeof(*r->waiting));
		if (!err)
			r->waiting[r->nwaiting++] = path_goroutine(r->h, i)->id;
	}
	return err;
}

/* Each goroutine is removed once it does not wait, so that all checks take linear time. */
static bool any_waits(struct reading *r, int64_t now)
{
	while (r->nwaiting && !path_history__is_pending(r->h, r->waiting[r->nwaiting - 1], now))
		r->nwaiting--;
	while (r->h->waits && r->thread < r->h->threads.n &&
	       !path_history__is_queued(r->h, r->thread, r->to))
		r->thread++;
	return r->nwaiting || (r->h->waits && r->thread < r->h->threads.n);
}

static int read_all(struct reading *r, struct timeline *t, const struct order *order,
		    struct path_fold *f, struct error *error)
{
	struct timeline_step step;
	bool started = false;
	int err;

	while ((err = timeline__next(t, &step, error)) > 0) {
		err = 0;
		if (step.event && !started)
			err = begin(r, f, order, step.event->time);
		started |= step.event != NULL;
		if (!err)
			err = path__take_step(t, f, &step);
		if (!err && started && f->tracker.now >= r->to && !r->ended)
			err = note_waiting(r);
		if (err)
			return error__set(error, err, "out of memory");
		r->lossy |= step.event && timeline__lossy(t);
		if (!started || (f->tracker.now < r->to && !path_history__full(r->h)))
			continue;
		if (f->tracker.now < r->to)
			return error__set(
				error, -E2BIG,
				"the history up to here exceeds the limit of %zu MB; request a "
				"shorter time with --from and --to",
				r->h->limit >> 20);
		if (path_history__full(r->h) || !any_waits(r, f->tracker.now))
			return 0;
	}
	return err;
}

/*
 * Limit the window to the trace and to the lifetime of the goroutine; without options it is both.
 */
static struct path_window clip(const struct reading *r, uint32_t index, int64_t last)
{
	const struct path_goroutine *g = path_goroutine(r->h, index);
	const struct path_state *st = path_history__last_state(r->h, index);
	struct path_window window = { .from = r->from, .to = r->to, .goroutine = index };

	if (window.to > last)
		window.to = last;
	if (g->ended && (!st || window.to > st->time))
		window.to = st ? st->time : window.from;
	if (g->created_in_trace && g->created >= window.to)
		window.to = window.from;
	if (!r->request->in.have_from && g->created_in_trace)
		window.from = g->created;
	else if (window.from < r->start)
		window.from = r->start;
	return window;
}

static int by_duration(const void *left, const void *right)
{
	const struct path_window *a = left, *b = right;
	uint64_t x = (uint64_t)time_sub(a->to, a->from), y = (uint64_t)time_sub(b->to, b->from);

	if (x != y)
		return x < y ? 1 : -1;
	return (a->goroutine > b->goroutine) - (a->goroutine < b->goroutine);
}

static int choose(struct reading *r, int64_t last, struct path_windows *ret)
{
	struct path_window window;
	size_t cap = 0;
	bool selected;
	int err = 0;

	for (uint32_t i = 0; !err && i < r->h->goroutines.n; i++) {
		err = is_selected(r, i, &selected);
		if (err || !selected)
			continue;
		window = clip(r, i, last);
		if (window.from >= window.to)
			continue;
		err = array__grow(&ret->at, ret->n, &cap, sizeof(*ret->at));
		if (!err)
			ret->at[ret->n++] = window;
	}
	array__sort(ret->at, ret->n, sizeof(*ret->at), by_duration);
	if (r->request->worst && ret->n > r->request->worst)
		ret->n = r->request->worst;
	return err;
}

static int no_goroutine(const struct reading *r, bool from_start, struct error *error)
{
	const struct trace_args *in = &r->request->in;
	bool windowed = in->have_from || in->have_to;

	if (in->select.function.text)
		return selection__none(&in->select, in->name,
				       windowed ? " in the requested time" : "", error);
	if (from_start && path_history__find_goroutine(r->h, in->select.goroutine) == PATH_NONE)
		return error__set(error, -ENOENT, "there is no goroutine %" PRIu64,
				  in->select.goroutine);
	return error__set(error, -ENOENT,
			  "goroutine %" PRIu64 " does not exist in the requested time: it ended "
			  "before it, or was created after it",
			  in->select.goroutine);
}

int path__read(struct reader *r, int64_t start, struct path_request *a, struct path_history *h,
	       struct path_windows *ret, struct error *error)
{
	struct reading reading = { .request = a, .h = h, .start = start };
	struct path_windows windows = {};
	struct timeline *t;
	struct path_fold f;
	int err = timeline__create(&t, r);

	if (err)
		return error__set(error, err, "out of memory");
	path_fold__init(&f, h);
	err = read_all(&reading, t, reader__order(r), &f, error);
	h->kernel = timeline__has_kernel(t);
	windows.shorts = *timeline__short(t);
	timeline__destroy(t);
	free(reading.waiting);
	if (!err && choose(&reading, f.tracker.now, &windows))
		err = error__set(error, -ENOMEM, "out of memory");
	path_fold__deinit(&f);
	if (!err && !windows.n)
		err = no_goroutine(&reading, start == INT64_MIN, error);
	if (err) {
		free(windows.at);
		return err;
	}
	windows.start = reading.start;
	windows.lossy = reading.lossy;
	*ret = windows;
	return 0;
}
