// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace top: what a program does, window by window, while it is recorded or from a file.
 *
 * metrics/windows.c makes the windows. On a terminal top_terminal.c shows the latest one; otherwise
 * each is printed. With -p, top_recorder.c runs gotrace-bpf, because this program has no privileges
 * and needs none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/opts.h"
#include "lib/progress.h"
#include "reader/timeline.h"
#include "top.h"

#define SECOND 1000000000
#define LINES  10 /* of a table, by default */

enum { OPT_INTERVAL = 256, OPT_SORT, OPT_REQUESTS };

struct arguments {
	struct top_reading reading;
	struct top_view view;
	const char *process, *requests;
	bool have_interval;
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID|NAME", 0, "record this process with gotrace-bpf, until q or ^C", 0 },
	{ "requests", OPT_REQUESTS, "LIST", 0,
	  "with -p: record requests, as gotrace-bpf record --requests", 0 },
	{ "interval", OPT_INTERVAL, "TIME", 0,
	  "one window per TIME, which consists of whole generations (about 1 s each); default: 1s, "
	  "for a file all of it",
	  0 },
	{ "sort", OPT_SORT, "PART", 0,
	  "sort functions in descending order by oncpu (default), another part of latency --sort, "
	  "total or count",
	  0 },
	TOP_OPTION("only the first N lines of each table (default: 10)"),
	{ "json", OPT_JSON, NULL, 0, "print one JSON object per window, with times in nanoseconds",
	  0 },
	COLOR_OPTION,
	READING_OPTIONS,
	{},
};

static unsigned int parse_sort(const char *text)
{
	for (unsigned int i = 0; i <= BY_COUNT; i++)
		if (!strcmp(text, latency_orders[i]))
			return i;
	usage_error("invalid part '%s' for --sort: see gotrace latency --help", text);
}

static int64_t parse_interval(const char *text)
{
	uint64_t ns;

	if (!opts__duration(text, &ns) || !ns || ns >= INT64_MAX)
		usage_error("invalid duration '%s' for --interval: expected a number with a unit, "
			    "such as 1s",
			    text);
	return (int64_t)ns;
}

static bool is_regular(const char *path)
{
	struct stat st;

	return !(strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st)) &&
	       S_ISREG(st.st_mode);
}

static void check_arguments(struct arguments *a)
{
	struct top_reading *reading = &a->reading;
	struct trace_args *in = &reading->in;

	if (a->process && in->path)
		usage_error("-p and FILE cannot be combined");
	if (a->requests && !a->process)
		usage_error("--requests requires -p");
	if (a->process)
		in->path = "-";
	trace_args__check(in);
	reading->replay = !a->process && is_regular(in->path);
	if (!a->have_interval)
		reading->least = reading->replay ? INT64_MAX : SECOND;
	if (a->process)
		in->name = "gotrace-bpf";
	a->view.top = in->select.top ? (size_t)in->select.top : LINES;
	a->view.functions = a->view.top;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case 'p':
		a->process = text;
		return 0;
	case OPT_REQUESTS:
		a->requests = text;
		return 0;
	case OPT_INTERVAL:
		a->reading.least = parse_interval(text);
		a->have_interval = true;
		return 0;
	case OPT_SORT:
		a->view.sort = parse_sort(text);
		return 0;
	case ARGP_KEY_END:
		check_arguments(a);
		return 0;
	default:
		return trace_args__option(&a->reading.in, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"[-p PID | FILE]",
	"Shows what a Go program does, second by second: goroutines by state, waits for a P and "
	"for a CPU, garbage collection, what goroutines wait for, requests, and the start "
	"functions with the most time. With -p it records a running process with gotrace-bpf, "
	"which requires the privileges of that. FILE may be a pipe, such as that of gotrace-bpf "
	"record -o -. On a terminal, < and > sort by another column, space pauses, q quits; "
	"otherwise each window is printed.",
};

/* ---- reading ---- */

static int read_windows(struct windows *all, const struct top_reading *reading, struct timeline *t,
			struct error *error)
{
	struct timeline_step step = {};
	struct trace_window *w;
	int err;

	while ((err = timeline__next(t, &step, error)) > 0) {
		err = windows__step(all, t, &step, &w, error);
		if (!err && w)
			err = reading->show(reading->context, w);
		if (err)
			return err;
	}
	if (err)
		return err;
	err = windows__finish(all, &w);
	if (err)
		return error__set(error, err, "%s", strerror(-err));
	return w ? reading->show(reading->context, w) : 0;
}

static int read_trace(void *context, struct timeline *t, const struct reader *r,
		      struct error *error)
{
	const struct top_reading *reading = context;
	struct windows *all = windows__create(reading->least);
	int err = all ? read_windows(all, reading, t, error) :
			error__set(error, -ENOMEM, "out of memory");

	windows__destroy(all);
	return err;
}

int top__read(struct top_reading *reading, struct error *error)
{
	return read_timeline(&reading->in, read_trace, reading, error);
}

/* ---- without a terminal ---- */

static int print_window(void *context, struct trace_window *w)
{
	struct arguments *a = context;

	if (!a->view.start)
		a->view.start = w->from;
	else if (!a->reading.in.json)
		fputc('\n', stdout);
	if (a->reading.in.json)
		top__print_json(w);
	else
		top__print(w, &a->view);
	fflush(stdout);
	trace_window__destroy(w);
	return 0;
}

static int show(struct arguments *a, struct error *error)
{
	bool terminal = !a->reading.in.json && top_terminal__exists();
	struct top_recorder recorder = {};
	struct error why = {};
	int err = 0, failed;

	if (a->process)
		err = top_recorder__start(&recorder, a->process, a->requests, terminal, error);
	if (err)
		return err;
	if (terminal) {
		err = top_terminal__run(&a->reading, &a->view, &recorder, &why);
	} else {
		a->reading.show = print_window;
		a->reading.context = a;
		err = top__read(&a->reading, &why);
	}
	failed = top_recorder__wait(&recorder, error); /* this is why there is no trace, then */
	if (failed)
		return failed;
	return err ? error__set(error, err, "%s", why.text) : 0;
}

int do_top(int argc, char **argv, struct error *error)
{
	struct arguments a = {
		.reading.in = { .verb = "top", .reader.described = true },
		.view.sort = PART_ONCPU,
	};
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	progress__forbid();
	err = show(&a, error);
	selection__deinit(&a.reading.in.select);
	return err ? EXIT_FAILED : EXIT_DONE;
}
