// SPDX-License-Identifier: GPL-2.0
/*
 * Cells of rows as vectors of the SQL engine: see vectors.h.
 */
#include "sql/vectors.h"

#include <string.h>

#include "sql/rows.h"

#define WORD_ROWS 64 /* of a word of the validity mask, in which null is 0 */

void vector__bind(duckdb_handle info, const struct column *column)
{
	int type = column__is_text(column)	 ? DUCKDB_VARCHAR :
		   !strcmp(column->type, "DATE") ? DUCKDB_DATE :
						   DUCKDB_BIGINT;
	duckdb_handle made = duckdb.create_logical_type(type);

	duckdb.bind_add_result_column(info, column->name, made);
	duckdb.destroy_logical_type(&made);
}

/* A vector has no mask until it has nulls. */
static void set_nulls(duckdb_handle vector, uint64_t **validity, size_t row, uint64_t nulls)
{
	if (!nulls)
		return;
	if (!*validity) {
		duckdb.vector_ensure_validity_writable(vector);
		*validity = duckdb.vector_get_validity(vector);
	}
	(*validity)[row / WORD_ROWS] &= ~nulls;
}

void vector__put_numbers(duckdb_handle vector, const int64_t *from, size_t n)
{
	uint64_t *validity = NULL, nulls;
	size_t len;

	memcpy(duckdb.vector_get_data(vector), from, n * sizeof(*from));
	for (size_t row = 0; row < n; row += len) {
		len = n - row < WORD_ROWS ? n - row : WORD_ROWS;
		nulls = 0;
		for (size_t i = 0; i < len; i++)
			nulls |= (uint64_t)(from[row + i] == ROW_NULL) << i;
		set_nulls(vector, &validity, row, nulls);
	}
}

void vector__put_texts(duckdb_handle vector, const struct duckdb_text *from, size_t n)
{
	struct duckdb_text *to = duckdb.vector_get_data(vector);
	uint64_t *validity = NULL, nulls;
	size_t len;

	memcpy(to, from, n * sizeof(*from));
	for (size_t row = 0; row < n; row += len) {
		len = n - row < WORD_ROWS ? n - row : WORD_ROWS;
		nulls = 0;
		for (size_t i = 0; i < len; i++) {
			if (from[row + i].length != TEXT_NULL)
				continue;
			nulls |= 1ull << i;
			to[row + i] = (struct duckdb_text){};
		}
		set_nulls(vector, &validity, row, nulls);
	}
}

void vector__put_nulls(duckdb_handle vector, size_t n)
{
	uint64_t *validity = NULL;
	size_t len;

	for (size_t row = 0; row < n; row += len) {
		len = n - row < WORD_ROWS ? n - row : WORD_ROWS;
		set_nulls(vector, &validity, row, len < WORD_ROWS ? (1ull << len) - 1 : ~0ull);
	}
}
