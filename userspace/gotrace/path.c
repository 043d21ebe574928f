// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace path: the critical path of a goroutine, which is what it and the goroutines that blocked
 * it did.
 *
 * path_read.c builds a history of the trace, analysis/path_walk.c walks it backward, path_print.c
 * and path_json.c print the path.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/opts.h"
#include "at.h"
#include "path_print.h"
#include "path_read.h"

#define HISTORY_MAX (512ul << 20) /* bytes, for the history and for the path each */

/*
 * The most steps for the paths of all goroutines, which may wait for the same others all the time:
 * segments count as 64. It is reached after some seconds.
 */
#define WORK_MAX    (1ull << 32)

enum { OPT_WORST = 256, OPT_SUMMARY };

struct arguments {
	struct path_request request;
	bool summary;
};

static const struct argp_option options[] = {
	GOROUTINE_OPTION("ID of the goroutine to analyse"),
	FUNCTION_OPTION,
	{ "worst", OPT_WORST, "N", 0,
	  "with --function: only the N goroutines that lasted longest (default: 1, or all with "
	  "--summary)",
	  0 },
	{ "summary", OPT_SUMMARY, NULL, 0,
	  "only the causes, summed over the goroutines, by start function", 0 },
	TOP_OPTION("only the first N causes"),
	{ "from", OPT_FROM, "T", 0,
	  "start of the path: " MOMENT_HELP "; by default the creation of the goroutine", 0 },
	{ "to", OPT_TO, "T", 0, "end of the path; by default the end of the goroutine", 0 },
	{ "json", OPT_JSON, NULL, 0, "print JSON, with nanoseconds of the trace's clock", 0 },
	COLOR_OPTION,
	READING_OPTIONS,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_WORST:
		if (!opts__number(text, 1, UINT64_MAX, &a->request.worst))
			usage_error("invalid number '%s' for --worst: must be at least 1", text);
		return 0;
	case OPT_SUMMARY:
		a->summary = true;
		return 0;
	default:
		return trace_args__option(&a->request.in, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE --goroutine ID\nFILE --function REGEX [--worst N] [--summary]",
	"Shows the critical path of a goroutine: its own execution, and what blocked it. While "
	"it waited for another goroutine, the path contains what that goroutine did until it "
	"ended the wait. Each moment belongs to exactly one segment. If the trace has kernel "
	"events (gotrace-bpf record), the path also shows what occupied the CPU, system calls, "
	"and wake-ups between threads and processes.",
};

static void check_arguments(struct arguments *a)
{
	const struct selection *select = &a->request.in.select;

	trace_args__check(&a->request.in);
	if (!select->have_goroutine && !select->function.text)
		usage_error("missing option --goroutine ID or --function REGEX; 'gotrace "
			    "goroutines --all FILE' lists the IDs");
	if (select->have_goroutine && select->goroutine == TRACE_NO_G)
		usage_error("invalid goroutine ID '%" PRIu64 "'", select->goroutine);
	if (a->request.worst && !select->function.text)
		usage_error("--worst requires --function");
	if (select->function.text && !a->request.worst && !a->summary)
		a->request.worst = 1;
}

/* What the paths of a window are computed with. */
struct walking {
	const struct path_history *h;
	uint64_t *held; /* of path__walk_next() */
	uint64_t work;
	size_t memory; /* of the segments that are kept */
};

static int walk(struct walking *w, const struct path_window *window, struct path *ret)
{
	uint64_t budget = UINT64_MAX;
	int err = path__walk_next(w->h, &w->held, window->goroutine, window->from, window->to,
				  &budget, ret);

	if (err)
		return err;
	w->work += ret->work + 64 * (uint64_t)ret->n;
	w->memory += ret->n * sizeof(*ret->segments);
	if (w->work <= WORK_MAX && w->memory <= w->h->limit)
		return 0;
	path__deinit(ret);
	return -E2BIG;
}

static int print_paths(const struct arguments *a, const struct path_history *h,
		       const struct path_windows *windows, const struct path *paths)
{
	const struct selection *select = &a->request.in.select;
	struct json j;
	int err = 0;

	json__init(&j, stdout, false);
	if (a->request.in.json && select->function.text) {
		json__open(&j, NULL, '{');
		json__open(&j, "paths", '[');
	}
	for (size_t i = 0; i < windows->n && !err; i++) {
		if (i && !a->request.in.json)
			putchar('\n');
		err = a->request.in.json ?
			      path__print_json(&j, h, windows->at[i].goroutine, &paths[i], select) :
			      path__print(h, windows->at[i].goroutine, &paths[i], windows->start,
					  select);
	}
	if (a->request.in.json && select->function.text) {
		json__close(&j, ']');
		json__close(&j, '}');
	}
	return err;
}

/* All paths are computed before the first is printed, so that an error leaves no partial output. */
static int show_paths(const struct arguments *a, struct walking *w,
		      const struct path_windows *windows)
{
	struct path *paths = calloc(windows->n, sizeof(*paths));
	int err = paths ? 0 : -ENOMEM;
	size_t n = 0;

	for (; !err && n < windows->n; n++)
		err = walk(w, &windows->at[n], &paths[n]);
	if (!err)
		err = print_paths(a, w->h, windows, paths);
	while (paths && n--)
		path__deinit(&paths[n]);
	free(paths);
	return err;
}

static int show_sums(const struct arguments *a, struct walking *w,
		     const struct path_windows *windows)
{
	const struct selection *select = &a->request.in.select;
	struct path_sums sums;
	struct path path;
	struct json j;
	int err = 0;

	path_sums__init(&sums, w->h);
	for (size_t i = 0; i < windows->n && !err; i++) {
		w->memory = 0;
		err = walk(w, &windows->at[i], &path);
		if (err)
			break;
		err = path_sums__add(&sums, &path, windows->at[i].goroutine);
		path__deinit(&path);
	}
	path_sums__finish(&sums);
	json__init(&j, stdout, false);
	if (!err && a->request.in.json)
		err = path__print_sums_json(&j, &sums, windows, select);
	else if (!err)
		err = path__print_sums(&sums, select);
	path_sums__deinit(&sums);
	return err;
}

static int show(const struct arguments *a, const struct path_history *h,
		const struct path_windows *windows, struct error *error)
{
	const char *name = a->request.in.name;
	struct walking w = { .h = h };
	int err = a->summary ? show_sums(a, &w, windows) : show_paths(a, &w, windows);

	free(w.held);
	if (err == -E2BIG && windows->n > 1)
		return error__set(error, err,
				  "%s: the paths of %zu goroutines have too many segments; request "
				  "fewer with --worst, or a shorter time with --from and --to",
				  name, windows->n);
	if (err == -E2BIG)
		return error__set(error, err,
				  "%s: the path has more than %zu segments; request a shorter "
				  "time with --from and --to",
				  name, h->limit / sizeof(struct path_segment));
	if (err)
		return error__set(error, err, "%s: %s", name, strerror(-err));
	if (!h->kernel)
		log__msg("%s: the trace has no kernel events; the path is derived from Go's "
			 "events alone",
			 name);
	if (windows->lossy)
		log__msg("%s: some kernel events were lost; 'gotrace stat' shows when", name);
	report_short_calls(name, &windows->shorts);
	return 0;
}

/* The index has no start functions, by which --function chooses. */
static int open_history(struct arguments *a, struct reader **r, int64_t *ret_start,
			struct error *error)
{
	const struct trace_args *in = &a->request.in;
	int err = trace_args__resolve(&a->request.in, error);

	return err ? err :
		     open_trace_at(in,
				   in->have_from && !in->select.function.text ? &in->from : NULL, r,
				   ret_start, NULL, error);
}

int do_path(int argc, char **argv, struct error *error)
{
	struct arguments a = {
		.request.in = { .verb = "path", .reader.described = true, .wall_clock = true }
	};
	struct path_windows windows = {};
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
		err = open_history(&a, &r, &start, error);
	if (!err) {
		err = path__read(r, start, &a.request, &h, &windows, &why);
		if (err)
			error__about(error, err, a.request.in.name, &why);
		else
			report_omissions(a.request.in.name, r);
	}
	reader__destroy(r);
	if (!err)
		err = show(&a, &h, &windows, error);
	free(windows.at);
	path_history__deinit(&h);
	selection__deinit(&a.request.in.select);
	return err ? EXIT_FAILED : EXIT_DONE;
}
