// SPDX-License-Identifier: GPL-2.0
/*
 * Writes traces as Parquet files: see parquet.h. parquet_place.c moves them to their directories.
 *
 * Threads take jobs: one of the two large tables of a trace, or all others, whose rows are
 * collected in one pass over the trace (sql/collect.h). The one that ends the last job of a trace
 * moves all of its files. The first error ends all.
 */
#include "sql/parquet.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/collect.h"
#include "sql/engine.h"
#include "sql/parquet_place.h"
#include "sql/scan.h"

enum { JOB_EVENTS, JOB_SLICES, JOB_OTHERS, JOBS };

struct trace_state {
	unsigned int left;  /* jobs that have not ended */
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
	struct collected **collected; /* by trace */
	struct error error;	      /* text: some job has failed */
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

static unsigned int job_of(const struct table *t)
{
	return t == &events_table ? JOB_EVENTS : t == &slices_table ? JOB_SLICES : JOB_OTHERS;
}

/*
 * Reads the tables of this job at once, if their rows are few; otherwise each will read the trace.
 */
static int collect(struct writing *w, size_t trace, struct error *error)
{
	const struct parquet_opts *opts = w->opts;
	struct source source;
	bool wanted[TABLES];
	int err = source__read(&source, w->files->path[trace], opts->host, opts->service,
			       &opts->reader, error);

	if (err)
		return err;
	for (size_t i = 0; i < TABLES; i++)
		wanted[i] = job_of(tables[i]) == JOB_OTHERS;
	err = collected__read(&w->collected[trace], &source, &opts->reader, wanted, error);
	source__deinit(&source);
	return err < 0 ? err : 0;
}

static bool take_job(struct writing *w, size_t *ret)
{
	bool more;

	pthread_mutex_lock(&w->lock);
	more = !w->error.text[0] && w->next < w->files->n * JOBS;
	*ret = more ? w->next++ : 0;
	pthread_mutex_unlock(&w->lock);
	return more;
}

/* Returns whether it was the last one of its trace, and all is well. */
static bool end_job(struct writing *w, size_t trace, int err, const struct error *error)
{
	bool last;

	pthread_mutex_lock(&w->lock);
	last = !--w->trace[trace].left;
	if (err)
		error__set(&w->error, err, "%s", error->text);
	last &= !w->error.text[0];
	pthread_mutex_unlock(&w->lock);
	return last;
}

static int write_tables(struct writing *w, duckdb_handle connection, size_t trace, unsigned int job,
			struct error *error)
{
	int64_t rows;
	int err = job == JOB_OTHERS ? collect(w, trace, error) : 0;

	for (size_t i = 0; !err && i < TABLES; i++) {
		if (job_of(tables[i]) != job)
			continue;
		err = write_table(w, connection, trace, tables[i], &rows, error);
		w->trace[trace].empty[i] = !err && !rows;
	}
	if (job == JOB_OTHERS) {
		collected__destroy(w->collected[trace]);
		w->collected[trace] = NULL;
	}
	return err;
}

static void run_job(struct writing *w, duckdb_handle connection, size_t number)
{
	size_t trace = number / JOBS;
	struct error error = {};
	int err = write_tables(w, connection, trace, number % JOBS, &error);

	if (!end_job(w, trace, err, &error))
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
		.collected = w->collected,
	};
	const struct engine_opts opts = {
		.library = w->opts->library,
		.threads = 1, /* of its own, which would make ours poll for the end of their work */
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
	w.collected = calloc(files->n + 1, sizeof(*w.collected));
	err = w.trace && w.collected ? 0 : producer__out_of_memory(error);
	for (size_t i = 0; !err && i < files->n; i++)
		w.trace[i].left = JOBS;
	err = err ?: parquet_place__create(&w.place, opts->out, error);
	err = err ?: write_all(&w, error);
	parquet_place__destroy(w.place);
	free(w.trace);
	free(w.collected);
	return err;
}
