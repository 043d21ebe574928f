// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace latency: where the time of each goroutine went, on the machine and not only for Go.
 *
 * trace/timeline.c reads events and the kernel's items in one order, trace/latency.c adds up. What a
 * goroutine leaves is added to its start function's figures as soon as it ends; only if they are
 * asked for one by one a record of each is kept. latency_*.c sort and print.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "latency.h"
#include "lib/opts.h"
#include "trace/timeline.h"

enum { OPT_ALL = 256, OPT_GOROUTINES, OPT_GOROUTINE, OPT_SORT, OPT_JSON };

#define PARTS                                                                                      \
	"oncpu, go-runnable, kernel-runnable, throttled, kernel-blocked, "                         \
	"syscall-blocked, go-blocked"

struct arguments {
	struct trace_source in;
	bool goroutines, one, json;
	uint64_t id;
	unsigned int sort;
};

static const struct argp_option options[] = {
	{ "all", OPT_ALL, NULL, 0, "one line per goroutine instead of one per start function", 0 },
	{ "goroutines", OPT_GOROUTINES, NULL, OPTION_HIDDEN, NULL, 0 }, /* its older name */
	{ "goroutine", OPT_GOROUTINE, "ID", 0, "one goroutine, with the reasons", 0 },
	{ "sort", OPT_SORT, "PART", 0,
	  "the most first: total (the default), " PARTS ", count; with "
	  "--all also id, the least first",
	  0 },
	{ "from", SOURCE_FROM, "T", 0,
	  "only the time from T on: 1.5s after the trace's start, or "
	  "@123, the trace's own nanosecond 123",
	  0 },
	{ "to", SOURCE_TO, "T", 0, "only the time before T", 0 },
	{ "json", OPT_JSON, NULL, 0, "all the figures, in nanoseconds", 0 },
	LENIENT_OPTION,
	BINARY_OPTION,
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static unsigned int parse_order(const char *text)
{
	for (unsigned int i = 0; i < LATENCY_ORDERS; i++)
		if (!strcmp(text, latency_orders[i]))
			return i;
	usage_error("--sort '%s': unknown part; known are total, " PARTS ", count and id", text);
}

static void check_arguments(struct arguments *a)
{
	trace_source__check(&a->in);
	if (a->goroutines && a->one)
		usage_error("--all or --goroutine, not both");
	if (a->sort == BY_ID && !a->goroutines)
		usage_error("--sort id is for --all");
	if (a->sort == BY_COUNT && a->goroutines)
		usage_error("--sort count is not for --all");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_ALL:
	case OPT_GOROUTINES:
		a->goroutines = true;
		return 0;
	case OPT_GOROUTINE:
		if (!opts__number(text, 0, UINT64_MAX, &a->id))
			usage_error("--goroutine '%s': not a goroutine ID, which is a number",
				    text);
		a->one = true;
		return 0;
	case OPT_SORT:
		a->sort = parse_order(text);
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_END:
		check_arguments(a);
		return 0;
	default:
		if (trace_source__option(&a->in, key, text) != ARGP_ERR_UNKNOWN)
			return 0;
		return command__key(key, state, "latency");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE",
	"Shows where goroutines' time went, by the function that they began with, in parts that add "
	"up to TOTAL: on a core (ON CPU), waiting for a P (GO RUN), having a P while their thread "
	"waits for a core (KERN RUN) or for more time for its cgroup (THROTTLED), running for Go "
	"while their thread sleeps in the kernel (KERN BLK), asleep in system calls (SYSC BLK), "
	"blocked for Go (GO BLK); below that why, and how long they waited in run queues. Traces of "
	"`gotrace-bpf record`, or joined by `gotrace align`, say what threads did.",
	NULL,
	NULL,
	NULL,
};

static int add_to_function(struct latencies *all, const struct latency_goroutine *g)
{
	struct function *f = map__get(&all->functions, g->name);

	if (!f) {
		f = calloc(1, sizeof(*f));
		if (!f || map__put(&all->functions, g->name, f)) {
			free(f);
			return -ENOMEM;
		}
		f->name = g->name;
	}
	f->count++;
	return latency_stats__add(&f->stats, &g->stats);
}

static int goroutine_done(void *context, const struct latency_goroutine *g)
{
	struct latencies *all = context;
	struct pack pack = {};
	int err;

	all->count++;
	err = add_to_function(all, g);
	if (err || !all->goroutines || (all->one && g->id != all->id))
		return err;
	err = latency__pack(&pack, g);
	if (!err)
		err = record_store__add(all->goroutines, &pack);
	pack__deinit(&pack);
	return err;
}

static void begin(struct latencies *all, const struct arguments *a, int64_t start)
{
	all->start = a->in.have_from ? moment__time(&a->in.from, start) : start;
	latency__set_window(all->latency, a->in.have_from ? all->start : INT64_MIN,
			    a->in.have_to ? moment__time(&a->in.to, start) : INT64_MAX);
}

/* A table of threads is as of the sync that it came with. */
static int feed_event(struct latencies *all, const struct timeline *t, const struct trace_event *ev,
		      struct error *err)
{
	const struct kernel_threads *threads = timeline__threads(t);
	int code = latency__event(all->latency, ev, threads, err);

	all->end = ev->time;
	if (!code && all->tables != timeline__tables(t))
		code = latency__forget(all->latency, threads, timeline__in_loss(t), err);
	all->tables = timeline__tables(t);
	return code;
}

/* An item counts no later than when the event comes that it stands before. */
static int feed(struct latencies *all, const struct timeline *t, const struct timeline_step *step,
		struct error *err)
{
	const struct kernel_threads *threads = timeline__threads(t);
	int64_t time;
	int code = 0;

	if (all->losses != timeline__losses(t))
		code = latency__forget(all->latency, threads, timeline__in_loss(t), err);
	all->losses = timeline__losses(t);
	if (code)
		return code;
	if (step->event)
		return feed_event(all, t, step->event, err);
	time = timeline__time(t, step->item->time);
	if (time > timeline__until(t))
		time = timeline__until(t);
	return latency__item(all->latency, step->item, time, threads, err);
}

/*
 * A goroutine may be told of as late as at the end of the first generation, so that one is read
 * whatever --to says. The next one's begin counts: what was so before it has lasted until then.
 */
static int read_trace(struct timeline *t, const struct arguments *a, struct latencies *all,
		      struct error *err)
{
	struct timeline_step step = {};
	bool started = false;
	int64_t to = INT64_MAX, first = 0;
	int code;

	while ((code = timeline__next(t, &step, err)) > 0) {
		if (step.event && !started) {
			first = step.event->time;
			begin(all, a, first);
			to = a->in.have_to ? moment__time(&a->in.to, first) : INT64_MAX;
		}
		code = feed(all, t, &step, err);
		if (code)
			return code;
		if (started && step.event && step.event->type == EV_SYNC && step.event->time >= to)
			break;
		started |= step.event != NULL;
	}
	if (code < 0)
		return code;
	if (all->start > all->end)
		return error__set(err, -ENOENT, "nothing lies in the window; the trace has %.3f s",
				  (double)((uint64_t)all->end - (uint64_t)first) / 1e9);
	all->end = all->end < to ? all->end : to;
	all->has_kernel = timeline__has_kernel(t);
	return 0;
}

static int print(struct latencies *all, const struct arguments *a, struct error *err)
{
	int code = all->goroutines ? goroutines__sort(all) : 0;
	bool windowed = a->in.have_from || a->in.have_to;

	if (!code && !all->count && (windowed || all->left_out))
		return error__set(err, -ENOENT, "%s: there is no goroutine%s", a->in.name,
				  windowed ? " in the window" : " in what is whole of it");
	if (!code && a->one && !record_store__count(all->goroutines))
		return error__set(err, -ENOENT, "%s: there is no goroutine %" PRIu64 "%s",
				  a->in.name, a->id, windowed ? " then" : "");
	if (!code && a->json)
		code = latency_json__print(all);
	else if (!code && a->one)
		code = latency_table__goroutine(all);
	else if (!code)
		code = a->goroutines ? latency_table__goroutines(all) :
				       latency_table__functions(all);
	return code ? error__set(err, code, "%s: %s", a->in.name, strerror(-code)) : 0;
}

static int latencies__init(struct latencies *all, const struct arguments *a)
{
	struct latency_opts opts = {
		.from = INT64_MIN,
		.to = INT64_MAX,
		.done = goroutine_done,
		.context = all,
	};
	bool keep = a->goroutines || a->one;

	*all = (struct latencies){
		.latency = latency__create(&opts),
		.goroutines = keep ? record_store__create() : NULL,
		.one = a->one,
		.id = a->id,
		.sort = a->sort,
	};
	return all->latency && (all->goroutines || !keep) ? 0 : -ENOMEM;
}

static void latencies__deinit(struct latencies *all)
{
	struct function *f;
	void *value;

	for (size_t i = 0; map__next(&all->functions, &i, &value);) {
		f = value;
		latency_stats__deinit(&f->stats);
		free(f);
	}
	map__deinit(&all->functions);
	record_store__destroy(all->goroutines);
	latency__destroy(all->latency);
}

/* What reader and timeline knew makes room for what is handed out then. */
static int read_all(const struct arguments *a, struct latencies *all, struct error *err)
{
	struct timeline *t = NULL;
	struct error why = {};
	struct reader *r;
	int code = open_trace(a->in.path, &a->in.reader, &r, err);

	if (code)
		return code;
	code = timeline__create(&t, r);
	if (code)
		error__set(&why, code, "out of memory");
	else
		code = read_trace(t, a, all, &why);
	if (!code)
		say_what_is_missing(a->in.name, r);
	all->left_out = reader__left_out(r);
	timeline__destroy(t);
	reader__destroy(r);
	if (!code)
		code = latency__finish(all->latency, &why);
	return code ? error__about(err, code, a->in.name, &why) : 0;
}

int do_latency(int argc, char **argv, struct error *err)
{
	struct arguments a = { .in.reader.described = true, .sort = BY_TOTAL };
	struct latencies all;
	int code;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	code = latencies__init(&all, &a);
	if (code)
		error__set(err, code, "out of memory");
	else
		code = read_all(&a, &all, err);
	if (!code)
		code = print(&all, &a, err);
	latencies__deinit(&all);
	return code ? EXIT_FAILED : EXIT_DONE;
}
