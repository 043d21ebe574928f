/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rows of a table on their way from a trace to the SQL engine, column by column.
 *
 * Upstream: the producers of sql/tables.h, which add rows one by one. Downstream: sql/scan.c
 * and sql/feed.c, which copy them to the engine's vectors. Texts become valid UTF-8: other bytes are replaced by
 * U+FFFD.
 */
#ifndef SQL_ROWS_H
#define SQL_ROWS_H

#include <errno.h>

#include "format/dictionary.h"
#include "format/event.h"
#include "lib/arena.h"
#include "sql/duckdb.h"

#define ROWS_COLUMNS 32
#define ROW_NULL     INT64_MIN	/* of numbers */
#define TEXT_NULL    UINT32_MAX /* as a length */
#define ROWS_FULL    8192
#define ROWS_TEXTS   (2u << 20)

struct rows {
	size_t n;
	size_t cap;    /* rows up to which rows__add() needs nothing else */
	size_t room;   /* rows that are allocated */
	size_t copied; /* bytes of `brief` */
	size_t ncolumns;
	bool is_text[ROWS_COLUMNS];
	/* NULL: not wanted by the query */
	int64_t *numbers[ROWS_COLUMNS];
	struct duckdb_text *texts[ROWS_COLUMNS];
	bool wanted[ROWS_COLUMNS];
	struct arena kept;  /* texts that live as long as the rows */
	struct arena brief; /* texts that live until rows__clear() */
	bool failed;	    /* memory was exhausted */
	/*
	 * Called with ROWS_FULL rows, or if their texts take ROWS_TEXTS bytes: takes them all, and may
	 * exchange the arrays. 0 or a negative errno. NULL: any number of rows is kept.
	 */
	int (*full)(void *context, struct rows *r);
	void *context;
};

void rows__init(struct rows *r);
void rows__deinit(struct rows *r);
void rows__clear(struct rows *r); /* removes all rows */

int rows__enlarge(struct rows *r);

/* Adds a row, whose cells the caller sets, up to the next call. 0, -ENOMEM, or an error of full(). */
static inline int rows__add(struct rows *r)
{
	if (__builtin_expect(r->n == r->cap, 0) && rows__enlarge(r))
		return -ENOMEM;
	r->n++;
	return 0;
}

static inline void row__number(struct rows *r, unsigned int column, int64_t v)
{
	if (r->numbers[column])
		r->numbers[column][r->n - 1] = v;
}

/* An ID: TRACE_NO_G and the like are null. Those beyond 2^63 wrap, and become negative. */
static inline void row__id(struct rows *r, unsigned int column, uint64_t id)
{
	row__number(r, column, id == UINT64_MAX ? ROW_NULL : (int64_t)id);
}

static inline void row__text(struct rows *r, unsigned int column, struct duckdb_text text)
{
	if (r->texts[column])
		r->texts[column][r->n - 1] = text;
}

static inline struct duckdb_text text__null(void)
{
	return (struct duckdb_text){ .length = TEXT_NULL };
}

static inline const char *text__data(const struct duckdb_text *text)
{
	return text->length <= DUCKDB_INLINED ? text->inlined : text->data;
}

/* A text that outlives the query, without a copy; valid UTF-8. */
struct duckdb_text text__static(const char *text);
/* Copies a text. Without memory it sets r->failed, and the text is null. */
struct duckdb_text rows__keep(struct rows *r, struct trace_string s);
struct duckdb_text rows__copy(struct rows *r, struct trace_string s);
/* A copy in the cell; an empty text is null. Does nothing if the column is not wanted. */
void row__copy(struct rows *r, unsigned int column, struct trace_string s);

/* Texts of a table of names, by id, each copied once. {} is empty. */
struct text_cache {
	struct duckdb_text *at;
	size_t n; /* length 0: not copied yet */
};

void text_cache__deinit(struct text_cache *c);
/* The empty name is null. Errors as rows__keep(). */
struct duckdb_text text_cache__get(struct text_cache *c, struct rows *r, uint32_t id,
				   struct trace_string s);
static inline bool text_cache__has(const struct text_cache *c, uint32_t id)
{
	return id < c->n && c->at[id].length;
}

#endif
