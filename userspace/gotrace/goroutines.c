// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace goroutines: breaks goroutine time down by state.
 *
 * reader/reader.c reads and orders, analysis/summary.c accumulates. Without --all, a goroutine is
 * added to the figures of its start function as soon as it ends, so memory is proportional to the
 * number of live goroutines; with --all, analysis/record_store.c stores every goroutine.
 * goroutines_*.c print.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "goroutines.h"
#include "format/private_read.h"
#include "lib/array.h"
#include "lib/opts.h"

enum { OPT_ALL = 256, OPT_SORT, OPT_COMPARE, OPT_EXTREMES, OPT_CANONICAL };

#define SORTED_BY "sched, sync, network, syscall, gc, other, total, gcwork, lost, count"

struct arguments {
	struct trace_args in;
	bool all, canonical, sorted;
	enum column sort;
	const char *function; /* --compare-extremes */
	uint64_t extremes;    /* 0: not given */
	bool percent;
};

static const struct argp_option options[] = {
	{ "all", OPT_ALL, NULL, 0, "one line per goroutine instead of one per start function", 0 },
	GOROUTINE_OPTION("one goroutine, with its regions and tasks"),
	FUNCTION_OPTION,
	LABEL_OPTION(LABEL_HELP),
	BY_OPTION,
	TOP_OPTION("only the first N lines after sorting"),
	{ "sort", OPT_SORT, "COLUMN", 0,
	  "sort in descending order by exec (default), " SORTED_BY "; with --all also by id", 0 },
	{ "compare-extremes", OPT_COMPARE, "FUNCTION", 0,
	  "compare the slowest with the fastest goroutines of one start function", 0 },
	{ "extremes", OPT_EXTREMES, "N", 0,
	  "number of goroutines to compare on each side, or N% of them; by default 10%", 0 },
	PART_OPTIONS,
	TIMES_JSON_OPTION,
	{ "canonical", OPT_CANONICAL, NULL, 0,
	  "print the form that the tests compare with Go's summary", 0 },
	COLOR_OPTION,
	READING_OPTIONS,
	{},
};

static enum column parse_column(const char *text)
{
	for (unsigned int i = 0; i < COLUMNS; i++)
		if (!strcmp(text, column_names[i]))
			return i;
	usage_error("unknown column '%s': must be exec, " SORTED_BY " or id", text);
}

static void check_arguments(struct arguments *a)
{
	const struct selection *select = &a->in.select;

	trace_args__check(&a->in);
	if (a->all + select->have_goroutine + a->canonical + !!a->function > 1)
		usage_error("--all, --goroutine, --compare-extremes and --canonical cannot be "
			    "combined");
	if (a->canonical && (select->function.text || select->top))
		usage_error("--canonical cannot be combined with --function or --top");
	if (a->function && (select->function.text || select->top))
		usage_error("--compare-extremes cannot be combined with --function or --top");
	if (selection__has_labels(select) &&
	    (a->canonical || a->function || select->have_goroutine))
		usage_error("--label and --by cannot be combined with --goroutine, "
			    "--compare-extremes or --canonical");
	if ((a->in.have_from || a->in.have_to) && (a->canonical || a->function))
		usage_error("--from and --to cannot be combined with --compare-extremes or "
			    "--canonical");
	if (a->all && select->by_label)
		usage_error("--all and --by cannot be combined");
	if (a->function && a->sorted)
		usage_error("--sort and --compare-extremes cannot be combined");
	if (a->extremes && !a->function)
		usage_error("--extremes requires --compare-extremes");
	if (a->canonical && a->in.json)
		usage_error("--json and --canonical cannot be combined");
	if (a->sort == COLUMN_ID && !a->all)
		usage_error("--sort id requires --all");
	if (a->sort == COLUMN_COUNT && a->all)
		usage_error("--sort count and --all cannot be combined");
}

