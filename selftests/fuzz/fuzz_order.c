// SPDX-License-Identifier: GPL-2.0
/*
 * Arbitrary events in valid batches: the check of their order, and all readers of those that pass.
 */
#include "analysis/intervals.h"
#include "analysis/path.h"
#include "analysis/summary.h"
#include "analysis/waits.h"
#include "reader/fixup.h"
#include "make_trace.h"
#include "read.h"

static int look_at_goroutine(void *context, const struct summary_goroutine *g)
{
	struct summary *const *summary = context;
	struct summary_region region;
	struct trace_string name = summary__name(*summary, g->name);
	struct buf regions = g->regions;

	look_at(name.data, name.len);
	while (summary_region__unpack(&regions, &region) > 0)
		summary_stats__deinit(&region.stats);
	return 0;
}

/* The cause of the first few waits: each moment up to the last is reported once. */
static void walk(const struct path_history *h, int64_t to)
{
	int64_t at;
	struct path p;

	for (uint32_t g = 0; g < h->goroutines.n && g < 4; g++) {
		if (path__walk(h, g, INT64_MIN, to, &p))
			abort();
		at = INT64_MIN;
		for (size_t i = 0; i < p.n; at = p.segments[i++].to)
			if (p.segments[i].from != at || p.segments[i].to <= at)
				abort();
		if (at != to)
			abort();
		path__deinit(&p);
	}
}

/* Each interval is in one bucket, and none has a length below 0. */
static void count_intervals(const struct intervals *iv)
{
	struct lengths_bucket buckets[LENGTH_BUCKETS];
	bool kernel;
	const struct lengths *l = &intervals__counts(iv, &kernel)->lengths;
	size_t n = lengths__buckets(l, buckets);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += buckets[i].count;
	if (sum != l->count || l->min < 0 || l->sum < l->max || lengths__share(l, 0.99) > l->max ||
	    lengths__share(l, 0.5) < l->min)
		abort();
}

/* The longest first; the causes of each add up to its time. */
static void explain(const struct path_history *h, struct waits *w, int64_t to)
{
	uint64_t budget = 1 << 16, ns, before = UINT64_MAX;
	struct wait_causes causes;
	const struct wait *all;
	size_t n;

	if (waits__finish(w, to, h, &all, &n))
		abort();
	for (size_t i = 0; i < n; i++) {
		if (all[i].from >= all[i].to || wait__causes(h, &all[i], &budget, &causes))
			abort();
		ns = (uint64_t)all[i].to - (uint64_t)all[i].from;
		if (ns > before)
			abort();
		before = ns;
		for (uint32_t k = 0; k < causes.n; k++)
			ns -= causes.at[k].ns;
		if (causes.known && ns != causes.others_ns)
			abort();
	}
}

static void summarise(struct reader *r, struct summary *summary, enum interval_kind kind)
{
	static const struct waits_opts opts = { .kind = { true, true, true, true },
						.runtime = true,
						.longest = 20 };
	struct waits *waits = waits__create(&opts);
	struct intervals *iv = intervals__create(&(struct intervals_opts){ .kind = kind });
	static const struct kernel_threads none;
	struct fixup *fixup = fixup__create();
	struct path_history history;
	struct path_fold fold;
	struct error err = {};
	struct trace_event ev;
	int64_t time, before = INT64_MIN;

	if (path_history__init(&history, 16 << 20))
		abort();
	path_fold__init(&fold, &history);
	while (reader__next(r, &ev, &err) > 0) {
		if (ev.time <= before || fixup__event(fixup, &ev, &time) ||
		    summary__event(summary, &ev, &err) || intervals__event(iv, &ev) ||
		    waits__event(waits, &ev) ||
		    path_fold__event(&fold, &ev, &none, (uint64_t)ev.time))
			abort();
		before = ev.time;
	}
	walk(&history, before);
	explain(&history, waits, before);
	waits__destroy(waits);
	count_intervals(iv);
	intervals__destroy(iv);
	path_fold__deinit(&fold);
	path_history__deinit(&history);
	fixup__destroy(fixup);
	if (summary__finish(summary, NULL))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t trace[MADE_MAX];
	struct summary *summary;
	const struct summary_opts opts = { .regions = size % 2,
					   .done = look_at_goroutine,
					   .context = &summary };
	struct reader *r;
	size_t len;

	len = make_trace(data, size, trace);
	read_trace(trace, len, &(struct reader_opts){});
	if (reader__open(&r, open_plain(trace, len), &(struct reader_opts){ .lenient = true },
			 NULL))
		abort();
	summary = summary__create(&opts);
	summarise(r, summary, (enum interval_kind)(size % INTERVAL_KINDS));
	summary__destroy(summary);
	reader__destroy(r);
	return 0;
}
