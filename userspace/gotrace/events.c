// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace events: prints one line per event, in the order of Go's reader.
 *
 * reader/reader.c reads and orders, reader/fixup.c corrects timestamps on request,
 * reader/timeline.c inserts kernel events on request, and print_*.c format the lines. No events
 * are stored.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/log.h"
#include "lib/progress.h"
#include "reader/fixup.h"
#include "reader/timeline.h"
#include "at.h"
#include "print/print.h"
#include "select_events.h"

enum { OPT_FIXUP = 256, OPT_STACKS, OPT_CANONICAL, OPT_KERNEL };

struct arguments {
	struct trace_args in;
	bool fixup, stacks, kernel;
	print_fn print;
};

static const struct argp_option options[] = {
	{ "from", OPT_FROM, "T", 0, "only events at T and later: " MOMENT_HELP, 0 },
	{ "to", OPT_TO, "T", 0, "only events before T", 0 },
	TYPE_OPTION,
	REASON_OPTION,
	THREAD_OPTION,
	GOROUTINE_OPTION("only events on this goroutine, or that concern it"),
	FUNCTION_OPTION,
	LABEL_OPTION(
		"only events of goroutines that have this label at the time, such as "
		"endpoint=/search; VALUE may contain * and ?; may be repeated: all must match"),
	{ "fixup", OPT_FIXUP, NULL, 0,
	  "print the timestamps of the file, increased only for events that must have occurred "
	  "after one with a later timestamp; the order does not change, and timestamps need not "
	  "increase",
	  0 },
	{ "stacks", OPT_STACKS, NULL, 0, "complete stacks, not only their innermost frames", 0 },
	{ "json", OPT_JSON, NULL, 0,
	  "print one JSON object per event, with nanoseconds of the trace's clock", 0 },
	{ "canonical", OPT_CANONICAL, NULL, 0,
	  "print the form that the tests compare with Go's reader", 0 },
	{ "kernel", OPT_KERNEL, NULL, 0,
	  "also print the kernel events of the threads, if the trace has them", 0 },
	READING_OPTIONS,
	{},
};

