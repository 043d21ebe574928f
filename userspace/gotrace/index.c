// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace index: FILE.idx, by which events and cut begin in the middle of a large trace.
 *
 * trace/index_write.c reads the trace and makes it; --json shows what is in it, as trace/index.c
 * reads it back.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "lib/json.h"
#include "trace/index.h"

enum { OPT_JSON = 256 };

struct arguments {
	const char *path;
	bool json;
};

static const struct argp_option options[] = {
	{ "json", OPT_JSON, NULL, 0, "show what is in it: each generation's place, time and counts",
	  0 },
	FORCE_OPTION,
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (a->path)
			usage_error("one trace at a time, not \"%s\" as well", text);
		a->path = text;
		return 0;
	default:
		return command__key(key, state, "index");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE",
	"Writes FILE.idx, by which `gotrace events --from` and `gotrace cut` begin in the middle "
	"of a trace. When the trace changes, its index is stale and not used.",
	NULL,
	NULL,
	NULL,
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

static int show_json(const char *path, const struct index_totals *totals, struct error *err)
{
	struct index *ix;
	struct json j;
	int code = index__open(&ix, path, err);

	if (code)
		return code;
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

static int make(const struct arguments *a, struct error *err)
{
	char *name = index__name(a->path);
	struct index_totals totals;
	int code;

	if (!name)
		return error__set(err, -ENOMEM, "no memory");
	code = index__write(a->path, name, &totals, err);
	if (!code && a->json)
		code = show_json(a->path, &totals, err);
	else if (!code)
		printf("%s: %" PRIu64 " generations, %" PRIu64 " events, %" PRIu64 " bytes (of the "
		       "trace: %.2f%%)\n",
		       name, totals.generations, totals.events, totals.bytes,
		       100.0 * (double)totals.bytes / (double)totals.trace_bytes);
	free(name);
	return code;
}

int do_index(int argc, char **argv, struct error *err)
{
	struct arguments a = {};

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	if (!a.path)
		usage_error("no FILE given");
	if (!strcmp(a.path, "-"))
		usage_error("an index is for a file, not for stdin");
	return make(&a, err) ? EXIT_FAILED : EXIT_DONE;
}
