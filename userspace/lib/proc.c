// SPDX-License-Identifier: GPL-2.0
/* See proc.h. */
#include "lib/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/regular.h"

#define PREFIX "/proc/"

static int directory = AT_FDCWD;

/* A copy of the mount has no parent: ".." does not leave it. Requires CAP_SYS_ADMIN and Linux 5.2. */
int proc__directory(void)
{
	int fd = (int)syscall(SYS_open_tree, AT_FDCWD, PREFIX, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (fd < 0)
		fd = open(PREFIX, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void proc__use(int fd)
{
	directory = fd;
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
	return readlinkat(directory, below(path), buf, size);
}

int proc__stat(const char *path, struct stat *ret)
{
	return regular__stat(directory, below(path), ret);
}
