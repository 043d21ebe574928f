// SPDX-License-Identifier: GPL-2.0
/*
 * gotrace sql: queries over traces, or over the Parquet files that were made of them.
 *
 * Upstream: sql/scan.h, which makes traces tables of the engine (sql/engine.h), or sql/dataset.h
 * for Parquet. Downstream: sql_print.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gotrace/command.h"
#include "gotrace/views/sql.h"
#include "lib/memory_limit.h"
#include "sql/dataset.h"
#include "sql/queries.h"
#include "sql/scan.h"

enum {
	OPT_LIST = 256,
	OPT_RUN,
	OPT_SCHEMA,
	OPT_CSV,
	OPT_TABLE,
	OPT_EXPLAIN,
	OPT_ENGINE,
	OPT_HOST,
	OPT_SERVICE
};

struct arguments {
	struct reader_opts reader;
	const char *query;
	const char *run; /* name of a query */
	const char *engine, *host, *service;
	const char **path; /* the arguments that are files */
	unsigned int npaths;
	bool list, schema, explain;
	enum sql_form form;
};

static const struct argp_option options[] = {
	{ "run", OPT_RUN, "NAME", 0, "run the named query, instead of QUERY", 0 },
	{ "list", OPT_LIST, NULL, 0, "list the named queries; with --run NAME, print that query",
	  0 },
	{ "schema", OPT_SCHEMA, NULL, 0, "list the tables and their columns", 0 },
	{ "table", OPT_TABLE, NULL, 0, "print a table; the default on a terminal", 0 },
	{ "csv", OPT_CSV, NULL, 0, "print CSV; the default in a pipe or a file", 0 },
	{ "json", OPT_JSON, NULL, 0, "print JSON", 0 },
	{ "explain", OPT_EXPLAIN, NULL, 0, "print the engine's plan, and do not run the query", 0 },
	{ "host", OPT_HOST, "NAME", 0, "the host of the traces, if their file names lack it", 0 },
	{ "service", OPT_SERVICE, "NAME", 0, "the same for the service", 0 },
	{ "engine", OPT_ENGINE, "FILE", 0, "the library libduckdb.so", 0 },
	READING_OPTIONS,
	{},
};

static void add_argument(struct arguments *a, const char *text)
{
	if (!a->query && !a->run)
		a->query = text;
	else
		a->path[a->npaths++] = text;
}

static void check_arguments(struct arguments *a)
{
	if (a->list || a->schema)
		return;
	if (!a->query && !a->run)
		usage_error("missing argument QUERY, such as 'SELECT * FROM runs'");
	if (!a->npaths)
		usage_error("missing argument FILE");
	for (unsigned int i = 0; i < a->npaths; i++)
		if (!strcmp(a->path[i], "-"))
			usage_error(
				"standard input is not accepted: each table reads the file again");
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case OPT_LIST:
		a->list = true;
		return 0;
	case OPT_SCHEMA:
		a->schema = true;
		return 0;
	case OPT_RUN:
		/* A word before it was taken for a query. */
		if (a->query && !a->run)
			a->path[a->npaths++] = a->query;
		a->query = NULL;
		a->run = text;
		return 0;
	case OPT_TABLE:
	case OPT_CSV:
		a->form = key == OPT_CSV ? SQL_CSV : SQL_TABLE;
		return 0;
	case OPT_JSON:
		a->form = SQL_JSON;
		return 0;
	case OPT_EXPLAIN:
		a->explain = true;
		return 0;
	case OPT_ENGINE:
		a->engine = text;
		return 0;
	case OPT_HOST:
		a->host = text;
		return 0;
	case OPT_SERVICE:
		a->service = text;
		return 0;
	case OPT_LENIENT:
		a->reader.lenient = true;
		return 0;
	case OPT_PROGRAM:
		a->reader.binary = text;
		return 0;
	case ARGP_KEY_ARG:
		add_argument(a, text);
		return 0;
	case ARGP_KEY_END:
		check_arguments(a);
		return 0;
	default:
		return command__key(key, state, "sql");
	}
}

static const struct argp parser = {
	options,
	parse_option,
	"QUERY FILE...\n--run NAME FILE...\n--list\n--schema",
	"Runs a query in SQL over traces, or over Parquet files of 'gotrace export parquet'. FILE is "
	"one of them, a directory with such files, or a pattern such as 'day/*.trace'. The engine is "
	"DuckDB, which 'make deps' installs.",
};

/* ---- lists ---- */

