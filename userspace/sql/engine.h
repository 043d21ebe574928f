/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The SQL engine, DuckDB: loads its library at run time, and opens a database in memory that cannot
 * reach anything else.
 *
 * Downstream: sql/scan.h, which adds the tables of traces, sql/query.h, which runs queries, and
 * sql/parquet.h. Texts of queries are the user's, names in them and in tables are hostile: the
 * engine gets no access to files, except to those that the options name, no extensions, and a limit
 * of memory, threads and space for temporary data.
 */
#ifndef SQL_ENGINE_H
#define SQL_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/error.h"
#include "sql/duckdb.h"

#define ENGINE_MEMORY (UINT64_C(256) << 20) /* bytes */

struct engine_opts {
	const char *library; /* path of libduckdb.so; NULL: the places of engine__open() */
	unsigned int threads;
	/*
	 * Bytes of tables and intermediate results: more is spilled, except what a window function
	 * ranks. Less than ENGINE_MEMORY, as 0: that.
	 */
	uint64_t memory;
	/* Absolute paths of files that statements read; borrowed */
	const char *const *files;
	size_t nfiles;
	/*
	 * Absolute: where statements read and write, and where more than memory has is spilled. NULL:
	 * nowhere; what is spilled has a directory of its own.
	 */
	const char *folder;
};

struct engine;

/*
 * Loads the library, once per process: from opts->library, or the first that exists of
 * lib/libduckdb.so beside the program, ../lib/gotrace/libduckdb.so as of `make install`,
 * /usr/local/lib/gotrace and /usr/lib/gotrace. Neither the current directory nor the environment
 * matters, and a file that everybody can write is refused. Returns 0, or a negative errno with the
 * reason: -ENOENT names the remedy.
 */
int engine__open(struct engine **ret, const struct engine_opts *opts, struct error *error);
void engine__close(struct engine *e); /* NULL is allowed; removes temporary files */

duckdb_handle engine__connection(const struct engine *e);
/* Another one, for another thread; the caller disconnects it. NULL: no memory. */
duckdb_handle engine__connect(const struct engine *e);
/*
 * Runs a statement of this program and discards its result. 0 or a negative errno with the reason.
 */
int engine__run(struct engine *e, const char *text, struct error *error);
int engine__run_on(duckdb_handle connection, const char *text, struct error *error);
/* A table function, with the engine's callbacks */
struct engine_function {
	const char *name;
	const char *parameter; /* a named one, a number; NULL: none */
	void *extra;
	void (*destroy)(void *extra); /* NULL: it is borrowed */
	void (*bind)(duckdb_handle info);
	void (*begin)(duckdb_handle info);
	void (*begin_thread)(duckdb_handle info);
	void (*fill)(duckdb_handle info, duckdb_handle chunk);
	bool projects; /* fills only the columns that a query needs */
};

/* Adds it; `extra` is then the engine's, also after a failure. 0 or a negative errno. */
int engine__add_function(struct engine *e, const struct engine_function *f);

/* To be called when all tables exist: from then on the settings are locked. */
int engine__lock(struct engine *e, struct error *error);

/*
 * Sets the reason of a failure to a message of the library, on one line and printable, with the
 * part of the query that it is about. Returns
 * `err`, or -EFBIG if the limits of the engine's memory and temporary data are exceeded.
 */
int engine__failed(struct error *error, int err, const char *message);

/* `text` quoted as a literal of SQL, which the caller frees. NULL: no memory. */
char *engine__quote(const char *text);
/* The same for the name of a file where the engine takes patterns: *, ? and [ stand for themselves. */
char *engine__quote_pattern(const char *path);

#endif
