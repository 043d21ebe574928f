// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and opens the SQL engine: see engine.h.
 *
 * The library is not unloaded: its threads and destructors do not expect that.
 */
#include "sql/engine.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/outbuf.h"
#include "lib/unicode.h"
#include "sql/temporary.h"
#include "sql/trusted.h"

#define FILE_NAME   "libduckdb.so"
#define SPILLED_MAX "8GiB"
#define SPILL	    "gotrace-sql."
#define PLACE	    "\n\nLINE " /* in messages, before the number of a line */
#define PLACE_MAX   60		/* characters */
#define SPECIAL	    "*?["	/* in patterns */
#define REMEDY	    "run 'make deps', or name it with --engine"

struct engine {
	duckdb_handle db, connection;
	char spill[PATH_MAX]; /* folder of temporary files; empty: there is none */
	bool lent;	      /* it is that of the options, and stays */
};

struct duckdb duckdb;

/* ---- loading ---- */

static int resolve(void *library, const char *path, struct error *error)
{
#define RESOLVE(result, name, ...) { "duckdb_" #name, (void **)&duckdb.name },
	const struct {
		const char *name;
		void **ret;
	} functions[] = { DUCKDB_FUNCTIONS(RESOLVE) };
#undef RESOLVE

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		*functions[i].ret = dlsym(library, functions[i].name);
		if (!*functions[i].ret)
			return error__set(error, -ENOENT,
					  "%s: unsupported version of DuckDB: %s() is missing; "
					  "run 'make deps' for the one that is tested",
					  path, functions[i].name);
	}
	return 0;
}

/* Loads the library by the descriptor of the file that was examined. */
static int load(const char *name, struct error *error)
{
	struct error why = {};
	char path[32];
	void *library;
	int err, fd = trusted__open(name, &why);

	if (fd < 0)
		return error__set(error, fd, "cannot load the SQL engine: %s", why.text);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	close(fd);
	if (!library)
		return error__set(error, -ENOENT, "%s: cannot load the SQL engine: %s", name,
				  dlerror());
	err = resolve(library, name, error);
	if (err)
		dlclose(library);
	return err;
}

/* A path relative to the folder of the program's file. False: too long. */
static bool beside_program(const char *relative, char ret[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", ret, PATH_MAX - 1);
	char *slash;

	if (len < 0)
		return false;
	ret[len] = '\0';
	slash = strrchr(ret, '/');
	if (!slash || (size_t)(slash - ret) + strlen(relative) + 2 > PATH_MAX)
		return false;
	strcpy(slash + 1, relative);
	return true;
}

static int find_and_load(struct error *error)
{
	static const char *const relative[] = { "lib/" FILE_NAME, "../lib/gotrace/" FILE_NAME };
	static const char *const absolute[] = { "/usr/local/lib/gotrace/" FILE_NAME,
						"/usr/lib/gotrace/" FILE_NAME };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(relative) / sizeof(*relative); i++)
		if (beside_program(relative[i], path) && !access(path, F_OK))
			return load(path, error);
	for (size_t i = 0; i < sizeof(absolute) / sizeof(*absolute); i++)
		if (!access(absolute[i], F_OK))
			return load(absolute[i], error);
	return error__set(error, -ENOENT, "the SQL engine (" FILE_NAME ") is missing: " REMEDY);
}

/* ---- messages and texts ---- */

/*
 * The engine shows a line of the query and, in the next line, a caret below some part of it. Writes
 * what is at the caret instead.
 */
static void put_place(char *text, size_t size, const char *message)
{
	const char *line = strstr(message, PLACE), *end, *at;
	size_t len = strlen(text);

	end = line ? strchr(line + strlen(PLACE), '\n') : NULL;
	if (!end)
		return;
	line += strspn(line, "\n");
	at = line + utf8__cut(line, (size_t)(end - line), (unsigned int)strspn(end + 1, " "));
	snprintf(text + len, size - len, "; in line %lu, at: %.*s",
		 strtoul(line + strcspn(line, " "), NULL, 10),
		 (int)utf8__cut(at, (size_t)(end - at), PLACE_MAX), at);
}

