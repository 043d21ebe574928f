// SPDX-License-Identifier: GPL-2.0
/*
 * The directory of the cache: see cache.h.
 *
 * Upstream: cache.c. This program runs as root among untrusted programs and users. So the
 * directory and its files are used only if they belong to this user and no other user can access
 * them, links are not followed, and a file gets its name when it is complete.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/log.h"
#include "target/process/cache.h"
#include "target/process/cache_impl.h"

#define PATH_SIZE 4096

static bool folder_path(char *path)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (xdg && xdg[0] == '/')
		n = snprintf(path, PATH_SIZE, "%s/gotrace-bpf", xdg);
	else if (!geteuid())
		n = snprintf(path, PATH_SIZE, "/var/cache/gotrace-bpf");
	else if (home && home[0] == '/')
		n = snprintf(path, PATH_SIZE, "%s/.cache/gotrace-bpf", home);
	else
		return false;
	return n < PATH_SIZE;
}

/* Creates the directory and its parent, which other programs use, too. */
static void make_folder(char *path)
{
	char *slash = strrchr(path, '/');

	*slash = 0;
	mkdir(path, geteuid() ? 0700 : 0755);
	*slash = '/';
	mkdir(path, 0700);
}

/* Whether it belongs to this user and other users cannot access it. */
static bool is_ours(int fd, mode_t type)
{
	struct stat st;

	return !fstat(fd, &st) && (st.st_mode & S_IFMT) == type && st.st_uid == geteuid() &&
	       !(st.st_mode & 077);
}

/* Opens the directory; negative: it cannot be used. */
static int open_folder(bool make)
{
	char path[PATH_SIZE];
	int fd;

	if (!folder_path(path))
		return -1;
	if (make)
		make_folder(path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		if (errno != ENOENT)
			log__debug("no cache in %s: %s", path, strerror(errno));
		return -1;
	}
	if (is_ours(fd, S_IFDIR))
		return fd;
	log__debug("no cache in %s: other users own it or can access it", path);
	close(fd);
	return -1;
}

static unsigned char *read_whole(int fd, size_t *ret_len)
{
	unsigned char *data = NULL;
	struct stat st;

	if (!is_ours(fd, S_IFREG) || fstat(fd, &st) || st.st_size > CACHE_ENTRY_MAX)
		return NULL;
	data = malloc((size_t)st.st_size + 1);
	if (data && read(fd, data, (size_t)st.st_size) == st.st_size) {
		*ret_len = (size_t)st.st_size;
		futimens(fd, NULL); /* marks it as used last */
		return data;
	}
	free(data);
	return NULL;
}

unsigned char *cache_folder__read(const char *name, size_t *ret_len)
{
	int folder = open_folder(false), fd;
	unsigned char *data;

	if (folder < 0)
		return NULL;
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	close(folder);
	if (fd < 0)
		return NULL;
	data = read_whole(fd, ret_len);
	close(fd);
	return data;
}

/* Counts the files and finds the one whose last use is oldest. */
static size_t count(int folder, char *ret_oldest, size_t size)
{
	DIR *dir = fdopendir(dup(folder));
	struct timespec oldest = { 0 };
	struct dirent *e;
	struct stat st;
	size_t n = 0;

	if (!dir)
		return 0;
	rewinddir(dir);
	while ((e = readdir(dir))) {
		if (fstatat(folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || S_ISDIR(st.st_mode))
			continue;
		if (!n++ || st.st_mtim.tv_sec < oldest.tv_sec ||
		    (st.st_mtim.tv_sec == oldest.tv_sec && st.st_mtim.tv_nsec < oldest.tv_nsec)) {
			oldest = st.st_mtim;
			snprintf(ret_oldest, size, "%s", e->d_name);
		}
	}
	closedir(dir);
	return n;
}

static void prune(int folder)
{
	char oldest[256];

	while (count(folder, oldest, sizeof(oldest)) > CACHE_ENTRIES) {
		if (unlinkat(folder, oldest, 0))
			break;
	}
}

static bool write_new(int folder, const char *name, const void *data, size_t len)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, data, len) == (ssize_t)len;
	return !close(fd) && done;
}

void cache_folder__write(const char *name, const void *data, size_t len)
{
	int folder = open_folder(true);
	char partial[32];

	if (folder < 0)
		return;
	snprintf(partial, sizeof(partial), "partial-%d", getpid());
	unlinkat(folder, partial, 0); /* left by a killed process with the same PID */
	if (!write_new(folder, partial, data, len) || renameat(folder, partial, folder, name)) {
		log__debug("cannot store the analysis: %s", strerror(errno));
		unlinkat(folder, partial, 0);
	}
	prune(folder);
	close(folder);
}
