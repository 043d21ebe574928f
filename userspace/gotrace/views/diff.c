// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace diff: where two recordings differ by more than noise.
 *
 * Each trace is read twice: by reader/reader.c for its length, then by reader/timeline.c for
 * diff/measure.c. diff/compare.c tests the differences, diff_print.c prints them.
 */
#include "gotrace/views/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gotrace/command.h"
#include "gotrace/input_twice.h"
#include "lib/log.h"
#include "lib/opts.h"

enum { OPT_PER = 256, OPT_SLICES, OPT_THRESHOLD };

#define SLICES_DEFAULT 20
#define SLICES_MIN     4
#define SLICES_MAX     200
#define THRESHOLD_MAX  1e6 /* percent */
#define TOP_DEFAULT    10

struct arguments {
	struct trace_args in; /* of A */
	const char *b;
	const char *per; /* "second" or "request"; NULL: not given */
	uint64_t slices;
	double threshold;
};

static const struct argp_option options[] = {
	{ "per", OPT_PER, "UNIT", 0,
	  "divide time by the length of the recording (second) or by the number of tasks that ended in it "
	  "(request); default: request if each recording has at least 20 of them",
	  0 },
	{ "threshold", OPT_THRESHOLD, "PERCENT", 0,
	  "exit with status 1 if a figure of B is worse than that of A by more than PERCENT and by more "
	  "than noise",
	  0 },
	{ "slices", OPT_SLICES, "N", 0,
	  "divide each recording into N samples of equal length; default: 20", 0 },
	TOP_OPTION("print N figures per table, besides those that differ; default: 10"),
	{ "json", OPT_JSON, NULL, 0, "print JSON, with all figures and times in nanoseconds", 0 },
	COLOR_OPTION,
	READING_OPTIONS,
	{},
};

static double parse_threshold(const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || *end || !(percent >= 0 && percent <= THRESHOLD_MAX))
		usage_error("invalid value '%s' for --threshold: expected a percentage, such as 5",
			    text);
	return percent / 100;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_PER:
		if (strcmp(text, "second") && strcmp(text, "request"))
			usage_error("unknown unit '%s' for --per: must be second or request", text);
		a->per = text;
		return 0;
	case OPT_SLICES:
		if (!opts__number(text, SLICES_MIN, SLICES_MAX, &a->slices))
			usage_error("invalid number '%s' for --slices: expected %d to %d", text,
				    SLICES_MIN, SLICES_MAX);
		return 0;
	case OPT_THRESHOLD:
		a->threshold = parse_threshold(text);
		return 0;
	case ARGP_KEY_ARG:
		if (a->b)
			usage_error("unexpected argument '%s': only two files are accepted", text);
		if (a->in.path) {
			a->b = text;
			return 0;
		}
		return trace_args__option(&a->in, key, text, state);
	default:
		return trace_args__option(&a->in, key, text, state);
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"A B",
	"Compares two recordings of a program: the time of its goroutines by start function and "
	"state, and by the reason why they were blocked; the durations of requests (tasks) by name, "
	"and where their time went; waits for a P; the garbage collector. Each recording is divided "
	"into slices, which show how much a figure varies. A difference is reported if it exceeds "
	"that noise, by Welch's t-test; the probability that any is reported if nothing differs is at "
	"most 1 %. What differs between two runs of the same program, but not within one, counts as "
	"a difference: use --threshold to ignore what is small.",
};

/* ---- reading ---- */

static int look(const struct trace_args *in, struct measure *m, struct error *error)
{
	struct error why = {};
	struct trace_event ev;
	struct reader *r;
	int err = open_trace(in->path, &in->reader, &r, error);

	if (err)
		return err;
	while ((err = reader__next(r, &ev, &why)) > 0) {
		err = measure__look(m, &ev);
		if (err) {
			error__set(&why, err, "out of memory");
			break;
		}
	}
	reader__destroy(r);
	return err ? error__about(error, err, in->name, &why) : 0;
}

static int read_steps(void *context, struct timeline *t, const struct reader *r,
		      struct error *error)
{
	struct diff_side *side = context;
	struct timeline_step step = {};
	int err;

