// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace tasks, gotrace regions: the durations of the program's own annotations, by name.
 *
 * reader/reader.c returns the events, analysis/annotations.c counts durations, annotations_print.c
 * formats them. The two commands differ in what is counted.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/annotations.h"
#include "lib/json.h"
#include "annotations.h"
#include "select_events.h"

struct counted {
	enum annotation_kind kind;
	struct trace_args in;
	struct annotation_sort sort;
	struct map goroutines; /* of --function */
	struct annotations *annotations;
	struct analysed_time time;
};

static const char *const kinds[] = {
	[ANNOTATION_TASKS] = "tasks", [ANNOTATION_REGIONS] = "regions"
};

#define OPTIONS(what, belongs)                                                                     \
	SORT_OPTION("count, p50, p90, p99 or max"), ANNOTATION_FILTERS(what, belongs),             \
		{ "from", OPT_FROM, "T", 0, "only what ends at T or later: " MOMENT_HELP, 0 },     \
		{ "to", OPT_TO, "T", 0, "only what ends before T", 0 }, TIMES_JSON_OPTION,         \
		COLOR_OPTION, READING_OPTIONS,                                                     \
	{                                                                                          \
	}

static const struct argp_option task_options[] = { OPTIONS("tasks", "created") };
static const struct argp_option region_options[] = { OPTIONS("regions", "was in") };

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct counted *c = state->input;

	if (key == OPT_SORT) {
		annotation_sort__parse(&c->sort, text);
		return 0;
	}
	return trace_args__option(&c->in, key, text, state);
}

/* ---- text ---- */

static void put_other(struct out *o, uint64_t n, const char *what)
{
	if (n)
		out__format(o, "%11" PRIu64 " %s\n", n, what);
}

static void put_details(struct out *o, const struct counted *c, const struct annotation_name *n)
{
	out__char(o, '\n');
	table__name(o, annotations__name(c->annotations, n->name), NO_NAME);
	out__char(o, '\n');
	put_other(o, n->unfinished, "unfinished: the end is not in the trace");
	put_other(o, n->unbegun, "ended, but the begin is not in the trace");
	annotation_table__buckets(o, &n->lengths);
}

static void print_table(const struct counted *c, const struct annotation_name **names, size_t n)
{
	uint64_t unbegun = annotations__unbegun(c->annotations);
	struct out *o = out__table();
	struct columns columns = annotation_table__columns(false);

	columns__fit(&columns, o, 0);
	columns__head(&columns, o, "COUNT", c->kind == ANNOTATION_TASKS ? "TASK" : "REGION");
	for (size_t i = 0; i < n; i++) {
		annotation_table__row(o, &columns, &names[i]->lengths, &c->time);
		columns__time(&columns, o, ANNOTATION_LAST, names[i]->lengths.sum);
		out__text(o, "  ");
		table__name(o, annotations__name(c->annotations, names[i]->name), NO_NAME);
		out__char(o, '\n');
	}
	columns__note(&columns, o);
	for (size_t i = 0; i < n; i++)
		put_details(o, c, names[i]);
	if (unbegun)
		annotation_table__unbegun(o, unbegun);
	out__flush(o);
}

/* ---- JSON ---- */

static void print_json(const struct counted *c, const struct annotation_name **names, size_t n)
{
	struct trace_string name;
	struct json j;

	json__init(&j, stdout, false);
	json__open(&j, NULL, '{');
	json__open(&j, kinds[c->kind], '[');
	for (size_t i = 0; i < n; i++) {
		name = annotations__name(c->annotations, names[i]->name);
		json__open(&j, NULL, '{');
		json__bytes(&j, "name", name.data, name.len);
		annotation_json__lengths(&j, &names[i]->lengths, &c->time);
		json__u64(&j, "unfinished", names[i]->unfinished);
		if (c->kind == ANNOTATION_REGIONS)
			json__u64(&j, "unbegun", names[i]->unbegun);
		json__close(&j, '}');
	}
	json__close(&j, ']');
	if (c->kind == ANNOTATION_TASKS)
		json__u64(&j, "unbegun", annotations__unbegun(c->annotations));
	annotation_json__time(&j, &c->time);
	json__close(&j, '}');
}

