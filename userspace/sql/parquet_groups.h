/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes all tables of a trace as Parquet files: rows become groups of the files while the trace is
 * read, in a thread of their own if there is a CPU for it.
 *
 * Upstream: sql/pass.h, which reads the trace. Downstream: sql/parquet_file.h. Memory: per table the
 * rows of one group, and of another one that is being written.
 */
#ifndef SQL_PARQUET_GROUPS_H
#define SQL_PARQUET_GROUPS_H

#include "sql/source.h"

/*
 * Writes the files into `folder`, by their tables' numbers: NUMBER-TABLE.parquet. Those without rows
 * are not created, and empty[i] is set for tables[i]. 0 or a negative errno with the reason.
 */
int parquet_groups__write(const struct source *source, const struct reader_opts *reader, int folder,
			  size_t number, bool threaded, bool empty[TABLES], struct error *error);

/* The name of such a file */
#define GROUPS_NAME 64
void parquet_groups__name(char ret[GROUPS_NAME], size_t number, const struct table *table);

#endif
