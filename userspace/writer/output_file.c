// SPDX-License-Identifier: GPL-2.0
/*
 * The output file: written under a temporary name, synced and renamed. See output_file.h.
 *
 * Upstream: writer/writer.c, which appends whole generations; rawfile/ and the commands.
 * output_place.c resolves the path.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "writer/output_file.h"
#include "writer/output_owner.h"
#include "writer/output_place.h"

#define IOV_BATCH 1024 /* IOV_MAX: vectors per writev() */
#define STALL_MS  1000 /* how long a stop still waits for a slow reader */
#define KEPT_MAX  9    /* files of killed recorders kept per PATH */
#define TRIES	  100  /* attempts to create a .partial that others create too */
#define FILE_MODE 0600 /* like perf: logs and names may contain secrets */

struct trace_file {
	int fd;
	int dir;	      /* PATH's directory; -1: written directly */
	bool regular;	      /* can be truncated */
	bool paced;	      /* pipe, socket or terminal: writes must not block */
	int stop_fd;	      /* -1: none */
	bool done;	      /* renamed, or kept after a failed commit */
	uint64_t start;	      /* stdout may be in the middle of a file */
	uint64_t size;	      /* bytes appended */
	char *name, *partial; /* in dir */
	char *kept;	      /* new name of a killed recorder's .partial; NULL: none */
	bool kept_replaced;   /* kept replaced an older file */
};

/* Inspects the open descriptor of a target that is written directly. */
static int open_direct(struct trace_file *f)
{
	struct stat st;
	off_t at;

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

/* Returns -EAGAIN if `name` is another file by now. */
static int check_same_file(const struct trace_file *f, int fd, const char *name)
{
	struct stat mine, there;

	if (fstat(fd, &mine))
		return -errno;
	if (fstatat(f->dir, name, &there, AT_SYMLINK_NOFOLLOW) || there.st_ino != mine.st_ino ||
	    there.st_dev != mine.st_dev)
		return -EAGAIN;
	return 0;
}

static int lock(int fd)
{
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return 0;
	return errno == EWOULDBLOCK ? -EBUSY : -errno;
}

/* Chooses the first free name of .partial.1 to .9, or that of the oldest file if all are used. */
static int choose_kept_name(struct trace_file *f, char **ret)
{
	time_t oldest_time = 0;
	unsigned int oldest = 0;
	struct stat st;
	int len = 0;

	for (unsigned int i = 1; i <= KEPT_MAX && len >= 0; i++) {
		len = asprintf(ret, "%s.%u", f->partial, i);
		if (len < 0)
			break;
		if (fstatat(f->dir, *ret, &st, AT_SYMLINK_NOFOLLOW))
			return errno == ENOENT ? 0 : -errno;
		if (S_ISREG(st.st_mode) && (!oldest || st.st_mtime < oldest_time)) {
			oldest = i;
			oldest_time = st.st_mtime;
		}
		free(*ret);
	}
	if (!oldest)
		return len < 0 ? -ENOMEM : -EEXIST;
	f->kept_replaced = true;
	return asprintf(ret, "%s.%u", f->partial, oldest) < 0 ? -ENOMEM : 0;
}

/* Renames the file of a killed recorder, or removes it if empty. The caller holds its lock. */
static int rename_stale(struct trace_file *f, int fd)
{
	struct stat st;
	char *kept;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!st.st_size)
		return unlinkat(f->dir, f->partial, 0) ? -errno : 0;
	err = choose_kept_name(f, &kept);
	if (err)
		return err;
	if (renameat(f->dir, f->partial, f->dir, kept)) {
		err = -errno;
		free(kept);
		return err;
	}
	free(f->kept);
	f->kept = kept;
	return 0;
}

/*
 * Handles an existing .partial: another recorder is writing it and holds its lock, or one was
 * killed. It is opened with O_PATH first, since opening a special file may have side effects.
 */
