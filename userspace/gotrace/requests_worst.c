// SPDX-License-Identifier: GPL-2.0
/*
 * `gotrace requests --worst N`: the longest requests one by one, each with the critical path of the
 * goroutine that ended it, from its begin to its end.
 *
 * Input: analysis/requests_sum.c. The trace is read again for each (path_read.c), since a path needs
 * the history of its time; path_print.c and path_json.c print it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/durations.h"
#include "lib/log.h"
#include "at.h"
#include "input_twice.h"
#include "path_print.h"
#include "path_read.h"
#include "requests.h"

#define HISTORY_MAX (512ul << 20) /* bytes, for the history and for the path each */

/* A request's path, with what its names refer to. */
struct request_path {
	struct path_history history;
	struct path_windows windows; /* one */
	struct path path;
};

static void request_path__deinit(struct request_path *p)
{
	path__deinit(&p->path);
	free(p->windows.at);
	path_history__deinit(&p->history);
}

static int read_history(struct path_request *request, struct request_path *p, struct error *error)
{
	struct reader *r;
	int64_t start;
	int err = open_trace_at(&request->in, &request->in.from, &r, &start, NULL, error);

	if (err)
		return err;
	err = path__read(r, start, request, &p->history, &p->windows, error);
	reader__destroy(r);
	return err;
}

/* To be deinitialized in any case. 0 or a negative errno with the reason. */
static int find_path(const struct request_report *report, const struct request_single *single,
		     struct request_path *p, struct error *error)
{
	struct path_request request = { .in = report->in };
	int err = path_history__init(&p->history, HISTORY_MAX);
	const struct path_window *window;

	request.in.from = (struct moment){ .clock = MOMENT_TRACE, .ns = single->begin };
	request.in.to = (struct moment){ .clock = MOMENT_TRACE, .ns = single->end };
	request.in.have_from = request.in.have_to = true;
	request.in.select = (struct selection){ .have_goroutine = true, .goroutine = single->g };
	p->path = (struct path){};
	p->windows = (struct path_windows){};
	input_twice__again(request.in.path, report->input);
	if (!err)
		err = read_history(&request, p, error);
	window = p->windows.at;
	if (!err)
		err = path__walk(&p->history, window->goroutine, window->from, window->to,
				 &p->path);
	return err ? error__set(error, err, "%s", strerror(-err)) : 0;
}

/*
 * Another request may have a path if this one has none: it is too long, or the trace contradicts
 * itself. These are no failures of the command, others are.
 */
static int note_failure(const struct request_report *report, const struct request_single *single,
			int err, const struct error *why, struct error *error)
{
	if (!err)
		return 0;
	log__msg("%s: request %" PRIu64 ": no path: %s", report->in.name, single->id, why->text);
	if (err == -E2BIG || err == -ENOENT)
		return 0;
	return error__set(error, err, "%s: a path cannot be determined", report->in.name);
}

static int print_one(const struct request_report *report, const struct request_single *single,
		     struct error *error)
{
	struct trace_string name = requests__name(report->requests, single->name);
	struct out *o = out__table();
	struct request_path p;
	struct error why = {};
	int err = find_path(report, single, &p, &why);

	out__format(o, "\nrequest %" PRIu64 " (", single->id);
	table__name(o, name, NO_NAME);
	out__text(o, "), ");
	table__time(o, time_sub(single->end, single->begin), 0);
	out__format(o, "%s\n", single->failed ? ", failed" : "");
	if (requests_table__time(o, report, &single->time, &single->path))
		err = error__set(&why, -ENOMEM, "out of memory");
	out__char(o, '\n');
	out__flush(o);
	if (!err && path__print(&p.history, p.windows.at->goroutine, &p.path, report->time.first,
				&report->in.select))
		err = error__set(&why, -ENOMEM, "out of memory");
	request_path__deinit(&p);
	return note_failure(report, single, err, &why, error);
}

int requests_worst__print(const struct request_report *report, struct error *error)
{
	size_t n;
	const struct request_single *worst = requests__worst(report->requests, &n);
	int err = 0, one;

	for (size_t i = 0; i < n; i++) {
		one = print_one(report, &worst[i], error);
		err = err ? err : one;
	}
	return err;
}

/* An array with one path, or none. */
static int put_path(struct json *j, const struct request_report *report,
		    const struct request_single *single, struct error *error)
{
	struct request_path p;
	struct error why = {};
	int err = find_path(report, single, &p, &why);

	json__open(j, "paths", '[');
	if (!err &&
	    path__print_json(j, &p.history, p.windows.at->goroutine, &p.path, &report->in.select))
		err = error__set(&why, -ENOMEM, "out of memory");
	json__close(j, ']');
	request_path__deinit(&p);
	return note_failure(report, single, err, &why, error);
}

static int put_one(struct json *j, const struct request_report *report,
		   const struct request_single *single, struct error *error)
{
	static const char *const begins[REQUEST_SOURCES] = {
		[REQUEST_FROM_TASK] = "task",
		[REQUEST_FROM_ARRIVAL] = "arrival",
		[REQUEST_FROM_READY] = "runnable",
		[REQUEST_FROM_READ] = "read",
	};
	struct trace_string name = requests__name(report->requests, single->name);
	int err, late;

	json__open(j, NULL, '{');
	json__u64(j, "id", single->id);
	json__bytes(j, "name", name.data, name.len);
	json__i64(j, "begin", single->begin);
	json__i64(j, "end", single->end);
	json__i64(j, "duration_ns", time_sub(single->end, single->begin));
	json__i64(j, "before_handler_ns", single->before);
	json__i64(j, "after_handler_ns", single->after);
	json__string(j, "begin_at", begins[single->source]);
	json__u64(j, "created_by", single->creator);
	json__u64(j, "ended_by", single->g);
	json__bool(j, "error", single->failed);
	err = requests_json__time(j, report, &single->time, &single->path);
	if (err)
		error__set(error, err, "out of memory");
	late = put_path(j, report, single, error);
	json__close(j, '}');
	return err ? err : late;
}

int requests_worst__print_json(struct json *j, const struct request_report *report,
			       struct error *error)
{
	size_t n;
	const struct request_single *worst = requests__worst(report->requests, &n);
	int err = 0, one;

	json__open(j, "worst", '[');
	for (size_t i = 0; i < n; i++) {
		one = put_one(j, report, &worst[i], error);
		err = err ? err : one;
	}
	json__close(j, ']');
	return err;
}
