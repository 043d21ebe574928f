// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the result of `gotrace sql`: see sql.h.
 *
 * The widths of a table are those of its first chunk of rows: a longer cell further down moves the
 * rest of its line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gotrace/views/sql.h"
#include "lib/json.h"
#include "lib/unicode.h"
#include "print/print.h"

#define WIDEST 60 /* characters that a column of a table is made wide at most */

/* As text, without quotes; NULL is empty. Numbers of all kinds are as in JSON. */
static struct trace_string text_of(struct cell *c)
{
	int len = 0;

	switch (c->kind) {
	case CELL_TEXT:
		return (struct trace_string){ c->data, (uint32_t)c->len };
	case CELL_BOOL:
		return c->number ? (struct trace_string){ "true", 4 } :
				   (struct trace_string){ "false", 5 };
	case CELL_NUMBER:
		len = snprintf(c->buffer, sizeof(c->buffer), "%" PRId64, c->number);
		break;
	case CELL_REAL:
		len = snprintf(c->buffer, sizeof(c->buffer), "%.15g", c->real);
		break;
	case CELL_NULL:
		break;
	}
	return (struct trace_string){ c->buffer, (uint32_t)len };
}

/* ---- CSV ---- */

/* Bytes as they are; on a terminal, where they could be commands to it, without control characters. */
typedef void (*put_fn)(struct out *o, const void *data, size_t len);

static void put_csv(struct out *o, put_fn put, struct trace_string s)
{
	bool quoted = s.len && (memchr(s.data, ',', s.len) || memchr(s.data, '"', s.len) ||
				memchr(s.data, '\n', s.len) || memchr(s.data, '\r', s.len));
	const char *quote;
	uint32_t n;

	if (!quoted) {
		put(o, s.data, s.len);
		return;
	}
	out__char(o, '"');
	while ((quote = memchr(s.data, '"', s.len))) {
		n = (uint32_t)(quote - s.data);
		put(o, s.data, n);
		out__text(o, "\"\"");
		s = (struct trace_string){ quote + 1, s.len - n - 1 };
	}
	put(o, s.data, s.len);
	out__char(o, '"');
}

static void put_csv_rows(struct query *q, struct out *o, put_fn put, uint64_t n)
{
	struct cell c;

	for (uint64_t row = 0; row < n; row++) {
		for (size_t i = 0; i < query__columns(q); i++) {
			if (i)
				out__char(o, ',');
			query__cell(q, i, row, &c);
			/* An empty text differs from null. */
			if (c.kind == CELL_TEXT && !c.len)
				out__text(o, "\"\"");
			else
				put_csv(o, put, text_of(&c));
		}
		out__char(o, '\n');
	}
}

static int print_csv(struct query *q, struct out *o, struct error *error)
{
	put_fn put = isatty(STDOUT_FILENO) ? out__unicode : out__bytes;
	const char *name;
	uint64_t n;
	int more;

	for (size_t i = 0; i < query__columns(q); i++) {
		if (i)
			out__char(o, ',');
		name = query__name(q, i);
		put_csv(o, put, (struct trace_string){ name, (uint32_t)strlen(name) });
	}
	out__char(o, '\n');
	while ((more = query__next(q, &n, error)) > 0)
		put_csv_rows(q, o, put, n);
	out__flush(o);
	return more;
}

/* ---- JSON ---- */

static void put_json(struct json *j, const char *name, const struct cell *c)
{
	switch (c->kind) {
	case CELL_NULL:
		json__null(j, name);
		break;
	case CELL_NUMBER:
		json__i64(j, name, c->number);
		break;
	case CELL_REAL:
		json__double(j, name, c->real);
		break;
	case CELL_BOOL:
		json__bool(j, name, c->number);
		break;
	case CELL_TEXT:
		if (c->digits)
			json__double(j, name, strtod(c->buffer, NULL));
		else
			json__bytes(j, name, c->data, c->len);
		break;
	}
}

static int print_json(struct query *q, struct error *error)
{
	struct json j;
	struct cell c;
	uint64_t n;
	int more;

	json__init(&j, stdout, false);
	json__open(&j, NULL, '{');
	json__open(&j, "rows", '[');
	while ((more = query__next(q, &n, error)) > 0) {
		for (uint64_t row = 0; row < n; row++) {
			json__open(&j, NULL, '{');
			for (size_t i = 0; i < query__columns(q); i++) {
				query__cell(q, i, row, &c);
				put_json(&j, query__name(q, i), &c);
			}
			json__close(&j, '}');
		}
	}
	if (more < 0)
		return more;
	json__close(&j, ']');
	json__close(&j, '}');
	return 0;
}

