/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Encodings of Parquet for the values of one page, and the distinct values of a column chunk.
 *
 * Upstream: sql/parquet_file.c, which chooses the encoding of each column. They are described by
 * https://parquet.apache.org/docs/file-format/data-pages/encodings/.
 */
#ifndef SQL_PARQUET_ENCODE_H
#define SQL_PARQUET_ENCODE_H

#include "lib/error.h"
#include "lib/outbuf.h"
#include "sql/duckdb.h"

#define CHUNK_ROWS 65536 /* values of a chunk, at most */

/*
 * Appends RLE_DICTIONARY's hybrid of runs and packed values, which definition levels have, too: of
 * values below 2^width, width from 1 to 32. 0 or a negative errno with the reason, as all of these.
 */
int encode__runs(struct outbuf *o, const uint32_t *v, size_t n, unsigned int width,
		 struct error *error);

/* Appends DELTA_BINARY_PACKED: small for values that grow, and for durations. */
int encode__deltas(struct outbuf *o, const int64_t *v, size_t n, struct error *error);

/* Distinct values in the order of their first use. */
struct distinct {
	size_t n;
	uint32_t *slot; /* hash table: number + 1 of a value; 0: empty */
	uint32_t *used; /* by value: its slot */
	union distinct_value {
		int64_t number;
		struct duckdb_text text;
	} *value;
};

/* 0 or -ENOMEM; deinit also after that. */
int distinct__init(struct distinct *d);
void distinct__deinit(struct distinct *d);
/*
 * Sets index[i] to the number of each value, with at most CHUNK_ROWS of them. Numbers: false if more
 * than `max` are distinct. Texts have the same number if their content is the same; those whose
 * length is TEXT_NULL are left out, and the number of indices is returned.
 */
bool distinct__numbers(struct distinct *d, const int64_t *v, size_t n, size_t max, uint32_t *index);
size_t distinct__texts(struct distinct *d, const struct duckdb_text *v, size_t n, uint32_t *index);

#endif
