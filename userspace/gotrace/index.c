// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace index: writes FILE.idx, with which events, path and cut start in the middle of a trace.
 *
 * reader/index_write.c reads the trace and writes the index; --json prints its content, which
 * reader/index.c reads back.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json.h"
#include "lib/progress.h"
#include "reader/index.h"
#include "command.h"

static const struct argp_option options[] = {
	{ "json", OPT_JSON, NULL, 0,
	  "print the content of the index: position, time and counts of each generation", 0 },
	FORCE_OPTION,
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static const struct argp parser = {
	options,
	trace_args__parse,
	"FILE",
	"Writes FILE.idx, an index with which gotrace events, path and cut can start in the "
	"middle of a large trace. An index that does not match the trace, because the trace has changed, is not "
	"used.",
};

static void show_generation(struct json *j, const struct index_generation *g)
{
	json__open(j, NULL, '{');
	json__u64(j, "generation", g->place.generation);
	json__u64(j, "offset", g->place.offset);
	json__i64(j, "sync", g->sync);
	json__i64(j, "first", g->first);
	json__i64(j, "last", g->last);
	json__u64(j, "events", g->events);
	json__open(j, "counts", '{');
	for (unsigned int i = 0; i < g->counts; i++)
		json__u64(j, spec__event(g->count[i].type)->name, g->count[i].n);
	json__close(j, '}');
	json__u64(j, "state_bytes", g->state_len);
	json__close(j, '}');
}

static int show_json(const char *path, const struct index_totals *totals, struct error *error)
{
	struct index *ix;
	struct json j;
	int err = index__open(&ix, path, error);

	if (err)
		return err;
	json__init(&j, stdout, false);
	json__open(&j, NULL, '{');
	json__i64(&j, "start", index__start(ix));
	json__u64(&j, "events", totals->events);
	json__u64(&j, "bytes", totals->bytes);
	json__u64(&j, "trace_bytes", totals->trace_bytes);
	json__open(&j, "generations", '[');
	for (size_t i = 0; i < index__generations(ix); i++)
		show_generation(&j, index__generation(ix, i));
	json__close(&j, ']');
	json__close(&j, '}');
	index__destroy(ix);
	return 0;
}

static int make(const struct trace_args *a, struct error *error)
{
	char *name = index__name(a->path);
	struct index_totals totals;
	int err;

	if (!name)
		return error__set(error, -ENOMEM, "out of memory");
	err = index__write(a->path, name, &totals, error);
	progress__end();
	if (!err && a->json)
		err = show_json(a->path, &totals, error);
	else if (!err)
		printf("%s: %" PRIu64 " generations, %" PRIu64 " events, %" PRIu64 " bytes (%.2f%% "
		       "of the trace)\n",
		       name, totals.generations, totals.events, totals.bytes,
		       100.0 * (double)totals.bytes / (double)totals.trace_bytes);
	free(name);
	return err;
}

int do_index(int argc, char **argv, struct error *error)
{
	struct trace_args a = { .verb = "index" };

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	if (!a.path)
		usage_error("missing argument FILE");
	if (!strcmp(a.path, "-"))
		usage_error("standard input cannot be indexed; pass the name of a file");
	return make(&a, error) ? EXIT_FAILED : EXIT_DONE;
}
