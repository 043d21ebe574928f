// SPDX-License-Identifier: GPL-2.0
/*
 * Directories of temporary files: see temporary.h.
 */
#include "sql/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const int ending_signals[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
#define ENDING (sizeof(ending_signals) / sizeof(*ending_signals))

static struct {
	int fd;		     /* holds the lock */
	char path[PATH_MAX]; /* empty: there is none */
	struct sigaction before[ENDING];
} on_signal;

/* Other threads may still add some. opendir() is not async-signal-safe. */
static void remove_files(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char entries[4096] __attribute__((aligned(8)));
	struct dirent64 *entry;
	ssize_t len;

	if (dir < 0)
		return;
	while ((len = getdents64(dir, entries, sizeof(entries))) > 0)
		for (ssize_t at = 0; at < len; at += entry->d_reclen) {
			entry = (struct dirent64 *)(entries + at);
			unlinkat(dir, entry->d_name, 0);
		}
	close(dir);
}

static void remove_folder(const char *path)
{
	unsigned int tries = 100;

	do
		remove_files(path);
	while (rmdir(path) && errno == ENOTEMPTY && --tries);
}

/* What was spilled and unfinished files may fill a disk, and must not stay. Then as without it. */
static void end_by_signal(int sig)
{
	if (on_signal.path[0])
		remove_folder(on_signal.path);
	for (size_t i = 0; i < ENDING; i++)
		if (ending_signals[i] == sig)
			sigaction(sig, &on_signal.before[i], NULL);
	raise(sig);
}

static void remove_on_signal(const char *path)
{
	const struct sigaction action = { .sa_handler = end_by_signal };

	snprintf(on_signal.path, sizeof(on_signal.path), "%s", path);
	for (size_t i = 0; i < ENDING; i++) {
		sigaction(ending_signals[i], NULL, &on_signal.before[i]);
		if (on_signal.before[i].sa_handler != SIG_IGN)
			sigaction(ending_signals[i], &action, NULL);
	}
}

/* ---- directories of dead processes ---- */

/* Removes one if it belongs to this user, its lock is free, and it has files only. */
static void remove_dead(int base, const char *name)
{
	int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *entry;
	struct stat st;
	DIR *dir = NULL;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB))
		dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	while ((entry = readdir(dir)))
		unlinkat(fd, entry->d_name, 0);
	unlinkat(base, name, AT_REMOVEDIR);
	closedir(dir);
}

static void remove_all_dead(int base, const char *prefix)
{
	int fd = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t len = strlen(prefix);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, prefix, len) && strlen(entry->d_name) == len + 6)
			remove_dead(base, entry->d_name);
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* ---- a new one ---- */

/* 1: another process took it for that of a dead one before it was locked, and has removed it. */
static int try_create(int base, const char *path, const char *prefix, char ret[PATH_MAX])
{
	struct stat st;

	if (snprintf(ret, PATH_MAX, "%s/%sXXXXXX", path, prefix) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (!mkdtemp(ret))
		return -errno;
	on_signal.fd = openat(base, strrchr(ret, '/') + 1,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (on_signal.fd < 0)
		return errno == ENOENT ? 1 : -errno;
	flock(on_signal.fd, LOCK_EX); /* where locks are unsupported, no other process removes it */
	if (!fstat(on_signal.fd, &st) && st.st_nlink)
		return 0;
	close(on_signal.fd);
	return 1;
}

int temporary__create(const char *path, const char *prefix, char ret[PATH_MAX], int *ret_fd)
{
	int base = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), err = 1;

	if (base < 0)
		return -errno;
	remove_all_dead(base, prefix);
	while (err > 0)
		err = try_create(base, path, prefix, ret);
	close(base);
	if (err) {
		ret[0] = '\0';
		return err;
	}
	*ret_fd = on_signal.fd;
	remove_on_signal(ret);
	return 0;
}

void temporary__end(const char *path)
{
	remove_folder(path);
	close(on_signal.fd);
	on_signal.path[0] = '\0';
}
