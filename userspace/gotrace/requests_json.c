// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace requests --json`: per name the durations, the errors, and the parts of the goroutines' time,
 * of all requests and of the slowest ones.
 *
 * Input: analysis/requests_sum.c. latency_json.c prints the parts; lib/json.c writes to stdout.
 */
#include <errno.h>
#include <stdio.h>

#include "lib/json.h"
#include "latency.h"
#include "requests.h"

int requests_json__time(struct json *j, const struct request_report *report,
			const struct latency_stats *time, const struct latency_stats *path)
{
	const struct latency *l = requests__latency(report->requests);
	int err;

	json__open(j, "time", '{');
	err = latency_json__parts(j, l, time) ?: latency_json__places(j, l, time);
	json__close(j, '}');
	json__open(j, "critical_path", '{');
	if (!err)
		err = latency_json__path(j, l, path) ?: latency_json__places(j, l, path);
	json__close(j, '}');
	latency_json__top_cause(j, l, path);
	return err;
}

/* The time outside of the handlers, and what the begins of the requests are. */
static void put_around(struct json *j, const struct request_sum *sum)
{
	json__i64(j, "before_handler_ns", sum->before);
	json__i64(j, "after_handler_ns", sum->after);
	json__open(j, "begin_at", '{');
	json__u64(j, "arrival", sum->from[REQUEST_FROM_ARRIVAL]);
	json__u64(j, "runnable", sum->from[REQUEST_FROM_READY]);
	json__u64(j, "read", sum->from[REQUEST_FROM_READ]);
	json__u64(j, "task", sum->from[REQUEST_FROM_TASK]);
	json__close(j, '}');
}

static int put_slowest(struct json *j, const struct request_report *report,
		       const struct request_name *n)
{
	struct request_sum sum;
	int err = request_name__slowest(n, &sum);

	if (err)
		return err;
	json__open(j, "slowest", '{');
	json__u64(j, "count", sum.count);
	json__i64(j, "at_least_ns", sum.shortest);
	put_around(j, &sum);
	err = requests_json__time(j, report, &sum.time, &sum.path);
	json__close(j, '}');
	request_sum__deinit(&sum);
	return err;
}

static int put_name(struct json *j, const struct request_report *report,
		    const struct request_name *n)
{
	struct trace_string name = requests__name(report->requests, n->name);
	struct request_sum sum;
	int err = request_name__sum(n, &sum);

	if (err)
		return err;
	json__open(j, NULL, '{');
	json__bytes(j, "name", name.data, name.len);
	annotation_json__lengths(j, &n->lengths, &report->time);
	json__u64(j, "errors", n->failed);
	json__u64(j, "unfinished", n->unfinished);
	put_around(j, &sum);
	err = requests_json__time(j, report, &sum.time, &sum.path);
	request_sum__deinit(&sum);
	if (!err)
		err = put_slowest(j, report, n);
	json__close(j, '}');
	return err;
}

int requests_json__print(const struct request_report *report, struct error *error)
{
	struct json j;
	int err = 0, late = 0;

	json__init(&j, stdout, false);
	json__open(&j, NULL, '{');
	json__open(&j, "requests", '[');
	for (size_t i = 0; !err && i < report->n; i++)
		err = put_name(&j, report, report->names[i]);
	json__close(&j, ']');
	json__u64(&j, "unbegun", requests__unbegun(report->requests));
	json__u64(&j, "without_path", requests__pathless(report->requests));
	annotation_json__time(&j, &report->time);
	json__bool(&j, "kernel", report->has_kernel);
	if (report->worst)
		late = requests_worst__print_json(&j, report, error);
	json__close(&j, '}');
	return err ? error__set(error, err, "out of memory") : late;
}
