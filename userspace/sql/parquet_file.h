/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes one Parquet file: the rows of a table and trace, in groups.
 *
 * Upstream: sql/parquet_groups.h, which passes groups of rows. Downstream: files that DuckDB, Spark
 * and others read. Each column of a group is a chunk of one page, compressed with zstd: texts and
 * numbers of few values by a dictionary, other numbers by their differences. The format is described
 * by https://github.com/apache/parquet-format.
 */
#ifndef SQL_PARQUET_FILE_H
#define SQL_PARQUET_FILE_H

#include "lib/error.h"
#include "sql/parquet_encode.h"
#include "sql/rows.h"
#include "sql/tables.h"

struct parquet_file;

/* What encoding needs besides the rows; one per thread. NULL: no memory. */
struct parquet_scratch;
struct parquet_scratch *parquet_scratch__create(void);
void parquet_scratch__destroy(struct parquet_scratch *s); /* NULL is allowed */

/* Creates the file, which must not exist. 0 or a negative errno with the reason. */
int parquet_file__create(struct parquet_file **ret, int folder, const char *name,
			 const struct table *table, struct error *error);
/* Appends all rows, which are 1 to CHUNK_ROWS. 0 or a negative errno with the reason. */
int parquet_file__group(struct parquet_file *f, struct parquet_scratch *s, const struct rows *r,
			struct error *error);
/* Completes the file. 0 or a negative errno with the reason. */
int parquet_file__finish(struct parquet_file *f, struct error *error);
void parquet_file__destroy(struct parquet_file *f); /* NULL is allowed */

#endif
