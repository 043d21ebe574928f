// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace export: converts a trace to a format that other tools read.
 *
 * Upstream: reader/timeline.c, which reads the trace. Downstream: export/export.c for timelines,
 * export/stacks.c for stacks, export/lines.c for lines of JSON. A part is extracted by
 * part.c first. Parquet, which is of several traces and whole ones, is written by sql/parquet.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/export.h"
#include "export/lines.h"
#include "export/stacks.h"
#include "gotrace/select_events.h"
#include "gotrace/views/part.h"
#include "sql/parquet.h"
#include "writer/output.h"

enum { OPT_HOST = 256, OPT_SERVICE, OPT_ENGINE };

struct arguments {
	struct trace_args in;
	const struct kind *kind;
	struct map goroutines; /* of --function */
	struct parquet_opts parquet;
	struct source_files files; /* of parquet */
	struct error *error;	   /* why one of them cannot be used */
};

/* Reads the timeline to its end and writes to `out`. 0 or a negative errno with the reason. */
typedef int (*convert_fn)(struct timeline *t, struct outbuf *out, struct error *error);
typedef struct export_sink *(*create_sink_fn)(struct outbuf *out);

struct kind {
	const char *name;
	create_sink_fn create_sink; /* of a timeline; NULL: `convert` */
	convert_fn convert;
	bool binary;
	bool parquet;		 /* a directory of files, of several traces; neither of the above */
	const char *use, *after; /* suggested on a terminal, with the path in between */
};

static const struct argp_option options[] = {
	{ "output", 'o', "OUT", 0, "output file (default: -, standard output); parquet: directory",
	  0 },
	{ "from", OPT_FROM, "T", 0, "begin at T: " MOMENT_HELP, 0 },
	{ "to", OPT_TO, "T", 0, "end before T", 0 },
	GOROUTINE_OPTION(
		"perfetto, chrome: only the track of this goroutine, besides those of Ps and threads"),
	{ "function", SELECT_FUNCTION, "REGEX", 0,
	  "perfetto, chrome: only tracks of goroutines whose start function " REGEX_HELP, 0 },
	{ "host", OPT_HOST, "NAME", 0, "parquet: where the traces were recorded", 0 },
	{ "service", OPT_SERVICE, "NAME", 0, "parquet: the traced program", 0 },
	{ "engine", OPT_ENGINE, "FILE", 0, "parquet: the library libduckdb.so", 0 },
	FORCE_OPTION,
	READING_OPTIONS,
	{},
};

/* ---- timelines ---- */

static int convert_timeline(const struct arguments *a, struct timeline *t, struct export_sink *sink,
			    struct error *error)
{
	struct export *e = sink ? export__create(sink) : NULL;
	struct timeline_step step = {};
	int err = e ? 0 : error__set(error, -ENOMEM, "out of memory");
	int more = 1;

	if (e && selection__by_goroutine(&a->in.select))
		export__select(e, &a->in.select, &a->goroutines);

	while (!err && (more = timeline__next(t, &step, error)) > 0)
		err = export__step(e, t, &step, error);
	if (!err && more < 0)
		err = more;
	if (!err)
		err = export__finish(e, INT64_MIN, error);
	export__destroy(e);
	export_sink__destroy(sink);
	return err;
}

/* ---- command line ---- */

static const struct kind kinds[] = {
	{ "perfetto", .create_sink = perfetto__create, .binary = true, .use = "open ",
	  .after = " in https://ui.perfetto.dev" },
	{ "chrome", .create_sink = chrome__create, .use = "open ",
	  .after = " in chrome://tracing or https://ui.perfetto.dev" },
	{ "speedscope", .convert = stacks__speedscope, .use = "open ",
	  .after = " in https://www.speedscope.app" },
	{ "ndjson", .convert = lines__write, .use = "'jq -r .kind ",
	  .after = " | sort | uniq -c'" },
	{ "folded", .convert = stacks__folded, .use = "open ",
	  .after = " in https://www.speedscope.app, or 'flamegraph.pl' makes a picture of it" },
	{ "parquet", .parquet = true },
};

#define NKINDS (sizeof(kinds) / sizeof(*kinds))
#define KINDS  "perfetto, chrome, speedscope, ndjson, folded or parquet"

static void parse_kind(const char *text, struct arguments *a)
{
	for (size_t i = 0; i < NKINDS && !a->kind; i++)
		if (!strcmp(kinds[i].name, text))
			a->kind = &kinds[i];
	if (!a->kind)
		usage_error("unknown kind of export '%s': must be " KINDS, text);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_HOST:
		a->parquet.host = text;
		return 0;
	case OPT_SERVICE:
		a->parquet.service = text;
		return 0;
	case OPT_ENGINE:
		a->parquet.library = text;
		return 0;
	case ARGP_KEY_ARG:
		if (!a->kind)
			parse_kind(text, a);
		else if (!a->kind->parquet)
			break;
		else if (!strcmp(text, "-"))
			usage_error("export parquet does not accept standard input: it reads a "
				    "trace twice");
		else if (!a->error->text[0])
			source_files__add(&a->files, text, a->error);
		return 0;
	}
	return trace_args__option(&a->in, key, text, state);
}

