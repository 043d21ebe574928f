// SPDX-License-Identifier: GPL-2.0
/*
 * Writes traces as Parquet files: see parquet.h. parquet_place.c moves them to their directories.
 *
 * Threads take jobs, a table of a trace each. The one that ends the last job of a trace moves all of its
 * files. The first error ends all.
 */
#include "sql/parquet.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/engine.h"
#include "sql/parquet_place.h"
#include "sql/scan.h"

struct trace_state {
	unsigned int left;  /* tables that are not written yet */
	bool empty[TABLES]; /* it has no rows */
};

struct writing {
	const struct source_files *files;
	const struct parquet_opts *opts;
	struct engine *engine;
	struct parquet_place *place;
	pthread_mutex_t lock; /* of the rest */
	size_t next;	      /* job */
	struct trace_state *trace;
	struct error error; /* text: some job has failed */
};

/* The columns of the file: those of directories are not in it. */
static int put_columns(struct outbuf *o, const struct table *t, struct error *error)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < t->ncolumns; i++) {
		const char *name = table__column(t, i)->name;

		err = outbuf__put(o, ", ", i ? 2 : 0, error);
		err = err ?: outbuf__put(o, name, strlen(name), error);
	}
	return err;
}

/* Small groups of rows would compress badly, large ones need memory for all of their columns. */
static int write_table(struct writing *w, duckdb_handle connection, size_t trace,
		       const struct table *t, int64_t *ret_rows, struct error *error)
{
	char path[PARQUET_PATH], tail[256], *quoted;
	struct outbuf text = {};
	int err = outbuf__put(&text, "COPY (SELECT ", 13, error);

	parquet_place__staged(w->place, trace, t->name, path);
	quoted = engine__quote(path);
	if (!quoted)
		err = producer__out_of_memory(error);
	err = err ?: put_columns(&text, t, error);
	snprintf(tail, sizeof(tail), " FROM gotrace_%s(" SCAN_TRACE " := %zu)) TO ", t->name,
		 trace);
	err = err ?: outbuf__put(&text, tail, strlen(tail), error);
	err = err ?: outbuf__put(&text, quoted, strlen(quoted), error);
	snprintf(tail, sizeof(tail),
		 " (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 122880, "
		 "KV_METADATA {gotrace_schema: '%d', gotrace_table: '%s'})",
		 SCHEMA_VERSION, t->name);
	err = err ?: outbuf__put(&text, tail, strlen(tail) + 1, error);
	err = err ?: engine__count(connection, text.data, ret_rows, error);
	outbuf__deinit(&text);
	free(quoted);
	return err;
}

/* All tables of the trace are written. */
static int finish_trace(struct writing *w, size_t trace, struct error *error)
{
	const struct parquet_opts *opts = w->opts;
	struct source source;
	int err = source__read(&source, w->files->path[trace], opts->host, opts->service,
			       &opts->reader, error);

	if (err)
		return err;
	for (size_t i = 0; !err && i < TABLES; i++)
		err = parquet_place__put(w->place, trace, tables[i]->name, &source,
					 w->trace[trace].empty[i], error);
	source__deinit(&source);
	return err;
}

/* Events and slices come first: they take longest. */
static size_t table_of_job(size_t job)
{
	static const char *const first[] = { "events", "slices" };
	size_t number = job % TABLES, seen = 0;

	for (size_t i = 0; i < TABLES; i++) {
		bool early = false;

		for (size_t k = 0; k < 2; k++) {
			if (strcmp(tables[i]->name, first[k]))
				continue;
			early = true;
			if (number == k)
				return i;
		}
		if (!early && number == 2 + seen++)
			return i;
	}
	return 0;
}

static bool take_job(struct writing *w, size_t *ret)
{
	bool more;

	pthread_mutex_lock(&w->lock);
	more = !w->error.text[0] && w->next < w->files->n * TABLES;
	*ret = more ? w->next++ : 0;
	pthread_mutex_unlock(&w->lock);
	return more;
}

/* Returns whether it was the last one of its trace. */
static bool end_job(struct writing *w, size_t trace, size_t table, int64_t rows, int err,
		    const struct error *error)
{
	bool last;

	pthread_mutex_lock(&w->lock);
	w->trace[trace].empty[table] = !rows;
	last = !--w->trace[trace].left;
	if (err)
		error__set(&w->error, err, "%s", error->text);
	pthread_mutex_unlock(&w->lock);
	return last && !err;
}

static void run_job(struct writing *w, duckdb_handle connection, size_t job)
{
	size_t trace = job / TABLES, table = table_of_job(job);
	struct error error = {};
	int64_t rows = 0;
	int err = write_table(w, connection, trace, tables[table], &rows, &error);

	if (!end_job(w, trace, table, rows, err, &error))
		return;
	err = finish_trace(w, trace, &error);
	if (!err)
		return;
	pthread_mutex_lock(&w->lock);
	error__set(&w->error, err, "%s", error.text);
	pthread_mutex_unlock(&w->lock);
}

static void *run_jobs(void *writing)
{
	struct writing *w = writing;
	duckdb_handle connection = engine__connect(w->engine);
	size_t job;

	if (!connection) {
		pthread_mutex_lock(&w->lock);
		producer__out_of_memory(&w->error);
		pthread_mutex_unlock(&w->lock);
		return NULL;
	}
	while (take_job(w, &job))
		run_job(w, connection, job);
	duckdb.disconnect(&connection);
	return NULL;
}

#define THREADS_MAX 64

/* With fewer threads than requested it takes longer. */
static void run_threads(struct writing *w)
{
	pthread_t thread[THREADS_MAX];
	unsigned int n = 0;

	while (n + 1 < w->opts->jobs && n < THREADS_MAX &&
	       !pthread_create(&thread[n], NULL, run_jobs, w))
		n++;
	run_jobs(w);
	while (n)
		pthread_join(thread[--n], NULL);
}

static int write_all(struct writing *w, struct error *error)
{
	struct scans scans = {
		.path = w->files->path,
		.n = w->files->n,
		.host = w->opts->host,
		.service = w->opts->service,
		.reader = w->opts->reader,
	};
	const struct engine_opts opts = {
		.library = w->opts->library,
		.threads = w->opts->jobs,
		.folder = parquet_place__staging(w->place),
	};
	int err = engine__open(&w->engine, &opts, error);

	if (err)
		return err;
	err = scans__init(&scans, w->engine, error);
	err = err ?: engine__lock(w->engine, error);
	if (!err)
		run_threads(w);
	engine__close(w->engine);
	/* why a trace could not be read, rather than what the engine makes of it */
	if (scans.error.text[0])
		err = error__set(error, scans.error.code, "%s", scans.error.text);
	else if (w->error.text[0])
		err = error__set(error, w->error.code, "%s", w->error.text);
	scans__deinit(&scans);
	return err;
}

int parquet__write(const struct source_files *files, const struct parquet_opts *opts,
		   struct error *error)
{
	struct writing w = { .files = files, .opts = opts };
	int err;

	pthread_mutex_init(&w.lock, NULL);
	w.trace = calloc(files->n + 1, sizeof(*w.trace));
	if (!w.trace)
		return producer__out_of_memory(error);
	for (size_t i = 0; i < files->n; i++)
		w.trace[i].left = TABLES;
	err = parquet_place__create(&w.place, opts->out, error);
	err = err ?: write_all(&w, error);
	parquet_place__destroy(w.place);
	free(w.trace);
	return err;
}
