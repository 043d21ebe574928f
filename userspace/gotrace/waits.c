// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace waits: the longest single waits of goroutines, and their causes.
 *
 * reader/timeline.c merges events and kernel events. analysis/waits.c finds the waits and
 * waits_causes.c what they consist of, by the history of the trace that analysis/path_fold.c makes.
 * waits_print.c and waits_json.c print.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/opts.h"
#include "path_read.h"
#include "waits.h"

#define HISTORY_MAX (512ul << 20) /* bytes */

enum { OPT_LONGEST = 256, OPT_KIND, OPT_RUNTIME };

struct arguments {
	struct trace_args in;
	struct waits_opts of;
	bool have_kind;
};

static const struct argp_option options[] = {
	{ "longest", OPT_LONGEST, "N", 0, "number of waits to show; by default 10", 0 },
	{ "kind", OPT_KIND, "KIND", 0,
	  "only block (blocked goroutines), sched (waiting for a P), syscall or runqueue (with a "
	  "thread that waits for a CPU); by default all",
	  0 },
	GOROUTINE_OPTION("only waits of this goroutine"),
	FUNCTION_OPTION,
	LABEL_OPTION(
		"only waits of goroutines that have this label at the time, such as "
		"endpoint=/search; VALUE may contain * and ?; may be repeated: all must match"),
	{ "runtime", OPT_RUNTIME, NULL, 0, "include the goroutines of the Go runtime", 0 },
	{ "from", OPT_FROM, "T", 0, "only what lies after T: " MOMENT_HELP, 0 },
	{ "to", OPT_TO, "T", 0, "only what lies before T", 0 },
	TIMES_JSON_OPTION,
	COLOR_OPTION,
	READING_OPTIONS,
	{},
};

const char *const wait_names[WAIT_KINDS] = {
	[WAIT_BLOCK] = "block",
	[WAIT_SCHED] = "sched",
	[WAIT_SYSCALL] = "syscall",
	[WAIT_RUNQUEUE] = "runqueue",
};

