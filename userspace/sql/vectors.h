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

/* Adds a column of this type to the result of the table function that is being bound. */
void vector__bind(duckdb_handle info, const struct column *column);

/*
 * Fill a vector without nulls, up to DUCKDB_ROWS. Texts are not copied: they must live until the
 * engine calls the table function again.
 */
void vector__put_numbers(duckdb_handle vector, const int64_t *from, size_t n);
void vector__put_texts(duckdb_handle vector, const struct duckdb_text *from, size_t n);
/*
 * Texts that are always among a few, as ENUM: the engine writes it much faster than other texts, of
 * which it computes hash sums, and as the same column of Parquet.
 */
struct enumeration;
/* Of a column with nvalues, up to ENUMERATION_MAX. NULL: no memory. */
struct enumeration *enumeration__create(const struct column *column);
void enumeration__destroy(struct enumeration *e); /* NULL is allowed */
void enumeration__bind(const struct enumeration *e, duckdb_handle info, const char *name);
/* The number of a text, which is not null; -1: it is none of them. */
int enumeration__number(const struct enumeration *e, const struct duckdb_text *text);
/* As vector__put_texts(), with a vector of that type. 0, or -EINVAL: one is none of them. */
int vector__put_numbered(duckdb_handle vector, const struct enumeration *e,
			 const struct duckdb_text *from, size_t n);
#define ENUMERATION_MAX 255 /* the engine's numbers have one byte */

/* Makes all of its rows null. */
void vector__put_nulls(duckdb_handle vector, size_t n);

#endif