int engine__failed(struct error *error, int err, const char *message)
{
	/* settings that are locked, addresses in the engine, and what put_place() replaces */
	static const char *const left_out[] = { "\n\nPossible solutions", "\n\nStack Trace",
						"\nThis limit was set by", PLACE };
	char text[sizeof(error->text)], *begin;

	snprintf(text, sizeof(text), "%s", message ? message : "unknown error");
	if (!strncmp(text, "Out of Memory", strlen("Out of Memory")))
		err = -EFBIG;
	for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++) {
		begin = strstr(text, left_out[i]);
		if (begin)
			*begin = '\0';
	}
	if (strstr(text, "failed to offload"))
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 " TMPDIR must have room for intermediate results, at most " SPILLED_MAX);
	put_place(text, sizeof(text), message ? message : "");
	for (char *p = text; *p; p++)
		if (*p == '\n' || *p == '\t')
			*p = ' ';
	utf8__make_printable(text);
	return error__set(error, err, "SQL engine: %s", text);
}

char *engine__quote(const char *text)
{
	char *ret = malloc(2 * strlen(text) + 3), *to = ret;

	if (!ret)
		return NULL;
	*to++ = '\'';
	for (; *text; text++) {
		if (*text == '\'')
			*to++ = '\'';
		*to++ = *text;
	}
	*to++ = '\'';
	*to = '\0';
	return ret;
}

/* Each character that is special becomes a set of one. */
char *engine__quote_pattern(const char *path)
{
	char *pattern = malloc(3 * strlen(path) + 1), *to = pattern, *ret;

	if (!pattern)
		return NULL;
	for (; *path; path++) {
		if (strchr(SPECIAL, *path))
			to += sprintf(to, "[%c]", *path);
		else
			*to++ = *path;
	}
	*to = '\0';
	ret = engine__quote(pattern);
	free(pattern);
	return ret;
}

/* ---- the database ---- */

/* Only this user can read what queries spill. */
static int make_spill(struct engine *e, const struct engine_opts *opts, struct error *error)
{
	const char *base = secure_getenv("TMPDIR");
	int fd, err;

	e->lent = opts->folder;
	if (e->lent) {
		snprintf(e->spill, sizeof(e->spill), "%s", opts->folder);
		return 0;
	}
	if (!base || base[0] != '/' || strlen(base) >= PATH_MAX - 32)
		base = "/tmp";
	err = temporary__create(base, SPILL, e->spill, &fd);
	return err ? error__set(error, err, "%s: cannot create a directory for temporary data: %s",
				base, strerror(-err)) :
		     0;
}

static int configure(duckdb_handle config, const struct engine *e, const struct engine_opts *opts)
{
	char threads[16], memory[32];
	const char *const settings[][2] = {
		{ "threads", threads },
		{ "memory_limit", memory },
		{ "temp_directory", e->spill },
		{ "max_temp_directory_size", SPILLED_MAX },
		{ "autoinstall_known_extensions", "false" },
		{ "autoload_known_extensions", "false" },
		{ "allow_community_extensions", "false" },
		{ "preserve_insertion_order", "true" },
	};
	int err = 0;

	snprintf(threads, sizeof(threads), "%u", opts->threads ? opts->threads : 1);
	snprintf(memory, sizeof(memory), "%" PRIu64 "MiB",
		 (opts->memory > ENGINE_MEMORY ? opts->memory : ENGINE_MEMORY) >> 20);
	for (size_t i = 0; !err && i < sizeof(settings) / sizeof(*settings); i++)
		err = duckdb.set_config(config, settings[i][0], settings[i][1]);
	return err;
}

static int open_database(struct engine *e, const struct engine_opts *opts, struct error *error)
{
	duckdb_handle config = NULL;
	char *message = NULL;
	int err = duckdb.create_config(&config) || configure(config, e, opts);

	if (err)
		error__set(error, -EIO,
			   "the SQL engine does not have the required settings: DuckDB %s",
			   duckdb.library_version());
	else if (duckdb.open_ext(":memory:", &e->db, config, &message) ||
		 duckdb.connect(e->db, &e->connection))
		err = engine__failed(error, -EIO, message);
	if (message)
		duckdb.free(message);
	duckdb.destroy_config(&config);
	return err ? -EIO : 0;
}

