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

enum { OPT_GOROUTINE = 256, OPT_FROM, OPT_TO, OPT_JSON, OPT_LENIENT, OPT_BINARY };

struct arguments {
	const char *path, *name; /* name: for messages */
	struct reader_opts reader;
	struct path_request request;
	bool have_goroutine, json;
};

static const struct argp_option options[] = {
	{ "goroutine", OPT_GOROUTINE, "ID", 0, "whose path (needed)", 0 },
	{ "from", OPT_FROM, "T", 0,
	  "the path from T on: 1.5s after the trace's start, or @123, the trace's own nanosecond "
	  "123; by default from the goroutine's beginning",
	  0 },
	{ "to", OPT_TO, "T", 0, "up to T; by default to the goroutine's end", 0 },
	{ "json", OPT_JSON, NULL, 0, "all of it, in the trace's own nanoseconds", 0 },
	{ "lenient", OPT_LENIENT, NULL, 0,
	  "let a broken or cut end of the trace be, and say what "
	  "was left out",
	  0 },
	{ "binary", OPT_BINARY, "FILE", 0,
	  "the traced program, which has the names that traces of "
	  "Go 1.5 and 1.6 lack",
	  0 },
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;
	struct path_request *request = &a->request;

	switch (key) {
	case OPT_GOROUTINE:
		if (!opts__number(text, 0, UINT64_MAX - 1, &request->goroutine))
			usage_error("--goroutine \"%s\": its id is a number", text);
		a->have_goroutine = true;
		return 0;
	case OPT_FROM:
		request->have_from = read_moment("--from", text, &request->from);
		return 0;
	case OPT_TO:
		request->have_to = read_moment("--to", text, &request->to);
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPT_LENIENT:
		a->reader.lenient = true;
		return 0;
	case OPT_BINARY:
		a->reader.binary = text;
		return 0;
	case ARGP_KEY_ARG:
		if (a->path)
			usage_error("one trace at a time, not \"%s\" as well", text);
		a->path = text;
		a->name = strcmp(text, "-") ? text : "stdin";
		return 0;
	default:
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

static void check_arguments(const struct arguments *a)
{
	const struct path_request *r = &a->request;

	if (!a->path)
		usage_error("a path in which trace? It needs a FILE");
	if (!a->have_goroutine)
		usage_error("whose path? It needs --goroutine ID; `gotrace goroutines --all FILE` "
			    "has them");
	if (r->have_from && r->have_to)
		check_moments(&r->from, &r->to);
}

static int show(const struct arguments *a, const struct path_history *h,
		const struct path_window *window, struct error *err)
{
	struct path path;
	int code = path__walk(h, window->goroutine, window->from, window->to, &path);

	if (!code) {
		code = a->json ? path__print_json(h, window->goroutine, &path)
			       : path__print(h, window->goroutine, &path, window->start);
		path__deinit(&path);
	}
	if (code == -E2BIG)
		return error__set(err, code,
				  "%s: the path has more than %zu segments; ask for a "
				  "shorter time with --from and --to",
				  a->name, h->limit / sizeof(struct path_segment));
	if (code)
		return error__set(err, code, "%s: %s", a->name, strerror(-code));
	if (!h->kernel)
		log__msg("%s: it has no kernel's side; the path is by Go's events alone", a->name);
	if (window->lossy)
		log__msg("%s: some of the kernel's side was lost; `gotrace stat` says when",
			 a->name);
	return 0;
}

int do_path(int argc, char **argv, struct error *err)
{
	struct arguments a = { .reader.described = true };
	struct path_window window;
	struct path_history h;
	struct error why = {};
	struct reader *r = NULL;
	int64_t start;
	int code;

	argp_parse(&parser, argc, argv, ARGP_NO_HELP, NULL, &a);
	check_arguments(&a);
	code = path_history__init(&h, HISTORY_MAX);
	if (code)
		error__set(err, code, "out of memory");
	else
		code = open_trace_at(a.path, &a.reader, a.request.have_from, &a.request.from, &r,
				     &start, err);
	if (!code) {
		code = path__read(r, start, &a.request, &h, &window, &why);
		if (code)
			error__about(err, code, a.name, &why);
		else
			say_what_is_missing(a.name, r);
	}
	reader__destroy(r);
	if (!code)
		code = show(&a, &h, &window, err);
	path_history__deinit(&h);
	return code ? EXIT_FAILED : EXIT_DONE;
}
