/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where Parquet files are written, and where they end up: see parquet.h.
 *
 * They are written in a directory of their own in OUT, .gotrace-XXXXXX, which others cannot enter,
 * and which the engine is confined to. Links in OUT are not followed.
 */
#ifndef SQL_PARQUET_PLACE_H
#define SQL_PARQUET_PLACE_H

#include <limits.h>

#include "sql/source.h"

#define PARQUET_PATH (PATH_MAX + 64)

struct parquet_place;

/*
 * Creates OUT, if it does not exist, and the directory in it. 0 or a negative errno with the
 * reason.
 */
int parquet_place__create(struct parquet_place **ret, const char *out, struct error *error);
/* Removes that directory, with the files that are left in it. NULL is allowed. */
void parquet_place__destroy(struct parquet_place *p);

const char *parquet_place__staging(const struct parquet_place *p); /* absolute */
/* The path of a file that is being written. */
void parquet_place__staged(const struct parquet_place *p, size_t trace, const char *table,
			   char ret[PARQUET_PATH]);
/*
 * Moves a complete file to its directory, where it replaces that of an earlier export of the trace;
 * an empty one is removed. 0 or a negative errno with the reason.
 */
int parquet_place__put(struct parquet_place *p, size_t trace, const char *table,
		       const struct source *source, bool empty, struct error *error);

#endif
