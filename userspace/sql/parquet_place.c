// SPDX-License-Identifier: GPL-2.0
/*
 * Directories of Parquet files: see parquet_place.h.
 */
#include "sql/parquet_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define UNKNOWN	  "__HIVE_DEFAULT_PARTITION__"
#define NAME_LEN  200 /* bytes of a value in the name of a directory */
#define NAME_SIZE (NAME_LEN + 32)
#define FILE_NAME "rows.parquet"
#define LETTERS	  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

struct parquet_place {
	const char *out; /* for messages; borrowed */
	int fd;		 /* of OUT */
	char staging[PATH_MAX];
	int staging_fd;
};

/* In OUT, whose absolute path is `path`. 0 or a negative errno. */
static int make_staging(struct parquet_place *p, const char *path)
{
	char name[PATH_MAX + 32];

	snprintf(name, sizeof(name), "%s/.gotrace-XXXXXX", path);
	if (strlen(name) >= sizeof(p->staging))
		return -ENAMETOOLONG;
	if (!mkdtemp(name))
		return -errno;
	strcpy(p->staging, name);
	p->staging_fd =
		openat(p->fd, strrchr(p->staging, '/') + 1, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return p->staging_fd < 0 ? -errno : 0;
}

static int make_out(struct parquet_place *p)
{
	char path[PATH_MAX];

	if ((mkdir(p->out, 0777) && errno != EEXIST) || !realpath(p->out, path))
		return -errno;
	p->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return p->fd < 0 ? -errno : make_staging(p, path);
}

int parquet_place__create(struct parquet_place **ret, const char *out, struct error *error)
{
	struct parquet_place *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return producer__out_of_memory(error);
	p->out = out;
	p->fd = p->staging_fd = -1;
	err = make_out(p);
	if (!err) {
		*ret = p;
		return 0;
	}
	parquet_place__destroy(p);
	return error__set(error, err, "%s: cannot create the directory: %s", out, strerror(-err));
}

/* The engine writes regular files only. */
static void remove_staging(struct parquet_place *p)
{
	DIR *dir = p->staging_fd < 0 ? NULL : fdopendir(p->staging_fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(p->staging);
}

void parquet_place__destroy(struct parquet_place *p)
{
	if (!p)
		return;
	if (p->staging[0])
		remove_staging(p);
	if (p->fd >= 0)
		close(p->fd);
	free(p);
}

const char *parquet_place__staging(const struct parquet_place *p)
{
	return p->staging;
}

static void staged_name(size_t trace, const char *table, char ret[64])
{
	snprintf(ret, 64, "%zu-%s.parquet", trace, table);
}

void parquet_place__staged(const struct parquet_place *p, size_t trace, const char *table,
			   char ret[PARQUET_PATH])
{
	char name[64];

	staged_name(trace, table, name);
	strcpy(stpcpy(stpcpy(ret, p->staging), "/"), name);
}

/* Of a name that is too long for a directory: its end, which tells traces apart. */
static const char *last_part(const char *value)
{
	size_t len = 0;
	const char *p = value + strlen(value);

	while (p > value && len + 3 <= NAME_LEN)
		len += strchr(LETTERS, *--p) ? 1 : 3;
	return p;
}

/* A name that engines take for null: Spark the one of Hive, DuckDB also "null" in any case. */
static bool means_null(const char *value)
{
	return !strcmp(value, UNKNOWN) || !strcasecmp(value, "null");
}

/* KEY=VALUE; other bytes than LETTERS are %XX, as in Hive, and the first one of what means null. */
static void partition_name(char ret[NAME_SIZE], const char *key, const char *value)
{
	size_t n = (size_t)snprintf(ret, NAME_SIZE, "%s=", key);

	if (!value || !value[0])
		value = UNKNOWN;
	else if (means_null(value))
		n += (size_t)snprintf(ret + n, NAME_SIZE - n, "%%%02X", (unsigned char)*value++);
	for (value = last_part(value); *value; value++)
		n += (size_t)snprintf(ret + n, NAME_SIZE - n,
				      strchr(LETTERS, *value) ? "%c" : "%%%02X",
				      (unsigned char)*value);
}

/* Descends into a directory, and creates it. Closes `fd` unless it is that of OUT. */
static int enter(const struct parquet_place *p, int fd, const char *name)
{
	int sub;

	if (fd < 0)
		return fd;
	if (mkdirat(fd, name, 0777) && errno != EEXIST)
		sub = -errno;
	else
		sub = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sub == -1)
		sub = -errno;
	if (fd != p->fd)
		close(fd);
	return sub;
}

/* The descriptor of the directory, or a negative errno. */
static int enter_partition(const struct parquet_place *p, const char *table,
			   const struct source *source)
{
	char name[NAME_SIZE], date[16] = "", hour[8] = "";
	int64_t day, of_day;
	struct tm tm;
	time_t seconds;
	int fd = enter(p, p->fd, table);

	if (source__hour(source, &day, &of_day)) {
		seconds = (time_t)(day * 86400);
		if (gmtime_r(&seconds, &tm))
			strftime(date, sizeof(date), "%Y-%m-%d", &tm);
		snprintf(hour, sizeof(hour), "%d", (int)of_day);
	}
	partition_name(name, "date", date);
	fd = enter(p, fd, name);
	partition_name(name, "hour", hour);
	fd = enter(p, fd, name);
	partition_name(name, "host", source->host);
	fd = enter(p, fd, name);
	partition_name(name, "service", source->service);
	fd = enter(p, fd, name);
	partition_name(name, "file", source->path);
	return enter(p, fd, name);
}

int parquet_place__put(struct parquet_place *p, size_t trace, const char *table,
		       const struct source *source, bool empty, struct error *error)
{
	char staged[64];
	int fd, err = 0;

	staged_name(trace, table, staged);
	if (empty) {
		unlinkat(p->staging_fd, staged, 0);
		return 0;
	}
	fd = enter_partition(p, table, source);
	if (fd < 0)
		return error__set(error, fd, "%s: cannot create directories: %s", p->out,
				  strerror(-fd));
	/* As private as the trace that it was made of */
	if (fchmodat(p->staging_fd, staged, 0600, 0) ||
	    renameat(p->staging_fd, staged, fd, FILE_NAME))
		err = error__set(error, -errno, "%s: cannot write " FILE_NAME ": %s", p->out,
				 strerror(errno));
	close(fd);
	return err;
}
