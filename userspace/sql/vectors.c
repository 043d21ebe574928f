// SPDX-License-Identifier: GPL-2.0
/*
 * Cells of rows as vectors of the SQL engine: see vectors.h.
 */
#include "sql/vectors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sql/rows.h"

#define SLOTS	  1024 /* of a hash table; a power of 2 */
#define WORD_ROWS 64   /* of a word of the validity mask, in which null is 0 */

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

/* ---- enumerations ---- */

struct enumeration {
	const char *name[ENUMERATION_MAX];
	unsigned int n;
	struct duckdb_text slot[SLOTS]; /* length TEXT_NULL: it is free */
	uint8_t number[SLOTS];
};

/* text__static() makes the same 16 bytes of the same text: they are compared in its place. */
static size_t find_slot(const struct enumeration *e, const struct duckdb_text *text)
{
	uint64_t words[2];
	size_t i;

	memcpy(words, text, sizeof(words));
	i = ((words[0] ^ words[1] * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu) >> 54;
	while (e->slot[i].length != TEXT_NULL && memcmp(&e->slot[i], text, sizeof(*text)))
		i = (i + 1) % SLOTS;
	return i;
}

/* Names that are the same text get the same number, also at different addresses. */
static void add(struct enumeration *e, const char *name)
{
	struct duckdb_text text = text__static(name);
	size_t slot = find_slot(e, &text);
	unsigned int i = 0;

	while (i < e->n && strcmp(e->name[i], name))
		i++;
	e->slot[slot] = text;
	e->number[slot] = (uint8_t)i;
	if (i == e->n)
		e->name[e->n++] = name;
}

struct enumeration *enumeration__create(const struct column *column)
{
	struct enumeration *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	for (size_t i = 0; i < SLOTS; i++)
		e->slot[i] = text__null();
	for (unsigned int i = 0; i < column->nvalues && e->n < ENUMERATION_MAX; i++)
		if (column->value(i))
			add(e, column->value(i));
	return e;
}

void enumeration__destroy(struct enumeration *e)
{
	free(e);
}

void enumeration__bind(const struct enumeration *e, duckdb_handle info, const char *name)
{
	const char *names[ENUMERATION_MAX];
	duckdb_handle made;

	memcpy(names, e->name, sizeof(names));
	made = duckdb.create_enum_type(names, e->n);
	duckdb.bind_add_result_column(info, name, made);
	duckdb.destroy_logical_type(&made);
}

int enumeration__number(const struct enumeration *e, const struct duckdb_text *text)
{
	size_t slot = find_slot(e, text);

	return e->slot[slot].length == TEXT_NULL ? -1 : e->number[slot];
}

int vector__put_numbered(duckdb_handle vector, const struct enumeration *e,
			 const struct duckdb_text *from, size_t n)
{
	uint8_t *to = duckdb.vector_get_data(vector);
	uint64_t *validity = NULL, nulls;
	size_t len;
	int number;

	for (size_t row = 0; row < n; row += len) {
		len = n - row < WORD_ROWS ? n - row : WORD_ROWS;
		nulls = 0;
		for (size_t i = 0; i < len; i++) {
			bool null = from[row + i].length == TEXT_NULL;

			number = null ? 0 : enumeration__number(e, &from[row + i]);
			if (number < 0)
				return -EINVAL;
			nulls |= (uint64_t)null << i;
			to[row + i] = (uint8_t)number;
		}
		set_nulls(vector, &validity, row, nulls);
	}
	return 0;
}
