/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where Parquet files are written, and where they end up: see parquet.h.
 *
 * They are written in a directory of their own in OUT, .gotrace-XXXXXX, which others cannot enter.
 * It is locked: the next export removes those whose writer was killed. Links in OUT are not followed.
 */
#ifndef SQL_PARQUET_PLACE_H
#define SQL_PARQUET_PLACE_H

#include "sql/source.h"

struct parquet_place;

/*
 * Creates OUT, if it does not exist, and the directory in it. 0 or a negative errno with the
 * reason.
 */
int parquet_place__create(struct parquet_place **ret, const char *out, struct error *error);
/* Removes that directory, with the files that are left in it. NULL is allowed. */
void parquet_place__destroy(struct parquet_place *p);

/* The path of that directory by its descriptor, see sql/temporary.h; files in it are named as sql/parquet_tables.h does. */
const char *parquet_place__staging(const struct parquet_place *p);
/*
 * Moves a complete file to its directory, where it replaces that of an earlier export of the trace,
 * which is removed if the table has become empty. 0 or a negative errno with the reason.
 */
int parquet_place__put(struct parquet_place *p, size_t trace, const struct table *table,
		       const struct source *source, bool empty, struct error *error);

#endif
