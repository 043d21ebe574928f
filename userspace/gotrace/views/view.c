// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace view: serves the timeline of a trace on loopback, for a browser.
 *
 * The whole is read once, as by gotrace report, and its spans are kept in memory (report/lanes.h), from
 * which view_data.c takes those of the ranges that the browser shows. view_server.c answers requests.
 */
#include "gotrace/views/view.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/opts.h"
#include "lib/progress.h"

enum { OPT_PORT = 600, OPT_SPANS, OPT_CACHE };

#define SPANS_MIN      1000
#define SPANS_MAX      10000000

/* Memory for the spans of the whole trace: for some 20 million events without merging. */
#define CACHE_DEFAULT  (UINT64_C(256) << 20)
#define CACHE_MIN      (UINT64_C(64) << 10)
#define CACHE_MAX      (UINT64_C(1) << 40)

/* Larger blocks are returned to the system: each thread would keep those of its answers. */
#define MMAP_THRESHOLD (2 << 20)

struct arguments {
	struct view view;
	uint64_t port;
};

static const struct argp_option options[] = {
	{ "port", OPT_PORT, "PORT", 0, "listen on 127.0.0.1:PORT (default: a free port)", 0 },
	{ "spans", OPT_SPANS, "N", 0,
	  "show the whole with about N intervals, and merge shorter ones (default: 1000000)", 0 },
	{ "cache", OPT_CACHE, "SIZE", 0,
	  "memory for all intervals (default: 256M); beyond it, parts are read from FILE again",
	  0 },
	{ "json", OPT_JSON, NULL, 0, "print the data of the page, and do not serve", 0 },
	READING_OPTIONS,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;
	uint64_t n;

	switch (key) {
	case OPT_PORT:
		if (!opts__number(text, 0, UINT16_MAX, &a->port))
			usage_error("invalid port '%s': expected 0 to 65535", text);
		return 0;
	case OPT_SPANS:
		if (!opts__number(text, SPANS_MIN, SPANS_MAX, &n))
			usage_error("invalid number '%s' for --spans: expected %d to %d", text,
				    SPANS_MIN, SPANS_MAX);
		a->view.opts.spans = n;
		return 0;
	case OPT_CACHE:
		if (!opts__size(text, CACHE_MIN, CACHE_MAX, &n))
			usage_error("invalid size '%s' for --cache: expected 64K to 1024G", text);
		a->view.opts.store = n;
		return 0;
	default:
		return trace_args__option(&a->view.data->in, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE",
	"Shows a trace in a browser: serves the page of 'gotrace report' on a loopback address, and prints "
	"the URL. Its timeline shows all intervals when the browser zooms into it. If they need more "
	"memory than --cache, parts are read from FILE again; 'gotrace index FILE' makes that fast.",
};

static int print_data(const struct view *v, struct error *error)
{
	progress__end();
	if (fwrite(v->whole.data, 1, v->whole.len, stdout) != v->whole.len || fflush(stdout))
		return error__set(error, -errno, "cannot write the output: %s", strerror(errno));
	return 0;
}

static int serve(struct view *v, uint16_t port, struct error *error)
{
	sigset_t ends;
	int err = view__listen(v, port, error);

	progress__forbid(); /* other threads read parts of the trace while it serves */
	if (err)
		return err;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	return view__serve(v, error);
}

int do_view(int argc, char **argv, struct error *error)
{
	struct arguments a = {
		.view.reading = PTHREAD_MUTEX_INITIALIZER,
		.view.opts.store = CACHE_DEFAULT,
	};
	struct view *v = &a.view;
	struct trace_args *in;
	int err;

	v->data = calloc(1, sizeof(*v->data)); /* too large for the stack */
	if (!v->data) {
		error__set(error, -ENOMEM, "out of memory");
		return EXIT_FAILED;
	}
	in = &v->data->in;
	*in = (struct trace_args){ .verb = "view", .reader.described = true };
	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	trace_args__check(in);
	if (!in->json && !strcmp(in->path, "-"))
		usage_error("parts of the trace are read again: FILE must be a file");
	v->data->live = true;
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	err = view__read(v, error);
	if (!err)
		err = in->json ? print_data(v, error) : serve(v, (uint16_t)a.port, error);
	view__deinit(v);
	free(v->data);
	return err ? EXIT_FAILED : EXIT_DONE;
}