/* ---- tables ---- */

struct table_column {
	unsigned int width;
	bool right; /* numbers */
};

static unsigned int width_of(struct trace_string s)
{
	unsigned int width = 0;

	for (uint32_t i = 0; i < s.len; i++)
		width += (s.data[i] & 0xc0) != 0x80;
	return width;
}

static void put_padding(struct out *o, unsigned int n)
{
	while (n--)
		out__char(o, ' ');
}

static void put_cell(struct out *o, const struct table_column *column, struct trace_string s,
		     bool last)
{
	unsigned int width = width_of(s);
	unsigned int padding = column->width > width ? column->width - width : 0;

	if (column->right)
		put_padding(o, padding);
	out__unicode(o, s.data, s.len);
	if (!column->right && !last)
		put_padding(o, padding);
	out__text(o, last ? "\n" : "  ");
}

static void measure(struct query *q, uint64_t n, struct table_column *columns)
{
	struct cell c;
	unsigned int width;

	for (size_t i = 0; i < query__columns(q); i++) {
		columns[i].width = (unsigned int)strlen(query__name(q, i));
		for (uint64_t row = 0; row < n; row++) {
			query__cell(q, i, row, &c);
			columns[i].right |= c.kind == CELL_NUMBER || c.kind == CELL_REAL ||
					    (c.kind == CELL_TEXT && c.digits);
			width = width_of(text_of(&c));
			if (width > columns[i].width)
				columns[i].width = width < WIDEST ? width : WIDEST;
		}
	}
}

static void put_head(struct query *q, struct out *o, const struct table_column *columns)
{
	size_t n = query__columns(q);
	const char *name;

	for (size_t i = 0; i < n; i++) {
		name = query__name(q, i);
		put_cell(o, &columns[i], (struct trace_string){ name, (uint32_t)strlen(name) },
			 i + 1 == n);
	}
}

static void put_rows(struct query *q, struct out *o, const struct table_column *columns, uint64_t n)
{
	struct cell c;

	for (uint64_t row = 0; row < n; row++) {
		for (size_t i = 0; i < query__columns(q); i++) {
			query__cell(q, i, row, &c);
			put_cell(o, &columns[i],
				 c.kind == CELL_NULL ? (struct trace_string){ "-", 1 } :
						       text_of(&c),
				 i + 1 == query__columns(q));
		}
	}
}

static int print_table(struct query *q, struct out *o, struct error *error)
{
	struct table_column *columns = calloc(query__columns(q) + 1, sizeof(*columns));
	uint64_t n = 0;
	int more;

	if (!columns)
		return error__set(error, -ENOMEM, "out of memory");
	more = query__next(q, &n, error);
	if (more >= 0) {
		measure(q, more ? n : 0, columns);
		put_head(q, o, columns);
	}
	for (; more > 0; more = query__next(q, &n, error))
		put_rows(q, o, columns, n);
	out__flush(o);
	free(columns);
	return more;
}

int sql__print(struct query *q, enum sql_form form, struct error *error)
{
	switch (form) {
	case SQL_JSON:
		return print_json(q, error);
	case SQL_CSV:
		return print_csv(q, out__stdout(), error);
	default:
		return print_table(q, out__table(), error);
	}
}

static void put_lines(struct out *o, const char *text, size_t len)
{
	const char *end;
	size_t n;

	for (; len; text += n, len -= n) {
		end = memchr(text, '\n', len);
		n = end ? (size_t)(end - text) : len;
		out__unicode(o, text, n);
		out__char(o, '\n');
		n += !!end;
	}
}

/* The second column has the text, of many lines. It may contain texts of the query. */
int sql__print_plan(struct query *q, struct error *error)
{
	struct out *o = out__table();
	struct cell c;
	uint64_t n;
	int more;

	while ((more = query__next(q, &n, error)) > 0) {
		for (uint64_t row = 0; row < n; row++) {
			query__cell(q, query__columns(q) - 1, row, &c);
			if (c.kind == CELL_TEXT)
				put_lines(o, c.data, c.len);
		}
	}
	out__flush(o);
	return more;
}