static int clear_partial(struct trace_file *f)
{
	int path = openat(f->dir, f->partial, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd, err;
	struct stat st;
	char proc[40];

	if (path < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(path, &st) || !S_ISREG(st.st_mode)) {
		close(path);
		return -EEXIST;
	}
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", path);
	fd = open(proc, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	err = fd < 0 ? -errno : lock(fd);
	close(path);
	err = err ?: check_same_file(f, fd, f->partial);
	err = err ?: rename_stale(f, fd);
	if (fd >= 0)
		close(fd);
	return err == -EAGAIN ? 0 : err;
}

/*
 * Creates .partial. Its lock means "being written". Another recorder that saw the file before it
 * was locked may have taken it for a stale one and renamed it; then the attempt is repeated.
 */
static int open_partial(struct trace_file *f)
{
	unsigned int tries = 0;
	int err;

	do {
		if (tries++ == TRIES)
			return -EBUSY;
		f->fd = openat(f->dir, f->partial,
			       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
		if (f->fd < 0) {
			err = errno == EEXIST ? clear_partial(f) : -errno;
			if (err)
				return err;
			continue;
		}
		output_owner__give(f->fd, f->dir);
		err = lock(f->fd) ?: check_same_file(f, f->fd, f->partial);
		if (err) {
			close(f->fd);
			f->fd = -1;
		}
	} while (f->fd < 0 && (!err || err == -EAGAIN));
	f->regular = true;
	return err;
}

static int open_regular(struct trace_file *f, const struct file_place *place)
{
	f->name = strdup(place->name);
	if (!f->name || asprintf(&f->partial, "%s.partial", place->name) < 0)
		return -ENOMEM;
	f->dir = openat(place->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->dir < 0)
		return -errno;
	return open_partial(f);
}

static int open_place(struct trace_file *f, const struct file_place *place, enum file_kind kind)
{
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

	if (place->exists && S_ISDIR(place->mode))
		return -EISDIR;
	if (place->exists && !S_ISREG(place->mode)) {
		f->fd = openat(place->dir, place->name, flags | (place->magic ? 0 : O_NOFOLLOW));
		return open_direct(f);
	}
	if (place->exists && !file_kind__fits(kind, place->dir, place->name))
		return -EMEDIUMTYPE;
	return open_regular(f, place);
}

static struct trace_file *allocate(void)
{
	struct trace_file *f = calloc(1, sizeof(*f));

	if (f)
		f->fd = f->dir = f->stop_fd = -1;
	return f;
}

static int opened(struct trace_file **ret, struct trace_file *f, int err)
{
	if (err) {
		f->done = true; /* an existing .partial is not ours */
		trace_file__destroy(f);
		return err;
	}
	*ret = f;
	return 0;
}

int trace_file__open_in(struct trace_file **ret, int dir, const char *name)
{
	struct trace_file *f = allocate();
	struct file_place place = { .dir = dir };

	if (!f)
		return -ENOMEM;
	snprintf(place.name, sizeof(place.name), "%s", name);
	return opened(ret, f, open_regular(f, &place));
}

int trace_file__open(struct trace_file **ret, const char *path, enum file_kind kind)
{
	struct trace_file *f = allocate();
	struct file_place place;
	int err;

	if (!f)
		return -ENOMEM;
	if (!strcmp(path, "-")) {
		f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		err = open_direct(f);
	} else {
		err = file_place__find(&place, path);
		if (!err) {
			err = open_place(f, &place, kind);
			close(place.dir);
		}
	}
	return opened(ret, f, err);
}

const char *trace_file__kept(const struct trace_file *f, bool *ret_replaced)
{
	*ret_replaced = f->kept_replaced;
	return f->kept;
}

/*
 * Waits until the reader has made room, or for a second after stop_fd has become readable. A pipe
 * that is writable takes PIPE_BUF bytes without blocking.
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

/* Writes as much as writev() takes, then completes the vector in which it stopped. */
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

/* Best effort: the error that caused the call is the one to report. */
static void truncate_to_size(struct trace_file *f)
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
		truncate_to_size(f);
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

bool trace_file__in_folder_of_other(const struct trace_file *f)
{
	struct stat st;

	return f->dir >= 0 && !fstat(f->dir, &st) &&
	       !(st.st_uid == geteuid() && (st.st_mode & 0300) == 0300) &&
	       (st.st_mode & 01003) != 0003;
}

uint64_t trace_file__size(const struct trace_file *f)
{
	return f->size;
}

/* Some files and file systems cannot be synced; only a failed sync is an error. */
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

void trace_file__discard(struct trace_file *f)
{
	f->done = false;
}

void trace_file__destroy(struct trace_file *f)
{
	if (!f)
		return;
	/* before closing releases the lock */
	if (!f->done && f->dir >= 0)
		unlinkat(f->dir, f->partial, 0);
	if (f->fd >= 0)
		close(f->fd);
	if (f->dir >= 0)
		close(f->dir);
	free(f->name);
	free(f->partial);
	free(f->kept);
	free(f);
}
