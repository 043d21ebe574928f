// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace requests: tasks as requests, and where their time went.
 *
 * reader/timeline.c merges events and kernel events, analysis/requests.c divides the time of the
 * goroutines among the tasks, requests_table.c and requests_json.c print.
 */
#include "requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/opts.h"
#include "input_twice.h"
#include "select_events.h"

#define WORST_MAX 1000

enum { OPT_WORST = 256 };

static const struct argp_option options[] = {
	{ "worst", OPT_WORST, "N", 0,
	  "also show the N longest requests one by one, with their critical paths", 0 },
	SORT_OPTION("count, p50, p90, p99, max or errors"),
	ANNOTATION_FILTERS("requests", "created"),
	{ "from", OPT_FROM, "T", 0, "only requests that end at T or later: " MOMENT_HELP, 0 },
	{ "to", OPT_TO, "T", 0, "only requests that end before T", 0 },
	TIMES_JSON_OPTION,
	COLOR_OPTION,
	READING_OPTIONS,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct request_report *report = state->input;

	if (key == OPT_WORST) {
		if (!opts__number(text, 1, WORST_MAX, &report->worst))
			usage_error("invalid number '%s' for --worst: expected 1 to %d", text,
				    WORST_MAX);
		return 0;
	}
	if (key == OPT_SORT) {
		annotation_sort__parse(&report->sort, text);
		return 0;
	}
	return trace_args__option(&report->in, key, text, state);
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE",
	"Treats each task (see tasks --help) as a request, and shows per name how many ended, "
	"how many per second, how long they took, and how many failed: those with a log of "
	"category \"error\", or of category \"status\" with a number of 500 or more. Below the table "
	"is where the time of the goroutines went that worked for them, of all requests and of the "
	"slowest 1 %. A goroutine works for a task while it is in a region of it; the goroutine that "
	"created the task works for it until one of the two ends. A goroutine that works for a task "
	"also works for its ancestors. System calls and waits for a CPU require kernel events, as "
	"traces of gotrace-bpf record contain them.",
};

static int read_trace(void *context, struct timeline *t, const struct reader *r,
		      struct error *error)
{
	struct request_report *report = context;
	struct timeline_step step = {};
	bool started = false;
	int64_t last = 0;
	int err;

	while ((err = timeline__next(t, &step, error)) > 0) {
		if (step.event && !started) {
			analysed_time__begin(&report->time, &report->in, step.event->time);
			requests__set_window(report->requests, report->time.from, report->time.to);
			started = true;
		}
		if (step.event)
			last = step.event->time;
		if (started && last >= report->time.to)
			break;
		err = requests__step(report->requests, t, &step, error);
		if (err)
			return err;
	}
	if (err < 0)
		return err;
	if (requests__finish(report->requests))
		return error__set(error, -ENOMEM, "out of memory");
	report->has_kernel = timeline__has_kernel(t);
	return analysed_time__end(&report->time, last, error);
}

static int print(struct request_report *report, struct error *error)
{
	int err;

	report->names = requests__sorted(report->requests, report->sort.key, &report->n);
	if (!report->names)
		return error__set(error, -ENOMEM, "out of memory");
	if (!report->n)
		annotations__report_none(&report->in, "tasks",
					 requests__left_out(report->requests));
	report->n = selection__top(&report->in.select, report->n);
	err = report->in.json ? requests_json__print(report, error) :
				requests_table__print(report, error);
	free(report->names);
	return err;
}

static int read_all(struct request_report *report, struct error *error)
{
	const struct annotation_filter filter = { &report->in.select, &report->goroutines };
	int err = report->requests ? 0 : error__set(error, -ENOMEM, "out of memory");

	if (err)
		return err;
	requests__set_filter(report->requests, &filter);
	if (report->worst)
		err = input_twice__begin(report->in.path, &report->in.path, &report->input, error);
	if (!err)
		err = find_goroutines(&report->in, &report->goroutines, error);
	return err ? err : read_timeline(&report->in, read_trace, report, error);
}

int do_requests(int argc, char **argv, struct error *error)
{
	struct request_report report = {
		.in = { .verb = "requests", .reader.described = true, .wall_clock = true },
		.sort.n = REQUESTS_KEYS,
	};
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &report);
	trace_args__check(&report.in);
	report.requests = requests__create(report.worst);
	err = read_all(&report, error);
	if (!err)
		err = print(&report, error);
	requests__destroy(report.requests);
	map__deinit(&report.goroutines);
	selection__deinit(&report.in.select);
	return err ? EXIT_FAILED : EXIT_DONE;
}
