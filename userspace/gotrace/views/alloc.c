// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace alloc: allocations, frees and the live heap, by the events of experiment AllocFree.
 *
 * reader/reader.c returns the events, heap/heap.c counts, alloc_print.c prints.
 */
#include "gotrace/views/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "gotrace/select_events.h"
#include "lib/log.h"

enum { OPT_BY = 400 };

struct arguments {
	struct trace_args in;
	struct heap_opts opts;
	struct map goroutines; /* of --function */
	struct analysed_time time;
};

static const struct argp_option options[] = {
	{ "by", OPT_BY, "KEY", 0,
	  "group objects by type (default), by function, the start function of the goroutine that "
	  "allocated them, or by size",
	  0 },
	{ "sort", OPT_SORT, "KEY", 0,
	  "sort in descending order of the bytes that were allocated (default), are kept, or are live",
	  0 },
	GOROUTINE_OPTION("only objects that this goroutine allocated"),
	{ "function", SELECT_FUNCTION, "REGEX", 0,
	  "only objects of goroutines whose start function " REGEX_HELP, 0 },
	LABEL_OPTION(
		"only objects of goroutines that have this label at the time, such as "
		"endpoint=/search; VALUE may contain * and ?; may be repeated: all must match"),
	TOP_OPTION("print only the first N rows after sorting"),
	{ "from", OPT_FROM, "T", 0, "count only what happens at T or later: " MOMENT_HELP, 0 },
	{ "to", OPT_TO, "T", 0, "count only what happens before T", 0 },
	{ "json", OPT_JSON, NULL, 0, "print JSON, with times in nanoseconds and sizes in bytes",
	  0 },
	READING_OPTIONS,
	{},
};

const char *const alloc_keys[HEAP_KEYS] = {
	[HEAP_BY_TYPE] = "type", [HEAP_BY_FUNCTION] = "function", [HEAP_BY_SIZE] = "size"
};

static const char *const sorts[HEAP_SORTS] = {
	[HEAP_SORT_ALLOCATED] = "allocated", [HEAP_SORT_KEPT] = "kept", [HEAP_SORT_LIVE] = "live"
};

/* The index of `text` in a list of three words; another one is a usage_error(). */
static unsigned int parse_word(const char *option, const char *text, const char *const words[3])
{
	unsigned int i = 0;

	while (i < 3 && strcmp(words[i], text))
		i++;
	if (i == 3)
		usage_error("unknown key '%s' for %s: must be %s, %s or %s", text, option, words[0],
			    words[1], words[2]);
	return i;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_BY:
		a->opts.by = parse_word("--by", text, alloc_keys);
		return 0;
	case OPT_SORT:
		a->opts.sort = parse_word("--sort", text, sorts);
		return 0;
	default:
		return trace_args__option(&a->in, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE",
	"Shows which objects were allocated and freed, how the live heap developed, and which "
	"objects were allocated in the requested time and are kept: not freed until the end of the "
	"trace. Requires a trace of a program that traces itself with Go 1.23 or later and the "
	"environment variable GODEBUG=traceallocfree=1.",
};

static int failed(int err, struct error *error)
{
	if (err == -E2BIG)
		return error__set(error, err, "more than %u different types, functions or sizes",
				  HEAP_ROWS_MAX);
	return error__set(error, err, "out of memory");
}

/* Objects may be freed after the window, so the trace is read to its end. */
static int read_trace(struct reader *r, struct arguments *a, struct heap *h, struct error *error)
{
	struct trace_event ev;
	bool started = false;
	int64_t last = 0;
	int err, added;

	while ((err = reader__next(r, &ev, error)) > 0) {
		if (!started) {
			analysed_time__begin(&a->time, &a->in, ev.time);
			heap__set_window(h, a->time.from, a->time.to);
			started = true;
		}
		last = ev.time;
		added = heap__event(h, &ev);
		if (added)
			return failed(added, error);
	}
	if (err < 0)
		return err;
	err = analysed_time__end(&a->time, last, error);
	if (!err)
		heap__finish(h, a->time.end);
	return err;
}

static int read_all(struct arguments *a, struct heap *h, struct error *error)
{
	struct error why = {};
	struct reader *r;
	int err = trace_args__resolve(&a->in, error);

	if (!err)
		err = find_goroutines(&a->in, &a->goroutines, error);
	if (!err)
		err = open_trace(a->in.path, &a->in.reader, &r, error);
	if (err)
		return err;
	err = read_trace(r, a, h, &why);
	if (!err)
		report_omissions(a->in.name, r);
	reader__destroy(r);
	return err ? error__about(error, err, a->in.name, &why) : 0;
}

static void print(const struct arguments *a, const struct heap *h)
{
	const struct heap_result *result = heap__result(h);
	const struct alloc_report report = {
		.heap = h,
		.time = &a->time,
		.by = a->opts.by,
		.rows = selection__top(&a->in.select, result->nrows),
	};

	if (!result->any)
		log__msg("%s: the trace has no events of allocations; Go 1.23 and later write them "
			 "into traces of a program with GODEBUG=traceallocfree=1",
			 a->in.name);
	if (result->unsized)
		log__msg("%s: %" PRIu64 " allocations have an unknown size, which counts as 0, "
			 "because their spans are not in the trace",
			 a->in.name, result->unsized);
	if (a->in.json)
		alloc__print_json(&report);
	else
		alloc__print_table(&report);
}

int do_alloc(int argc, char **argv, struct error *error)
{
	struct arguments a = {
		.in = { .verb = "alloc", .reader.described = true, .wall_clock = true }
	};
	struct heap *h;
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	trace_args__check(&a.in);
	if (selection__by_goroutine(&a.in.select)) {
		a.opts.select = &a.in.select;
		a.opts.goroutines = &a.goroutines;
	}
	h = heap__create(&a.opts);
	err = h ? read_all(&a, h, error) : failed(-ENOMEM, error);
	if (!err)
		print(&a, h);
	heap__destroy(h);
	map__deinit(&a.goroutines);
	selection__deinit(&a.in.select);
	return err ? EXIT_FAILED : EXIT_DONE;
}
