// SPDX-License-Identifier: GPL-2.0
/*
 * The spool: see spool.h.
 *
 * The owner of the directory is trusted not to name a file of someone else, and files of other
 * users are not sent: a hard link to a secret file would otherwise leave the machine as a trace.
 */
#include "ship/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/regular.h"

#define NS_PER_S 1000000000ull

/* By their time first, as files of several programs are sent in that order. */
static int compare(const struct spool_file *a, const struct spool_file *b)
{
	return strcmp(a->parts.start, b->parts.start) ?: strcmp(a->name, b->name);
}

static int compare_pointers(const void *a, const void *b)
{
	return compare(*(struct spool_file *const *)a, *(struct spool_file *const *)b);
}

/* Among the first `n`, which are sorted. */
static struct spool_file *find(const struct spool *s, size_t n, char *name,
			       const struct place_parts *parts)
{
	const struct spool_file wanted = { .name = name, .parts = *parts }, *key = &wanted;
	struct spool_file **found =
		n ? bsearch(&key, s->file, n, sizeof(*s->file), compare_pointers) : NULL;

	return found ? *found : NULL;
}

bool spool__has(void *spool, const char *name)
{
	const struct spool *s = spool;
	struct place_parts parts;

	return place__split(name, &parts) && find(s, s->n, (char *)name, &parts);
}

static uint64_t mtime_of(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * NS_PER_S + (uint64_t)st->st_mtim.tv_nsec;
}

static bool is_same(const struct spool_file *f, const struct stat *st)
{
	return S_ISREG(st->st_mode) && f->dev == st->st_dev && f->ino == st->st_ino &&
	       f->bytes == (uint64_t)st->st_size && f->mtime_ns == mtime_of(st);
}

static void describe(struct spool_file *f, const struct stat *st)
{
	f->dev = st->st_dev;
	f->ino = st->st_ino;
	f->bytes = (uint64_t)st->st_size;
	f->mtime_ns = mtime_of(st);
	f->state = SPOOL_WAITING;
	f->tries = f->differed = 0;
	f->not_before = 0;
}

static void note_accepted(struct spool_file *f, const struct journal *j)
{
	const struct journal_file about = { f->name, f->bytes, f->mtime_ns };

	if (journal__has(j, &about))
		f->state = SPOOL_ACCEPTED;
}

static int add(struct spool *s, const char *name, const struct place_parts *parts,
	       const struct stat *st, const struct journal *j)
{
	struct spool_file *f;

	if (array__grow(&s->file, s->n, &s->cap, sizeof(*s->file)))
		return -ENOMEM;
	f = calloc(1, sizeof(*f));
	if (!f || !(f->name = strdup(name))) {
		free(f);
		return -ENOMEM;
	}
	f->parts = *parts;
	f->present = true;
	describe(f, st);
	note_accepted(f, j);
	s->file[s->n++] = f;
	return 0;
}

/* `before`: the number of files of the last scan. */
static int take_name(struct spool *s, const char *name, size_t before, const struct journal *j)
{
	struct place_parts parts;
	struct spool_file *f;
	struct stat st;

	if (!file_name__is_ours(name))
		return 0;
	if (!place__split(name, &parts)) {
		s->other_names++;
		return 0;
	}
	if (fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return 0;
	f = find(s, before, (char *)name, &parts);
	if (!f)
		return s->n < SPOOL_FILES_MAX ? add(s, name, &parts, &st, j) : 0;
	f->present = true;
	if (f->state != SPOOL_SENDING && !is_same(f, &st)) {
		describe(f, &st);
		note_accepted(f, j);
	}
	return 0;
}

static void drop(struct spool_file *f)
{
	free(f->name);
	free(f);
}

static void drop_missing(struct spool *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct spool_file *f = s->file[i];

		if (f->present || f->state == SPOOL_SENDING) {
			s->file[n++] = f;
			continue;
		}
		s->lost += f->state != SPOOL_ACCEPTED;
		drop(f);
	}
	s->n = n;
}

static void count_states(struct spool *s)
{
	memset(s->count, 0, sizeof(s->count));
	for (size_t i = 0; i < s->n; i++)
		s->count[s->file[i]->state]++;
	s->first = 0;
}

static int read_names(struct spool *s, DIR *in, const struct journal *j)
{
	size_t before = s->n;
	struct dirent *entry;
	int err = 0;

	for (size_t i = 0; i < before; i++)
		s->file[i]->present = false;
	s->other_names = 0;
	while (!err && (errno = 0, entry = readdir(in)))
		err = take_name(s, entry->d_name, before, j);
	return err ?: -errno;
}

int spool__scan(struct spool *s, const struct journal *j, struct error *error)
{
	int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	DIR *in = fd < 0 ? NULL : fdopendir(fd);

	if (!in) {
		err = -errno;
		if (fd >= 0)
			close(fd);
	} else {
		err = read_names(s, in, j);
		closedir(in);
	}
	if (!err)
		drop_missing(s);
	array__sort(s->file, s->n, sizeof(*s->file), compare_pointers);
	count_states(s);
	return err ? error__set(error, err, "cannot read the directory %s: %s", s->path,
				strerror(-err)) :
		     0;
}

void spool__set(struct spool *s, struct spool_file *file, enum spool_state state)
{
	s->count[file->state]--;
	s->count[state]++;
	file->state = state;
	if (state == SPOOL_WAITING)
		s->first = 0;
}

size_t spool__first(struct spool *s)
{
	while (s->first < s->n && s->file[s->first]->state != SPOOL_WAITING)
		s->first++;
	return s->first;
}

int spool__open_file(const struct spool *s, const struct spool_file *file, struct error *error)
{
	char root[40], name[FILE_NAME_SIZE + 1];
	struct stat st;
	int fd;

	snprintf(root, sizeof(root), "/proc/self/fd/%d", s->dir);
	snprintf(name, sizeof(name), "/%s", file->name);
	fd = regular__open_below(root, name, error);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !is_same(file, &st)) {
		close(fd);
		return error__set(error, -ENOENT, "the file was replaced");
	}
	if (st.st_uid != s->owner) {
		close(fd);
		return error__set(error, -EPERM,
				  "the file and the directory belong to different users");
	}
	return fd;
}

int spool__remove(const struct spool *s, const struct spool_file *file)
{
	struct stat st;

	if (fstatat(s->dir, file->name, &st, AT_SYMLINK_NOFOLLOW) || !is_same(file, &st))
		return 0;
	return unlinkat(s->dir, file->name, 0) && errno != ENOENT ? -errno : 0;
}

int spool__open(struct spool *ret, const char *path, struct error *error)
{
	struct stat st;

	*ret = (struct spool){ .dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	if (ret->dir < 0 || fstat(ret->dir, &st))
		return error__set(error, -errno, "cannot open the directory %s: %s", path,
				  strerror(errno));
	if (st.st_mode & 022)
		return error__set(error, -EPERM,
				  "%s: other users can put files into the directory; use chmod "
				  "go-w %s",
				  path, path);
	ret->owner = st.st_uid;
	ret->path = strdup(path);
	return ret->path ? 0 : error__set(error, -ENOMEM, "out of memory");
}

void spool__close(struct spool *s)
{
	for (size_t i = 0; i < s->n; i++)
		drop(s->file[i]);
	free(s->file);
	free(s->path);
	if (s->dir >= 0)
		close(s->dir);
}
