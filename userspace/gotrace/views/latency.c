// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace latency: breaks goroutine time down by CPU state.
 *
 * reader/timeline.c merges events and kernel events, analysis/latency.c accumulates. A goroutine
 * is added to the figures of its start function as soon as it ends; a record per goroutine is
 * stored only if they were requested individually. latency_*.c sort and print.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "reader/timeline.h"
#include "gotrace/command.h"
#include "gotrace/latency.h"

enum { OPT_ALL = 256, OPT_GOROUTINES, OPT_SORT, OPT_DETAILS };

#define PARTS                                                                                      \
	"oncpu, go-runnable, kernel-runnable, throttled, kernel-blocked, "                         \
	"syscall-blocked, go-blocked"

struct arguments {
	struct trace_args in;
	bool goroutines, details;
	unsigned int sort;
};

static const struct argp_option options[] = {
	{ "all", OPT_ALL, NULL, 0, "one line per goroutine instead of one per start function", 0 },
	{ "goroutines", OPT_GOROUTINES, NULL, OPTION_HIDDEN, NULL, 0 }, /* former name of --all */
	{ "details", OPT_DETAILS, NULL, 0,
	  "all start functions, with all reasons, instead of one screen", 0 },
	GOROUTINE_OPTION("one goroutine, with the reasons"),
	FUNCTION_OPTION,
	LABEL_OPTION(LABEL_HELP),
	BY_OPTION,
	TOP_OPTION("only the first N lines after sorting"),
	{ "sort", OPT_SORT, "PART", 0,
	  "sort in descending order by total (default), " PARTS ", count; with --all also by id",
	  0 },
	PART_OPTIONS,
	TIMES_JSON_OPTION,
	COLOR_OPTION,
	READING_OPTIONS,
	{},
};

static unsigned int parse_order(const char *text)
{
	for (unsigned int i = 0; i < LATENCY_ORDERS; i++)
		if (!strcmp(text, latency_orders[i]))
			return i;
	usage_error("unknown part '%s': must be total, " PARTS ", count or id", text);
}

static void check_arguments(struct arguments *a)
{
	trace_args__check(&a->in);
	if (a->goroutines && a->in.select.have_goroutine)
		usage_error("--all and --goroutine cannot be combined");
	if (a->in.select.by_label && (a->goroutines || a->in.select.have_goroutine))
		usage_error("--by cannot be combined with --all or --goroutine");
	if (a->in.select.nlabels && a->in.select.have_goroutine)
		usage_error("--label cannot be combined with --goroutine");
	if (a->details && (a->goroutines || a->in.select.have_goroutine))
		usage_error("--details cannot be combined with --all or --goroutine");
	if (a->sort == BY_ID && !a->goroutines)
		usage_error("--sort id requires --all");
	if (a->sort == BY_COUNT && a->goroutines)
		usage_error("--sort count and --all cannot be combined");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_ALL:
	case OPT_GOROUTINES:
		a->goroutines = true;
		return 0;
	case OPT_DETAILS:
		a->details = true;
		return 0;
	case OPT_SORT:
		a->sort = parse_order(text);
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
	"Breaks goroutine time down by CPU state, per start function, in parts that add up to "
	"TOTAL: on a CPU (ON CPU), waiting for a P (GO RUN), running for the Go runtime while "
	"the thread waits for a CPU (KERN RUN), or its cgroup is throttled (THROTTLED), or it "
	"sleeps in the kernel (KERN BLK), asleep in system calls (SYSC BLK), blocked by Go (GO "
	"BLK). The reasons and the waits in run queues are listed below the table. This requires "
	"kernel events, as traces of gotrace-bpf record and of gotrace align contain them.",
};

static int add_to_function(struct latencies *all, const struct latency_goroutine *g)
{
	uint32_t by = all->select->by_label ? g->labels.group : g->name;
	struct function *f;

	if (array__grow_cleared(&all->functions, by, &all->nfunctions, sizeof(*f)))
		return -ENOMEM;
	f = &all->functions[by];
	f->name = by;
	f->count++;
	return latency_stats__add(&f->stats, &g->stats);
}

static int goroutine_done(void *context, const struct latency_goroutine *g)
{
	struct latencies *all = context;
	bool selected;
	int err = selection__function(all->select, g->name, latency__name(all->latency, g->name),
				      &selected);

	all->count += !g->again;
	if (err || !selected || (all->select->nlabels && !g->labels.selected))
		return err;
	err = add_to_function(all, g);
	if (err || !all->goroutines ||
	    (all->select->have_goroutine && g->id != all->select->goroutine))
		return err;
	return record_store__add(all->goroutines, latency__pack, g);
}

