/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes all tables of a trace as Parquet files: the trace is read once, and a COPY statement of the
 * SQL engine per table writes the rows, in a thread of its own if they are more than a few.
 *
 * Upstream: sql/pass.h, which reads the trace. Downstream: sql/feed.h, which passes the rows to the
 * statement. Memory: per table, the rows of a few blocks here, and those of one group in the engine.
 */
#ifndef SQL_PARQUET_TABLES_H
#define SQL_PARQUET_TABLES_H

#include "sql/engine.h"
#include "sql/feed.h"
#include "sql/source.h"

/* What is the same for the traces that a thread writes */
struct parquet_tables {
	struct engine *engine;
	const char *folder; /* path */
	struct reader_opts reader;
	struct feed *feed; /* TABLES of them, which are registered from number `first` on */
	size_t first;
};

/*
 * Writes the files into the folder: NUMBER-TABLE.parquet. Those without rows are not created, and
 * empty[i] is set for tables[i]. 0 or a negative errno with the reason.
 */
int parquet_tables__write(const struct parquet_tables *t, const struct source *source,
			  size_t number, bool empty[TABLES], struct error *error);

/* The name of such a file */
#define PARQUET_NAME 64
void parquet_tables__name(char ret[PARQUET_NAME], size_t number, const struct table *table);

#endif
