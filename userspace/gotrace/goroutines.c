// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace goroutines: where the time of each goroutine went.
 *
 * trace/reader.c reads and orders, trace/summary.c adds up. Without --all what a goroutine leaves
 * is added to its start function's figures as soon as it ends, so that memory follows the
 * goroutines that are alive; else trace/summary_store.c keeps it. goroutines_*.c print.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "goroutines.h"
#include "lib/opts.h"

enum { OPT_ALL = 256, OPT_GOROUTINE, OPT_SORT, OPT_JSON, OPT_CANONICAL };

#define SORTED_BY "sched, sync, network, syscall, gc, other, total, gcwork, count"

struct arguments {
	struct trace_source in;
	bool all, one, json, canonical;
	uint64_t id;
	enum column sort;
};

static const struct argp_option options[] = {
	{ "all", OPT_ALL, NULL, 0, "one line per goroutine instead of one per start function", 0 },
	{ "goroutine", OPT_GOROUTINE, "ID", 0, "one goroutine, with its regions and tasks", 0 },
	{ "sort", OPT_SORT, "COLUMN", 0,
	  "the largest first: exec (the default), " SORTED_BY "; with --all also id", 0 },
	{ "json", OPT_JSON, NULL, 0, "all the figures, in nanoseconds", 0 },
	{ "canonical", OPT_CANONICAL, NULL, 0, "the form that is compared with Go's summary", 0 },
	LENIENT_OPTION,
	BINARY_OPTION,
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static enum column parse_column(const char *text)
{
	for (unsigned int i = 0; i < COLUMNS; i++)
		if (!strcmp(text, column_names[i]))
			return i;
	usage_error("--sort '%s': unknown column; known are exec, " SORTED_BY " and id", text);
}

static void check_arguments(struct arguments *a)
{
	trace_source__check(&a->in);
	if (a->all + a->one + a->canonical > 1)
		usage_error("one of --all, --goroutine and --canonical");
	if (a->canonical && a->json)
		usage_error("--json or --canonical, not both");
	if (a->sort == COLUMN_ID && !a->all)
		usage_error("--sort id is for --all");
	if (a->sort == COLUMN_COUNT && a->all)
		usage_error("--sort count is not for --all");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_ALL:
		a->all = true;
		return 0;
	case OPT_GOROUTINE:
		if (!opts__number(text, 0, UINT64_MAX, &a->id))
			usage_error("--goroutine '%s': not a goroutine ID, which is a number",
				    text);
		a->one = true;
		return 0;
	case OPT_SORT:
		a->sort = parse_column(text);
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPT_CANONICAL:
		a->canonical = true;
		return 0;
	case ARGP_KEY_END:
		check_arguments(a);
		return 0;
	default:
		if (trace_source__option(&a->in, key, text) != ARGP_ERR_UNKNOWN)
			return 0;
		return command__key(key, state, "goroutines");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE",
	"Shows what goroutines did with their time, by the function that they began with: running "
	"(EXEC), runnable (SCHED), blocked on channels, locks and the like (SYNC), on the network, "
	"in system calls, blocked for the garbage collector (GC), or blocked for any other or no "
	"known reason (OTHER), which add up to TOTAL. GC WORK is what they did for the collector "
	"meanwhile: mark assists and sweeping.",
	NULL,
	NULL,
	NULL,
};

static int add_to_group(struct goroutines *all, const struct summary_goroutine *g)
{
	size_t n = all->ngroups ? all->ngroups : 64;
	struct group *groups;

	while (n <= g->name)
		n *= 2;
	if (n > all->ngroups) {
		groups = reallocarray(all->groups, n, sizeof(*groups));
		if (!groups)
			return -ENOMEM;
		memset(groups + all->ngroups, 0, (n - all->ngroups) * sizeof(*groups));
		all->groups = groups;
		all->ngroups = n;
	}
	all->groups[g->name].count++;
	return summary_stats__add(&all->groups[g->name].stats, &g->stats);
}

static int goroutine_done(void *context, const struct summary_goroutine *g)
{
	struct goroutines *all = context;

	all->count++;
	if (!all->store)
		return add_to_group(all, g);
	return all->one && g->id != all->id ? 0 : summary_store__add(all->store, g);
}

static int read_trace(struct reader *r, struct goroutines *all, struct error *err)
{
	struct trace_event ev = {};
	bool started = false;
	int code;

	while ((code = reader__next(r, &ev, err)) > 0) {
		if (!started)
			all->start = ev.time;
		started = true;
		all->end = ev.time;
		code = summary__event(all->summary, &ev, err);
		if (code)
			return code;
	}
	return code;
}

static int64_t sort_key(const struct summary_goroutine *g, void *context)
{
	const struct goroutines *all = context;

	return column__of(all, &g->stats, all->sort);
}

static int sort_store(struct goroutines *all, const struct arguments *a)
{
	summary_store__sort(all->store);
	if (!a->all || a->sort == COLUMN_ID)
		return 0;
	return summary_store__sort_by(all->store, sort_key, all);
}

static int print(const struct goroutines *all, const struct arguments *a)
{
	if (a->canonical)
		return canonical__goroutines(all);
	if (a->json)
		return all->store ? json__goroutines(all) : json__groups(all);
	if (a->one)
		return table__goroutine(all);
	return a->all ? table__goroutines(all) : table__groups(all);
}

static int sort_and_print(struct goroutines *all, const struct arguments *a, struct error *err)
{
	int code = all->store ? sort_store(all, a) : 0;

	if (!code && a->one && !summary_store__count(all->store))
		return error__set(err, -ENOENT, "%s: there is no goroutine %" PRIu64, a->in.path,
				  a->id);
	if (!code)
		code = print(all, a);
	return code ? error__set(err, code, "%s: %s", a->in.path, strerror(-code)) : 0;
}

static void goroutines__deinit(struct goroutines *all)
{
	summary__destroy(all->summary);
	summary_store__destroy(all->store);
	for (size_t i = 0; i < all->ngroups; i++)
		summary_stats__deinit(&all->groups[i].stats);
	free(all->groups);
}

static int goroutines__init(struct goroutines *all, const struct arguments *a)
{
	struct summary_opts opts = {
		.regions = a->one || a->canonical || (a->all && a->json),
		.done = goroutine_done,
		.context = all,
	};
	bool keep = a->all || a->one || a->canonical;

	*all = (struct goroutines){
		.summary = summary__create(&opts),
		.store = keep ? summary_store__create() : NULL,
		.sort = a->sort,
		.one = a->one,
		.id = a->id,
	};
	return all->summary && (all->store || !keep) ? 0 : -ENOMEM;
}

int do_goroutines(int argc, char **argv, struct error *err)
{
	struct arguments a = { .in.reader.described = true };
	struct goroutines all;
	struct error why = {};
	struct reader *r = NULL;
	int code;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	code = goroutines__init(&all, &a);
	if (code)
		error__set(err, code, "out of memory");
	else
		code = open_trace(a.in.path, &a.in.reader, &r, err);
	if (!code)
		code = read_trace(r, &all, &why);
	if (!code)
		say_what_is_missing(a.in.path, r);
	/* What the reader knew of each goroutine makes room for what is handed out of it now. */
	reader__destroy(r);
	if (!code)
		code = summary__finish(all.summary, &why);
	if (code)
		error__about(err, code, a.in.path, &why);
	if (!code)
		code = sort_and_print(&all, &a, err);
	goroutines__deinit(&all);
	return code ? EXIT_FAILED : EXIT_DONE;
}
