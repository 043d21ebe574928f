// SPDX-License-Identifier: GPL-2.0
/*
 * Directories of Parquet files: see parquet_place.h.
 */
#include "sql/parquet_place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sql/parquet_tables.h"
#include "sql/temporary.h"
#include "writer/output_owner.h"

#define STAGING	  ".gotrace-"
#define UNKNOWN	  "__HIVE_DEFAULT_PARTITION__"
#define NAME_LEN  200 /* bytes of a value in the name of a directory */
#define NAME_SIZE (NAME_LEN + 48)
#define FILE_NAME "rows.parquet"
#define LETTERS	  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

struct parquet_place {
	const char *out; /* for messages; borrowed */
	int fd;		 /* of OUT */
	char staging[PATH_MAX];
	int staging_fd;
};

static int make_out(struct parquet_place *p)
{
	const struct timespec begin = output_owner__now();
	bool made = !mkdir(p->out, 0777);
	char path[PATH_MAX];

	if ((!made && errno != EEXIST) || !realpath(p->out, path))
		return -errno;
	p->fd = open(path, (made ? O_RDONLY : O_PATH) | O_DIRECTORY | O_CLOEXEC);
	if (p->fd < 0)
		return -errno;
	if (made)
		output_owner__give_dir(p->fd, &begin);
	return temporary__create(path, STAGING, p->staging, &p->staging_fd);
}

int parquet_place__create(struct parquet_place **ret, const char *out, struct error *error)
{
	struct parquet_place *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return producer__out_of_memory(error);
	p->out = out;
	p->fd = -1;
	err = make_out(p);
	if (!err) {
		*ret = p;
		return 0;
	}
	parquet_place__destroy(p);
	return error__set(error, err, "%s: cannot create the directory: %s", out, strerror(-err));
}

void parquet_place__destroy(struct parquet_place *p)
{
	if (!p)
		return;
	if (p->staging[0])
		temporary__end();
	if (p->fd >= 0)
		close(p->fd);
	free(p);
}

const char *parquet_place__staging(const struct parquet_place *p)
{
	return p->staging;
}

/* The end of a name that is too long for a directory, without half a character. */
static const char *last_part(const char *value)
{
	size_t len = 0;
	const char *p = value + strlen(value);

	while (p > value && len + 3 <= NAME_LEN)
		len += strchr(LETTERS, *--p) ? 1 : 3;
	while (p > value && (*p & 0xc0) == 0x80)
		p++;
	return p;
}

/* FNV-1a: of the whole name, in place of its begin, so that names with the same end differ. */
static uint64_t sum_of(const char *value)
{
	uint64_t sum = 0xcbf29ce484222325u;

	for (; *value; value++)
		sum = (sum ^ (unsigned char)*value) * 0x100000001b3u;
	return sum;
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
	const char *end;

	if (!value || !value[0])
		value = UNKNOWN;
	else if (means_null(value))
		n += (size_t)snprintf(ret + n, NAME_SIZE - n, "%%%02X", (unsigned char)*value++);
	end = last_part(value);
	if (end != value)
		n += (size_t)snprintf(ret + n, NAME_SIZE - n, "%016" PRIx64 "-", sum_of(value));
	for (value = end; *value; value++)
		n += (size_t)snprintf(ret + n, NAME_SIZE - n,
				      strchr(LETTERS, *value) ? "%c" : "%%%02X",
				      (unsigned char)*value);
}

/*
 * Descends into a directory, which it creates if `make` is set. Closes `fd` unless it is that of OUT.
 */
static int enter(const struct parquet_place *p, int fd, const char *name, bool make)
{
	int sub;

	if (fd < 0)
		return fd;
	if (make)
		sub = output_owner__open_dir(fd, name, 0777);
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
			   const struct source *source, bool make)
{
	char name[NAME_SIZE], date[16] = "", hour[8] = "";
	int64_t day, of_day;
	struct tm tm;
	time_t seconds;
	int fd = enter(p, p->fd, table, make);

	if (source__hour(source, &day, &of_day)) {
		seconds = (time_t)(day * 86400);
		if (gmtime_r(&seconds, &tm))
			strftime(date, sizeof(date), "%Y-%m-%d", &tm);
		snprintf(hour, sizeof(hour), "%d", (int)of_day);
	}
	partition_name(name, "date", date);
	fd = enter(p, fd, name, make);
	partition_name(name, "hour", hour);
	fd = enter(p, fd, name, make);
	partition_name(name, "host", source->host);
	fd = enter(p, fd, name, make);
	partition_name(name, "service", source->service);
	fd = enter(p, fd, name, make);
	partition_name(name, "file", source->file);
	return enter(p, fd, name, make);
}

/* An earlier export of the trace may have had rows. */
static int remove_earlier(struct parquet_place *p, const char *table, const struct source *source,
			  struct error *error)
{
	int fd = enter_partition(p, table, source, false), err = 0;

	if (fd < 0)
		return 0;
	if (unlinkat(fd, FILE_NAME, 0) && errno != ENOENT)
		err = error__set(error, -errno, "%s: cannot remove " FILE_NAME " of %s: %s", p->out,
				 table, strerror(errno));
	close(fd);
	return err;
}

/* The engine has created the file by its name, in a directory that only this user can enter. */
static void give(const struct parquet_place *p, const char *staged, int fd)
{
	struct stat st;
	int file;

	if (!output_owner__is_set())
		return;
	file = openat(p->staging_fd, staged, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file < 0)
		return;
	if (!fstat(file, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1)
		output_owner__give(file, fd);
	close(file);
}

int parquet_place__put(struct parquet_place *p, size_t trace, const struct table *table,
		       const struct source *source, bool empty, struct error *error)
{
	char staged[PARQUET_NAME];
	int fd, err = 0;

	if (empty)
		return remove_earlier(p, table->name, source, error);
	fd = enter_partition(p, table->name, source, true);
	if (fd < 0)
		return error__set(error, fd, "%s: cannot create directories: %s", p->out,
				  strerror(-fd));
	parquet_tables__name(staged, trace, table);
	give(p, staged, fd);
	/* as private as the trace that it was made of */
	if (fchmodat(p->staging_fd, staged, 0600, 0) ||
	    renameat(p->staging_fd, staged, fd, FILE_NAME))
		err = error__set(error, -errno, "%s: cannot write " FILE_NAME ": %s", p->out,
				 strerror(errno));
	close(fd);
	return err;
}
