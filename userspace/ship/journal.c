// SPDX-License-Identifier: GPL-2.0
/*
 * The journal of a spool: see journal.h.
 */
#include "ship/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flight/file_name.h"
#include "lib/array.h"
#include "lib/outbuf.h"

#define TITLE	  "# gotrace ship journal 1: "
#define FILE_MAX  (32u << 20) /* bytes; a line has at most 400 */
#define LINE_SIZE (FILE_NAME_SIZE + 144)
#define SLACK	  1000 /* lines that are not needed */

struct journal {
	int fd;
	char *name;    /* for messages */
	char *title;   /* a line */
	char *text;    /* of the file as it was opened; lines point into it */
	char **sorted; /* its lines, without their ends */
	size_t n, cap;
	size_t lines; /* in the file */
	uint64_t end; /* of the last complete line */
};

static int failed(const struct journal *j, int err, struct error *error)
{
	return error__set(error, err, "cannot write the journal %s: %s", j->name, strerror(-err));
}

/* The part of a line that identifies a file; the checksum follows. */
static size_t format_file(char *to, size_t size, const struct journal_file *file)
{
	return (size_t)snprintf(to, size, "%s\t%" PRIu64 "\t%" PRIu64 "\t", file->name, file->bytes,
				file->mtime_ns);
}

/* ---- reading ---- */

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool journal__has(const struct journal *j, const struct journal_file *file)
{
	char wanted[LINE_SIZE];
	size_t len = format_file(wanted, sizeof(wanted), file), low = 0, high = j->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strncmp(j->sorted[middle], wanted, len);

		if (!order)
			return true;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* The last line counts only if it is complete: then its file was accepted. */
static int split(struct journal *j, char *text, size_t len, struct error *error)
{
	char *line = text, *end;

	for (; (end = memchr(line, '\n', (size_t)(text + len - line))); line = end + 1) {
		*end = '\0';
		j->lines++;
		j->end = (uint64_t)(end + 1 - text);
		if (array__grow(&j->sorted, j->n, &j->cap, sizeof(*j->sorted)))
			return error__set(error, -ENOMEM, "out of memory");
		j->sorted[j->n++] = line;
	}
	array__sort(j->sorted, j->n, sizeof(*j->sorted), compare_lines);
	return 0;
}

static int check_owner(const struct journal *j, struct stat *ret, struct error *error)
{
	if (fstat(j->fd, ret))
		return error__set(error, -errno, "%s: %s", j->name, strerror(errno));
	if (!S_ISREG(ret->st_mode) || ret->st_uid != geteuid() || ret->st_mode & 022)
		return error__set(error, -EPERM,
				  "%s: must be a regular file that only this user can write",
				  j->name);
	return 0;
}

static int write_all(struct journal *j, const char *text, size_t len, struct error *error)
{
	ssize_t n;

	for (; len; text += n, len -= (size_t)n, j->end += (uint64_t)n) {
		n = pwrite(j->fd, text, len, (off_t)j->end);
		if (n < 0)
			return failed(j, -errno, error);
	}
	return fdatasync(j->fd) ? failed(j, -errno, error) : 0;
}

/* Replaces the content of the file. */
static int write_again(struct journal *j, const char *text, size_t len, struct error *error)
{
	if (ftruncate(j->fd, 0))
		return failed(j, -errno, error);
	j->end = 0;
	return write_all(j, text, len, error);
}

/*
 * Begun again if it is too large, which none of ours is, or if the title was not written completely;
 * but never a file that does not begin as this journal: the name may be that of another file.
 */
static int read_file(struct journal *j, struct error *error)
{
	ssize_t title = (ssize_t)strlen(j->title), len;
	struct stat st;
	int err = check_owner(j, &st, error);

	if (err)
		return err;
	len = st.st_size > FILE_MAX ? FILE_MAX : st.st_size;
	j->text = malloc((size_t)len + 1);
	if (!j->text)
		return error__set(error, -ENOMEM, "out of memory");
	len = pread(j->fd, j->text, (size_t)len, 0);
	if (len < 0)
		return error__set(error, -errno, "%s: %s", j->name, strerror(errno));
	j->text[len] = '\0';
	if (memcmp(j->text, j->title, (size_t)(len < title ? len : title)))
		return error__set(error, -EEXIST,
				  "%s is the journal of another destination, or another file; name "
				  "another one with --journal FILE, or remove it",
				  j->name);
	if (len < title || st.st_size > FILE_MAX)
		return write_again(j, j->title, (size_t)title, error);
	return split(j, j->text, (size_t)len, error);
}

static int open_file(struct journal *j, int dir, const char *name, struct error *error)
{
	j->fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
		       0600);
	if (j->fd < 0)
		return error__set(error, -errno, "cannot open the journal %s: %s", j->name,
				  strerror(errno));
	if (flock(j->fd, LOCK_EX | LOCK_NB))
		return error__set(error, -EBUSY,
				  "%s: another 'gotrace ship' sends these files; use --journal "
				  "FILE to send them to two places",
				  j->name);
	return read_file(j, error);
}

