// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace stat: summarizes the contents of a trace.
 *
 * The trace is read twice: by reader/reader.c, which validates and orders the events, and by
 * text/raw.c, which gives the size of each. analysis/statistics.c counts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/spec.h"
#include "command.h"
#include "input_twice.h"
#include "lib/array.h"
#include "stat.h"

static const struct argp_option options[] = {
	{ "json", OPT_JSON, NULL, 0, "print JSON", 0 },
	COLOR_OPTION,
	READING_OPTIONS,
	{},
};

static const struct argp parser = {
	options,
	trace_args__parse,
	"FILE",
	"Summarizes a trace: generations, goroutines and threads, and events and bytes of each "
	"type. It also shows the clocks of the trace, how gotrace-bpf recorded it, and what was "
	"lost.",
};

static int read_ordered(struct reader *r, const char *path, struct statistics *s,
			struct error *error)
{
	struct trace_event ev = {};
	struct error why = {};
	int err;

	while ((err = reader__next(r, &ev, &why)) > 0)
		if (statistics__event(s, &ev))
			return error__set(error, -ENOMEM, "out of memory");
	return err ? error__about(error, err, path, &why) : 0;
}

static int read_raw(const struct trace_args *a, const char *open, struct statistics *s,
		    struct error *error)
{
	struct input *in;
	int err = input__open(&in, open, error);

	if (err)
		return err;
	err = statistics__raw(s, in, a->reader.lenient, error);
	input__destroy(in);
	return err;
}

static bool passed_over_any(const struct reader *r)
{
	const struct described_event *ev;

	for (unsigned int type = 0; type < 256; type++)
		if (reader__skipped(r, (uint8_t)type, &ev))
			return true;
	return false;
}

static int read_twice(const struct trace_args *a, struct stat_report *ret, struct error *error)
{
	struct reader *r = NULL;
	const char *open, *left_out;
	off_t start;
	int err = input_twice__begin(a->path, &open, &start, error);

	if (!err)
		err = open_trace(open, &a->reader, &r, error);
	if (err)
		return err;
	if (reader__version(r))
		snprintf(ret->format, sizeof(ret->format), "go1.%u", reader__version(r));
	else
		strcpy(ret->format, "gotrace");
	err = read_ordered(r, a->path, &ret->counts, error);
	/* the raw reader supports only the types of the built-in table */
	ret->has_bytes = reader__version(r) >= TRACE_VERSION_OLDEST && !passed_over_any(r);
	left_out = reader__left_out(r);
	if (!err)
		report_omissions(a->path, r);
	if (!err && left_out)
		snprintf(ret->left_out, sizeof(ret->left_out), "%s", left_out);
	reader__destroy(r);
	input_twice__again(open, start);
	return err || !ret->has_bytes ? err : read_raw(a, open, &ret->counts, error);
}

int do_stat(int argc, char **argv, struct error *error)
{
	struct trace_args a = { .verb = "stat", .reader.described = true };
	struct stat_report report = {};
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	trace_args__check(&a);
	statistics__init(&report.counts);
	report.path = a.path;
	err = read_twice(&a, &report, error);
	if (!err) {
		err = a.json ? stat__print_json(&report) : stat__print_table(&report);
		if (err)
			error__set(error, err, "%s: %s", a.path, strerror(-err));
	}
	statistics__deinit(&report.counts);
	return err ? EXIT_FAILED : EXIT_DONE;
}

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t number_of(const struct statistics_generation *g, enum spread_of what)
{
	if (what == SPREAD_NS)
		return (uint64_t)g->end - (uint64_t)g->start;
	return what == SPREAD_BYTES ? g->bytes : g->events;
}

int spread__of(const struct statistics *s, enum spread_of what, struct spread *ret)
{
	uint64_t *numbers = calloc(s->generations + 1, sizeof(*numbers));
	size_t n = s->generations;

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		numbers[i] = number_of(&s->generation[i], what);
	array__sort(numbers, n, sizeof(*numbers), compare_numbers);
	*ret = (struct spread){ numbers[0], numbers[n / 2], n ? numbers[n - 1] : 0 };
	free(numbers);
	return 0;
}

const struct trace_clock *stat__clock(const struct statistics *s)
{
	for (size_t i = 0; i < s->generations; i++)
		if (s->generation[i].clock.known)
			return &s->generation[i].clock;
	return NULL;
}