/* ---- the command ---- */

static int read_trace(struct reader *r, struct counted *c, struct error *error)
{
	struct trace_event ev;
	bool started = false;
	int64_t last = 0;
	int err;

	while ((err = reader__next(r, &ev, error)) > 0) {
		if (!started) {
			analysed_time__begin(&c->time, &c->in, ev.time);
			annotations__set_window(c->annotations, c->time.from, c->time.to);
			started = true;
		}
		last = ev.time;
		if (ev.time >= c->time.to)
			break;
		if (annotations__event(c->annotations, &ev))
			return error__set(error, -ENOMEM, "out of memory");
	}
	if (err < 0)
		return err;
	if (annotations__finish(c->annotations))
		return error__set(error, -ENOMEM, "out of memory");
	return analysed_time__end(&c->time, last, error);
}

static int read_all(struct counted *c, struct error *error)
{
	struct error why = {};
	const struct annotation_filter filter = { &c->in.select, &c->goroutines };
	struct reader *r;
	int err = trace_args__resolve(&c->in, error);

	annotations__set_filter(c->annotations, &filter);
	if (!err)
		err = find_goroutines(&c->in, &c->goroutines, error);
	if (!err)
		err = open_trace(c->in.path, &c->in.reader, &r, error);
	if (err)
		return err;
	err = read_trace(r, c, &why);
	if (!err)
		report_omissions(c->in.name, r);
	reader__destroy(r);
	return err ? error__about(error, err, c->in.name, &why) : 0;
}

static int print(const struct counted *c, struct error *error)
{
	size_t n;
	const struct annotation_name **names = annotations__sorted(c->annotations, c->sort.key, &n);

	if (!names)
		return error__set(error, -ENOMEM, "out of memory");
	if (!n)
		annotations__report_none(&c->in, kinds[c->kind],
					 annotations__left_out(c->annotations));
	n = selection__top(&c->in.select, n);
	if (c->in.json)
		print_json(c, names, n);
	else
		print_table(c, names, n);
	free(names);
	return 0;
}

static int run(struct counted *c, const struct argp *parser, int argc, char **argv,
	       struct error *error)
{
	int err;

	c->sort.n = LENGTHS_KEYS;
	argp_parse(parser, argc, argv, COMMAND_FLAGS, NULL, c);
	trace_args__check(&c->in);
	c->annotations = annotations__create(c->kind);
	if (!c->annotations)
		err = error__set(error, -ENOMEM, "out of memory");
	else
		err = read_all(c, error);
	if (!err)
		err = print(c, error);
	annotations__destroy(c->annotations);
	map__deinit(&c->goroutines);
	selection__deinit(&c->in.select);
	return err ? EXIT_FAILED : EXIT_DONE;
}

int do_tasks(int argc, char **argv, struct error *error)
{
	static const struct argp parser = {
		task_options,
		parse_option,
		"FILE",
		"Shows how many tasks of each name ended, how many per second, and how long they "
		"took: percentiles, the longest, the total and a histogram. Tasks are those of the "
		"program (runtime/trace.NewTask), and the calls and requests that gotrace-bpf "
		"record --task or --requests recorded. At most 1000 names are distinguished.",
	};
	struct counted c = {
		.kind = ANNOTATION_TASKS,
		.in = { .verb = "tasks", .reader.described = true, .wall_clock = true }
	};

	return run(&c, &parser, argc, argv, error);
}

int do_regions(int argc, char **argv, struct error *error)
{
	static const struct argp parser = {
		region_options,
		parse_option,
		"FILE",
		"Shows how many regions of each name ended, how many per second, and how long they "
		"took: percentiles, the longest, the total and a histogram. Regions are those of "
		"the program (runtime/trace.WithRegion), and those that gotrace-bpf record "
		"recorded. At most 1000 names are distinguished.",
	};
	struct counted c = {
		.kind = ANNOTATION_REGIONS,
		.in = { .verb = "regions", .reader.described = true, .wall_clock = true }
	};

	return run(&c, &parser, argc, argv, error);
}
