// SPDX-License-Identifier: GPL-2.0
/*
 * The directory of a continuous recording: see folder.h.
 *
 * The index is read again before each change, since another recorder may have changed it. Its lines
 * name files to be removed, so it is trusted only if no other user can have written it, and even
 * then only with names that a recorder makes, in this directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "flight/folder.h"
#include "lib/array.h"
#include "lib/outbuf.h"
#include "writer/output_file.h"
#include "writer/output_owner.h"
#include "writer/output_place.h"

#define TITLE	    "# gotrace-bpf index 1: file\tbytes\tevents\tstart\tfrom_ns\tto_ns\n"
#define LOCK	    ".index.lock"
#define FILES_MAX   10000
#define INDEX_MAX   (8u << 20) /* bytes; a line has at most 400 */
#define LOCK_PAUSE  10000      /* us */
#define LOCK_TRIES  1000
#define ROOM_TRIES  20 /* of both locks: the caller also drains the rings */
#define FOLDER_MODE 0700
#define OPEN_FLAGS  (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

struct folder {
	char *path;
	int dir;
	uint64_t keep;
	pthread_mutex_t busy;	  /* of all below; one thread at a time changes the index */
	struct folder_file *file; /* while the lock is held: the lines, oldest first */
	size_t n, cap;
	struct folder_file *unlisted; /* complete files, but the index could not be changed */
	size_t nunlisted, unlisted_cap;
};

static int failed(const struct folder *f, int err, struct error *error)
{
	return error__set(error, err, "cannot update %s/" FOLDER_INDEX ": %s", f->path,
			  strerror(-err));
}

/* ---- reading ---- */

/* "2026-11-26T11:58:03.123456789Z": only for people; from_ns and to_ns are exact. */
static void format_time(char ret[40], uint64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / 1000000000);
	struct tm tm;
	size_t at = 0;

	if (gmtime_r(&seconds, &tm))
		at = strftime(ret, 40, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(ret + at, 40 - at, ".%09" PRIu64 "Z", wall_ns % 1000000000);
}

/* The number up to the next tab, or the end of the line. */
static bool parse_number(char **at, uint64_t *ret)
{
	char *text = strsep(at, "\t"), *end;

	if (!text || !*text || text[strspn(text, "0123456789")])
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return !errno;
}

static bool parse_line(char *line, struct folder_file *ret)
{
	char *at = line, *name = strsep(&at, "\t"), *start;
	struct tm tm = {};

	if (!name || !file_name__is_ours(name) || !parse_number(&at, &ret->bytes) ||
	    !parse_number(&at, &ret->events))
		return false;
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	start = strsep(&at, "\t");
	start = start ? strptime(start, "%Y-%m-%dT%H:%M:%S.", &tm) : NULL;
	if (!start || strspn(start, "0123456789") != 9 || strcmp(start + 9, "Z"))
		return false;
	ret->wall_ns = (uint64_t)timegm(&tm) * 1000000000 + strtoull(start, NULL, 10);
	return parse_number(&at, &ret->from) && parse_number(&at, &ret->to) && !at;
}

static int parse(struct folder *f, char *text, struct error *error)
{
	char *line = strsep(&text, "\n");
	unsigned int number = 1;

	f->n = 0;
	if (!line || strncmp(line, TITLE, strlen(TITLE) - 1))
		return error__set(error, -EBADMSG,
				  "%s/" FOLDER_INDEX
				  " is not an index of gotrace-bpf; move it away",
				  f->path);
	while ((line = strsep(&text, "\n")) && (*line || text)) {
		number++;
		if (array__grow(&f->file, f->n, &f->cap, sizeof(*f->file)))
			return error__set(error, -ENOMEM, "out of memory");
		if (f->n == FILES_MAX || !parse_line(line, &f->file[f->n]))
			return error__set(error, -EBADMSG,
					  "%s/" FOLDER_INDEX
					  ": line %u is invalid; move the file away",
					  f->path, number);
		f->n++;
	}
	return 0;
}

