// SPDX-License-Identifier: GPL-2.0
/*
 * Writes traces as Parquet files: see parquet.h. parquet_place.c moves them to their directories.
 *
 * Threads take traces, and read them; further threads, of sql/parquet_tables.c, write. The first
 * error ends all.
 */
#include "sql/parquet.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sql/engine.h"
#include "sql/feed.h"
#include "sql/parquet_place.h"
#include "sql/parquet_tables.h"

#define THREADS_MAX 8 /* each may need memory of the engine for groups of two large tables */

struct writing {
	const struct source_files *files;
	const struct parquet_opts *opts;
	struct parquet_place *place;
	struct engine *engine;
	struct feeds feeds;   /* TABLES per thread */
	pthread_mutex_t lock; /* of the rest */
	size_t next;	      /* trace */
	size_t threads;	      /* that have begun */
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

static int write_trace(struct writing *w, size_t thread, size_t trace, struct error *error)
{
	const struct parquet_opts *opts = w->opts;
	const struct parquet_tables to = {
		.engine = w->engine,
		.folder = parquet_place__staging(w->place),
		.reader = opts->reader,
		.feed = w->feeds.feed + thread * TABLES,
		.first = thread * TABLES,
	};
	struct source source;
	bool empty[TABLES];
	int err = source__read(&source, w->files->path[trace], opts->host, opts->service,
			       &opts->reader, error);

	if (err)
		return err;
	err = parquet_tables__write(&to, &source, trace, empty, error);
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
	size_t thread = __atomic_fetch_add(&w->threads, 1, __ATOMIC_RELAXED), trace;
	struct error error = {};
	int err = 0;

	while (!err && take_trace(w, &trace))
		err = write_trace(w, thread, trace, &error);
	if (!err)
		return NULL;
	pthread_mutex_lock(&w->lock);
	error__set(&w->error, err, "%s", error.text);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* With fewer threads than requested it takes longer. */
static int run_threads(struct writing *w, size_t wanted, struct error *error)
{
	pthread_t thread[THREADS_MAX];
	unsigned int n = 0;

	while (n + 1 < wanted && !pthread_create(&thread[n], NULL, write_traces, w))
		n++;
	write_traces(w);
	while (n)
		pthread_join(thread[--n], NULL);
	return w->error.text[0] ? error__set(error, w->error.code, "%s", w->error.text) : 0;
}

static int write_all(struct writing *w, struct error *error)
{
	const struct engine_opts opts = {
		.library = w->opts->library,
		.threads = 1, /* none of its own: statements run in the threads that call */
		.folder = parquet_place__staging(w->place),
	};
	size_t wanted = w->opts->jobs < THREADS_MAX ? w->opts->jobs : THREADS_MAX;
	int err = engine__open(&w->engine, &opts, error);

	if (err)
		return err;
	wanted = wanted < w->files->n ? wanted : w->files->n;
	wanted = wanted ?: 1;
	w->feeds.n = wanted * TABLES;
	w->feeds.feed = calloc(w->feeds.n, sizeof(*w->feeds.feed));
	err = w->feeds.feed ? 0 : producer__out_of_memory(error);
	err = err ?: feeds__register(&w->feeds, w->engine, error);
	err = err ?: engine__lock(w->engine, error);
	err = err ?: run_threads(w, wanted, error);
	engine__close(w->engine);
	free(w->feeds.feed);
	return err;
}

int parquet__write(const struct source_files *files, const struct parquet_opts *opts,
		   struct error *error)
{
	struct writing w = { .files = files, .opts = opts };
	int err;

	pthread_mutex_init(&w.lock, NULL);
	err = parquet_place__create(&w.place, opts->out, error);
	err = err ?: write_all(&w, error);
	parquet_place__destroy(w.place);
	pthread_mutex_destroy(&w.lock);
	return err;
}
