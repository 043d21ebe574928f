/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The named queries of `gotrace sql --run`: the files of sql/queries/, which become a part of the
 * program.
 *
 * Each file begins with comments: the first line is what --list prints. They are written in SQL
 * that DuckDB and Spark execute alike: whole numbers, and an order without ties.
 */
#ifndef SQL_QUERIES_H
#define SQL_QUERIES_H

#include <stddef.h>

struct named_query {
	const char *name; /* of the file, without .sql */
	const char *text;
};

extern const struct named_query named_queries[];
extern const size_t named_queries_count;

#endif
