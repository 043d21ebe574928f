// SPDX-License-Identifier: GPL-2.0
/*
 * The output file: written beside, synced, renamed.
 *
 * Before it in an event's way: generation.c, which appends a whole generation at a time. Nothing
 * comes after it.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/file.h"

#define LINKS_MAX 40   /* as the kernel follows */
#define IOV_BATCH 1024 /* IOV_MAX: what one writev() takes */
#define STALL_MS 1000  /* a reader's pause that a stop outwaits */

struct trace_file {
	int fd;
	int dir;	      /* PATH's directory; -1: written directly */
	bool regular;	      /* can be cut back */
	bool paced;	      /* a reader sets the pace: no write may block */
	int stop_fd;	      /* -1: none */
	bool done;	      /* renamed, or left for the user after a failed commit */
	uint64_t start;	      /* stdout may stand in the midst of a file */
	uint64_t size;	      /* appended so far */
	char *name, *partial; /* in dir */
};

/* Follows symbolic links by hand, because the last one may lead to a file not there yet. */
static int resolve(const char *path, char ret[PATH_MAX])
{
	char link[PATH_MAX], dir[PATH_MAX];
	ssize_t len;
	int i;

	if (snprintf(ret, PATH_MAX, "%s", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	for (i = 0; i < LINKS_MAX; i++) {
		len = readlink(ret, link, sizeof(link) - 1);
		if (len < 0)
			return errno == EINVAL || errno == ENOENT ? 0 : -errno;
		link[len] = '\0';
		memcpy(dir, ret, PATH_MAX);
		len = link[0] == '/' ? snprintf(ret, PATH_MAX, "%s", link)
				     : snprintf(ret, PATH_MAX, "%s/%s", dirname(dir), link);
		if (len >= PATH_MAX)
			return -ENAMETOOLONG;
	}
	return -ELOOP;
}

static int open_direct(struct trace_file *f, const char *path)
{
	struct stat st;
	off_t at;

	if (!strcmp(path, "-"))
		f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (f->fd < 0 || fstat(f->fd, &st))
		return -errno;
	f->paced = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || isatty(f->fd);
	if (S_ISREG(st.st_mode)) {
		f->regular = true;
		at = fcntl(f->fd, F_GETFL) & O_APPEND ? st.st_size : lseek(f->fd, 0, SEEK_CUR);
		f->start = at < 0 ? 0 : at;
	}
	return 0;
}

/*
 * The lock says "being written". A file that was renamed or removed between our open and our lock
 * is another recorder's finished work: then the name is free, or another file's, and we try anew.
 */
static int lock_partial(struct trace_file *f)
{
	struct stat mine, there;

	if (fstat(f->fd, &mine))
		return -errno;
	if (!S_ISREG(mine.st_mode))
		return -EEXIST;
	if (flock(f->fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (fstatat(f->dir, f->partial, &there, AT_SYMLINK_NOFOLLOW) ||
	    there.st_ino != mine.st_ino || there.st_dev != mine.st_dev)
		return -EAGAIN;
	return ftruncate(f->fd, 0) ? -errno : 0;
}

static int open_partial(struct trace_file *f)
{
	/* Non-blocking: something else than a file may stand there, and must not hold us up. */
	int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
	int err;

	do {
		f->fd = openat(f->dir, f->partial, flags, 0644);
		if (f->fd < 0)
			return errno == ELOOP || errno == ENXIO || errno == EISDIR ? -EEXIST
										   : -errno;
		err = lock_partial(f);
		if (err) {
			close(f->fd);
			f->fd = -1;
		}
	} while (err == -EAGAIN);
	f->regular = true;
	return err;
}

static int open_beside(struct trace_file *f, const char *path)
{
	char target[PATH_MAX], dir[PATH_MAX];
	char *name;
	int err;

	err = resolve(path, target);
	if (err)
		return err;
	name = strrchr(target, '/');
	name = name ? name + 1 : target;
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return *target ? -EISDIR : -ENOENT;
	f->name = strdup(name);
	if (!f->name || asprintf(&f->partial, "%s.partial", name) < 0)
		return -ENOMEM;
	memcpy(dir, target, sizeof(dir));
	f->dir = open(dirname(dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->dir < 0)
		return -errno;
	return open_partial(f);
}

int trace_file__open(struct trace_file **ret, const char *path)
{
	struct trace_file *f = calloc(1, sizeof(*f));
	bool there;
	struct stat st;
	int err;

	if (!f)
		return -ENOMEM;
	f->fd = f->dir = f->stop_fd = -1;
	there = strcmp(path, "-") && !stat(path, &st);
	if (there && S_ISDIR(st.st_mode))
		err = -EISDIR;
	else if (!strcmp(path, "-") || (there && !S_ISREG(st.st_mode)))
		err = open_direct(f, path);
	else
		err = open_beside(f, path);
	if (err) {
		f->done = true; /* what stands at .partial is not ours */
		trace_file__destroy(f);
		return err;
	}
	*ret = f;
	return 0;
}

/*
 * Waits for the reader, and when the stop descriptor says so, no longer than a second. A pipe that can
 * be written takes PIPE_BUF bytes without blocking.
 */
static int wait_writable(const struct trace_file *f)
{
	struct pollfd p[] = {
		{ .fd = f->fd, .events = POLLOUT },
		{ .fd = f->stop_fd, .events = POLLIN },
	};

	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (p[0].revents)
			return 0;
		if (p[1].revents && poll(p, 1, STALL_MS) == 0)
			return -EINTR;
	}
}

static int write_all(const struct trace_file *f, const char *p, size_t len)
{
	ssize_t n;
	int err;

	while (len) {
		if (f->paced) {
			err = wait_writable(f);
			if (err)
				return err;
		}
		n = write(f->fd, p, f->paced && len > PIPE_BUF ? PIPE_BUF : len);
		if (n >= 0) {
			p += n;
			len -= n;
		} else if (errno != EINTR && errno != EAGAIN) {
			return -errno;
		}
	}
	return 0;
}

static int write_paced(const struct trace_file *f, const struct iovec *iov, size_t n)
{
	int err = 0;

	for (; n && !err; iov++, n--)
		err = write_all(f, iov->iov_base, iov->iov_len);
	return err;
}

/* As much as the file takes at once, then what is left of the vector it stopped in. */
static int write_vectors(const struct trace_file *f, const struct iovec *iov, size_t n)
{
	ssize_t done;
	int err;

	while (n) {
		done = writev(f->fd, iov, n < IOV_BATCH ? n : IOV_BATCH);
		if (done < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (done < 0)
			done = 0;
		while (n && (size_t)done >= iov->iov_len) {
			done -= iov->iov_len;
			iov++;
			n--;
		}
		if (!n)
			break;
		err = write_all(f, (const char *)iov->iov_base + done, iov->iov_len - done);
		if (err)
			return err;
		iov++;
		n--;
	}
	return 0;
}

/* Best effort: the error that brought us here is the one to report. */
static void cut_back(struct trace_file *f)
{
	off_t end = f->start + f->size;

	if (f->regular && !ftruncate(f->fd, end))
		lseek(f->fd, end, SEEK_SET);
}

int trace_file__appendv(struct trace_file *f, const struct iovec *iov, size_t n)
{
	size_t i, len = 0;
	int err;

	err = f->paced ? write_paced(f, iov, n) : write_vectors(f, iov, n);
	if (err) {
		cut_back(f);
		return err;
	}
	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	f->size += len;
	return 0;
}

int trace_file__append(struct trace_file *f, const void *data, size_t len)
{
	struct iovec iov = { (void *)data, len };

	return trace_file__appendv(f, &iov, 1);
}

void trace_file__interrupt(struct trace_file *f, int stop_fd)
{
	f->stop_fd = stop_fd;
}

uint64_t trace_file__size(const struct trace_file *f)
{
	return f->size;
}

/* Not every file or file system can be synced; only a failed sync is an error. */
static int sync_fd(int fd)
{
	if (!fsync(fd) || errno == EINVAL || errno == ENOTSUP || errno == EROFS)
		return 0;
	return -errno;
}

int trace_file__commit(struct trace_file *f)
{
	int err;

	if (f->done)
		return 0;
	f->done = true;
	err = sync_fd(f->fd);
	if (err || f->dir < 0)
		return err;
	if (renameat(f->dir, f->partial, f->dir, f->name))
		return -errno;
	return sync_fd(f->dir);
}

void trace_file__destroy(struct trace_file *f)
{
	if (!f)
		return;
	/* Before the lock goes with the descriptor. */
	if (!f->done && f->dir >= 0)
		unlinkat(f->dir, f->partial, 0);
	if (f->fd >= 0)
		close(f->fd);
	if (f->dir >= 0)
		close(f->dir);
	free(f->name);
	free(f->partial);
	free(f);
}
