// SPDX-License-Identifier: GPL-2.0
/*
 * The footer of a Parquet file: see parquet_footer.h.
 */
#include "sql/parquet_footer.h"

#include <stdio.h>

#include "gotrace/version.h"
#include "sql/parquet_thrift.h"

/* Numbers of the format */
enum { OPTIONAL = 1, CONVERTED_UTF8 = 0 };

static void put_column(struct thrift *t, const struct column *column)
{
	bool is_text = column__is_text(column);

	thrift__begin(t);
	thrift__number(t, 1, THRIFT_I32, parquet_type(is_text));
	thrift__number(t, 3, THRIFT_I32, OPTIONAL);
	thrift__text(t, 4, column->name);
	if (is_text) {
		thrift__number(t, 6, THRIFT_I32, CONVERTED_UTF8);
		thrift__begin_field(t, 10); /* the same as a logical type */
		thrift__begin_field(t, 1);
		thrift__end(t);
		thrift__end(t);
	}
	thrift__end(t);
}

static void put_schema(struct thrift *t, const struct table *table)
{
	thrift__list(t, 2, THRIFT_STRUCT, table->ncolumns + 1);
	thrift__begin(t);
	thrift__text(t, 4, "schema");
	thrift__number(t, 5, THRIFT_I32, table->ncolumns);
	thrift__end(t);
	for (unsigned int i = 0; i < table->ncolumns; i++)
		put_column(t, &table->columns[i]);
}

static void put_pair(struct thrift *t, const char *key, const char *value)
{
	thrift__begin(t);
	thrift__text(t, 1, key);
	thrift__text(t, 2, value);
	thrift__end(t);
}

/* That minimum and maximum are in the order of the type: without it readers ignore them. */
static void put_orders(struct thrift *t, unsigned int n)
{
	thrift__list(t, 7, THRIFT_STRUCT, n);
	while (n--) {
		thrift__begin(t);
		thrift__begin_field(t, 1);
		thrift__end(t);
		thrift__end(t);
	}
}

int parquet_footer__put(struct outbuf *footer, const struct table *table, uint64_t rows,
			uint64_t ngroups, const struct outbuf *groups)
{
	struct thrift t = { .out = footer };
	char version[16];

	snprintf(version, sizeof(version), "%d", SCHEMA_VERSION);
	thrift__begin(&t);
	thrift__number(&t, 1, THRIFT_I32, 1);
	put_schema(&t, table);
	thrift__number(&t, 3, THRIFT_I64, (int64_t)rows);
	thrift__list(&t, 4, THRIFT_STRUCT, ngroups);
	thrift__put(&t, groups->data, groups->len);
	thrift__list(&t, 5, THRIFT_STRUCT, 2);
	put_pair(&t, "gotrace_schema", version);
	put_pair(&t, "gotrace_table", table->name);
	thrift__text(&t, 6, "gotrace version " GOTRACE_VERSION);
	put_orders(&t, table->ncolumns);
	thrift__end(&t);
	return t.err;
}
