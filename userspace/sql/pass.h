/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads a trace once for all tables: an export needs each of them, and reading the trace takes as
 * long as writing what is in it.
 *
 * Upstream: sql/tables.h. Downstream: sql/parquet_tables.c, which gets the rows by rows.full().
 */
#ifndef SQL_PASS_H
#define SQL_PASS_H

#include "sql/source.h"
#include "sql/tables.h"

/* All columns of a table are wanted. */
void pass__init_rows(struct rows *r, const struct table *t);

/*
 * Adds the rows of tables[i] to *rows[i]. 0 or a negative errno with the reason, which for a
 * failure of full() is not the true one.
 */
int pass__read(struct rows *const rows[TABLES], const struct source *source,
	       const struct reader_opts *reader, struct error *error);

#endif
