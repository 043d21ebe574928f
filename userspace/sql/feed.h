/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rows of a table on their way from the thread that reads a trace to a statement of the SQL engine,
 * which runs in another thread: a queue of a few blocks of rows. A side that is too fast waits.
 *
 * Upstream: sql/pass.h, which adds rows to feed.rows. Downstream: the table function gotrace_feed(),
 * whose parameter `feed` is the number of the feed. Each feed has one statement.
 */
#ifndef SQL_FEED_H
#define SQL_FEED_H

#include <pthread.h>

#include "sql/engine.h"
#include "sql/rows.h"
#include "sql/tables.h"
#include "sql/vectors.h"

#define FEED_FUNCTION "gotrace_feed(feed := %zu)"
#define FEED_BLOCKS   3

struct feed {
	const struct table *table;
	struct rows rows; /* of the thread that reads; texts that are kept belong to all blocks */

	struct enumeration *enumeration[ROWS_COLUMNS]; /* NULL: any text, or numbers */
	pthread_mutex_t lock;			       /* of the rest */
	pthread_cond_t changed;
	struct rows block[FEED_BLOCKS]; /* a ring */
	unsigned int first, n;		/* the statement has blocks from `first` on */
	size_t delivered;		/* rows of the first block; of the statement's thread */
	bool ended;			/* no more rows come */
	bool aborted;			/* and those that came are not all */
	bool stopped;			/* the statement has ended, and takes no more rows */
};

/* Adds the table function for these feeds, which may begin later. Borrowed. */
struct feeds {
	struct feed *feed;
	size_t n;
};
int feeds__register(struct feeds *feeds, struct engine *e, struct error *error);

void feed__init(struct feed *f, const struct table *table);
void feed__deinit(struct feed *f);

/*
 * Of the thread that reads. Passes f->rows on, and removes them: 0, or -ECANCELED if the statement
 * has ended. end(): no more rows come; or, aborted, the statement is to fail.
 */
int feed__pass(struct feed *f);
void feed__end(struct feed *f, bool aborted);

/* Of the statement's thread: it has ended. */
void feed__stop(struct feed *f);
bool feed__aborted(struct feed *f);

#endif
