/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cells of rows as vectors of the SQL engine, which its table functions fill.
 *
 * Upstream: sql/rows.h. Downstream: sql/scan.c, sql/feed.c.
 */
#ifndef SQL_VECTORS_H
#define SQL_VECTORS_H

#include "sql/duckdb.h"
#include "sql/tables.h"

/* Adds a column to the result of the table function that is being bound. */
void vector__bind(duckdb_handle info, const struct column *column);

/*
 * Fill a vector without nulls, up to DUCKDB_ROWS. Texts are not copied: they must live until the
 * engine calls the table function again.
 */
void vector__put_numbers(duckdb_handle vector, const int64_t *from, size_t n);
void vector__put_texts(duckdb_handle vector, const struct duckdb_text *from, size_t n);
/* Makes all of its rows null. */
void vector__put_nulls(duckdb_handle vector, size_t n);

#endif
