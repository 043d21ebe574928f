// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace path: the critical path of a goroutine, from whoever it waits for to whoever that waits
 * for: who made it wait.
 *
 * path_read.c makes a history of the trace, trace/path_walk.c goes backward through it, path_print.c and
 * path_json.c show the way.
 */
#include <argp.h>
#include <errno.h>
#include <string.h>

#include "at.h"
#include "lib/log.h"
#include "lib/opts.h"
#include "path_print.h"
#include "path_read.h"

#define HISTORY_MAX (512ul << 20) /* bytes of it, and as many of the path */

enum { OPT_GOROUTINE = 256, OPT_JSON };

struct arguments {
	struct path_request request;
	bool have_goroutine, json;
};

static const struct argp_option options[] = {
	{ "goroutine", OPT_GOROUTINE, "ID", 0, "whose path (needed)", 0 },
	{ "from", SOURCE_FROM, "T", 0,
	  "the path from T on: 1.5s after the trace's start, or @123, the trace's own nanosecond "
	  "123; by default from the goroutine's beginning",
	  0 },
	{ "to", SOURCE_TO, "T", 0, "up to T; by default to the goroutine's end", 0 },
	{ "json", OPT_JSON, NULL, 0, "all of it, in the trace's own nanoseconds", 0 },
	LENIENT_OPTION,
	BINARY_OPTION,
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_GOROUTINE:
		if (!opts__number(text, 0, UINT64_MAX - 1, &a->request.goroutine))
			usage_error("--goroutine '%s': not a goroutine ID, which is a number",
				    text);
		a->have_goroutine = true;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	default:
		if (trace_source__option(&a->request.in, key, text) != ARGP_ERR_UNKNOWN)
			return 0;
		return command__key(key, state, "path");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE --goroutine ID",
	"Shows who made a goroutine wait: its own time on a core, and where it waited what the one did "
	"that ended the wait, and so on, so that each moment is told once. With the kernel's side in "
	"the trace (gotrace-bpf record) also who held the core, the system calls and the wake-ups "
	"between threads and processes.",
	NULL,
	NULL,
	NULL,
};

static void check_arguments(struct arguments *a)
{
	trace_source__check(&a->request.in);
	if (!a->have_goroutine)
		usage_error("no --goroutine ID given: 'gotrace goroutines --all FILE' lists them");
}

static int show(const struct arguments *a, const struct path_history *h,
		const struct path_window *window, struct error *err)
{
	struct path path;
	int code = path__walk(h, window->goroutine, window->from, window->to, &path);

	if (!code) {
		code = a->json ? path__print_json(h, window->goroutine, &path) :
				 path__print(h, window->goroutine, &path, window->start);
		path__deinit(&path);
	}
	if (code == -E2BIG)
		return error__set(err, code,
				  "%s: the path has more than %zu segments; ask for a "
				  "shorter time with --from and --to",
				  a->request.in.name, h->limit / sizeof(struct path_segment));
	if (code)
		return error__set(err, code, "%s: %s", a->request.in.name, strerror(-code));
	if (!h->kernel)
		log__msg("%s: it has no kernel's side; the path is by Go's events alone",
			 a->request.in.name);
	if (window->lossy)
		log__msg("%s: some of the kernel's side was lost; `gotrace stat` says when",
			 a->request.in.name);
	return 0;
}

int do_path(int argc, char **argv, struct error *err)
{
	struct arguments a = { .request.in.reader.described = true };
	struct path_window window;
	struct path_history h;
	struct error why = {};
	struct reader *r = NULL;
	int64_t start;
	int code;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	check_arguments(&a);
	code = path_history__init(&h, HISTORY_MAX);
	if (code)
		error__set(err, code, "out of memory");
	else
		code = open_trace_at(a.request.in.path, &a.request.in.reader,
				     a.request.in.have_from, &a.request.in.from, &r, &start, err);
	if (!code) {
		code = path__read(r, start, &a.request, &h, &window, &why);
		if (code)
			error__about(err, code, a.request.in.name, &why);
		else
			say_what_is_missing(a.request.in.name, r);
	}
	reader__destroy(r);
	if (!code)
		code = show(&a, &h, &window, err);
	path_history__deinit(&h);
	return code ? EXIT_FAILED : EXIT_DONE;
}