static void set_form(struct arguments *a, print_fn print)
{
	if (a->print && a->print != print)
		usage_error("--json and --canonical cannot be combined");
	a->print = print;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_FIXUP:
		a->fixup = true;
		return 0;
	case OPT_STACKS:
		a->stacks = true;
		return 0;
	case OPT_JSON:
		set_form(a, print__json);
		return 0;
	case OPT_CANONICAL:
		set_form(a, print__canonical);
		a->in.reader.as_go = true;
		return 0;
	case OPT_KERNEL:
		a->kernel = true;
		return 0;
	default:
		return trace_args__option(&a->in, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE",
	"Prints the events in causal order, one per line: the time in seconds since the start of "
	"the trace, thread, P and goroutine, the event, its object and effect, and the source "
	"position. Uses FILE.idx for --from if it exists; see gotrace index.",
};

struct window {
	int64_t from, to; /* trace time, ns */
};

static struct window window__of(const struct arguments *a, int64_t start)
{
	return (struct window){
		.from = a->in.have_from ? moment__time(&a->in.from, start) : INT64_MIN,
		.to = a->in.have_to ? moment__time(&a->in.to, start) : INT64_MAX,
	};
}

struct source {
	struct reader *reader;
	struct timeline *timeline; /* NULL: kernel events were not requested */
	struct event_filter filter;
};

static inline int source__next(const struct source *s, struct trace_event *ev,
			       struct timeline_step *step, struct error *error)
{
	return s->timeline ? timeline__next(s->timeline, step, error) :
			     reader__next(s->reader, ev, error);
}

static int print_item(struct source *s, const struct arguments *a, struct printer *p,
		      const struct kernel_item *item, int64_t time)
{
	print_item_fn print = a->print == print__json ? print__json_item : print__human_item;
	const struct print_item i = print_item__of(s->timeline, item);
	int matches = s->filter.active ? event_filter__item(&s->filter, &i) : 1;

	if (matches > 0)
		print(p, &i, time);
	return matches;
}

/* Prints what the filters accept: 1; 0: it is filtered out; or -ENOMEM. */
static int print_step(struct source *s, const struct arguments *a, struct printer *p,
		      const struct timeline_step *step, int64_t time)
{
	int matches;

	if (step->item)
		return print_item(s, a, p, step->item, time);
	matches = s->filter.active ? event_filter__event(&s->filter, step->event) : 1;
	if (matches > 0)
		a->print(p, step->event, time);
	return matches;
}

/* Nothing was printed, or a requested reason does not occur. */
static void report_nothing(const struct source *s, const struct arguments *a, bool shown,
			   bool ended, int64_t start)
{
	bool windowed = a->in.have_from || a->in.have_to;

	if (event_filter__report(&s->filter, a->in.name,
				 windowed ? " in the requested time" : "") ||
	    shown)
		return;
	if (s->filter.active)
		log__msg("%s: no event%s matches the filters", a->in.name,
			 windowed ? " in the requested time" : "");
	else
		log__msg("%s: no events in the requested time; the trace begins at @%" PRId64 "%s",
			 a->in.name, start, ended ? " and ends before the requested time" : "");
}

/*
 * Print the events of the window. Delivered times increase, so the first event after the window
 * ends the loop. `start`: of the trace; INT64_MIN: the time of the first event.
 */
static int print_events(struct source *s, const struct arguments *a, int64_t start,
			struct fixup *fixup, struct printer *p, struct error *error)
{
	struct window window = window__of(a, start);
	struct trace_event ev = {};
	struct timeline_step step = { .event = &ev };
	bool shown = false, early;
	int64_t time;
	int err, matches;

	p->start = start;
	while ((err = source__next(s, &ev, &step, error)) > 0) {
		time = step.event ? step.event->time : timeline__time(s->timeline, step.item->time);
		if (p->start == INT64_MIN) {
			p->start = time;
			window = window__of(a, time);
		}
		if (a->in.have_to && time >= window.to)
			break;
		early = time < window.from;
		if (step.event && event_filter__follow(&s->filter, step.event))
			return error__set(error, -ENOMEM, "out of memory");
		if (fixup && fixup__event(fixup, step.event, &time))
			return error__set(error, -ENOMEM, "out of memory");
		if (early)
			continue;
		matches = print_step(s, a, p, &step, time);
		if (matches < 0)
			return error__set(error, matches, "out of memory");
		shown |= matches > 0;
		if (p->out.failed || ferror_unlocked(stdout))
			return -EIO; /* reported by flush() of lib/command.c */
	}
	if (err >= 0)
		report_nothing(s, a, shown, !err, p->start);
	return err < 0 ? err : 0;
}

static int show(const struct arguments *a, struct source *s, int64_t start, struct error *error)
{
	static struct printer printer; /* too large for the stack */
	struct fixup *fixup = NULL;
	struct error reason = {};
	int err;

	if (a->kernel && timeline__create(&s->timeline, s->reader))
		return error__set(error, -ENOMEM, "out of memory");
	if (a->fixup) { /* cannot be combined with a timeline */
		fixup = fixup__create();
		if (!fixup)
			return error__set(error, -ENOMEM, "out of memory");
	}
	printer.stacks = a->stacks;
	json__init(&printer.json, stdout, true);
	err = print_events(s, a, start, fixup, &printer, &reason);
	if (a->kernel && !err && !timeline__has_kernel(s->timeline))
		log__msg("%s: the trace has no kernel events (record it with event set kernel, a "
			 "default, or add them with gotrace align)",
			 a->in.name);
	out__flush(&printer.out);
	fixup__destroy(fixup);
	timeline__destroy(s->timeline);
	if (err && reason.text[0])
		error__about(error, err, a->in.name, &reason);
	return err;
}

static void check_arguments(struct arguments *a)
{
	trace_args__check(&a->in);
	if (!a->print)
		a->print = print__human;
	if (a->kernel && a->print == print__canonical)
		usage_error("--kernel and --canonical cannot be combined");
	if (a->kernel && a->fixup)
		usage_error("--kernel and --fixup cannot be combined");
	if (a->in.select.kernel_type && !a->kernel)
		usage_error("--type %s requires --kernel", a->in.select.kernel_type);
}

int do_events(int argc, char **argv, struct error *error)
{
	struct arguments a = {
		.in = { .verb = "events", .reader.described = true, .wall_clock = true }
	};
	struct source source = {};
	int64_t start;
	bool whole;
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	check_arguments(&a);
	progress__forbid();
	err = trace_args__resolve(&a.in, error);
	if (!err)
		err = event_filter__init(&source.filter, &a.in, error);
	/*
	 * Order edges lead from the start of the trace on, so --fixup cannot begin in the middle,
	 * and labels last until they are changed.
	 */
	whole = a.fixup || a.in.select.nlabels;
	if (!err)
		err = open_trace_at(&a.in, a.in.have_from && !whole ? &a.in.from : NULL,
				    &source.reader, &start, NULL, error);
	if (!err)
		err = show(&a, &source, start, error);
	if (!err)
		report_omissions(a.in.name, source.reader);
	reader__destroy(source.reader);
	event_filter__deinit(&source.filter);
	selection__deinit(&a.in.select);
	return err ? EXIT_FAILED : EXIT_DONE;
}
