// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the files that the tables consist of: see source.h.
 */
#include <errno.h>
#include <fts.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/array.h"
#include "sql/source.h"

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len > n && !strcmp(text + len - n, end);
}

static bool is_parquet(const char *path)
{
	return ends_with(path, ".parquet");
}

static bool is_trace(const char *path)
{
	return ends_with(path, ".trace") || ends_with(path, ".trace.gz") ||
	       ends_with(path, ".trace.zst");
}

static int add_file(struct source_files *s, const char *path, struct error *error)
{
	bool parquet = is_parquet(path);

	if (s->n && s->parquet != parquet)
		return error__set(error, -EINVAL, "%s: traces and Parquet files cannot be combined",
				  path);
	if (s->n == SOURCES_MAX)
		return error__set(error, -E2BIG, "%s: more than %d files", path, SOURCES_MAX);
	if (array__grow(&s->path, s->n, &s->cap, sizeof(*s->path)))
		return error__set(error, -ENOMEM, "out of memory");
	s->path[s->n] = strdup(path);
	if (!s->path[s->n])
		return error__set(error, -ENOMEM, "out of memory");
	s->parquet = parquet;
	s->n++;
	return 0;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int add_entry(struct source_files *s, const FTSENT *entry, struct error *error)
{
	switch (entry->fts_info) {
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		return error__set(error, -EIO, "%s: cannot read: %s", entry->fts_path,
				  strerror(entry->fts_errno));
	case FTS_F:
		if (is_trace(entry->fts_path) || is_parquet(entry->fts_path))
			return add_file(s, entry->fts_path, error);
		return 0;
	default:
		return 0;
	}
}

static int add_folder(struct source_files *s, const char *path, struct error *error)
{
	char *copy = strdup(path), *const paths[] = { copy, NULL };
	FTS *fts =
		copy ? fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name) : NULL;
	size_t before = s->n;
	FTSENT *entry;
	int err = 0;

	if (!fts) {
		free(copy);
		return error__set(error, -ENOMEM, "%s: cannot read: %s", path, strerror(errno));
	}
	while (!err && (entry = fts_read(fts)))
		err = entry->fts_name[0] == '.' && entry->fts_level > 0 ?
			      fts_set(fts, entry, FTS_SKIP) :
			      add_entry(s, entry, error);
	fts_close(fts);
	free(copy);
	if (!err && s->n == before)
		return error__set(
			error, -ENOENT,
			"%s: the directory contains no trace (*.trace) and no Parquet file", path);
	return err;
}

static int add_path(struct source_files *s, const char *path, struct error *error)
{
	struct stat st;

	if (stat(path, &st))
		return error__set(error, -errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return add_folder(s, path, error);
	if (!S_ISREG(st.st_mode)) /* a pipe: each table reads the file again */
		return error__set(error, -EINVAL, "%s: not a regular file", path);
	return add_file(s, path, error);
}

int source_files__add(struct source_files *s, const char *argument, struct error *error)
{
	glob_t found = {};
	struct stat st;
	int err = 0;

	/* A file whose name contains such a character is meant if it exists. */
	if (!strpbrk(argument, "*?[") || !lstat(argument, &st))
		return add_path(s, argument, error);
	if (glob(argument, 0, NULL, &found))
		err = error__set(error, -ENOENT, "%s: no file matches", argument);
	for (size_t i = 0; !err && i < found.gl_pathc; i++)
		err = add_path(s, found.gl_pathv[i], error);
	globfree(&found);
	return err;
}

void source_files__deinit(struct source_files *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->path[i]);
	free(s->path);
	*s = (struct source_files){};
}
