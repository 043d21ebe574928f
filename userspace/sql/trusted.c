// SPDX-License-Identifier: GPL-2.0
/*
 * Implements trusted.h. Each component is opened in the folder that was examined before it, so that none
 * can be replaced in between.
 */
#include "sql/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITABLE (S_IWGRP | S_IWOTH)

/* `path` is that of the file or folder that `fd` refers to. */
static int check(int fd, const char *path, struct error *error)
{
	struct stat st;

	if (fstat(fd, &st))
		return error__set(error, -errno, "%s: %s", path, strerror(errno));
	if (st.st_uid && st.st_uid != geteuid())
		return error__set(
			error, -EPERM,
			"%s belongs to user %u, who could change it: 'chown root' it, or use "
			"another place",
			path, st.st_uid);
	if (st.st_mode & WRITABLE && !(S_ISDIR(st.st_mode) && st.st_mode & S_ISVTX))
		return error__set(error, -EPERM, "%s can be written by others: 'chmod go-w' it",
				  path);
	return 0;
}

/* Opens the next component, which ends at `end` of the path. Takes over `folder`. */
static int step(int folder, char *path, char *name, char *end, int flags, struct error *error)
{
	char was = *end;
	int fd, err;

	*end = '\0';
	fd = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC);
	err = fd < 0 ? error__set(error, -errno, "%s: %s", path, strerror(errno)) :
		       check(fd, path, error);
	*end = was;
	close(folder);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

/* An O_PATH descriptor of the file; `path` is absolute, without links. */
static int walk(char *path, struct error *error)
{
	char *name = path + 1, *end;
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return error__set(error, -errno, "/: %s", strerror(errno));
	while (fd >= 0 && *name) {
		end = strchrnul(name, '/');
		fd = step(fd, path, name, end, O_PATH | (*end ? O_DIRECTORY : 0), error);
		name = end + !!*end;
	}
	return fd;
}

int trusted__open(const char *path, struct error *error)
{
	char real[PATH_MAX], name[32];
	struct stat st;
	int fd, ret;

	if (!realpath(path, real))
		return error__set(error, -errno, "%s: %s", path, strerror(errno));
	fd = walk(real, error);
	if (fd < 0)
		return fd;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		ret = error__set(error, -EINVAL, "%s: not a regular file", real);
	else if ((ret = open(name, O_RDONLY | O_CLOEXEC)) < 0)
		ret = error__set(error, -errno, "%s: %s", real, strerror(errno));
	close(fd);
	return ret;
}