static void begin(struct latencies *all, const struct arguments *a, int64_t start)
{
	all->start = a->in.have_from ? moment__time(&a->in.from, start) : start;
	latency__set_window(all->latency, a->in.have_from ? all->start : INT64_MIN,
			    a->in.have_to ? moment__time(&a->in.to, start) : INT64_MAX);
}

/*
 * A goroutine may first appear as late as at the end of the first generation, so that generation is
 * read regardless of --to. The events at the start of the next generation count, because the states
 * that they report have lasted until then.
 */
struct reading {
	const struct arguments *a;
	struct latencies *all;
};

static int read_trace(void *context, struct timeline *t, const struct reader *r,
		      struct error *error)
{
	const struct reading *reading = context;
	const struct arguments *a = reading->a;
	struct latencies *all = reading->all;
	struct timeline_step step = {};
	bool started = false;
	int64_t to = INT64_MAX, first = 0;
	int err;

	while ((err = timeline__next(t, &step, error)) > 0) {
		if (step.event && !started) {
			first = step.event->time;
			begin(all, a, first);
			to = a->in.have_to ? moment__time(&a->in.to, first) : INT64_MAX;
		}
		err = latency__step(all->latency, t, &step, error);
		if (err)
			return err;
		if (step.event)
			all->end = step.event->time;
		if (started && step.event && step.event->type == EV_SYNC && step.event->time >= to)
			break;
		started |= step.event != NULL;
	}
	if (err < 0)
		return err;
	if (all->start > all->end)
		return error__set(error, -ENOENT,
				  "no events in the requested time; the length of "
				  "the trace is %.3f s",
				  (double)((uint64_t)all->end - (uint64_t)first) / 1e9);
	all->end = all->end < to ? all->end : to;
	all->has_kernel = timeline__has_kernel(t);
	all->left_out = reader__left_out(r);
	return 0;
}

static int print(struct latencies *all, const struct arguments *a, struct error *error)
{
	int err = all->goroutines ? goroutines__sort(all) : 0;
	bool windowed = a->in.have_from || a->in.have_to;

	if (!err && !all->count && (windowed || all->left_out))
		return error__set(error, -ENOENT, "%s: there is no goroutine%s", a->in.name,
				  windowed ? " in the requested time" : " in its intact part");
	if (!err && selection__by_goroutine(all->select) &&
	    !(all->goroutines ? record_store__count(all->goroutines) : all->nfunctions))
		return selection__none(all->select, a->in.name,
				       windowed ? " in the requested time" : "", error);
	if (!err && a->in.json)
		err = latency_json__print(all);
	else if (!err && a->in.select.have_goroutine)
		err = latency_table__goroutine(all);
	else if (!err)
		err = a->goroutines ? latency_table__goroutines(all) :
				      latency_table__functions(all, a->details);
	return err ? error__set(error, err, "%s: %s", a->in.name, strerror(-err)) : 0;
}

static int latencies__init(struct latencies *all, struct arguments *a)
{
	struct latency_opts opts = {
		.from = INT64_MIN,
		.to = INT64_MAX,
		.done = goroutine_done,
		.select = &a->in.select,
		.context = all,
	};
	bool keep = a->goroutines || a->in.select.have_goroutine;

	*all = (struct latencies){
		.latency = latency__create(&opts),
		.goroutines = keep ? record_store__create() : NULL,
		.select = &a->in.select,
		.sort = a->sort,
	};
	return all->latency && (all->goroutines || !keep) ? 0 : -ENOMEM;
}

static void latencies__deinit(struct latencies *all)
{
	for (size_t i = 0; i < all->nfunctions; i++)
		latency_stats__deinit(&all->functions[i].stats);
	free(all->functions);
	record_store__destroy(all->goroutines);
	latency__destroy(all->latency);
}

/* The state of reader and timeline is freed before the remaining goroutines are delivered. */
static int read_all(struct arguments *a, struct latencies *all, struct error *error)
{
	struct reading reading = { a, all };
	struct error why = {};
	int err = read_timeline(&a->in, read_trace, &reading, error);

	if (err)
		return err;
	err = latency__finish(all->latency, &why);
	return err ? error__about(error, err, a->in.name, &why) : 0;
}

int do_latency(int argc, char **argv, struct error *error)
{
	struct arguments a = {
		.in = { .verb = "latency", .reader.described = true, .wall_clock = true },
		.sort = BY_TOTAL
	};
	struct latencies all;
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	err = latencies__init(&all, &a);
	if (err)
		error__set(error, err, "out of memory");
	else
		err = read_all(&a, &all, error);
	if (!err)
		err = print(&all, &a, error);
	latencies__deinit(&all);
	selection__deinit(&a.in.select);
	return err ? EXIT_FAILED : EXIT_DONE;
}