/* The index as a text; *ret is NULL if there is none. */
static int read_text(const struct folder *f, int fd, char **ret, struct error *error)
{
	struct stat st;
	ssize_t len;

	if (fstat(fd, &st))
		return failed(f, -errno, error);
	if (!S_ISREG(st.st_mode) || !output_owner__is_trusted(st.st_uid, f->dir) ||
	    st.st_mode & 022)
		return error__set(error, -EPERM,
				  "%s/" FOLDER_INDEX
				  " is not a regular file that only this user, or the owner of "
				  "the directory, can write; move it away",
				  f->path);
	if (st.st_size > INDEX_MAX)
		return failed(f, -EFBIG, error);
	*ret = malloc(INDEX_MAX + 1);
	if (!*ret)
		return error__set(error, -ENOMEM, "out of memory");
	len = pread(fd, *ret, INDEX_MAX, 0); /* regular files are read at once */
	if (len < 0)
		return failed(f, -errno, error);
	(*ret)[len] = '\0';
	return strlen(*ret) == (size_t)len ? 0 : failed(f, -EBADMSG, error);
}

static int read_index(struct folder *f, struct error *error)
{
	int fd = openat(f->dir, FOLDER_INDEX,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC),
	    err;
	char *text = NULL;

	f->n = 0;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return failed(f, -errno, error);
	err = read_text(f, fd, &text, error);
	if (!err)
		err = parse(f, text, error);
	free(text);
	close(fd);
	return err;
}

/* ---- writing ---- */

static int write_index(struct folder *f, struct error *error)
{
	struct trace_file *out;
	char line[FILE_NAME_SIZE + 200], start[40];
	struct outbuf text = {};
	int err = outbuf__put(&text, TITLE, strlen(TITLE), NULL);

	for (size_t i = 0; !err && i < f->n; i++) {
		const struct folder_file *l = &f->file[i];

		format_time(start, l->wall_ns);
		snprintf(line, sizeof(line),
			 "%s\t%" PRIu64 "\t%" PRIu64 "\t%s\t%" PRIu64 "\t%" PRIu64 "\n", l->name,
			 l->bytes, l->events, start, l->from, l->to);
		err = outbuf__put(&text, line, strlen(line), NULL);
	}
	err = err ?: trace_file__open_in(&out, f->dir, FOLDER_INDEX);
	if (!err) {
		err = trace_file__append(out, text.data, text.len);
		err = err ?: trace_file__commit(out);
		if (err)
			trace_file__discard(out);
		trace_file__destroy(out);
	}
	outbuf__deinit(&text);
	return err ? failed(f, err, error) : 0;
}

/* ---- removing ---- */

static bool exists(const struct folder *f, const char *name)
{
	struct stat st;

	return !fstatat(f->dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
}

/* Leaves out the lines of files that no longer exist. */
static void forget_missing(struct folder *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		if (exists(f, f->file[i].name))
			f->file[n++] = f->file[i];
	f->n = n;
}

static uint64_t total(const struct folder *f)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < f->n; i++)
		sum = sum + f->file[i].bytes < sum ? UINT64_MAX : sum + f->file[i].bytes;
	return sum;
}

static int remove_oldest(struct folder *f, uint64_t limit, struct error *error)
{
	uint64_t sum = total(f);
	size_t first = 0;
	int err = 0;

	for (; first < f->n && (sum > limit || f->n - first > FILES_MAX); first++) {
		if (unlinkat(f->dir, f->file[first].name, 0) && errno != ENOENT) {
			err = error__set(error, -errno, "cannot remove %s/%s: %s", f->path,
					 f->file[first].name, strerror(errno));
			break;
		}
		sum -= f->file[first].bytes;
	}
	if (first)
		memmove(f->file, f->file + first, (f->n - first) * sizeof(*f->file));
	f->n -= first;
	return err;
}

/* ---- the directory ---- */

/* Opens the directory where the walk through the path ended, and creates it if it is missing. */
static int open_place(const struct file_place *place)
{
	if (place->exists && !S_ISDIR(place->mode))
		return -ENOTDIR;
	return output_owner__open_dir(place->dir, place->name, FOLDER_MODE);
}

