/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A query of the user, and its result row by row.
 *
 * Exactly one statement is accepted, which only reads: SELECT, also with WITH, or FROM. Upstream:
 * sql/engine.h. Downstream: `gotrace sql`.
 */
#ifndef SQL_QUERY_H
#define SQL_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "sql/engine.h"

struct cell {
	enum { CELL_NULL, CELL_NUMBER, CELL_REAL, CELL_BOOL, CELL_TEXT } kind;
	int64_t number; /* of a boolean, too */
	double real;
	/*
	 * Digits of a number that exceeds 64 bits are CELL_TEXT with `digits`, and so are decimals.
	 */
	bool digits;
	const char *data; /* of a text: `len` bytes; in the chunk, or in `buffer` */
	size_t len;
	char buffer[64];
};

struct query;

/*
 * Starts a query. 0 or a negative errno with the reason: -EINVAL (not a query, or the engine
 * rejects it).
 */
int query__start(struct query **ret, struct engine *e, const char *text, struct error *error);
/* The same for the plan of the query, which is not run: two columns, what it is and its text. */
int query__explain(struct query **ret, struct engine *e, const char *text, struct error *error);
void query__destroy(struct query *q); /* NULL is allowed */

size_t query__columns(const struct query *q);
const char *query__name(struct query *q, size_t column); /* until destroy */
/*
 * The next rows, at most DUCKDB_ROWS: 1 with their number in *ret_n, 0 at the end, or a negative
 * errno with the reason.
 */
int query__next(struct query *q, uint64_t *ret_n, struct error *error);
/* A cell of these rows, valid until the next call of query__next(). */
void query__cell(const struct query *q, size_t column, uint64_t row, struct cell *ret);

#endif
