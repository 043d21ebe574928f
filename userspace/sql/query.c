// SPDX-License-Identifier: GPL-2.0
/*
 * Queries and their results: see query.h. The result is streamed: the engine computes rows as they
 * are fetched, so memory does not depend on their number.
 */
#include "sql/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUERY_COLUMNS 1000

struct result_column {
	int type; /* enum duckdb_type, also of what a decimal is stored as */
	bool decimal;
	uint8_t scale;
	const void *data;
	const uint64_t *validity; /* NULL: there is no null */
};

struct query {
	duckdb_handle statement, chunk;
	struct duckdb_result result;
	size_t ncolumns;
	struct result_column *column;
};

/* ---- start ---- */

static int prepare(struct query *q, struct engine *e, const char *text, struct error *error)
{
	if (duckdb.prepare(engine__connection(e), text, &q->statement))
		return engine__failed(error, -EINVAL, duckdb.prepare_error(q->statement));
	if (duckdb.prepared_statement_type(q->statement) != DUCKDB_STATEMENT_SELECT)
		return error__set(error, -EINVAL, "only queries are accepted, such as SELECT");
	return 0;
}

static bool is_printed(int type)
{
	return (type >= DUCKDB_BOOLEAN && type <= DUCKDB_DATE) || type == DUCKDB_HUGEINT ||
	       type == DUCKDB_VARCHAR || type == DUCKDB_DECIMAL || type == DUCKDB_SQLNULL;
}

static int find_type(struct query *q, size_t i, struct error *error)
{
	struct result_column *c = &q->column[i];
	duckdb_handle type;

	c->type = duckdb.column_type(&q->result, i);
	if (!is_printed(c->type))
		return error__set(error, -EINVAL,
				  "column %zu of the result has a type that is not printed: "
				  "use CAST(... AS VARCHAR)",
				  i + 1);
	if (c->type == DUCKDB_DECIMAL) {
		type = duckdb.column_logical_type(&q->result, i);
		c->decimal = true;
		c->scale = duckdb.decimal_scale(type);
		c->type = duckdb.decimal_internal_type(type);
		duckdb.destroy_logical_type(&type);
	}
	return 0;
}

static int find_types(struct query *q, struct error *error)
{
	int err = 0;

	q->ncolumns = duckdb.column_count(&q->result);
	if (q->ncolumns > QUERY_COLUMNS)
		return error__set(error, -E2BIG, "the result has more than %d columns",
				  QUERY_COLUMNS);
	q->column = calloc(q->ncolumns + 1, sizeof(*q->column));
	if (!q->column)
		return error__set(error, -ENOMEM, "out of memory");
	for (size_t i = 0; !err && i < q->ncolumns; i++)
		err = find_type(q, i, error);
	return err;
}

/* Replaces the statement, which is a query, by one that returns its plan. */
static int prepare_plan(struct query *q, struct engine *e, const char *text, struct error *error)
{
	char *explain;
	int err = 0;

	if (asprintf(&explain, "EXPLAIN %s", text) < 0)
		return error__set(error, -ENOMEM, "out of memory");
	duckdb.destroy_prepare(&q->statement);
	if (duckdb.prepare(engine__connection(e), explain, &q->statement))
		err = engine__failed(error, -EINVAL, duckdb.prepare_error(q->statement));
	free(explain);
	return err;
}

static int start(struct query **ret, struct engine *e, const char *text, bool plan,
		 struct error *error)
{
	struct query *q = calloc(1, sizeof(*q));
	int err;

	if (!q)
		return error__set(error, -ENOMEM, "out of memory");
	err = prepare(q, e, text, error);
	if (!err && plan)
		err = prepare_plan(q, e, text, error);
	if (!err && duckdb.execute_prepared_streaming(q->statement, &q->result))
		err = engine__failed(error, -EINVAL, duckdb.result_error(&q->result));
	err = err ?: find_types(q, error);
	if (err)
		query__destroy(q);
	else
		*ret = q;
	return err;
}

int query__start(struct query **ret, struct engine *e, const char *text, struct error *error)
{
	return start(ret, e, text, false, error);
}

int query__explain(struct query **ret, struct engine *e, const char *text, struct error *error)
{
	return start(ret, e, text, true, error);
}

void query__destroy(struct query *q)
{
	if (!q)
		return;
	if (q->chunk)
		duckdb.destroy_data_chunk(&q->chunk);
	duckdb.destroy_result(&q->result);
	duckdb.destroy_prepare(&q->statement);
	free(q->column);
	free(q);
}

size_t query__columns(const struct query *q)
{
	return q->ncolumns;
}

const char *query__name(struct query *q, size_t column)
{
	return duckdb.column_name(&q->result, column);
}

/* ---- rows ---- */

int query__next(struct query *q, uint64_t *ret_n, struct error *error)
{
	const char *failed;
	duckdb_handle vector;

	if (q->chunk)
		duckdb.destroy_data_chunk(&q->chunk);
	q->chunk = duckdb.fetch_chunk(q->result);
	if (!q->chunk) {
		failed = duckdb.result_error(&q->result);
		return failed && failed[0] ? engine__failed(error, -EINVAL, failed) : 0;
	}
	for (size_t i = 0; i < q->ncolumns; i++) {
		vector = duckdb.data_chunk_get_vector(q->chunk, i);
		q->column[i].data = duckdb.vector_get_data(vector);
		q->column[i].validity = duckdb.vector_get_validity(vector);
	}
	*ret_n = duckdb.data_chunk_get_size(q->chunk);
	return *ret_n ? 1 : 0;
}

