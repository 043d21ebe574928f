// SPDX-License-Identifier: GPL-2.0
/*
 * Writes all tables of a trace as Parquet files: see parquet_tables.h.
 *
 * The thread of a table begins with its first full block of rows. Tables that never have one are
 * written by the thread that reads, at the end, when it cannot have to wait for itself.
 */
#include "sql/parquet_tables.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/outbuf.h"
#include "sql/pass.h"

struct copy {
	const struct parquet_tables *tables;
	struct feed *feed;
	size_t number; /* of the feed */
	size_t trace;
	bool threaded;
	pthread_t thread;
	struct error error; /* text: the statement has failed */
};

void parquet_tables__name(char ret[PARQUET_NAME], size_t number, const struct table *table)
{
	snprintf(ret, PARQUET_NAME, "%zu-%s.parquet", number, table->name);
}

/* ---- the statement ---- */

/* Small groups of rows would compress badly, large ones need memory for all of their columns. */
static int make_statement(struct outbuf *text, const struct copy *c, struct error *error)
{
	const struct table *table = c->feed->table;
	char name[PARQUET_NAME], path[PATH_MAX + PARQUET_NAME], part[256], *quoted;
	int err;

	parquet_tables__name(name, c->trace, table);
	snprintf(path, sizeof(path), "%s/%s", c->tables->folder, name);
	quoted = engine__quote(path);
	if (!quoted)
		return producer__out_of_memory(error);
	snprintf(part, sizeof(part), "COPY (SELECT * FROM " FEED_FUNCTION ") TO ", c->number);
	err = outbuf__put(text, part, strlen(part), error);
	err = err ?: outbuf__put(text, quoted, strlen(quoted), error);
	snprintf(part, sizeof(part),
		 " (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, COMPRESSION_LEVEL 1, "
		 "ROW_GROUP_SIZE 61440, DICTIONARY_SIZE_LIMIT 4000, "
		 "KV_METADATA {gotrace_schema: '%d', gotrace_table: '%s'})",
		 SCHEMA_VERSION, table->name);
	err = err ?: outbuf__put(text, part, strlen(part) + 1, error);
	free(quoted);
	return err;
}

static int run_statement(const struct copy *c, struct error *error)
{
	duckdb_handle connection = engine__connect(c->tables->engine);
	struct outbuf text = {};
	int err = connection ? make_statement(&text, c, error) : producer__out_of_memory(error);

	err = err ?: engine__run_on(connection, text.data, error);
	if (connection)
		duckdb.disconnect(&connection);
	outbuf__deinit(&text);
	return err;
}

/* The failure of a statement whose feed was aborted is not the reason of anything. */
static void *run_copy(void *copy)
{
	struct copy *c = copy;
	struct error error = {};

	if (run_statement(c, &error) && !feed__aborted(c->feed))
		c->error = error;
	feed__stop(c->feed);
	return NULL;
}

/* ---- the thread that reads ---- */

static int take_rows(void *copy, struct rows *r)
{
	struct copy *c = copy;

	if (!c->threaded) {
		if (pthread_create(&c->thread, NULL, run_copy, c))
			return error__set(&c->error, -EAGAIN, "cannot create a thread");
		c->threaded = true;
	}
	return feed__pass(c->feed);
}

static void init_copies(struct copy copies[TABLES], const struct parquet_tables *t, size_t trace)
{
	for (size_t i = 0; i < TABLES; i++) {
		feed__init(&t->feed[i], tables[i]);
		copies[i] = (struct copy){
			.tables = t,
			.feed = &t->feed[i],
			.number = t->first + i,
			.trace = trace,
		};
		t->feed[i].rows.full = take_rows;
		t->feed[i].rows.context = &copies[i];
	}
}

/* The rows that are left; threads have got theirs before this one writes others. */
static int pass_rest(struct copy copies[TABLES])
{
	int err = 0;

	for (size_t i = 0; !err && i < TABLES; i++) {
		struct feed *f = copies[i].feed;

		if (f->rows.n)
			err = feed__pass(f);
		if (!err)
			feed__end(f, false);
	}
	return err;
}

static void write_small(struct copy copies[TABLES], bool empty[TABLES])
{
	for (size_t i = 0; i < TABLES; i++) {
		empty[i] = !copies[i].threaded && !copies[i].feed->n;
		if (!copies[i].threaded && !empty[i])
			run_copy(&copies[i]);
	}
}

static void join(struct copy copies[TABLES], bool aborted)
{
	for (size_t i = 0; aborted && i < TABLES; i++)
		feed__end(copies[i].feed, true);
	for (size_t i = 0; i < TABLES; i++)
		if (copies[i].threaded)
			pthread_join(copies[i].thread, NULL);
}

int parquet_tables__write(const struct parquet_tables *t, const struct source *source,
			  size_t number, bool empty[TABLES], struct error *error)
{
	struct copy copies[TABLES];
	struct rows *rows[TABLES];
	struct error why = {};
	int err;

	init_copies(copies, t, number);
	for (size_t i = 0; i < TABLES; i++)
		rows[i] = &t->feed[i].rows;
	err = pass__read(rows, source, &t->reader, &why);
	err = err ?: pass_rest(copies);
	if (!err)
		write_small(copies, empty);
	join(copies, err);
	for (size_t i = 0; i < TABLES; i++)
		feed__deinit(&t->feed[i]);
	/* why rows could not be written, rather than what reading made of it */
	for (size_t i = 0; i < TABLES; i++)
		if (copies[i].error.text[0])
			return error__about(error, copies[i].error.code, source->path,
					    &copies[i].error);
	return err ? error__set(error, err, "%s", why.text) : 0;
}
