/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes traces as Parquet files, one per trace and table that has rows:
 *
 *	OUT/TABLE/date=2026-11-27/hour=4/host=NAME/service=NAME/file=TRACE/rows.parquet
 *
 * The directories are those of Hive: DuckDB, Spark and others make columns of them. What is unknown
 * is __HIVE_DEFAULT_PARTITION__, which they read as null. Exporting a trace again replaces its
 * files. They appear together, when all are complete, by renaming.
 *
 * Upstream: sql/parquet_tables.h, which reads a trace once and writes all of its tables. Downstream:
 * `gotrace export parquet`.
 */
#ifndef SQL_PARQUET_H
#define SQL_PARQUET_H

#include "reader/reader.h"
#include "sql/source.h"

struct parquet_opts {
	const char *out;	    /* directory; it is created, but not the one above it */
	const char *host, *service; /* of all traces; NULL: by source__init() */
	const char *library;	    /* of the SQL engine, as in engine_opts */
	struct reader_opts reader;
	unsigned int jobs; /* threads */
};

/*
 * 0 or a negative errno with the reason; traces before the one that failed may have been written.
 */
int parquet__write(const struct source_files *files, const struct parquet_opts *opts,
		   struct error *error);

#endif