static const struct argp parser = {
	options,
	parse_option,
	"KIND FILE [-o OUT]\nparquet FILE... -o OUT",
	"Converts a trace to a format that other tools read: a timeline for https://ui.perfetto.dev "
	"(perfetto) or chrome://tracing (chrome); stacks with the time that goroutines spent in "
	"them, for https://www.speedscope.app (speedscope) or flame graphs (folded); one JSON "
	"object per event, for jq and databases (ndjson); or tables for DuckDB, Spark and 'gotrace "
	"sql' (parquet), in a directory and of any number of traces.",
};

static void check_parquet(const struct arguments *a)
{
	if (a->in.have_from || a->in.have_to || selection__by_goroutine(&a->in.select))
		usage_error("export parquet requires whole traces: use 'gotrace cut' first");
	if (!strcmp(a->in.out, "-"))
		usage_error("export parquet writes a directory: expected -o OUT");
	if (!a->files.n && !a->error->text[0])
		usage_error("missing argument FILE");
}

static void check_arguments(struct arguments *a)
{
	const struct parquet_opts *p = &a->parquet;

	if (!a->kind)
		usage_error("missing argument KIND: " KINDS);
	if (a->kind->parquet) {
		check_parquet(a);
		return;
	}
	if (p->host || p->service || p->library)
		usage_error("--host, --service and --engine require the kind parquet");
	trace_args__check(&a->in);
	if (selection__by_goroutine(&a->in.select) && !a->kind->create_sink)
		usage_error("--goroutine and --function require the kind perfetto or chrome; use "
			    "'gotrace events' or 'gotrace profile wall' to select for %s",
			    a->kind->name);
	if (a->kind->binary && !strcmp(a->in.out, "-") && isatty(STDOUT_FILENO))
		usage_error("%s is a binary format, which is not written to a terminal: use -o OUT",
			    a->kind->name);
}

/* ---- files ---- */

struct reading {
	const struct arguments *a;
	struct outbuf *out;
};

static int read_trace(void *context, struct timeline *t, const struct reader *r,
		      struct error *error)
{
	struct reading *reading = context;
	const struct kind *kind = reading->a->kind;

	int err;

	(void)r;
	if (!kind->create_sink)
		err = kind->convert(t, reading->out, error);
	else
		err = convert_timeline(reading->a, t, kind->create_sink(reading->out), error);
	if (!err)
		report_gaps(reading->a->in.name, timeline__gaps(t));
	return err;
}

/*
 * Writes the requested part as a trace of its own, as `gotrace cut` does, to an unnamed file, which
 * becomes the standard input. So a part begins with the state at that time in each kind of export.
 */
static int cut_part(struct trace_args *in, struct error *error)
{
	int fd = part__cut(in, error), err = 0;

	if (fd < 0)
		return fd;
	if (dup2(fd, STDIN_FILENO) < 0)
		err = error__set(error, -errno, "cannot read the part: %s", strerror(errno));
	close(fd);
	in->path = "-";
	in->have_from = in->have_to = false;
	return err;
}

/* The output exists only if it is complete. */
static int export_trace(struct arguments *a, struct error *error)
{
	const char *path = a->in.out;
	struct trace_file *file = NULL;
	struct outbuf out;
	struct reading reading = { a, &out };
	int err = 0;

	if (a->in.have_from || a->in.have_to)
		err = cut_part(&a->in, error);
	err = err ?: find_goroutines(&a->in, &a->goroutines, error);
	err = err ?: output__open(&file, path, FILE_EXPORT, error);
	if (err)
		return err;
	output__buffer(&out, file, path);
	err = read_timeline(&a->in, read_trace, &reading, error);
	if (!err)
		err = output__commit(&out, file, error);
	if (!err)
		output__suggest_use(path, a->kind->use, a->kind->after);
	outbuf__deinit(&out);
	trace_file__destroy(file);
	return err;
}

static int export_parquet(struct arguments *a, struct error *error)
{
	if (error->text[0])
		return error->code;
	if (a->files.parquet)
		return error__set(error, -EINVAL, "%s: is Parquet already", a->files.path[0]);
	a->parquet.out = a->in.out;
	a->parquet.reader = a->in.reader;
	a->parquet.jobs = default_jobs();
	return parquet__write(&a->files, &a->parquet, error);
}

int do_export(int argc, char **argv, struct error *error)
{
	struct arguments a = {
		.in = { .verb = "export",
			.out = "-",
			.reader.described = true,
			.wall_clock = true },
		.error = error,
	};
	int err;

	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	check_arguments(&a);
	err = a.kind->parquet ? export_parquet(&a, error) : export_trace(&a, error);
	source_files__deinit(&a.files);
	map__deinit(&a.goroutines);
	selection__deinit(&a.in.select);
	return err ? EXIT_FAILED : EXIT_DONE;
}
