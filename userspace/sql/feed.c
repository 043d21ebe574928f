// SPDX-License-Identifier: GPL-2.0
/*
 * Rows between two threads: see feed.h.
 *
 * A block is exchanged with f->rows, not copied. The engine has copied what it keeps of rows when it
 * calls again; a block therefore stays in the queue until the call after its last rows.
 */
#include "sql/feed.h"

#include <errno.h>

#include "sql/pass.h"

#define PARAMETER "feed"

void feed__init(struct feed *f, const struct table *table)
{
	*f = (struct feed){ .table = table };
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->changed, NULL);
	pass__init_rows(&f->rows, table);
	for (size_t i = 0; i < FEED_BLOCKS; i++)
		pass__init_rows(&f->block[i], table);
	/* without memory they are texts */
	for (unsigned int i = 0; i < table->ncolumns; i++)
		if (table->columns[i].nvalues)
			f->enumeration[i] = enumeration__create(&table->columns[i]);
}

void feed__deinit(struct feed *f)
{
	rows__deinit(&f->rows);
	for (size_t i = 0; i < FEED_BLOCKS; i++)
		rows__deinit(&f->block[i]);
	for (size_t i = 0; i < ROWS_COLUMNS; i++)
		enumeration__destroy(f->enumeration[i]);
	pthread_mutex_destroy(&f->lock);
	pthread_cond_destroy(&f->changed);
}

/* ---- the thread that reads ---- */

/* All that belongs to these rows only */
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
	b->full = NULL;
}

int feed__pass(struct feed *f)
{
	bool stopped;

	pthread_mutex_lock(&f->lock);
	while (f->n == FEED_BLOCKS && !f->stopped)
		pthread_cond_wait(&f->changed, &f->lock);
	stopped = f->stopped;
	if (!stopped) {
		exchange(&f->rows, &f->block[(f->first + f->n++) % FEED_BLOCKS]);
		pthread_cond_broadcast(&f->changed);
	}
	pthread_mutex_unlock(&f->lock);
	if (stopped)
		return -ECANCELED;
	rows__clear(&f->rows);
	return 0;
}

void feed__end(struct feed *f, bool aborted)
{
	pthread_mutex_lock(&f->lock);
	f->ended = true;
	f->aborted = aborted;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

/* ---- the thread of the statement ---- */

void feed__stop(struct feed *f)
{
	pthread_mutex_lock(&f->lock);
	f->stopped = true;
	pthread_cond_broadcast(&f->changed);
	pthread_mutex_unlock(&f->lock);
}

bool feed__aborted(struct feed *f)
{
	bool ret;

	pthread_mutex_lock(&f->lock);
	ret = f->aborted;
	pthread_mutex_unlock(&f->lock);
	return ret;
}

/* NULL: there are no more. */
static struct rows *next_block(struct feed *f)
{
	struct rows *ret = NULL;

	pthread_mutex_lock(&f->lock);
	if (f->n && f->delivered == f->block[f->first].n) {
		f->first = (f->first + 1) % FEED_BLOCKS;
		f->n--;
		f->delivered = 0;
		pthread_cond_broadcast(&f->changed);
	}
	while (!f->n && !f->ended)
		pthread_cond_wait(&f->changed, &f->lock);
	if (f->n && !f->aborted)
		ret = &f->block[f->first];
	pthread_mutex_unlock(&f->lock);
	return ret;
}

/* ---- callbacks of the engine ---- */

static int put_column(const struct feed *f, const struct rows *r, unsigned int i,
		      duckdb_handle vector, size_t n)
{
	if (f->enumeration[i])
		return vector__put_numbered(vector, f->enumeration[i], r->texts[i] + f->delivered,
					    n);
	if (r->is_text[i])
		vector__put_texts(vector, r->texts[i] + f->delivered, n);
	else
		vector__put_numbers(vector, r->numbers[i] + f->delivered, n);
	return 0;
}

static void fill(duckdb_handle info, duckdb_handle chunk)
{
	struct feed *f = duckdb.function_get_local_init_data(info);
	const struct rows *r = next_block(f);
	size_t n;

	if (!r) {
		if (feed__aborted(f))
			duckdb.function_set_error(info, "the trace cannot be read");
		duckdb.data_chunk_set_size(chunk, 0);
		return;
	}
	n = r->n - f->delivered;
	n = n < DUCKDB_ROWS ? n : DUCKDB_ROWS;
	for (unsigned int i = 0; i < f->table->ncolumns; i++)
		if (put_column(f, r, i, duckdb.data_chunk_get_vector(chunk, i), n))
			duckdb.function_set_error(info, "unexpected text in a column of few");
	f->delivered += n;
	duckdb.data_chunk_set_size(chunk, n);
}

static void begin_thread(duckdb_handle info)
{
	duckdb.init_set_init_data(info, duckdb.init_get_bind_data(info), NULL);
}

static void begin(duckdb_handle info)
{
	duckdb.init_set_max_threads(info, 1);
}

static void bind(duckdb_handle info)
{
	const struct feeds *feeds = duckdb.bind_get_extra_info(info);
	duckdb_handle value = duckdb.bind_get_named_parameter(info, PARAMETER);
	int64_t number = value ? duckdb.get_int64(value) : -1;
	struct feed *f;

	if (value)
		duckdb.destroy_value(&value);
	if (number < 0 || (uint64_t)number >= feeds->n) {
		duckdb.bind_set_error(info, "there is no such feed");
		return;
	}
	f = &feeds->feed[number];
	for (unsigned int i = 0; i < f->table->ncolumns; i++)
		if (f->enumeration[i])
			enumeration__bind(f->enumeration[i], info, f->table->columns[i].name);
		else
			vector__bind(info, &f->table->columns[i]);
	duckdb.bind_set_bind_data(info, f, NULL);
}

int feeds__register(struct feeds *feeds, struct engine *e, struct error *error)
{
	const struct engine_function function = {
		.name = "gotrace_feed",
		.parameter = PARAMETER,
		.extra = feeds,
		.bind = bind,
		.begin = begin,
		.begin_thread = begin_thread,
		.fill = fill,
	};
	int err = engine__add_function(e, &function);

	return err ? error__set(error, err, "the SQL engine rejected a table function") : 0;
}
