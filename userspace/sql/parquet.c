// SPDX-License-Identifier: GPL-2.0
/*
 * Writes traces as Parquet files: see parquet.h. parquet_place.c moves them to their directories.
 *
 * Threads take traces; with more CPUs than traces, each has a second thread, which encodes what the
 * first one reads. The first error ends all.
 */
#include "sql/parquet.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sql/parquet_groups.h"
#include "sql/parquet_place.h"

#define THREADS_MAX 64

struct writing {
	const struct source_files *files;
	const struct parquet_opts *opts;
	struct parquet_place *place;
	bool threaded;	      /* each trace has two threads */
	pthread_mutex_t lock; /* of the rest */
	size_t next;	      /* trace */
	struct error error;   /* text: some trace has failed */
};

static int put_tables(struct writing *w, size_t trace, const struct source *source,
		      const bool empty[TABLES], struct error *error)
{
	int err = 0;

	for (size_t i = 0; !err && i < TABLES; i++)
		err = parquet_place__put(w->place, trace, tables[i], source, empty[i], error);
	return err;
}

static int write_trace(struct writing *w, size_t trace, struct error *error)
{
	const struct parquet_opts *opts = w->opts;
	struct source source;
	bool empty[TABLES];
	int err = source__read(&source, w->files->path[trace], opts->host, opts->service,
			       &opts->reader, error);

	if (err)
		return err;
	err = parquet_groups__write(&source, &opts->reader, parquet_place__staging(w->place), trace,
				    w->threaded, empty, error);
	err = err ?: put_tables(w, trace, &source, empty, error);
	source__deinit(&source);
	return err;
}

static bool take_trace(struct writing *w, size_t *ret)
{
	bool more;

	pthread_mutex_lock(&w->lock);
	more = !w->error.text[0] && w->next < w->files->n;
	*ret = more ? w->next++ : 0;
	pthread_mutex_unlock(&w->lock);
	return more;
}

static void *write_traces(void *writing)
{
	struct writing *w = writing;
	struct error error = {};
	size_t trace;
	int err = 0;

	while (!err && take_trace(w, &trace))
		err = write_trace(w, trace, &error);
	if (!err)
		return NULL;
	pthread_mutex_lock(&w->lock);
	error__set(&w->error, err, "%s", error.text);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* With fewer threads than requested it takes longer. */
static int run_threads(struct writing *w, struct error *error)
{
	size_t wanted = w->opts->jobs < THREADS_MAX ? w->opts->jobs : THREADS_MAX;
	pthread_t thread[THREADS_MAX];
	unsigned int n = 0;

	wanted = wanted < w->files->n ? wanted : w->files->n;
	w->threaded = wanted < w->opts->jobs;
	while (n + 1 < wanted && !pthread_create(&thread[n], NULL, write_traces, w))
		n++;
	write_traces(w);
	while (n)
		pthread_join(thread[--n], NULL);
	return w->error.text[0] ? error__set(error, w->error.code, "%s", w->error.text) : 0;
}

int parquet__write(const struct source_files *files, const struct parquet_opts *opts,
		   struct error *error)
{
	struct writing w = { .files = files, .opts = opts };
	int err;

	pthread_mutex_init(&w.lock, NULL);
	err = parquet_place__create(&w.place, opts->out, error);
	err = err ?: run_threads(&w, error);
	parquet_place__destroy(w.place);
	pthread_mutex_destroy(&w.lock);
	return err;
}
