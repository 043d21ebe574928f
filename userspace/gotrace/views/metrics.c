// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace metrics: the metrics of a trace file, as OpenMetrics text.
 *
 * reader/timeline.c merges events and kernel events, metrics/engine.c runs the analyses, and
 * metrics/print.c prints what a recorder would report of the same events.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/progress.h"
#include "metrics/engine.h"
#include "metrics/metrics.h"
#include "gotrace/command.h"

static const struct argp_option options[] = {
	READING_OPTIONS,
	{},
};

static const struct argp parser = {
	options,
	trace_args__parse,
	"FILE",
	"Prints the sums of a trace as metrics in the OpenMetrics text format, which Prometheus "
	"reads: time of goroutines by state and by what they waited for, scheduler latency, "
	"garbage collection, requests, CPU time by start function, losses. The figures are those "
	"of latency, requests, histogram and stat.",
};

static int read_trace(void *context, struct timeline *t, const struct reader *r,
		      struct error *error)
{
	struct timeline_step step = {};
	int err;

	while ((err = timeline__next(t, &step, error)) > 0) {
		err = engine__step(context, t, &step, error);
		if (err)
			return err;
	}
	return err;
}

static int print(struct engine *e, struct error *error)
{
	struct metrics_target target = {};
	struct outbuf snapshot = {};
	struct metric_values v = {};
	int err = engine__collect(e, &v);

	err = err ?: engine__collect_rest(e, &v);
	if (!err)
		err = metric_values__pack(&v, &snapshot);
	metric_values__deinit(&v);
	if (err)
		return error__set(error, err, "out of memory");
	target.snapshot = snapshot.data;
	target.size = snapshot.len;
	progress__end();
	err = metrics__print(stdout, &target, 1, error);
	outbuf__deinit(&snapshot);
	return err;
}

int do_metrics(int argc, char **argv, struct error *error)
{
	struct trace_args a = { .verb = "metrics", .reader.described = true };
	struct engine *e;
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	trace_args__check(&a);
	e = engine__create();
	err = e ? read_timeline(&a, read_trace, e, error) :
		  error__set(error, -ENOMEM, "out of memory");
	if (!err)
		err = print(e, error);
	engine__destroy(e);
	return err ? EXIT_FAILED : EXIT_DONE;
}
