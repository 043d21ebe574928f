// SPDX-License-Identifier: GPL-2.0
/*
 * Rows of a table, column by column: see rows.h.
 */
#include "sql/rows.h"

#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/unicode.h"

#define TEXT_BLOCK 65536 /* bytes that an arena allocates at once */

void rows__init(struct rows *r)
{
	*r = (struct rows){};
	arena__init(&r->kept, TEXT_BLOCK);
	arena__init(&r->brief, TEXT_BLOCK);
}

void rows__deinit(struct rows *r)
{
	for (size_t i = 0; i < r->ncolumns; i++) {
		free(r->numbers[i]);
		free(r->texts[i]);
	}
	arena__deinit(&r->kept);
	arena__deinit(&r->brief);
}

void rows__clear(struct rows *r)
{
	r->n = 0;
	r->cap = r->room;
	r->copied = 0;
	arena__reset(&r->brief);
}

static int allocate(struct rows *r)
{
	size_t cap = r->room ? 2 * r->room : 2 * DUCKDB_ROWS, size;
	void **cells, *grown;

	for (size_t i = 0; i < r->ncolumns; i++) {
		if (!r->wanted[i])
			continue;
		cells = r->is_text[i] ? (void **)&r->texts[i] : (void **)&r->numbers[i];
		size = r->is_text[i] ? sizeof(*r->texts[i]) : sizeof(*r->numbers[i]);
		grown = reallocarray(*cells, cap, size);
		if (!grown)
			return -ENOMEM;
		*cells = grown;
	}
	r->cap = r->room = cap;
	return 0;
}

int rows__enlarge(struct rows *r)
{
	int err;

	if (r->full && r->n && (r->n == ROWS_FULL || r->copied >= ROWS_TEXTS)) {
		err = r->full(r->context, r);
		if (err)
			return err;
		rows__clear(r);
	}
	r->cap = r->room;
	return r->n < r->cap ? 0 : allocate(r);
}

static struct duckdb_text make(const char *data, size_t len)
{
	struct duckdb_text ret = { .length = (uint32_t)len };

	if (len <= DUCKDB_INLINED) {
		memcpy(ret.inlined, data, len);
	} else {
		memcpy(ret.prefix, data, sizeof(ret.prefix));
		ret.data = data;
	}
	return ret;
}

struct duckdb_text text__static(const char *text)
{
	return make(text, strlen(text));
}

static bool is_ascii(const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] & 0x80)
			return false;
	return true;
}

/* Returns the length; `to` has room for three bytes per byte: U+FFFD takes as many. */
static size_t copy_utf8(char *to, const char *data, size_t len)
{
	const unsigned char *p = (const unsigned char *)data;
	size_t n = 0, took;
	uint32_t c;

	for (size_t i = 0; i < len; i += took) {
		took = utf8__decode(p + i, len - i, &c);
		n += utf8__encode(c, (unsigned char *)to + n);
	}
	return n;
}

static struct duckdb_text copy(struct rows *r, struct arena *arena, struct trace_string s)
{
	bool ascii = is_ascii(s.data, s.len);
	size_t len = s.len;
	char *to;

	if (ascii && s.len <= DUCKDB_INLINED)
		return make(s.data, s.len);
	to = arena__alloc(arena, ascii ? len : 3 * len);
	if (!to) {
		r->failed = true;
		return text__null();
	}
	if (ascii)
		memcpy(to, s.data, len);
	else
		len = copy_utf8(to, s.data, len);
	return make(to, len);
}

struct duckdb_text rows__keep(struct rows *r, struct trace_string s)
{
	return copy(r, &r->kept, s);
}

struct duckdb_text rows__copy(struct rows *r, struct trace_string s)
{
	r->copied += s.len;
	if (r->full && r->copied >= ROWS_TEXTS) /* the next row calls rows__enlarge() */
		r->cap = r->n;
	return copy(r, &r->brief, s);
}

void row__copy(struct rows *r, unsigned int column, struct trace_string s)
{
	if (r->texts[column])
		row__text(r, column, s.len ? rows__copy(r, s) : text__null());
}

void text_cache__deinit(struct text_cache *c)
{
	free(c->at);
	*c = (struct text_cache){};
}

struct duckdb_text text_cache__get(struct text_cache *c, struct rows *r, uint32_t id,
				   struct trace_string s)
{
	if (text_cache__has(c, id))
		return c->at[id];
	if (!s.len)
		return text__null();
	if (array__grow_cleared(&c->at, id, &c->n, sizeof(*c->at))) {
		r->failed = true;
		return text__null();
	}
	c->at[id] = rows__keep(r, s);
	return c->at[id];
}