int journal__open(struct journal **ret, int dir, const char *name, const char *to,
		  struct error *error)
{
	struct journal *j = calloc(1, sizeof(*j));
	int err = -ENOMEM;

	if (!j)
		return error__set(error, -ENOMEM, "out of memory");
	j->fd = -1;
	j->name = strdup(name);
	if (!j->name || asprintf(&j->title, TITLE "%s\n", to) < 0)
		error__set(error, err, "out of memory");
	else
		err = open_file(j, dir, name, error);
	if (err) {
		journal__close(j);
		return err;
	}
	*ret = j;
	return 0;
}

void journal__close(struct journal *j)
{
	if (!j)
		return;
	if (j->fd >= 0)
		close(j->fd);
	free(j->name);
	free(j->title);
	free(j->text);
	free(j->sorted);
	free(j);
}

/* ---- writing ---- */

int journal__add(struct journal *j, const struct journal_file *file, const char *sha256,
		 struct error *error)
{
	char line[LINE_SIZE];
	size_t len = format_file(line, sizeof(line), file);

	len += (size_t)snprintf(line + len, sizeof(line) - len, "%s\n", sha256);
	j->lines++;
	return write_all(j, line, len, error);
}

static bool is_needed(const char *line, bool (*is_kept)(void *ctx, const char *name), void *ctx)
{
	char name[FILE_NAME_SIZE];
	size_t len = strcspn(line, "\t");

	if (!line[len] || len >= sizeof(name))
		return false;
	memcpy(name, line, len);
	name[len] = '\0';
	return is_kept(ctx, name);
}

/* The lines in the file, including those that were added since it was opened. */
static int collect(const struct journal *j, struct outbuf *to,
		   bool (*is_kept)(void *ctx, const char *name), void *ctx, size_t *ret_lines)
{
	FILE *in = fdopen(dup(j->fd), "r");
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int err = in ? outbuf__put(to, j->title, strlen(j->title), NULL) : -ENOMEM;

	*ret_lines = 1;
	if (in)
		rewind(in);
	while (!err && (len = getline(&line, &size, in)) > 0) {
		if (!is_needed(line, is_kept, ctx))
			continue;
		err = outbuf__put(to, line, (size_t)len, NULL);
		(*ret_lines)++;
	}
	free(line);
	if (in)
		fclose(in);
	return err;
}

int journal__trim(struct journal *j, size_t files, bool (*is_kept)(void *ctx, const char *name),
		  void *ctx, struct error *error)
{
	struct outbuf text = {};
	size_t lines;
	int err;

	if (j->lines < 2 * files + SLACK)
		return 0;
	err = collect(j, &text, is_kept, ctx, &lines);
	if (err)
		error__set(error, err, "out of memory");
	else
		err = write_again(j, text.data, text.len, error);
	if (!err)
		j->lines = lines;
	outbuf__deinit(&text);
	return err;
}
