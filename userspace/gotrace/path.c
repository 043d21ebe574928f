// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace path: the critical path of a goroutine, which is what it and the goroutines that blocked
 * it did.
 *
 * path_read.c builds a history of the trace, analysis/path_walk.c walks it backward, path_print.c
 * and path_json.c print the path.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/log.h"
#include "lib/opts.h"
#include "at.h"
#include "path_print.h"
#include "path_read.h"

#define HISTORY_MAX (512ul << 20) /* bytes, for the history and for the path each */

enum { OPT_GOROUTINE = 256 };

struct arguments {
	struct path_request request;
	bool have_goroutine;
};

static const struct argp_option options[] = {
	{ "goroutine", OPT_GOROUTINE, "ID", 0, "ID of the goroutine to analyse (required)", 0 },
	{ "from", OPT_FROM, "T", 0,
	  "start of the path: 1.5s after the start of the trace, or @123, nanosecond 123 of the "
	  "trace's clock; by default the creation of the goroutine",
	  0 },
	{ "to", OPT_TO, "T", 0, "end of the path; by default the end of the goroutine", 0 },
	{ "json", OPT_JSON, NULL, 0, "print JSON, with nanoseconds of the trace's clock", 0 },
	READING_OPTIONS,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_GOROUTINE:
		if (!opts__number(text, 0, UINT64_MAX - 1, &a->request.goroutine))
			usage_error("invalid goroutine ID '%s': expected a number", text);
		a->have_goroutine = true;
		return 0;
	default:
		return trace_args__option(&a->request.in, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE --goroutine ID",
	"Shows the critical path of a goroutine: its own execution, and what blocked it. While "
	"it waited for another goroutine, the path contains what that goroutine did until it "
	"ended the wait. Each moment belongs to exactly one segment. If the trace has kernel "
	"events (gotrace-bpf record), the path also shows what occupied the CPU, system calls, "
	"and wake-ups between threads and processes.",
};

static void check_arguments(struct arguments *a)
{
	trace_args__check(&a->request.in);
	if (!a->have_goroutine)
		usage_error("missing option --goroutine ID; 'gotrace goroutines --all FILE' "
			    "lists the IDs");
}

static int show(const struct arguments *a, const struct path_history *h,
		const struct path_window *window, struct error *error)
{
	struct path path;
	struct json j;
	int err = path__walk(h, window->goroutine, window->from, window->to, &path);

	if (!err) {
		json__init(&j, stdout, false);
		err = a->request.in.json ? path__print_json(&j, h, window->goroutine, &path) :
					   path__print(h, window->goroutine, &path, window->start);
		path__deinit(&path);
	}
	if (err == -E2BIG)
		return error__set(error, err,
				  "%s: the path has more than %zu segments; request a shorter "
				  "time with --from and --to",
				  a->request.in.name, h->limit / sizeof(struct path_segment));
	if (err)
		return error__set(error, err, "%s: %s", a->request.in.name, strerror(-err));
	if (!h->kernel)
		log__msg("%s: the trace has no kernel events; the path is derived from Go's "
			 "events alone",
			 a->request.in.name);
	if (window->lossy)
		log__msg("%s: some kernel events were lost; 'gotrace stat' shows when",
			 a->request.in.name);
	return 0;
}

int do_path(int argc, char **argv, struct error *error)
{
	struct arguments a = { .request.in = { .verb = "path", .reader.described = true } };
	struct path_window window;
	struct path_history h;
	struct error why = {};
	struct reader *r = NULL;
	int64_t start;
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	check_arguments(&a);
	err = path_history__init(&h, HISTORY_MAX);
	if (err)
		error__set(error, err, "out of memory");
	else
		err = open_trace_at(&a.request.in,
				    a.request.in.have_from ? &a.request.in.from : NULL, &r, &start,
				    NULL, error);
	if (!err) {
		err = path__read(r, start, &a.request, &h, &window, &why);
		if (err)
			error__about(error, err, a.request.in.name, &why);
		else
			report_omissions(a.request.in.name, r);
	}
	reader__destroy(r);
	if (!err)
		err = show(&a, &h, &window, error);
	path_history__deinit(&h);
	return err ? EXIT_FAILED : EXIT_DONE;
}