static void parse_kind(const char *text, struct arguments *a)
{
	unsigned int kind = 0;

	while (kind < WAIT_KINDS && strcmp(wait_names[kind], text))
		kind++;
	if (kind == WAIT_KINDS)
		usage_error("unknown kind '%s': must be block, sched, syscall or runqueue", text);
	a->of.kind[kind] = a->have_kind = true;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;
	uint64_t n;

	switch (key) {
	case OPT_LONGEST:
		if (!opts__number(text, 1, WAITS_MAX, &n))
			usage_error("invalid number of waits '%s': must be 1 to %u", text,
				    WAITS_MAX);
		a->of.longest = (uint32_t)n;
		return 0;
	case OPT_KIND:
		parse_kind(text, a);
		return 0;
	case OPT_RUNTIME:
		a->of.runtime = true;
		return 0;
	default:
		return trace_args__option(&a->in, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE",
	"Shows the longest single waits of goroutines: blocked (block), waiting for a P (sched), "
	"in a system call (syscall), or on a thread that waits for a CPU (runqueue). For each "
	"wait: when it began, the goroutine and its start function, the reason, the stack, what ended it, and what it consists of: what "
	"the goroutines and threads did that it waited for, or which of them had the Ps and "
	"the CPU. Kernel events, as traces of gotrace-bpf record contain them, show more causes.",
};

/* ---- reading ---- */

struct reading {
	const struct trace_args *in;
	struct timeline *t;
	struct waits *waits;
	struct path_history *history;
	struct path_fold fold;
	struct longest_waits *ret;
	int64_t to;
	bool started, lossy;
	bool full; /* the history exceeds its limit and was given up */
};

static void begin(struct reading *r, const struct trace_args *a, int64_t start)
{
	struct longest_waits *l = r->ret;

	r->started = true;
	l->trace = start;
	l->start = a->have_from ? moment__time(&a->from, start) : start;
	if (l->start < start)
		l->start = start;
	l->end = l->start;
	r->to = a->have_to ? moment__time(&a->to, start) : INT64_MAX;
	waits__set_begin(r->waits, l->start);
	r->history->from = l->start;
}

static int take_step(struct reading *r, const struct timeline_step *step, int64_t time)
{
	int err = 0;

	if (step->event) {
		waits__lose_before(r->waits, timeline__go_lost_to(r->t));
		err = waits__event(r->waits, step->event);
	} else if (time < r->to) {
		err = waits__item(r->waits, step->item, time, timeline__duration(r->t),
				  timeline__goroutine(r->t, step->item->tid));
	}
	if (!err && !r->full)
		err = path__take_step(r->t, &r->fold, step);
	r->full |= path_history__full(r->history);
	return err;
}

/* Waits go on before the window, and names come from there: the trace is read from its beginning. */
static int read_trace(void *context, struct timeline *t, const struct reader *reader,
		      struct error *error)
{
	struct reading *r = context;
	struct timeline_step step = {};
	int64_t last = INT64_MIN, time;
	int err;

	r->t = t;
	while ((err = timeline__next(t, &step, error)) > 0) {
		if (step.event && !r->started)
			begin(r, r->in, step.event->time);
		time = step.event ? step.event->time : timeline__time(r->t, step.item->time);
		if (time > last && (step.event || time < r->to))
			last = time;
		if (step.event && time >= r->to)
			break;
		if (take_step(r, &step, time))
			return error__set(error, -ENOMEM, "out of memory");
		r->lossy |= step.event && timeline__lossy(r->t);
	}
	if (err < 0)
		return err;
	err = r->started ? trace_args__check_window(r->in, r->ret->trace, last, error) : 0;
	if (err)
		return err;
	if (last > r->to)
		last = r->to;
	if (r->started && last > r->ret->end)
		r->ret->end = last;
	r->ret->kernel = r->history->kernel = timeline__has_kernel(r->t);
	return 0;
}

/* ---- causes ---- */

static int find_causes(struct longest_waits *l, bool have_history, size_t *ret_unknown)
{
	uint64_t budget = WAITS_STEPS_MAX;
	int err = 0;

	l->causes = calloc(l->n + 1, sizeof(*l->causes));
	if (!l->causes)
		return -ENOMEM;
	for (size_t i = 0; !err && have_history && i < l->n; i++) {
		err = wait__causes(l->history, &l->at[i], &budget, &l->causes[i]);
		*ret_unknown += !l->causes[i].known;
	}
	return err;
}

static void report(const struct arguments *a, const struct reading *r, size_t unknown)
{
	const char *name = a->in.name;

	if (r->full)
		log__msg("%s: the causes of waits are not shown, because the history exceeds the "
			 "limit of %lu MB; request a shorter time with --from and --to",
			 name, HISTORY_MAX >> 20);
	if (unknown)
		log__msg("%s: the causes of %zu waits would take too long to find; request fewer "
			 "waits, or a shorter time with --from and --to",
			 name, unknown);
	if (a->have_kind && a->of.kind[WAIT_RUNQUEUE] && !r->ret->kernel)
		log__msg("%s: the trace has no kernel events, which --kind runqueue requires",
			 name);
	else if (r->ret->n && !r->ret->kernel && !r->full)
		log__msg("%s: the trace has no kernel events; causes are derived from Go's events "
			 "alone",
			 name);
	if (r->lossy)
		log__msg("%s: some kernel events were lost; 'gotrace stat' shows when", name);
}

static int show(const struct arguments *a, struct reading *r, struct error *error)
{
	struct longest_waits *l = r->ret;
	size_t unknown = 0;
	int err = waits__finish(r->waits, l->end, r->full ? NULL : l->history, &l->at, &l->n);

	if (!err)
		err = find_causes(l, !r->full, &unknown);
	if (err)
		error__set(error, err, "%s: %s", a->in.name, strerror(-err));
	else if (a->in.json)
		waits__print_json(l);
	else
		waits__print(l);
	free(l->causes);
	if (!err)
		report(a, r, unknown);
	return err;
}

int do_waits(int argc, char **argv, struct error *error)
{
	struct arguments a = {
		.in = { .verb = "waits", .reader.described = true, .wall_clock = true },
		.of.longest = 10
	};
	struct longest_waits longest = {};
	struct path_history history;
	struct reading reading = { .in = &a.in, .history = &history, .ret = &longest };
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	trace_args__check(&a.in);
	for (unsigned int i = 0; !a.have_kind && i < WAIT_KINDS; i++)
		a.of.kind[i] = true;
	if (selection__by_goroutine(&a.in.select))
		a.of.select = &a.in.select;
	err = path_history__init(&history, HISTORY_MAX);
	path_fold__init(&reading.fold, &history);
	reading.waits = waits__create(&a.of);
	if (err || !reading.waits)
		err = error__set(error, -ENOMEM, "out of memory");
	else
		err = read_timeline(&a.in, read_trace, &reading, error);
	path_fold__deinit(&reading.fold);
	longest.waits = reading.waits;
	longest.history = &history;
	if (!err)
		err = show(&a, &reading, error);
	waits__destroy(reading.waits);
	path_history__deinit(&history);
	selection__deinit(&a.in.select);
	return err ? EXIT_FAILED : EXIT_DONE;
}
