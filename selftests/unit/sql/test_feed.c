// SPDX-License-Identifier: GPL-2.0
/*
 * Rows between two threads: the side that adds them waits, and the end of the other side wakes it.
 * sql/feed.h; the statement's side needs the engine: check/sql.sh and check/parquet.sh test it.
 */
#include <pthread.h>

#include "unit/test.h"
#include "sql/feed.h"

static int add_block(struct feed *f, int64_t number)
{
	int err = rows__add(&f->rows);

	assert_int_equal(err, 0);
	row__number(&f->rows, 0, number);
	return feed__pass(f);
}

TEST(blocks)
{
	struct feed f;

	feed__init(&f, &events_table);
	for (int64_t i = 0; i < FEED_BLOCKS; i++)
		assert_int_equal(add_block(&f, i), 0);
	assert_int_equal(f.n, FEED_BLOCKS);
	assert_int_equal(f.rows.n, 0);
	for (int64_t i = 0; i < FEED_BLOCKS; i++) {
		assert_int_equal(f.block[i].n, 1);
		assert_int_equal(f.block[i].numbers[0][0], i);
	}
	feed__end(&f, false);
	assert_false(feed__aborted(&f));
	feed__end(&f, true);
	assert_true(feed__aborted(&f));
	feed__deinit(&f);
}

/* Texts that are kept live until the end, wherever their rows are. */
TEST(kept)
{
	const struct trace_string name = { "a name of more than twelve bytes", 32 };
	struct duckdb_text text;
	struct feed f;

	feed__init(&f, &events_table);
	text = rows__keep(&f.rows, name);
	for (int64_t i = 0; i < FEED_BLOCKS; i++)
		assert_int_equal(add_block(&f, i), 0);
	assert_memory_equal(text.data, name.data, name.len);
	feed__stop(&f);
	feed__deinit(&f);
}

static void *stop(void *feed)
{
	feed__stop(feed);
	return NULL;
}

TEST(stopped)
{
	pthread_t thread;
	struct feed f;

	feed__init(&f, &events_table);
	for (int64_t i = 0; i < FEED_BLOCKS; i++)
		assert_int_equal(add_block(&f, i), 0);
	assert_int_equal(pthread_create(&thread, NULL, stop, &f), 0);
	assert_int_equal(add_block(&f, FEED_BLOCKS), -ECANCELED); /* waits for it */
	pthread_join(thread, NULL);
	assert_int_equal(feed__pass(&f), -ECANCELED);
	feed__deinit(&f);
}
