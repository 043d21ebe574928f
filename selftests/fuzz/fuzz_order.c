// SPDX-License-Identifier: GPL-2.0
/*
 * Any events in a sound frame: whether they may come next, and what those who read them make of the
 * ones that may.
 */
#include "make_trace.h"
#include "read.h"
#include "trace/fixup.h"
#include "trace/summary.h"

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

static void summarise(struct reader *r, struct summary *summary)
{
	struct fixup *fixup = fixup__create();
	struct error err = {};
	struct trace_event ev;
	int64_t time, before = INT64_MIN;

	while (reader__next(r, &ev, &err) > 0) {
		if (ev.time <= before || fixup__event(fixup, &ev, &time) ||
		    summary__event(summary, &ev, &err))
			abort();
		before = ev.time;
	}
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
	summarise(r, summary);
	summary__destroy(summary);
	reader__destroy(r);
	return 0;
}
