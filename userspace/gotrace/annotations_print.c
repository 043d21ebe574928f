// SPDX-License-Identifier: GPL-2.0
/*
 * Durations of tasks, regions and requests as cells of a table, as bars and as JSON, the analysed
 * time that their rates refer to, and the options that the three commands share: see annotations.h.
 *
 * Input: analysis/lengths.c. print.c and lib/json.c write to stdout. Used by tasks.c and requests*.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analysis/durations.h"
#include "analysis/requests.h"
#include "lib/json.h"
#include "lib/log.h"
#include "annotations.h"

#define BAR_WIDTH 40

static const char *const keys[REQUESTS_KEYS] = {
	[LENGTHS_TOTAL] = "total",    [LENGTHS_COUNT] = "count", [LENGTHS_P50] = "p50",
	[LENGTHS_P90] = "p90",	      [LENGTHS_P99] = "p99",	 [LENGTHS_MAX] = "max",
	[REQUESTS_ERRORS] = "errors",
};

void annotation_sort__parse(struct annotation_sort *s, const char *text)
{
	for (s->key = 0; s->key < s->n; s->key++)
		if (!strcmp(keys[s->key], text))
			return;
	usage_error("unknown key '%s' for --sort: must be total, count, p50, p90, p99%s", text,
		    s->n > REQUESTS_ERRORS ? ", max or errors" : " or max");
}

void analysed_time__begin(struct analysed_time *t, const struct trace_args *in, int64_t first)
{
	*t = (struct analysed_time){
		.first = first,
		.from = in->have_from ? moment__time(&in->from, first) : INT64_MIN,
		.to = in->have_to ? moment__time(&in->to, first) : INT64_MAX,
	};
	t->start = t->from > first ? t->from : first;
}

int analysed_time__end(struct analysed_time *t, int64_t last, struct error *error)
{
	t->end = last < t->to ? last : t->to;
	if (t->start <= t->end)
		return 0;
	return error__set(error, -ENOENT,
			  "no events in the requested time; the length of the trace is %.3f s",
			  (double)((uint64_t)last - (uint64_t)t->first) / 1e9);
}

/* Per second. */
static double rate(const struct lengths *l, const struct analysed_time *t)
{
	int64_t ns = time_sub(t->end, t->start);

	return ns > 0 ? (double)l->count / ((double)ns / 1e9) : 0;
}

static const char *const titles_with_total[] = { "RATE/S", "P50", "P90", "P99", "MAX", "TOTAL" };
static const char *const titles_with_errors[] = { "RATE/S", "P50", "P90", "P99", "MAX", "ERRORS" };

struct columns annotation_table__columns(bool with_errors)
{
	return (struct columns){
		.n = ANNOTATION_COLUMNS,
		.titles = with_errors ? titles_with_errors : titles_with_total,
		.first = 9,
		/* on a narrow terminal the least one is left out first */
		.sum = { 1, 4, 2, 3, 5, with_errors ? 0 : 6 },
	};
}

void annotation_table__row(struct out *o, const struct columns *c, const struct lengths *l,
			   const struct analysed_time *t)
{
	static const double shares[ANNOTATION_LAST] = { 0, 0.5, 0.9, 0.99, 1 };

	out__format(o, "%9" PRIu64, l->count);
	if (!c->hidden[0])
		out__format(o, " %9.1f", rate(l, t));
	for (size_t i = 1; i < ANNOTATION_LAST; i++) {
		if (c->hidden[i])
			continue;
		out__char(o, ' ');
		if (!l->count)
			out__format(o, "%*s", TABLE_TIME, "-");
		else
			table__time(o, shares[i] < 1 ? lengths__share(l, shares[i]) : l->max,
				    TABLE_TIME);
	}
}

void annotation_table__buckets(struct out *o, const struct lengths *l)
{
	table__buckets(o, l, BAR_WIDTH);
}

void annotations__report_none(const struct trace_args *in, const char *what, uint64_t left_out)
{
	const struct selection *select = &in->select;

	if (left_out && select->name.text && !selection__by_goroutine(select)) {
		log__msg("%s: none of the %" PRIu64 " %s has a name that matches '%s'", in->name,
			 left_out, what, select->name.text);
		return;
	}
	if (left_out) {
		log__msg("%s: none of the %" PRIu64 " %s matches the filters", in->name, left_out,
			 what);
		return;
	}
	if (in->have_from || in->have_to) {
		log__msg("%s: no %s found in the requested time", in->name, what);
		return;
	}
	log__msg("%s: no %s found; a program records them with runtime/trace, and gotrace-bpf with "
		 "record --requests, --task or --region",
		 in->name, what);
}

void annotation_table__unbegun(struct out *o, uint64_t unbegun)
{
	out__format(o,
		    "\n%" PRIu64 " task%s ended, but the begin, and so the name, is not in the "
		    "trace.\n",
		    unbegun, unbegun == 1 ? "" : "s");
}

static void put_ns(struct json *j, const char *name, const struct lengths *l, int64_t ns)
{
	if (l->count)
		json__i64(j, name, ns);
	else
		json__null(j, name);
}

void annotation_json__lengths(struct json *j, const struct lengths *l,
			      const struct analysed_time *t)
{
	struct lengths_bucket buckets[LENGTH_BUCKETS];
	size_t n = lengths__buckets(l, buckets);

	json__u64(j, "count", l->count);
	json__double(j, "rate", rate(l, t));
	put_ns(j, "p50_ns", l, lengths__share(l, 0.5));
	put_ns(j, "p90_ns", l, lengths__share(l, 0.9));
	put_ns(j, "p99_ns", l, lengths__share(l, 0.99));
	put_ns(j, "min_ns", l, l->min);
	put_ns(j, "max_ns", l, l->max);
	json__i64(j, "total_ns", l->sum);
	json__open(j, "buckets", '[');
	for (size_t i = 0; i < n; i++) {
		json__open(j, NULL, '{');
		json__i64(j, "from_ns", buckets[i].from);
		json__i64(j, "below_ns", buckets[i].to);
		json__u64(j, "count", buckets[i].count);
		json__close(j, '}');
	}
	json__close(j, ']');
}

void annotation_json__time(struct json *j, const struct analysed_time *t)
{
	json__i64(j, "start", t->start);
	json__i64(j, "end", t->end);
}
