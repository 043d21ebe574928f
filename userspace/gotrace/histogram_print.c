// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace histogram`: figures, and a line with a bar per bucket, or JSON.
 *
 * Input: analysis/lengths.c, whose buckets begin at powers of two. print.c and lib/json.c write to
 * stdout.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lib/json.h"
#include "histogram.h"
#include "print/table.h"

#define BAR_WIDTH 50

static const char *describe(const struct histogram *h)
{
	static const char *const texts[INTERVAL_KINDS] = {
		[INTERVAL_SCHED] = "runnable goroutines, until they ran",
		[INTERVAL_RUNQUEUE] = "runnable threads, until they were on a CPU",
		[INTERVAL_SYSCALL] = "system calls",
		[INTERVAL_GC] = "GC cycles (concurrent mark phase)",
		[INTERVAL_STW] = "stop-the-world pauses",
		[INTERVAL_BLOCK] = "blocked goroutines, until they were runnable",
	};

	return texts[h->of.kind];
}

static void put_figure(struct out *o, const char *name, int64_t ns)
{
	out__format(o, "%-7s", name);
	table__time(o, ns, TABLE_TIME + 2);
	out__char(o, '\n');
}

void histogram__print_table(const struct histogram *h)
{
	const struct lengths *l = &h->counts->lengths;
	struct out *o = out__table();

	out__text(o, "Durations of ");
	out__text(o, describe(h));
	if (h->of.name) {
		out__text(o, ": ");
		out__unicode(o, h->of.name, strlen(h->of.name));
	}
	out__format(o, "\n\n%-7s%11" PRIu64 "\n", "count", l->count);
	if (h->counts->uncounted)
		out__format(
			o,
			"not counted, because their begin is not in the trace or events were lost: %" PRIu64
			"\n",
			h->counts->uncounted);
	if (!h->kernel && h->unfinished)
		out__format(o, "not counted, because they have not ended: %" PRIu64 "\n",
			    h->unfinished);
	if (l->count) {
		put_figure(o, "sum", l->sum);
		put_figure(o, "min", l->min);
		put_figure(o, "median", lengths__share(l, 0.5));
		put_figure(o, "p99", lengths__share(l, 0.99));
		put_figure(o, "max", l->max);
		out__char(o, '\n');
	}
	table__buckets(o, l, BAR_WIDTH);
	out__flush(o);
}

/* There are no extremes and no median of nothing: null. */
static void put_json_figure(struct json *j, const char *name, const struct lengths *l, int64_t ns)
{
	if (l->count)
		json__i64(j, name, ns);
	else
		json__null(j, name);
}

void histogram__print_json(const struct histogram *h)
{
	const struct lengths *l = &h->counts->lengths;
	struct lengths_bucket buckets[LENGTH_BUCKETS];
	size_t n = lengths__buckets(l, buckets);
	struct json j;

	json__init(&j, stdout, false);
	json__open(&j, NULL, '{');
	json__string(&j, "of", interval_names[h->of.kind]);
	json__string(&j, "name", h->of.name);
	json__u64(&j, "count", l->count);
	json__u64(&j, "not_counted", h->counts->uncounted);
	if (h->kernel)
		json__null(&j, "unfinished");
	else
		json__u64(&j, "unfinished", h->unfinished);
	json__i64(&j, "sum_ns", l->sum);
	put_json_figure(&j, "min_ns", l, l->min);
	put_json_figure(&j, "p50_ns", l, lengths__share(l, 0.5));
	put_json_figure(&j, "p99_ns", l, lengths__share(l, 0.99));
	put_json_figure(&j, "max_ns", l, l->max);
	json__open(&j, "buckets", '[');
	for (size_t i = 0; i < n; i++) {
		json__open(&j, NULL, '{');
		json__i64(&j, "from_ns", buckets[i].from);
		json__i64(&j, "below_ns", buckets[i].to);
		json__u64(&j, "count", buckets[i].count);
		json__close(&j, '}');
	}
	json__close(&j, ']');
	json__i64(&j, "start", h->start);
	json__i64(&j, "end", h->end);
	json__bool(&j, "kernel", h->kernel);
	json__close(&j, '}');
}
