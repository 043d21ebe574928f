// SPDX-License-Identifier: GPL-2.0
/*
 * A window of gotrace top as text: see top.h.
 *
 * Names come from the traced program and are escaped by print/print.c, so that they cannot contain
 * control sequences of terminals.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/array.h"
#include "top.h"

static int64_t key_of(const struct window_function *f, unsigned int sort)
{
	if (sort == BY_COUNT)
		return (int64_t)f->goroutines;
	return sort < LATENCY_PARTS ? f->part[sort] : f->total;
}

/* Descending; equal ones by name, so that their order does not vary from window to window. */
static int compare(int64_t a, int64_t b, struct trace_string x, struct trace_string y)
{
	uint32_t len = x.len < y.len ? x.len : y.len;
	int order;

	if (a != b)
		return a > b ? -1 : 1;
	order = len ? memcmp(x.data, y.data, len) : 0;
	return order ?: (x.len > y.len) - (x.len < y.len);
}

static int compare_functions(const void *a, const void *b, void *sort)
{
	const struct window_function *x = a, *y = b;
	unsigned int by = *(const unsigned int *)sort;

	return compare(key_of(x, by), key_of(y, by), x->name, y->name);
}

static int compare_reasons(const void *a, const void *b)
{
	const struct window_reason *x = a, *y = b;

	return compare(x->ns, y->ns, x->name, y->name);
}

static int compare_requests(const void *a, const void *b)
{
	const struct window_request *x = a, *y = b;

	return compare((int64_t)x->count, (int64_t)y->count, x->name, y->name);
}

/* ---- the summary ---- */

#define SUMMARY_LINES 8

static void put_mean(struct out *o, uint64_t ns, uint64_t count)
{
	out__text(o, ", mean ");
	table__time(o, count ? (int64_t)(ns / count) : 0, 0);
}

static void put_intervals(struct out *o, const char *what, const struct window_intervals *iv)
{
	out__format(o, "%-16s%" PRIu64, what, iv->count);
	put_mean(o, iv->ns, iv->count);
	out__char(o, '\n');
}

static void put_head(struct out *o, const struct trace_window *w, const struct top_view *view)
{
	out__format(o, "window from %.3f s to %.3f s", (double)time_sub(w->from, view->start) / 1e9,
		    (double)time_sub(w->to, view->start) / 1e9);
	if (w->gomaxprocs)
		out__format(o, ", GOMAXPROCS %" PRIu64, w->gomaxprocs);
	out__format(o, ", %" PRIu64 " events", w->number[WINDOW_EVENTS]);
	if (w->has_kernel)
		out__format(o, ", %" PRIu64 " kernel events", w->number[WINDOW_KERNEL_EVENTS]);
	out__format(o, ", %" PRIu64 " lost\n", w->number[WINDOW_LOST]);
	if (view->hints)
		out__format(o, "q: quit  < >: sort by another column (now %s)  space: %s\n",
			    latency_orders[view->sort], view->paused ? "continue" : "pause");
}

static void put_gc(struct out *o, const struct trace_window *w)
{
	const struct window_intervals *gc = &w->interval[INTERVAL_GC];
	const struct window_intervals *stw = &w->interval[INTERVAL_STW];

	out__format(o, "%-16s%" PRIu64 " cycles", "GC", gc->count);
	put_mean(o, gc->ns, gc->count);
	if (w->number[WINDOW_GC_UNKNOWN])
		out__format(o, ", %" PRIu64 " of unknown duration", w->number[WINDOW_GC_UNKNOWN]);
	out__text(o, w->gc_open ? ", one in progress; mark assists " : "; mark assists ");
	table__time(o, (int64_t)w->number[WINDOW_GC_ASSIST], 0);
	if (w->heap)
		out__format(o, "; heap %.1f MiB", (double)w->heap / (1 << 20));
	if (w->heap_goal)
		out__format(o, ", goal %.1f MiB", (double)w->heap_goal / (1 << 20));
	out__char(o, '\n');
	put_intervals(o, "STW pauses", stw);
}

