// SPDX-License-Identifier: GPL-2.0
/*
 * Parquet files as tables: see dataset.h.
 */
#include "sql/dataset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/outbuf.h"
#include "sql/tables.h"

int dataset__resolve(struct source_files *files, struct error *error)
{
	char *path;

	for (size_t i = 0; i < files->n; i++) {
		path = realpath(files->path[i], NULL);
		if (!path)
			return error__set(error, -errno, "%s: %s", files->path[i], strerror(errno));
		free(files->path[i]);
		files->path[i] = path;
	}
	return 0;
}

/* NULL: none of the directories in the path has the name of a table. */
static const struct table *table_of(const char *path)
{
	const struct table *ret = NULL;
	size_t len;

	for (; *path; path += len + (path[len] == '/')) {
		len = strcspn(path, "/");
		for (size_t i = 0; path[len] && i < TABLES; i++)
			if (strlen(tables[i]->name) == len && !memcmp(tables[i]->name, path, len))
				ret = tables[i];
	}
	return ret;
}

static int put(struct outbuf *o, const char *text, struct error *error)
{
	return outbuf__put(o, text, strlen(text), error);
}

/* The columns, in their order, for files or (as nulls) without. */
static int put_columns(struct outbuf *o, const struct table *table, bool nulls, struct error *error)
{
	const struct column *column;
	int err = 0;

	for (unsigned int i = 0; !err && (column = table__column(table, i)); i++) {
		err = put(o, i ? ", " : "", error);
		if (nulls)
			err = err				     ?:
				      put(o, "CAST(NULL AS ", error) ?:
				      put(o, column->type, error)    ?:
								       put(o, ") AS ", error);
		err = err ?: put(o, column->name, error);
	}
	return err;
}

static bool has_files(const struct source_files *files, const struct table *table)
{
	for (size_t i = 0; i < files->n; i++)
		if (table_of(files->path[i]) == table)
			return true;
	return false;
}

static int put_files(struct outbuf *o, const struct source_files *files, const struct table *table,
		     struct error *error)
{
	bool first = true;
	char *quoted;
	int err = 0;

	for (size_t i = 0; !err && i < files->n; i++) {
		if (table_of(files->path[i]) != table)
			continue;
		quoted = engine__quote_pattern(files->path[i]);
		if (!quoted)
			return error__set(error, -ENOMEM, "out of memory");
		err = put(o, first ? "" : ",", error);
		first = false;
		err = err ?: put(o, quoted, error);
		free(quoted);
	}
	return err;
}

static int add_table(struct engine *e, const struct source_files *files, const struct table *table,
		     struct error *error)
{
	static const char options[] =
		"], hive_partitioning = true, union_by_name = true, hive_types = "
		"{'date': DATE, 'hour': BIGINT, 'host': VARCHAR, "
		"'service': VARCHAR})";
	struct outbuf text = {};
	int err = put(&text, "CREATE VIEW ", error);

	err = err ?: put(&text, table->name, error);
	err = err ?: put(&text, " AS SELECT ", error);
	err = err ?: put_columns(&text, table, !has_files(files, table), error);
	if (has_files(files, table)) {
		err = err ?: put(&text, " FROM read_parquet([", error);
		err = err ?: put_files(&text, files, table, error);
		err = err ?: put(&text, options, error);
	} else {
		err = err ?: put(&text, " WHERE false", error);
	}
	err = err ?: outbuf__put(&text, "", 1, error);
	err = err ?: engine__run(e, text.data, error);
	outbuf__deinit(&text);
	return err;
}

int dataset__init(struct engine *e, const struct source_files *files, struct error *error)
{
	int err = 0;

	for (size_t i = 0; i < files->n; i++)
		if (!table_of(files->path[i]))
			return error__set(error, -EINVAL,
					  "%s: no directory of the path has the name of a table; "
					  "see 'gotrace sql --schema'",
					  files->path[i]);
	for (size_t i = 0; !err && i < TABLES; i++)
		err = add_table(e, files, tables[i], error);
	return err;
}