/* Links in the path are followed by the rule of writer/output_place.c. Returns a descriptor. */
static int open_dir(const char *path)
{
	struct file_place place;
	int dir = file_place__find(&place, path);

	if (dir == -EISDIR) { /* "." or "..", which is not a link */
		dir = open(path, OPEN_FLAGS);
		return dir < 0 ? -errno : dir;
	}
	if (dir)
		return dir;
	dir = open_place(&place);
	close(place.dir);
	return dir;
}

bool folder__is_removed(const struct folder *f)
{
	struct stat st;

	return !fstat(f->dir, &st) && !st.st_nlink;
}

/* Creates it again if it was removed. The descriptor keeps its number, which other threads use. */
static int restore(const struct folder *f)
{
	int dir, err;

	if (!folder__is_removed(f))
		return 0;
	dir = open_dir(f->path);
	if (dir < 0)
		return dir;
	err = dup3(dir, f->dir, O_CLOEXEC) < 0 ? -errno : 0;
	close(dir);
	return err;
}

int folder__create(const struct folder *f, const struct file_target *target, const char *cause,
		   struct folder_file *file, struct trace_file **ret)
{
	uint64_t wall_ns = file->wall_ns;
	int err = restore(f);
	struct stat st;

	do {
		file_name__make(file->name, target, wall_ns, cause);
		wall_ns += 1000000;
	} while (!err && !fstatat(f->dir, file->name, &st, AT_SYMLINK_NOFOLLOW));
	return err ? err : trace_file__open_in(ret, f->dir, file->name);
}

/* ---- changing the index ---- */

/* The directory itself cannot be the lock: each user who can read a directory can lock it. */
static int create_lock(const struct folder *f)
{
	const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int fd = openat(f->dir, LOCK, flags | O_CREAT | O_EXCL, 0600);

	if (fd >= 0)
		output_owner__give(fd, f->dir);
	else if (errno == EEXIST)
		fd = openat(f->dir, LOCK, flags);
	return fd;
}

static int open_lock(const struct folder *f, struct error *error)
{
	int fd = create_lock(f);
	struct stat st;

	if (fd < 0)
		return error__set(error, -errno, "cannot open %s/" LOCK ": %s", f->path,
				  strerror(errno));
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && output_owner__is_trusted(st.st_uid, f->dir) &&
	    !(st.st_mode & 077))
		return fd;
	close(fd);
	return error__set(error, -EPERM,
			  "%s/" LOCK
			  " is not a regular file that only this user, or the owner of the "
			  "directory, can open; move it away",
			  f->path);
}

/* Returns a descriptor; closing it releases the lock. */
static int lock(const struct folder *f, int tries, struct error *error)
{
	int fd = open_lock(f, error), err = -EBUSY;

	if (fd < 0)
		return fd;
	for (int i = 0; i < tries; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return fd;
		err = -errno;
		if (err != -EWOULDBLOCK)
			break;
		usleep(LOCK_PAUSE);
	}
	close(fd);
	return error__set(error, err,
			  "cannot update %s/" FOLDER_INDEX ": cannot lock %s/" LOCK ": %s", f->path,
			  f->path, strerror(-err));
}

static int append_line(struct folder_file **to, size_t *n, size_t *cap,
		       const struct folder_file *file, struct error *error)
{
	if (array__grow(to, *n, cap, sizeof(**to)))
		return error__set(error, -ENOMEM, "out of memory");
	(*to)[(*n)++] = *file;
	return 0;
}

/* An index that cannot be read has no lines: then the limit holds for the unlisted files alone. */
static int read_lines(struct folder *f, struct error *error)
{
	int err = read_index(f, error), failed = 0;

	if (err)
		f->n = 0;
	for (size_t i = 0; !failed && i < f->nunlisted; i++)
		failed = append_line(&f->file, &f->n, &f->cap, &f->unlisted[i], error);
	forget_missing(f);
	return failed ?: err;
}