static void put_summary(struct out *o, const struct trace_window *w, const struct top_view *view)
{
	put_head(o, w, view);
	out__format(o,
		    "%-16s%" PRIu64 " running, %" PRIu64 " runnable, %" PRIu64 " waiting, %" PRIu64
		    " in system calls; %" PRIu64 " created, %" PRIu64 " ended\n",
		    "goroutines", w->state[GO_STATE_RUNNING], w->state[GO_STATE_RUNNABLE],
		    w->state[GO_STATE_WAITING], w->state[GO_STATE_SYSCALL],
		    w->number[WINDOW_CREATED], w->number[WINDOW_ENDED]);
	put_intervals(o, "waits for a P", &w->interval[INTERVAL_SCHED]);
	if (w->has_kernel)
		put_intervals(o, "run queue delay", &w->interval[INTERVAL_RUNQUEUE]);
	else
		out__format(o, "%-16s- (the trace has no kernel events)\n", "run queue delay");
	put_intervals(o, "system calls", &w->interval[INTERVAL_SYSCALL]);
	put_gc(o, w);
}

/* ---- tables ---- */

static size_t at_most(size_t n, size_t most)
{
	return n < most ? n : most;
}

static void put_reasons(struct out *o, struct trace_window *w, size_t top)
{
	static const struct trace_string unknown = { "(unknown reason)", 16 };
	const struct window_reason *r;
	int64_t all = 0;

	if (!w->reasons)
		return;
	for (size_t i = 0; i < w->functions; i++)
		all = time_add(all, w->function[i].total);
	array__sort(w->reason, w->reasons, sizeof(*w->reason), compare_reasons);
	out__format(o, "\n%*s%8s  WAIT\n", TABLE_TIME + 2, "TIME", "SHARE");
	for (r = w->reason; r < w->reason + at_most(w->reasons, top); r++)
		table__part(o, r->ns, all, latency_part_texts[r->part],
			    r->name.len ? r->name : unknown);
}

static void put_requests(struct out *o, struct trace_window *w, size_t top)
{
	const struct window_request *r;
	double seconds = (double)time_sub(w->to, w->from) / 1e9;

	if (!w->requests)
		return;
	array__sort(w->request, w->requests, sizeof(*w->request), compare_requests);
	out__format(o, "\n%11s %9s %9s %9s  REQUEST\n", "COUNT", "PER S", "MEAN", "ERRORS");
	for (r = w->request; r < w->request + at_most(w->requests, top); r++) {
		out__format(o, "%11" PRIu64 " %9.1f ", r->count, (double)r->count / seconds);
		table__time(o, r->ns / (int64_t)r->count, TABLE_TIME);
		out__format(o, " %9" PRIu64 "  ", r->failed);
		table__name(o, r->name, "(no name)");
		out__char(o, '\n');
	}
}

static int64_t column_of(const struct window_function *f, unsigned int i)
{
	return i < LATENCY_PARTS ? f->part[i] : f->total;
}

static void put_functions(struct out *o, struct trace_window *w, const struct top_view *view)
{
	struct columns c = latency_columns(w->has_kernel, false);
	uint32_t keep = view->sort < c.n ? 1u << view->sort : 0;
	double active[LATENCY_PARTS] = {};
	const struct window_function *f;

	qsort_r(w->function, w->functions, sizeof(*w->function), compare_functions,
		(void *)&view->sort);
	for (f = w->function; f < w->function + w->functions; f++) {
		bool parked = latency__is_parked(f->part, f->total, f->name);

		for (unsigned int i = 0; i < c.n; i++)
			c.sum[i] += (double)column_of(f, i);
		for (unsigned int i = 0; !parked && i < LATENCY_PARTS; i++)
			active[i] += (double)f->part[i];
	}
	columns__fit(&c, o, keep | 1u << PART_ONCPU | latency_columns__causes(active));
	out__char(o, '\n');
	columns__head(&c, o, "COUNT", "START FUNCTION");
	for (f = w->function; f < w->function + at_most(w->functions, view->functions); f++) {
		out__format(o, "%8" PRIu64, f->goroutines);
		for (unsigned int i = 0; i < c.n; i++)
			columns__time(&c, o, i, column_of(f, i));
		out__text(o, "  ");
		screen__function(o, f->name, NO_STACK, columns__used(&c));
		out__char(o, '\n');
	}
}

size_t top__lines(const struct trace_window *w, const struct top_view *view)
{
	size_t lines = SUMMARY_LINES + 2;

	lines += w->reasons ? 2 + at_most(w->reasons, view->top) : 0;
	return lines + (w->requests ? 2 + at_most(w->requests, view->top) : 0);
}

void top__print(struct trace_window *w, const struct top_view *view)
{
	struct out *o = out__table();

	put_summary(o, w, view);
	put_reasons(o, w, view->top);
	put_requests(o, w, view->top);
	put_functions(o, w, view);
	out__flush(o);
}