/* N, or N% of all, at most half of them */
static void parse_extremes(const char *text, struct arguments *a)
{
	size_t len = strlen(text);
	char number[24] = "";

	a->percent = len && text[len - 1] == '%';
	len -= a->percent;
	if (len < sizeof(number))
		memcpy(number, text, len);
	if (!opts__number(number, 1, a->percent ? 50 : UINT32_MAX, &a->extremes))
		usage_error("invalid number of goroutines '%s': expected a number, or 1%% to 50%%",
			    text);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_ALL:
		a->all = true;
		return 0;
	case OPT_SORT:
		a->sort = parse_column(text);
		a->sorted = true;
		return 0;
	case OPT_COMPARE:
		a->function = text;
		return 0;
	case OPT_EXTREMES:
		parse_extremes(text, a);
		return 0;
	case OPT_CANONICAL:
		a->canonical = a->in.reader.as_go = true;
		return 0;
	case ARGP_KEY_END:
		check_arguments(a);
		return 0;
	default:
		return trace_args__option(&a->in, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE",
	"Breaks goroutine time down by state, per start function: running (EXEC), runnable "
	"(SCHED), blocked on channels, locks and similar (SYNC), on the network, in system "
	"calls, blocked by the garbage collector (GC), or blocked for another or an unknown "
	"reason (OTHER); these add up to TOTAL. GC WORK is the part of EXEC that was spent in "
	"mark assists and sweeps.",
};

/* Whether the filters accept a goroutine. */
static int is_selected(const struct goroutines *all, const struct summary_goroutine *g, bool *ret)
{
	struct selection *select = all->select;

	*ret = false;
	if ((select->have_goroutine && g->id != select->goroutine) ||
	    (select->nlabels && !g->labels.selected))
		return 0;
	return selection__function(select, g->name, summary__name(all->summary, g->name), ret);
}

static int add_to_group(struct goroutines *all, const struct summary_goroutine *g)
{
	uint32_t by = all->select->by_label ? g->labels.group : g->name;

	if (array__grow_cleared(&all->groups, by, &all->ngroups, sizeof(*all->groups)))
		return -ENOMEM;
	all->groups[by].count++;
	return summary_stats__add(&all->groups[by].stats, &g->stats);
}

/* Whether it is one to compare. */
static bool is_complete(struct goroutines *all, const struct summary_goroutine *g)
{
	struct trace_string name = summary__name(all->summary, g->name);

	if (name.len != strlen(all->function) || memcmp(name.data, all->function, name.len))
		return false;
	if (g->ended && g->created != all->trace)
		return true;
	all->incomplete++;
	return false;
}

static int goroutine_done(void *context, const struct summary_goroutine *g)
{
	struct goroutines *all = context;
	bool selected;
	int err;

	all->count += !g->again;
	err = is_selected(all, g, &selected);
	if (err || !selected || (all->function && !is_complete(all, g)))
		return err;
	return all->store ? record_store__add(all->store, summary__pack, g) : add_to_group(all, g);
}

static void begin(struct goroutines *all, const struct trace_args *a, int64_t start)
{
	all->trace = start;
	all->start = a->have_from ? moment__time(&a->from, start) : start;
	all->windowed = a->have_from || a->have_to;
	if (all->windowed)
		summary__set_window(all->summary, a->have_from ? all->start : INT64_MIN,
				    a->have_to ? moment__time(&a->to, start) : INT64_MAX);
}

/* The requested part ends where the trace does, at the latest. */
static int end(struct goroutines *all, const struct trace_args *a, struct error *error)
{
	int64_t to = a->have_to ? moment__time(&a->to, all->trace) : INT64_MAX;

	if (all->start > all->end)
		return error__set(error, -ENOENT,
				  "no events in the requested time; the length of "
				  "the trace is %.3f s",
				  (double)((uint64_t)all->end - (uint64_t)all->trace) / 1e9);
	if (all->end > to)
		all->end = to;
	return 0;
}

/* All of the trace: start functions and ends may be known later than the requested time. */
static int read_trace(struct reader *r, struct goroutines *all, const struct trace_args *a,
		      struct error *error)
{
	struct trace_event ev = {};
	struct private_short shorts = {};
	bool started = false;
	int err;

	while ((err = reader__next(r, &ev, error)) > 0) {
		if (!started)
			begin(all, a, ev.time);
		started = true;
		all->end = ev.time;
		err = summary__event(all->summary, &ev, error);
		if (!err && ev.type == EV_SYNC && ev.dictionary &&
		    private_read__add_short_calls(ev.dictionary, &shorts))
			err = error__set(error, -ENOMEM, "out of memory");
		if (err)
			return err;
	}
	if (!err)
		report_short_calls(a->name, &shorts);
	return err ? err : end(all, a, error);
}

static int sort_key(struct buf record, void *context, int64_t *ret)
{
	const struct goroutines *all = context;
	struct summary_goroutine g;
	int err = summary__unpack(record, &g);

	if (err)
		return err;
	*ret = column__of(all, &g.stats, all->sort);
	summary_stats__deinit(&g.stats);
	return 0;
}

static int sort_store(struct goroutines *all, const struct arguments *a)
{
	int err = 0;

	record_store__sort(all->store);
	if ((a->all || a->function) && a->sort != COLUMN_ID)
		err = record_store__sort_by(all->store, sort_key, all);
	record_store__truncate(all->store, selection__top(all->select, SIZE_MAX));
	return err;
}

static int print(const struct goroutines *all, const struct arguments *a)
{
	if (a->canonical)
		return canonical__goroutines(all);
	if (a->function)
		return extremes__print(all, a->in.json);
	if (a->in.json)
		return all->store ? json__goroutines(all) : json__groups(all);
	if (a->in.select.have_goroutine)
		return table__goroutine(all);
	return a->all ? table__goroutines(all) : table__groups(all);
}

static int sort_and_print(struct goroutines *all, const struct arguments *a, struct error *error)
{
	int err = all->store ? sort_store(all, a) : 0;

	if (!err && a->function && record_store__count(all->store) < 2)
		return error__set(
			error, -ENOENT,
			"%s: %zu goroutines of '%s' begin and end in the trace, and %" PRIu64
			" others do not: at least 2 are required to compare them",
			a->in.name, record_store__count(all->store), a->function, all->incomplete);
	if (!err && all->windowed && !all->count)
		return error__set(error, -ENOENT, "%s: there is no goroutine in the requested time",
				  a->in.name);
	if (!err && selection__by_goroutine(all->select) &&
	    !(all->store ? record_store__count(all->store) : all->ngroups))
		return selection__none(all->select, a->in.name,
				       all->windowed ? " in the requested time" : "", error);
	if (!err && all->store)
		err = goroutines__note_shown(all);
	if (!err)
		err = print(all, a);
	return err ? error__set(error, err, "%s: %s", a->in.name, strerror(-err)) : 0;
}

static void goroutines__deinit(struct goroutines *all)
{
	summary__destroy(all->summary);
	record_store__destroy(all->store);
	map__deinit(&all->shown);
	for (size_t i = 0; i < all->ngroups; i++)
		summary_stats__deinit(&all->groups[i].stats);
	free(all->groups);
}

static int goroutines__init(struct goroutines *all, struct arguments *a)
{
	bool one = a->in.select.have_goroutine;
	struct summary_opts opts = {
		.regions = one || a->canonical || (a->all && a->in.json && !a->in.select.nlabels),
		.as_go = a->canonical,
		.select = &a->in.select,
		.done = goroutine_done,
		.context = all,
	};
	bool keep = a->all || one || a->canonical || a->function;

	*all = (struct goroutines){
		.summary = summary__create(&opts),
		.store = keep ? record_store__create() : NULL,
		.sort = a->function ? COLUMN_TOTAL : a->sort,
		.select = &a->in.select,
		.function = a->function,
		.extremes = a->extremes ? a->extremes : 10,
		.extremes_percent = a->percent || !a->extremes,
	};
	return all->summary && (all->store || !keep) ? 0 : -ENOMEM;
}

int do_goroutines(int argc, char **argv, struct error *error)
{
	struct arguments a = {
		.in = { .verb = "goroutines", .reader.described = true, .wall_clock = true }
	};
	struct goroutines all;
	struct error why = {};
	struct reader *r = NULL;
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	err = goroutines__init(&all, &a);
	if (err)
		error__set(error, err, "out of memory");
	else
		err = trace_args__resolve(&a.in, error);
	if (!err)
		err = open_trace(a.in.path, &a.in.reader, &r, error);
	if (!err)
		err = read_trace(r, &all, &a.in, &why);
	if (!err)
		report_omissions(a.in.name, r);
	/* Free the state of the reader before the remaining goroutines are delivered. */
	reader__destroy(r);
	if (!err)
		err = summary__finish(all.summary, &why);
	if (err)
		error__about(error, err, a.in.name, &why);
	if (!err)
		err = sort_and_print(&all, &a, error);
	goroutines__deinit(&all);
	selection__deinit(&a.in.select);
	return err ? EXIT_FAILED : EXIT_DONE;
}
