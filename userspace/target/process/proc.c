// SPDX-License-Identifier: GPL-2.0
/* See proc.h. */
#include "target/process/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/regular.h"

#define PREFIX "/proc/"

static int directory = AT_FDCWD;  /* to open files */
static int with_links = AT_FDCWD; /* for what a link refers to */

static int open_prefix(void)
{
	int fd = open(PREFIX, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/*
 * A copy of the mount has no parent: ".." does not leave it. Requires CAP_SYS_ADMIN and Linux 5.2. Since
 * Linux 5.14 no link is followed in it: PID/root and PID/cwd would lead to all files of the machine.
 */
int proc__directory(void)
{
	struct mount_attr no_links = { .attr_set = MOUNT_ATTR_NOSYMFOLLOW };
	int fd = (int)syscall(SYS_open_tree, AT_FDCWD, PREFIX, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (fd < 0)
		return open_prefix();
	syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &no_links, sizeof(no_links));
	return fd;
}

int proc__use(int fd)
{
	int links = open_prefix();

	if (links < 0)
		return links;
	directory = fd;
	with_links = links;
	return 0;
}

static const char *below(const char *path)
{
	return directory == AT_FDCWD ? path : path + sizeof(PREFIX) - 1;
}

int proc__open(const char *path)
{
	const char *rest = below(path);
	int fd = openat(directory, *rest ? rest : ".", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

FILE *proc__fopen(const char *path)
{
	int fd = proc__open(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "re");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

DIR *proc__opendir(const char *path)
{
	int fd = proc__open(path);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

ssize_t proc__readlink(const char *path, char *buf, size_t size)
{
	return readlinkat(with_links, below(path), buf, size);
}

int proc__stat(const char *path, struct stat *ret)
{
	return regular__stat(with_links, below(path), ret);
}
