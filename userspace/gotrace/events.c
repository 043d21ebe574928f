// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace events: a line for each event, in the order in which Go's reader delivers them.
 *
 * trace/reader.c reads and orders, trace/fixup.c may set times right, trace/timeline.c may put what the
 * kernel did between them, print_*.c make the lines.
 * Nothing is kept: what comes in goes out.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "at.h"
#include "lib/log.h"
#include "print.h"
#include "trace/fixup.h"
#include "trace/timeline.h"

enum { OPT_FIXUP = 256, OPT_STACKS, OPT_JSON, OPT_CANONICAL, OPT_KERNEL };

struct arguments {
	struct trace_source in;
	bool fixup, stacks, kernel;
	print_fn print;
};

static const struct argp_option options[] = {
	{ "from", SOURCE_FROM, "T", 0,
	  "only events at T and later: 1.5 seconds after the trace's start, or @123, the trace's own "
	  "nanosecond 123",
	  0 },
	{ "to", SOURCE_TO, "T", 0, "only events before T", 0 },
	{ "fixup", OPT_FIXUP, NULL, 0,
	  "the times of the file, put later only where an event must have come after one with a "
	  "later time; events stay in order, their times need not",
	  0 },
	{ "stacks", OPT_STACKS, NULL, 0, "whole stacks, not their innermost frame only", 0 },
	{ "json", OPT_JSON, NULL, 0, "a JSON object an event, with the trace's own nanoseconds",
	  0 },
	{ "canonical", OPT_CANONICAL, NULL, 0, "the form that is compared with Go's reader", 0 },
	{ "kernel", OPT_KERNEL, NULL, 0,
	  "what the kernel did with the threads, too, where the trace has it", 0 },
	{ "lenient", SOURCE_LENIENT, NULL, 0, "let a broken or cut end of the trace be", 0 },
	BINARY_OPTION,
	MEMORY_OPTION,
	HELP_OPTION,
	{},
};

static void set_form(struct arguments *a, print_fn print)
{
	if (a->print && a->print != print)
		usage_error("--json or --canonical, not both");
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
		return 0;
	case OPT_KERNEL:
		a->kernel = true;
		return 0;
	default:
		if (trace_source__option(&a->in, key, text) != ARGP_ERR_UNKNOWN)
			return 0;
		return command__key(key, state, "events");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"FILE",
	"Shows the events of a trace: seconds since its start, the thread, P and goroutine that each "
	"happened on, what happened, and in which function. Finds --from by FILE.idx if there is one "
	"(gotrace index).",
	NULL,
	NULL,
	NULL,
};

struct window {
	int64_t from, to; /* ns of the trace */
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
	struct timeline *timeline; /* NULL: no kernel's side is wanted */
};

static inline int source__next(const struct source *s, struct trace_event *ev,
			       struct timeline_step *step, struct error *err)
{
	return s->timeline ? timeline__next(s->timeline, step, err) :
			     reader__next(s->reader, ev, err);
}

static void print_item(const struct source *s, const struct arguments *a, struct printer *p,
		       const struct kernel_item *item, int64_t time)
{
	print_item_fn print = a->print == print__json ? print__json_item : print__human_item;
	bool by = (item->kind == KERNEL_WAKING && !item->interrupt) || item->kind == KERNEL_CREATED;
	const struct print_item i = {
		.item = item,
		.g = item->kind == KERNEL_CORE ? TRACE_NO_G :
						 timeline__goroutine(s->timeline, item->tid),
		.by_g = by ? timeline__goroutine(s->timeline, item->other) : TRACE_NO_G,
		.took = timeline__took(s->timeline),
	};

	print(p, &i, time);
}

/*
 * Prints what lies in the window. The delivered times grow, so that its end is the end. `start`: of
 * the trace; INT64_MIN: the first event's time.
 */
static int print_events(const struct source *s, const struct arguments *a, int64_t start,
			struct fixup *fixup, struct printer *p, struct error *err)
{
	struct window window = window__of(a, start);
	struct trace_event ev = {};
	struct timeline_step step = { .event = &ev };
	bool shown = false, early;
	int64_t time;
	int code;

	p->start = start;
	while ((code = source__next(s, &ev, &step, err)) > 0) {
		time = step.event ? step.event->time : timeline__time(s->timeline, step.item->time);
		if (p->start == INT64_MIN) {
			p->start = time;
			window = window__of(a, time);
		}
		if (a->in.have_to && time >= window.to)
			break;
		early = time < window.from;
		if (fixup && fixup__event(fixup, step.event, &time))
			return error__set(err, -ENOMEM, "out of memory");
		if (early)
			continue;
		if (step.event)
			a->print(p, step.event, time);
		else
			print_item(s, a, p, step.item, time);
		shown = true;
		if (p->out.failed || ferror_unlocked(stdout))
			return -EIO; /* which main() says */
	}
	if (code >= 0 && !shown)
		log__msg("%s: no event then; the trace begins at @%" PRId64 "%s", a->in.name,
			 p->start, code ? "" : " and ends before");
	return code < 0 ? code : 0;
}

static int show(const struct arguments *a, struct reader *r, int64_t start, struct error *err)
{
	static struct printer printer; /* large */
	struct source source = { .reader = r };
	struct fixup *fixup = NULL;
	struct error reason = {};
	int code;

	if (a->kernel && timeline__create(&source.timeline, r))
		return error__set(err, -ENOMEM, "out of memory");
	if (a->fixup) { /* without a timeline: not both are asked for */
		fixup = fixup__create();
		if (!fixup)
			return error__set(err, -ENOMEM, "out of memory");
	}
	printer.stacks = a->stacks;
	json__init(&printer.json, stdout, true);
	code = print_events(&source, a, start, fixup, &printer, &reason);
	if (a->kernel && !code && !timeline__has_kernel(source.timeline))
		log__msg("%s: has no kernel's side (gotrace-bpf record --events kernel)",
			 a->in.name);
	out__flush(&printer.out);
	fixup__destroy(fixup);
	timeline__destroy(source.timeline);
	if (code && reason.text[0])
		error__about(err, code, a->in.name, &reason);
	return code;
}

int do_events(int argc, char **argv, struct error *err)
{
	struct arguments a = { .in.reader.described = true };
	struct reader *r = NULL;
	int64_t start;
	int code;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	trace_source__check(&a.in);
	if (!a.print)
		a.print = print__human;
	if (a.kernel && a.print == print__canonical)
		usage_error("--kernel or --canonical, not both");
	if (a.kernel && a.fixup)
		usage_error("--kernel or --fixup, not both");
	/* The order's edges lead from the start to a moment: there is no --fixup from its middle. */
	code = open_trace_at(a.in.path, &a.in.reader, a.in.have_from && !a.fixup, &a.in.from, &r,
			     &start, err);
	if (!code)
		code = show(&a, r, start, err);
	if (!code)
		say_what_is_missing(a.in.name, r);
	reader__destroy(r);
	return code ? EXIT_FAILED : EXIT_DONE;
}
