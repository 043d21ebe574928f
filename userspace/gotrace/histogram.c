// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace histogram: the distribution of the durations of one kind of interval.
 *
 * reader/timeline.c merges events and kernel events, analysis/intervals.c finds the intervals and
 * counts them, histogram_print.c prints.
 */
#include <errno.h>
#include <string.h>

#include "lib/log.h"
#include "reader/timeline.h"
#include "command.h"
#include "histogram.h"
#include "select_events.h"

enum { OPT_OF = 256 };

struct arguments {
	struct trace_args in;
	bool have_of;
	struct intervals_opts of;
};

static const struct argp_option options[] = {
	{ "of", OPT_OF, "KIND", 0,
	  "kind of the intervals (required): sched, runqueue, syscall[:NAME], gc, stw[:REASON] or "
	  "block[:REASON]",
	  0 },
	GOROUTINE_OPTION("only intervals of this goroutine, or of the threads that run it"),
	FUNCTION_OPTION,
	LABEL_OPTION(
		"only intervals of goroutines that have this label at the time, such as "
		"endpoint=/search; VALUE may contain * and ?; may be repeated: all must match"),
	{ "from", OPT_FROM, "T", 0, "only intervals that end at T or later: " MOMENT_HELP, 0 },
	{ "to", OPT_TO, "T", 0, "only intervals that end before T", 0 },
	TIMES_JSON_OPTION,
	COLOR_OPTION,
	READING_OPTIONS,
	{},
};

const char *const interval_names[INTERVAL_KINDS] = {
	[INTERVAL_SCHED] = "sched",	[INTERVAL_RUNQUEUE] = "runqueue",
	[INTERVAL_SYSCALL] = "syscall", [INTERVAL_GC] = "gc",
	[INTERVAL_STW] = "stw",		[INTERVAL_BLOCK] = "block",
};

static bool takes_name(enum interval_kind kind)
{
	return kind == INTERVAL_SYSCALL || kind == INTERVAL_STW || kind == INTERVAL_BLOCK;
}

/* KIND or KIND:NAME */
static void parse_of(const char *text, struct intervals_opts *ret)
{
	size_t len = strcspn(text, ":");
	unsigned int kind = 0;

	while (kind < INTERVAL_KINDS &&
	       (strlen(interval_names[kind]) != len || memcmp(interval_names[kind], text, len)))
		kind++;
	if (kind == INTERVAL_KINDS)
		usage_error("unknown kind '%.*s': must be sched, runqueue, syscall[:NAME], gc, "
			    "stw[:REASON] or block[:REASON]",
			    (int)len, text);
	*ret = (struct intervals_opts){ .kind = kind, .name = text[len] ? text + len + 1 : NULL };
	if (ret->name && !takes_name(kind))
		usage_error("invalid kind '%s': %s has no names to select by", text,
			    interval_names[kind]);
	if (ret->name && !*ret->name)
		usage_error("invalid kind '%s': the name after the colon is missing", text);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_OF:
		parse_of(text, &a->of);
		a->have_of = true;
		return 0;
	default:
		return trace_args__option(&a->in, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE --of KIND",
	"Shows how the durations of one kind of interval are distributed: waits of goroutines "
	"for a P (sched), waits of threads for a CPU (runqueue), system calls (syscall), GC "
	"cycles (gc), stop-the-world pauses (stw), or blocked goroutines (block). A name limits "
	"the intervals to those of a system call, as syscall:futex, or to those with a reason, "
	"as \"block:chan receive\". runqueue and names of system calls require kernel events, as "
	"traces of gotrace-bpf record contain them.",
};

static void begin(struct intervals *iv, const struct trace_args *a, int64_t start,
		  struct histogram *h, int64_t *ret_to)
{
	*ret_to = a->have_to ? moment__time(&a->to, start) : INT64_MAX;
	h->start = a->have_from ? moment__time(&a->from, start) : start;
	intervals__set_window(iv, a->have_from ? h->start : INT64_MIN, *ret_to);
}

static void clip(struct histogram *h, int64_t last, int64_t to)
{
	h->end = last < to ? last : to;
	if (h->end < h->start)
		h->end = h->start;
}

/* Intervals may end in the window that begin before it, so the trace is read from its beginning. */
struct reading {
	const struct arguments *a;
	struct intervals *iv;
	struct histogram *h;
};

static int read_trace(void *context, struct timeline *t, const struct reader *r,
		      struct error *error)
{
	struct reading *reading = context;
	const struct arguments *a = reading->a;
	struct intervals *iv = reading->iv;
	struct histogram *h = reading->h;
	struct timeline_step step = {};
	int64_t to = INT64_MAX, first = 0, last = 0;
	bool started = false, lossy = false;
	int err;

	while ((err = timeline__next(t, &step, error)) > 0) {
		if (step.event && !started)
			begin(iv, &a->in, first = step.event->time, h, &to);
		started |= step.event != NULL;
		lossy |= timeline__lossy(t);
		if (step.event)
			last = step.event->time;
		if (step.event && last >= to)
			break;
		if (intervals__step(iv, t, &step))
			return error__set(error, -ENOMEM, "out of memory");
	}
	if (err < 0)
		return err;
	err = started ? trace_args__check_window(&a->in, first, last, error) : 0;
	if (err)
		return err;
	clip(h, last, to);
	h->of = a->of;
	h->counts = intervals__counts(iv, &h->kernel);
	h->unfinished = intervals__open(iv, a->of.kind);
	if (h->kernel && !timeline__has_kernel(t))
		log__msg("%s: the trace has no kernel events, which --of %s%s requires", a->in.name,
			 interval_names[a->of.kind], a->of.name ? ":NAME" : "");
	if (h->kernel && lossy)
		log__msg("%s: some kernel events were lost; 'gotrace stat' shows when", a->in.name);
	return 0;
}

static void select_intervals(struct arguments *a, const struct map *goroutines)
{
	if (!selection__by_goroutine(&a->in.select))
		return;
	if (a->of.kind == INTERVAL_GC || a->of.kind == INTERVAL_STW)
		usage_error(
			"--goroutine, --function and --label cannot be combined with --of %s, which is "
			"of no single goroutine",
			interval_names[a->of.kind]);
	a->of.select = &a->in.select;
	a->of.matches = goroutines;
}

int do_histogram(int argc, char **argv, struct error *error)
{
	struct arguments a = {
		.in = { .verb = "histogram", .reader.described = true, .wall_clock = true }
	};
	struct histogram h = {};
	struct map goroutines = {};
	struct reading reading;
	struct intervals *iv;
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	trace_args__check(&a.in);
	if (!a.have_of)
		usage_error("missing option --of KIND: sched, runqueue, syscall, gc, stw or block");
	select_intervals(&a, &goroutines);
	iv = intervals__create(&a.of);
	reading = (struct reading){ &a, iv, &h };
	err = iv ? find_goroutines(&a.in, &goroutines, error) :
		   error__set(error, -ENOMEM, "out of memory");
	if (!err)
		err = read_timeline(&a.in, read_trace, &reading, error);
	if (!err && a.in.json)
		histogram__print_json(&h);
	else if (!err)
		histogram__print_table(&h);
	intervals__destroy(iv);
	map__deinit(&goroutines);
	selection__deinit(&a.in.select);
	return err ? EXIT_FAILED : EXIT_DONE;
}