static void keep_unlisted(struct folder *f)
{
	struct folder_file *old = f->unlisted;
	size_t old_cap = f->unlisted_cap;

	f->unlisted = f->file;
	f->nunlisted = f->n;
	f->unlisted_cap = f->cap;
	f->file = old;
	f->n = 0;
	f->cap = old_cap;
}

static int add_lines(struct folder *f, struct error *error)
{
	int err = read_lines(f, error), removed, written;

	if (err == -ENOMEM)
		return err;
	removed = remove_oldest(f, f->keep ? f->keep / 4 * 3 : UINT64_MAX, error);
	if (err) {
		keep_unlisted(f);
		return err;
	}
	/* Also after a failure: what is not there any more must not be listed. */
	written = write_index(f, error);
	if (!written)
		f->nunlisted = 0;
	return written ?: removed;
}

int folder__add(struct folder *f, const struct folder_file *file, struct error *error)
{
	int err, held;

	pthread_mutex_lock(&f->busy);
	err = append_line(&f->unlisted, &f->nunlisted, &f->unlisted_cap, file, error);
	held = err ? err : lock(f, LOCK_TRIES, error);
	if (held >= 0) {
		err = add_lines(f, error);
		close(held);
	}
	pthread_mutex_unlock(&f->busy);
	return held < 0 ? held : err;
}

static int make_room(struct folder *f, uint64_t bytes)
{
	int err = read_lines(f, NULL);
	uint64_t sum = total(f);
	size_t n = f->n;

	if (!err)
		err = remove_oldest(f, sum > bytes ? sum - bytes : 0, NULL);
	if (f->n == n)
		return err ?: -ENOENT;
	if (!write_index(f, NULL)) /* otherwise the next change leaves the lines out */
		f->nunlisted = 0;
	return 0;
}

int folder__make_room(struct folder *f, uint64_t bytes)
{
	int tries = 0, err, held;

	while (pthread_mutex_trylock(&f->busy)) {
		if (++tries == ROOM_TRIES)
			return -EBUSY;
		usleep(LOCK_PAUSE);
	}
	err = held = lock(f, ROOM_TRIES, NULL);
	if (held >= 0) {
		err = make_room(f, bytes);
		close(held);
	}
	pthread_mutex_unlock(&f->busy);
	return err;
}

/* ---- the folder ---- */

static int open_folder(struct folder *f, struct error *error)
{
	int err;

	for (size_t len = strlen(f->path); len > 1 && f->path[len - 1] == '/'; len--)
		f->path[len - 1] = '\0';
	f->dir = open_dir(f->path);
	err = f->dir < 0 ? f->dir : 0;
	if (!err && faccessat(f->dir, ".", W_OK, AT_EACCESS))
		err = -errno;
	if (!err)
		return read_index(f, error);
	return error__set(error, err, "cannot write to the directory %s: %s", f->path,
			  err == -ENOLINK ? "a symbolic link in the path belongs to another user" :
					    strerror(-err));
}

int folder__open(struct folder **ret, const char *path, uint64_t keep, struct error *error)
{
	struct folder *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return error__set(error, -ENOMEM, "out of memory");
	f->dir = -1;
	f->keep = keep;
	pthread_mutex_init(&f->busy, NULL);
	f->path = strdup(path);
	err = f->path ? open_folder(f, error) : error__set(error, -ENOMEM, "out of memory");
	if (err) {
		folder__close(f);
		return err;
	}
	*ret = f;
	return 0;
}

void folder__close(struct folder *f)
{
	if (!f)
		return;
	if (f->dir >= 0)
		close(f->dir);
	pthread_mutex_destroy(&f->busy);
	free(f->path);
	free(f->file);
	free(f->unlisted);
	free(f);
}

const char *folder__path(const struct folder *f)
{
	return f->path;
}

bool folder__is_of_other(const struct folder *f)
{
	struct stat st;

	return !fstat(f->dir, &st) && !(st.st_uid == geteuid() && (st.st_mode & 0300) == 0300) &&
	       (st.st_mode & 01003) != 0003;
}
