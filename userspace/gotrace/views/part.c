// SPDX-License-Identifier: GPL-2.0
/*
 * Cuts a part of a trace into an unnamed file: see part.h.
 */
#include "gotrace/views/part.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that exists only as long as it is open. Returns its descriptor, or a negative errno. */
static int open_unnamed(struct error *error)
{
	const char *dir = getenv("TMPDIR");
	char path[PATH_MAX];
	int fd, n;

	dir = dir && *dir ? dir : "/tmp";
	n = snprintf(path, sizeof(path), "%s/gotrace-XXXXXX", dir);
	if (n < 0 || (size_t)n >= sizeof(path))
		return error__set(error, -ENAMETOOLONG, "the path in TMPDIR is too long");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return error__set(error, -errno, "cannot create a file in %s: %s", dir,
				  strerror(errno));
	unlink(path);
	return fd;
}

/* Writes the part to fd, which is the standard output meanwhile. */
static int write_part(const struct trace_args *in, int fd, struct error *error)
{
	struct rewriting cut = { .in = *in };
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), err;

	if (out < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return error__set(error, -errno, "cannot replace the standard output: %s",
				  strerror(errno));
	cut.in.out = "-";
	err = rewriting__run(&cut, error);
	dup2(out, STDOUT_FILENO);
	close(out);
	return err;
}

int part__cut(const struct trace_args *in, struct error *error)
{
	int fd = open_unnamed(error), err;

	if (fd < 0)
		return fd;
	err = write_part(in, fd, error);
	if (!err && lseek(fd, 0, SEEK_SET) < 0)
		err = error__set(error, -errno, "cannot read the part: %s", strerror(errno));
	if (!err)
		return fd;
	close(fd);
	return err;
}