	(void)r;
	err = measure__begin(side->measure, error);
	if (err)
		return err;
	while ((err = timeline__next(t, &step, error)) > 0) {
		err = measure__step(side->measure, t, &step, error);
		if (err)
			return err;
	}
	side->has_kernel = timeline__has_kernel(t);
	return err ? err : measure__finish(side->measure, error);
}

static int read_side(const struct trace_args *args, const char *path, struct diff_report *r,
		     struct diff_side *side, struct error *error)
{
	struct trace_args in = *args;
	off_t start;
	int err;

	in.path = path;
	in.name = side->name = strcmp(path, "-") ? path : "stdin";
	side->measure = measure__create(r->naming, r->slices);
	if (!side->measure)
		return error__set(error, -ENOMEM, "out of memory");
	err = input_twice__begin(path, &in.path, &start, error);
	if (!err)
		err = look(&in, side->measure, error);
	if (err)
		return err;
	input_twice__again(in.path, start);
	return read_timeline(&in, read_steps, side, error);
}

/* What the figures are divided by. */
static int choose_weight(struct diff_report *r, const char *per, struct error *error)
{
	uint64_t of_a = measure__requests(r->a.measure), of_b = measure__requests(r->b.measure);
	uint64_t least = of_a < of_b ? of_a : of_b;
	const char *name = of_a <= of_b ? r->a.name : r->b.name;

	r->opts.per_request = per ? !strcmp(per, "request") : least >= DIFF_LEAST_REQUESTS;
	if (!r->opts.per_request)
		return 0;
	if (!least)
		return error__set(error, -ENODATA,
				  "%s: --per request requires tasks that end in the trace", name);
	if (least < DIFF_LEAST_REQUESTS)
		log__msg("%s: fewer than %d requests: figures per request are not tested", name,
			 DIFF_LEAST_REQUESTS);
	return 0;
}

static int compare(struct diff_report *r, const struct arguments *args, struct error *error)
{
	int err = read_side(&args->in, args->in.path, r, &r->a, error);

	if (!err)
		err = read_side(&args->in, args->b, r, &r->b, error);
	if (!err)
		err = choose_weight(r, args->per, error);
	if (err)
		return err;
	if (r->a.has_kernel != r->b.has_kernel)
		log__msg(
			"%s: the trace has no kernel events, unlike the other: the parts of requests "
			"cannot be compared",
			r->a.has_kernel ? r->b.name : r->a.name);
	err = diff__compare(r->a.measure, r->b.measure, &r->opts, &r->diff);
	return err ? error__set(error, err, "out of memory") : 0;
}

static int show(const struct diff_report *r, const struct arguments *args, struct error *error)
{
	if (args->in.json)
		diff__print_json(r);
	else
		diff__print_table(r,
				  args->in.select.top ? (size_t)args->in.select.top : TOP_DEFAULT);
	if (!r->diff.exceeding)
		return 0;
	return error__set(
		error, -ERANGE,
		"%zu figure%s of %s: worse than %s by more than %g %% and more than noise",
		r->diff.exceeding, r->diff.exceeding == 1 ? "" : "s", r->b.name, r->a.name,
		r->opts.threshold * 100);
}

int do_diff(int argc, char **argv, struct error *error)
{
	struct arguments args = {
		.in = { .verb = "diff", .reader.described = true },
		.slices = SLICES_DEFAULT,
		.threshold = NAN,
	};
	struct diff_report report = {};
	struct naming naming;
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &args);
	if (!args.in.path || !args.b)
		usage_error("missing argument FILE: two traces are required");
	if (!strcmp(args.in.path, "-") && !strcmp(args.b, "-"))
		usage_error("only one of the two traces can be standard input");
	report.naming = &naming;
	report.slices = (size_t)args.slices;
	report.opts.threshold = args.threshold;
	err = naming__init(&naming) ? error__set(error, -ENOMEM, "out of memory") :
				      compare(&report, &args, error);
	if (!err)
		err = show(&report, &args, error);
	diff__deinit(&report.diff);
	measure__destroy(report.a.measure);
	measure__destroy(report.b.measure);
	naming__deinit(&naming);
	return err ? EXIT_FAILED : EXIT_DONE;
}
