// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of all tables of a trace on their way to files: see parquet_groups.h.
 *
 * The thread that reads adds rows to `rows` of a table. When they are a group, they are exchanged
 * with `spare`, which the other thread writes; until it has, a further group of the table waits.
 * Texts that both have stay where they are until the end.
 */
#include "sql/parquet_groups.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/parquet_file.h"
#include "sql/pass.h"

struct table_state {
	struct groups *groups;
	const struct table *table;
	struct rows rows, spare;
	bool queued; /* `spare` is to be written */
	struct parquet_file *file;
};

struct groups {
	struct table_state table[TABLES];
	struct parquet_scratch *scratch;
	int folder;
	size_t number;
	bool threaded;
	pthread_t thread;
	pthread_mutex_t lock; /* of the rest, and of `queued` */
	pthread_cond_t changed;
	struct table_state *queue[TABLES];
	size_t nqueued;
	bool ended;
	struct error error; /* text: writing has failed */
};

void parquet_groups__name(char ret[GROUPS_NAME], size_t number, const struct table *table)
{
	snprintf(ret, GROUPS_NAME, "%zu-%s.parquet", number, table->name);
}

static int write_group(struct table_state *t, const struct rows *r, struct error *error)
{
	struct groups *g = t->groups;
	char name[GROUPS_NAME];
	int err = 0;

	parquet_groups__name(name, g->number, t->table);
	if (!t->file)
		err = parquet_file__create(&t->file, g->folder, name, t->table, error);
	return err ?: parquet_file__group(t->file, g->scratch, r, error);
}

/* ---- the thread that writes ---- */

/* NULL: nothing more comes. The table stays queued until its spare rows are written. */
static struct table_state *next_group(struct groups *g)
{
	struct table_state *ret = NULL;

	pthread_mutex_lock(&g->lock);
	while (!g->nqueued && !g->ended)
		pthread_cond_wait(&g->changed, &g->lock);
	if (g->nqueued) {
		ret = g->queue[0];
		memmove(g->queue, g->queue + 1, --g->nqueued * sizeof(*g->queue));
	}
	pthread_mutex_unlock(&g->lock);
	return ret;
}

static void *write_groups(void *groups)
{
	struct groups *g = groups;
	struct table_state *t;
	struct error error = {};

	while ((t = next_group(g))) {
		if (!error.text[0])
			write_group(t, &t->spare, &error);
		pthread_mutex_lock(&g->lock);
		t->queued = false;
		if (error.text[0])
			g->error = error;
		pthread_cond_broadcast(&g->changed);
		pthread_mutex_unlock(&g->lock);
	}
	return NULL;
}

/* ---- the thread that reads ---- */

/* All but `kept`, whose texts both have */
static void exchange(struct rows *a, struct rows *b)
{
	struct rows before = *a;

	*a = *b;
	*b = before;
	a->kept = before.kept;
	a->full = before.full;
	a->context = before.context;
	a->failed = before.failed;
	b->kept = (struct arena){};
}

static int queue_group(struct table_state *t)
{
	struct groups *g = t->groups;
	int err;

	pthread_mutex_lock(&g->lock);
	while (t->queued && !g->error.text[0])
		pthread_cond_wait(&g->changed, &g->lock);
	err = g->error.text[0] ? -ECANCELED : 0;
	if (!err) {
		exchange(&t->rows, &t->spare);
		t->queued = true;
		g->queue[g->nqueued++] = t;
		pthread_cond_broadcast(&g->changed);
	}
	pthread_mutex_unlock(&g->lock);
	return err;
}

static int take_rows(void *state, struct rows *r)
{
	struct table_state *t = state;

	if (t->groups->threaded)
		return queue_group(t);
	return write_group(t, r, &t->groups->error);
}

static int take_rest(struct groups *g)
{
	int err = 0;

	for (size_t i = 0; !err && i < TABLES; i++)
		if (g->table[i].rows.n)
			err = take_rows(&g->table[i], &g->table[i].rows);
	return err;
}

static int finish(struct groups *g, bool empty[TABLES], struct error *error)
{
	int err = 0;

	for (size_t i = 0; !err && i < TABLES; i++) {
		empty[i] = !g->table[i].file;
		if (g->table[i].file)
			err = parquet_file__finish(g->table[i].file, error);
	}
	return err;
}

static void end_thread(struct groups *g)
{
	if (!g->threaded)
		return;
	pthread_mutex_lock(&g->lock);
	g->ended = true;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
	pthread_join(g->thread, NULL);
}

static struct groups *create(int folder, size_t number, bool threaded)
{
	struct groups *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->folder = folder;
	g->number = number;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->changed, NULL);
	for (size_t i = 0; i < TABLES; i++) {
		struct table_state *t = &g->table[i];

		t->groups = g;
		t->table = tables[i];
		pass__init_rows(&t->rows, tables[i]);
		pass__init_rows(&t->spare, tables[i]);
		t->rows.full = take_rows;
		t->rows.context = t;
	}
	g->scratch = parquet_scratch__create();
	/* without a thread it takes longer */
	g->threaded = g->scratch && threaded && !pthread_create(&g->thread, NULL, write_groups, g);
	return g;
}

static void destroy(struct groups *g)
{
	for (size_t i = 0; i < TABLES; i++) {
		parquet_file__destroy(g->table[i].file);
		rows__deinit(&g->table[i].rows);
		rows__deinit(&g->table[i].spare);
	}
	parquet_scratch__destroy(g->scratch);
	pthread_mutex_destroy(&g->lock);
	pthread_cond_destroy(&g->changed);
	free(g);
}

int parquet_groups__write(const struct source *source, const struct reader_opts *reader, int folder,
			  size_t number, bool threaded, bool empty[TABLES], struct error *error)
{
	struct groups *g = create(folder, number, threaded);
	struct rows *rows[TABLES];
	struct error why = {};
	int err;

	if (!g || !g->scratch) {
		if (g)
			destroy(g);
		return producer__out_of_memory(error);
	}
	for (size_t i = 0; i < TABLES; i++)
		rows[i] = &g->table[i].rows;
	err = pass__read(rows, source, reader, &why);
	err = err ?: take_rest(g);
	end_thread(g);
	/* why rows could not be written, rather than what reading made of it */
	if (g->error.text[0])
		err = error__about(error, g->error.code, source->path, &g->error);
	else if (err)
		error__set(error, err, "%s", why.text);
	err = err ?: finish(g, empty, error);
	destroy(g);
	return err;
}