static void list_queries(void)
{
	const char *text;

	for (size_t i = 0; i < named_queries_count; i++) {
		text = named_queries[i].text + strspn(named_queries[i].text, "- ");
		printf("%-18s %.*s\n", named_queries[i].name, (int)strcspn(text, "\n"), text);
	}
}

static void list_schema(void)
{
	const struct column *column;

	printf("schema version %d\n", SCHEMA_VERSION);
	for (size_t i = 0; i < TABLES; i++) {
		printf("\n%s: %s\n", tables[i]->name, tables[i]->what);
		for (unsigned int k = 0; (column = table__column(tables[i], k)); k++)
			printf("  %-18s %-8s%s%s\n", column->name, column->type,
			       column->what[0] ? " " : "", column->what);
	}
}

static const char *find_query(const char *name)
{
	for (size_t i = 0; i < named_queries_count; i++)
		if (!strcmp(named_queries[i].name, name))
			return named_queries[i].text;
	usage_error("unknown query '%s': --list lists the named queries", name);
}

/* ---- queries ---- */

static int run_query(struct engine *e, const struct arguments *a, struct error *error)
{
	struct query *q = NULL;
	int err = engine__lock(e, error);

	if (a->explain) {
		err = err ?: query__explain(&q, e, a->query, error);
		err = err ?: sql__print_plan(q, error);
	} else {
		err = err ?: query__start(&q, e, a->query, error);
		err = err ?: sql__print(q, a->form, error);
	}
	query__destroy(q);
	return err;
}

static int query_traces(const struct arguments *a, struct engine_opts *opts,
			const struct source_files *files, struct error *error)
{
	struct scans scans = {
		.path = files->path,
		.n = files->n,
		.host = a->host,
		.service = a->service,
		.reader = a->reader,
	};
	struct engine *e = NULL;
	struct error why = {};
	int err = engine__open(&e, opts, error);

	if (err)
		return err;
	err = scans__init(&scans, e, error);
	err = err ?: run_query(e, a, &why);
	engine__close(e);
	/* why a trace could not be read, rather than that the query failed */
	if (scans.error.text[0])
		err = error__set(error, scans.error.code, "%s", scans.error.text);
	else if (why.text[0])
		error__set(error, why.code, "%s", why.text);
	scans__deinit(&scans);
	return err;
}

static int query_parquet(const struct arguments *a, struct engine_opts *opts,
			 struct source_files *files, struct error *error)
{
	struct engine *e = NULL;
	int err = dataset__resolve(files, error);

	opts->files = (const char *const *)files->path;
	opts->nfiles = files->n;
	err = err ?: engine__open(&e, opts, error);
	err = err ?: dataset__init(e, files, error);
	err = err ?: run_query(e, a, error);
	engine__close(e);
	return err;
}

/* What the engine says of its memory is in units that no option has. */
static void add_remedy(struct error *error)
{
	char *end = error->text + strnlen(error->text, sizeof(error->text) - 1);

	snprintf(end, sizeof(error->text) - (size_t)(end - error->text),
		 "; use a larger --max-memory, of which the engine gets half");
}

static int run(const struct arguments *a, struct error *error)
{
	struct engine_opts opts = {
		.library = a->engine,
		.threads = default_jobs(),
		.memory = memory_limit__bytes() / 2, /* the rest is for reading */
	};
	struct source_files files = {};
	int err = 0;

	for (unsigned int i = 0; !err && i < a->npaths; i++)
		err = source_files__add(&files, a->path[i], error);
	if (!err)
		err = files.parquet ? query_parquet(a, &opts, &files, error) :
				      query_traces(a, &opts, &files, error);
	source_files__deinit(&files);
	if (err == -EFBIG)
		add_remedy(error);
	return err;
}

int do_sql(int argc, char **argv, struct error *error)
{
	struct arguments a = {
		.reader.described = true,
		.form = isatty(STDOUT_FILENO) ? SQL_TABLE : SQL_CSV,
	};
	int err = 0;

	a.path = calloc((size_t)argc + 1, sizeof(*a.path));
	if (!a.path) {
		error__set(error, -ENOMEM, "out of memory");
		return EXIT_FAILED;
	}
	argp_parse(&parser, argc, argv, COMMAND_FLAGS, NULL, &a);
	if (a.run)
		a.query = find_query(a.run);
	if (a.schema)
		list_schema();
	else if (a.list && a.run)
		fputs(a.query, stdout);
	else if (a.list)
		list_queries();
	else
		err = run(&a, error);
	free(a.path);
	return err ? EXIT_FAILED : EXIT_DONE;
}
