// SPDX-License-Identifier: GPL-2.0
/*
 * Table of `gotrace requests`: a row per name, then where the time of all requests and of the slowest
 * ones went.
 *
 * Input: analysis/requests_sum.c. latency_table.c prints the parts, print.c writes to stdout.
 */
#include <errno.h>
#include <inttypes.h>

#include "latency.h"
#include "requests.h"

static struct trace_string name_of(const struct request_report *report,
				   const struct request_name *n)
{
	return requests__name(report->requests, n->name);
}

static void put_row(struct out *o, const struct request_report *report, const struct columns *c,
		    const struct request_name *n)
{
	annotation_table__row(o, c, &n->lengths, &report->time);
	if (!c->hidden[ANNOTATION_LAST])
		out__format(o, " %*" PRIu64, TABLE_TIME, n->failed);
	out__text(o, "  ");
	table__name(o, name_of(report, n), NO_NAME);
	out__char(o, '\n');
}

int requests_table__time(struct out *o, const struct request_report *report,
			 const struct latency_stats *time, const struct latency_stats *path)
{
	static const struct trace_string nothing = { "", 0 };
	struct latency_stats parts = *time;

	parts.migrations = 0; /* they belong to a goroutine, not to what it works for */
	latency_table__top_cause(o, requests__latency(report->requests), path);
	table__part(o, time->total, time->total, "time of the goroutines", nothing);
	return latency_table__details(o, requests__latency(report->requests), report->has_kernel,
				      &parts, false);
}

/* How much of the durations was before and after the handlers, and what their begins are. */
static void put_around(struct out *o, const struct request_name *n, const struct request_sum *sum)
{
	static const char *const texts[REQUEST_SOURCES] = {
		[REQUEST_FROM_READY] = "begin when their goroutine was made runnable: "
				       "when the first byte arrived is not known",
		[REQUEST_FROM_READ] = "begin when their goroutine could read them: "
				      "when the first byte arrived is not known",
	};
	static const struct trace_string nothing = { "", 0 };

	if (sum->from[REQUEST_FROM_TASK] == sum->count && !sum->after)
		return;
	table__part(o, sum->before, n->lengths.sum,
		    "of the durations: before the handler, since the first byte arrived", nothing);
	table__part(o, sum->after, n->lengths.sum,
		    "of the durations: after the handler, until the answer was written", nothing);
	for (unsigned int i = 0; i < REQUEST_SOURCES; i++)
		if (texts[i] && sum->from[i])
			out__format(o, "%11" PRIu64 " %s\n", sum->from[i], texts[i]);
}

static int put_slowest(struct out *o, const struct request_report *report,
		       const struct request_name *n)
{
	struct request_sum sum;
	int err = request_name__slowest(n, &sum);

	if (err)
		return err;
	if (sum.count < n->lengths.count) {
		out__format(o, "the slowest %" PRIu64 ", which took ", sum.count);
		table__time(o, sum.shortest, 0);
		out__text(o, " or more:\n");
		err = requests_table__time(o, report, &sum.time, &sum.path);
	}
	request_sum__deinit(&sum);
	return err;
}

static int put_details(struct out *o, const struct request_report *report,
		       const struct request_name *n, int64_t *unknown, int64_t *total)
{
	struct request_sum sum;
	int err = request_name__sum(n, &sum);

	if (err)
		return err;
	*unknown = time_add(*unknown, sum.time.unknown);
	*total = time_add(*total, sum.time.total);
	out__char(o, '\n');
	table__name(o, name_of(report, n), NO_NAME);
	out__char(o, '\n');
	if (n->unfinished)
		out__format(o, "%11" PRIu64 " unfinished: the end is not in the trace\n",
			    n->unfinished);
	put_around(o, n, &sum);
	err = requests_table__time(o, report, &sum.time, &sum.path);
	request_sum__deinit(&sum);
	return err ? err : put_slowest(o, report, n);
}

int requests_table__print(const struct request_report *report, struct error *error)
{
	uint64_t unbegun = requests__unbegun(report->requests);
	struct out *o = out__table();
	struct columns c = annotation_table__columns(true);
	int64_t unknown = 0, total = 0;
	int err = 0;

	for (size_t i = 0; i < report->n; i++)
		c.sum[ANNOTATION_LAST] += (double)report->names[i]->failed * 10;
	columns__fit(&c, o, 0);
	columns__head(&c, o, "COUNT", "TASK");
	for (size_t i = 0; i < report->n; i++)
		put_row(o, report, &c, report->names[i]);
	columns__note(&c, o);
	for (size_t i = 0; !err && i < report->n; i++)
		err = put_details(o, report, report->names[i], &unknown, &total);
	if (unbegun)
		annotation_table__unbegun(o, unbegun);
	if (requests__pathless(report->requests))
		out__format(
			o,
			"%11" PRIu64
			" left out of the top causes: the steps of their goroutines exceed a limit\n",
			requests__pathless(report->requests));
	if (report->n)
		latency_table__note(o, report->has_kernel, unknown, total);
	out__flush(o);
	if (err)
		return error__set(error, err, "out of memory");
	return requests_worst__print(report, error);
}
