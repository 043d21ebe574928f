// SPDX-License-Identifier: GPL-2.0
/*
 * Unix sockets of this user: see own_socket.h.
 *
 * The directory is opened once, without following a link, and everything is done relative to it: a
 * socket has no *at() calls, so its path begins with that of the descriptor in /proc.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "service/own_socket.h"

#define LOCK_TRIES 100 /* of 10 ms, while another process creates its socket */

/* ---- the directory ---- */

/* Splits the path. The name is not empty, and no more than the path of a socket may have. */
static int split(const char *path, char dir[PATH_MAX], struct own_socket *s,
		 const struct own_socket_opts *opts, struct error *error)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = slash ? (size_t)(slash - path) : 0;

	if (!*name || !strcmp(name, ".") || !strcmp(name, "..") || len >= PATH_MAX ||
	    strlen(name) >= sizeof(s->name))
		return error__set(error, -EINVAL,
				  "invalid path of a %s '%.200s': expected DIRECTORY/NAME",
				  opts->what, path);
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(dir, PATH_MAX, "%.*s", (int)len, path);
	if (!len)
		strcpy(dir, slash ? "/" : ".");
	return 0;
}

static int check_directory(int fd, const char *dir, const char *what, struct error *error)
{
	struct stat st;

	if (fstat(fd, &st))
		return error__set(error, -errno, "%s: %s", dir, strerror(errno));
	if (st.st_uid != geteuid())
		return error__set(
			error, -EPERM,
			"%s: belongs to another user: a %s requires a directory of its own", dir,
			what);
	if (st.st_mode & 077)
		return error__set(
			error, -EPERM,
			"%s: other users can access it: a %s requires a directory with mode 0700",
			dir, what);
	return 0;
}

static int open_directory(const char *dir, const char *what, struct error *error)
{
	int fd, err;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return error__set(error, -errno, "cannot create %s: %s", dir, strerror(errno));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return error__set(error, -ENOTDIR, "%s: not a directory, or a symbolic link", dir);
	if (fd < 0)
		return error__set(error, -errno, "%s: %s", dir, strerror(errno));
	err = check_directory(fd, dir, what, error);
	if (err)
		close(fd);
	return err ?: fd;
}

/* Only this user can hold the lock. */
static int lock(int dir)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(dir, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK)
			return -errno;
		poll(NULL, 0, 10);
	}
	return -EBUSY;
}

/* ---- the socket ---- */

static struct sockaddr_un address(const struct own_socket *s)
{
	struct sockaddr_un ret = { .sun_family = AF_UNIX };

	snprintf(ret.sun_path, sizeof(ret.sun_path), "/proc/self/fd/%d/%s", s->dir, s->name);
	return ret;
}

/* Whether a process listens there, or may: 0 if that has ended, else -EADDRINUSE. */
static int is_stale(const struct own_socket *s, int type)
{
	struct sockaddr_un at = address(s);
	int fd = socket(AF_UNIX, type, 0), err = 0;

	if (fd < 0)
		return -errno;
	if (!connect(fd, (struct sockaddr *)&at, sizeof(at)) || errno != ECONNREFUSED)
		err = -EADDRINUSE;
	close(fd);
	return err;
}

static int remove_stale(const struct own_socket *s, const char *path,
			const struct own_socket_opts *opts, struct error *error)
{
	struct stat st;
	int err;

	if (fstatat(s->dir, s->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 :
					 error__set(error, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return error__set(
			error, -EEXIST,
			"%s: not a socket of this user; move it away, or use another --%s", path,
			opts->option);
	err = is_stale(s, opts->type);
	if (err == -EADDRINUSE)
		return error__set(error, err,
				  "%s: another process listens there; stop it, or use another --%s",
				  path, opts->option);
	if (!err && unlinkat(s->dir, s->name, 0))
		err = -errno;
	return err ? error__set(error, err, "%s: %s", path, strerror(-err)) : 0;
}

static int listen_there(struct own_socket *s, const struct own_socket_opts *opts)
{
	struct sockaddr_un at = address(s);
	struct stat st;
	mode_t mask;
	int err;

	s->fd = socket(AF_UNIX, opts->type, 0);
	if (s->fd < 0)
		return -errno;
	mask = umask(0177);
	err = bind(s->fd, (struct sockaddr *)&at, sizeof(at)) ? -errno : 0;
	umask(mask);
	if (!err && fstatat(s->dir, s->name, &st, AT_SYMLINK_NOFOLLOW))
		err = -errno;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	if (!err && listen(s->fd, opts->backlog))
		err = -errno;
	if (err)
		close(s->fd);
	return err;
}

int own_socket__open(struct own_socket *ret, const char *path, const struct own_socket_opts *opts,
		     struct error *error)
{
	char dir[PATH_MAX];
	int err = split(path, dir, ret, opts, error);

	if (err)
		return err;
	ret->dir = open_directory(dir, opts->what, error);
	if (ret->dir < 0)
		return ret->dir;
	err = lock(ret->dir);
	if (err)
		error__set(error, err, "%s: %s", dir, strerror(-err));
	if (!err)
		err = remove_stale(ret, path, opts, error);
	if (!err) {
		err = listen_there(ret, opts);
		if (err)
			error__set(error, err, "cannot create %s: %s", path, strerror(-err));
	}
	flock(ret->dir, LOCK_UN);
	if (err)
		close(ret->dir);
	return err;
}

void own_socket__remove(struct own_socket *s)
{
	struct stat st;

	if (!fstatat(s->dir, s->name, &st, AT_SYMLINK_NOFOLLOW) && st.st_dev == s->dev &&
	    st.st_ino == s->ino)
		unlinkat(s->dir, s->name, 0);
}

void own_socket__close(struct own_socket *s)
{
	close(s->fd);
	close(s->dir);
}
