/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes traces tables of the SQL engine: a query that needs a table reads the traces, once per use
 * of the table, and only fills the columns that it needs.
 *
 * Upstream: sql/tables.h, which fills the rows. Downstream: the engine, which calls back from
 * its threads; each reads a trace of its own. Memory: that of the readers, and a few thousand rows.
 */
#ifndef SQL_SCAN_H
#define SQL_SCAN_H

#include <pthread.h>

#include "reader/reader.h"
#include "sql/engine.h"
#include "sql/tables.h"

/* Zero, except what is described. Must outlive the engine. */
struct scans {
	char *const *path; /* of the traces; borrowed */
	size_t n;
	const char *host, *service; /* of all of them; NULL: by source__init() */
	struct reader_opts reader;

	/* the first failure of reading: its reason, without what the engine adds */
	pthread_mutex_t lock;
	struct error error;
	/* by trace: it has been reported that --lenient left something out */
	bool *reported;
};

/*
 * Adds a view per table, with the name of the table. 0 or a negative errno with the reason. The
 * caller calls scans__deinit() after engine__close().
 */
int scans__init(struct scans *s, struct engine *e, struct error *error);
void scans__deinit(struct scans *s);

#endif