static void set_digits(struct cell *c, const char *digits)
{
	c->kind = CELL_TEXT;
	c->digits = true;
	c->data = c->buffer;
	c->len = (size_t)snprintf(c->buffer, sizeof(c->buffer), "%s", digits);
}

/* In decimal digits, the last `scale` of which follow a point. */
static void set_wide(struct cell *c, __int128 v, unsigned int scale)
{
	unsigned __int128 rest = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
	char text[64], *p = text + sizeof(text);
	unsigned int digits = 0;

	*--p = '\0';
	do {
		if (scale && digits == scale)
			*--p = '.';
		*--p = (char)('0' + (int)(rest % 10));
		rest /= 10;
		digits++;
	} while (rest || digits <= scale);
	if (v < 0)
		*--p = '-';
	set_digits(c, p);
}

static void set_time(struct cell *c, int64_t days, int64_t us, bool clock)
{
	time_t seconds = (time_t)(days * 86400 + us / 1000000);
	struct tm tm;
	size_t len = gmtime_r(&seconds, &tm) ?
			     strftime(c->buffer, sizeof(c->buffer),
				      clock ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d", &tm) :
			     0;

	if (len && clock && us % 1000000)
		len += (size_t)snprintf(c->buffer + len, sizeof(c->buffer) - len, ".%06" PRId64,
					us % 1000000);
	c->kind = CELL_TEXT;
	c->data = c->buffer;
	c->len = len;
}

static void set_timestamp(struct cell *c, int64_t us)
{
	const int64_t day = 86400ll * 1000000;
	int64_t days = us / day - (us % day < 0);

	set_time(c, days, us - days * day, true);
}

static void set_text(struct cell *c, const struct duckdb_text *text)
{
	c->kind = CELL_TEXT;
	c->data = text->length <= DUCKDB_INLINED ? text->inlined : text->data;
	c->len = text->length;
}

static void set_number(struct cell *c, int64_t v)
{
	c->kind = CELL_NUMBER;
	c->number = v;
}

static void set_hugeint(struct cell *c, const struct duckdb_hugeint *v, unsigned int scale)
{
	__int128 wide = (__int128)((unsigned __int128)(uint64_t)v->upper << 64 | v->lower);

	if (!scale && wide == (int64_t)wide)
		set_number(c, (int64_t)wide);
	else
		set_wide(c, wide, scale);
}

static bool read_integer(int type, const void *data, uint64_t i, int64_t *ret)
{
	switch (type) {
	case DUCKDB_TINYINT:
		*ret = ((const int8_t *)data)[i];
		return true;
	case DUCKDB_SMALLINT:
		*ret = ((const int16_t *)data)[i];
		return true;
	case DUCKDB_INTEGER:
		*ret = ((const int32_t *)data)[i];
		return true;
	case DUCKDB_BIGINT:
		*ret = ((const int64_t *)data)[i];
		return true;
	case DUCKDB_UTINYINT:
		*ret = ((const uint8_t *)data)[i];
		return true;
	case DUCKDB_USMALLINT:
		*ret = ((const uint16_t *)data)[i];
		return true;
	case DUCKDB_UINTEGER:
		*ret = ((const uint32_t *)data)[i];
		return true;
	default:
		return false;
	}
}

static void set_other(struct cell *c, const struct result_column *from, uint64_t i)
{
	switch (from->type) {
	case DUCKDB_BOOLEAN:
		c->kind = CELL_BOOL;
		c->number = ((const bool *)from->data)[i];
		break;
	case DUCKDB_UBIGINT:
		set_wide(c, (__int128)((const uint64_t *)from->data)[i], 0);
		break;
	case DUCKDB_FLOAT:
	case DUCKDB_DOUBLE:
		c->kind = CELL_REAL;
		c->real = from->type == DUCKDB_FLOAT ? ((const float *)from->data)[i] :
						       ((const double *)from->data)[i];
		break;
	case DUCKDB_TIMESTAMP:
		set_timestamp(c, ((const int64_t *)from->data)[i]);
		break;
	case DUCKDB_DATE:
		set_time(c, ((const int32_t *)from->data)[i], 0, false);
		break;
	case DUCKDB_HUGEINT:
		set_hugeint(c, &((const struct duckdb_hugeint *)from->data)[i],
			    from->decimal ? from->scale : 0);
		break;
	case DUCKDB_VARCHAR:
		set_text(c, &((const struct duckdb_text *)from->data)[i]);
		break;
	}
}

void query__cell(const struct query *q, size_t column, uint64_t row, struct cell *ret)
{
	const struct result_column *from = &q->column[column];
	int64_t v;

	ret->kind = CELL_NULL;
	ret->digits = false;
	if (from->validity && !(from->validity[row / 64] >> row % 64 & 1))
		return;
	if (!read_integer(from->type, from->data, row, &v))
		set_other(ret, from, row);
	else if (from->decimal && from->scale)
		set_wide(ret, v, from->scale);
	else
		set_number(ret, v);
}