static int put_quoted(struct outbuf *o, char *quoted, struct error *error)
{
	int err = quoted ? outbuf__put(o, quoted, strlen(quoted), error) :
			   error__set(error, -ENOMEM, "out of memory");

	free(quoted);
	return err ?: outbuf__put(o, ",", 1, error);
}

/* SET NAME=['...', ...]. The engine looks up the pattern, before what it finds by it. */
static int allow(struct engine *e, const char *name, const char *const *paths, size_t n,
		 struct error *error)
{
	struct outbuf text = {};
	int err = outbuf__put(&text, "SET ", 4, error);

	err = err ?: outbuf__put(&text, name, strlen(name), error);
	err = err ?: outbuf__put(&text, "=[", 2, error);
	for (size_t i = 0; !err && i < n; i++) {
		err = put_quoted(&text, engine__quote(paths[i]), error);
		if (!err && strpbrk(paths[i], SPECIAL))
			err = put_quoted(&text, engine__quote_pattern(paths[i]), error);
	}
	err = err ?: outbuf__put(&text, "]", 2, error); /* with its end */
	err = err ?: engine__run(e, text.data, error);
	outbuf__deinit(&text);
	return err;
}

int engine__run_on(duckdb_handle connection, const char *text, struct error *error)
{
	struct duckdb_result result = {};
	int err = 0;

	if (duckdb.query(connection, text, &result))
		err = engine__failed(error, -EIO, duckdb.result_error(&result));
	duckdb.destroy_result(&result);
	return err;
}

int engine__run(struct engine *e, const char *text, struct error *error)
{
	return engine__run_on(e->connection, text, error);
}

int engine__add_function(struct engine *e, const struct engine_function *from)
{
	duckdb_handle f = duckdb.create_table_function(), type;
	int err;

	duckdb.table_function_set_name(f, from->name);
	if (from->parameter) {
		type = duckdb.create_logical_type(DUCKDB_BIGINT);
		duckdb.table_function_add_named_parameter(f, from->parameter, type);
		duckdb.destroy_logical_type(&type);
	}
	duckdb.table_function_set_extra_info(f, from->extra, from->destroy);
	duckdb.table_function_set_bind(f, from->bind);
	duckdb.table_function_set_init(f, from->begin);
	duckdb.table_function_set_local_init(f, from->begin_thread);
	duckdb.table_function_set_function(f, from->fill);
	duckdb.table_function_supports_projection_pushdown(f, from->projects);
	err = duckdb.register_table_function(e->connection, f);
	duckdb.destroy_table_function(&f);
	return err ? -EIO : 0;
}

duckdb_handle engine__connect(const struct engine *e)
{
	duckdb_handle ret = NULL;

	return duckdb.connect(e->db, &ret) ? NULL : ret;
}

static int restrict_access(struct engine *e, const struct engine_opts *opts, struct error *error)
{
	int err = 0;

	if (opts->nfiles)
		err = allow(e, "allowed_paths", opts->files, opts->nfiles, error);
	if (!err && opts->folder)
		err = allow(e, "allowed_directories", &opts->folder, 1, error);
	return err ?: engine__run(e, "SET enable_external_access=false", error);
}

int engine__lock(struct engine *e, struct error *error)
{
	return engine__run(e, "SET lock_configuration=true", error);
}

int engine__open(struct engine **ret, const struct engine_opts *opts, struct error *error)
{
	struct engine *e;
	int err = 0;

	if (!duckdb.query)
		err = opts->library ? load(opts->library, error) : find_and_load(error);
	if (err)
		return err;
	e = calloc(1, sizeof(*e));
	if (!e)
		return error__set(error, -ENOMEM, "out of memory");
	err = make_spill(e, opts, error);
	err = err ?: open_database(e, opts, error);
	err = err ?: restrict_access(e, opts, error);
	if (err)
		engine__close(e);
	else
		*ret = e;
	return err;
}

void engine__close(struct engine *e)
{
	if (!e)
		return;
	if (e->connection)
		duckdb.disconnect(&e->connection);
	if (e->db)
		duckdb.close(&e->db);
	if (e->spill[0] && !e->lent)
		temporary__end();
	free(e);
}

duckdb_handle engine__connection(const struct engine *e)
{
	return e->connection;
}
