/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parquet files as tables of the SQL engine: those that `gotrace export parquet` has written.
 *
 * A file belongs to the table whose name is a directory of its path, the last one that is;
 * directories such as host=NAME below it are columns. Upstream: sql/source.h. Downstream: `gotrace
 * sql`.
 */
#ifndef SQL_DATASET_H
#define SQL_DATASET_H

#include "sql/engine.h"
#include "sql/source.h"

/* Replaces the paths by absolute ones. 0 or a negative errno with the reason. */
int dataset__resolve(struct source_files *files, struct error *error);

/*
 * Adds a view per table. The paths are those that dataset__resolve() made and that the engine may
 * read. A table without files is empty. 0 or a negative errno with the reason.
 */
int dataset__init(struct engine *e, const struct source_files *files, struct error *error);

#endif
