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
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const int ending_signals[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
#define ENDING (sizeof(ending_signals) / sizeof(*ending_signals))

/* The directory is only named in `base`, so that another user who exchanges it or a parent has no effect. */
static struct {
	int fd;	       /* holds the lock */
	int base;      /* the directory that it was created in */
	char name[32]; /* there; empty: there is none */
	struct sigaction before[ENDING];
} temporary;

/* Other threads may still add some. opendir() is not async-signal-safe. */
static void remove_files(void)
{
	int dir = openat(temporary.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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

static void remove_folder(void)
{
	unsigned int tries = 100;

	do
		remove_files();
	while (unlinkat(temporary.base, temporary.name, AT_REMOVEDIR) && errno == ENOTEMPTY &&
	       --tries);
}

/* What was spilled and unfinished files may fill a disk, and must not stay. Then as without it. */
static void end_by_signal(int sig)
{
	if (temporary.name[0])
		remove_folder();
	for (size_t i = 0; i < ENDING; i++)
		if (ending_signals[i] == sig)
			sigaction(sig, &temporary.before[i], NULL);
	raise(sig);
}

static void remove_on_signal(void)
{
	const struct sigaction action = { .sa_handler = end_by_signal };

	for (size_t i = 0; i < ENDING; i++) {
		sigaction(ending_signals[i], NULL, &temporary.before[i]);
		if (temporary.before[i].sa_handler != SIG_IGN)
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

/*
 * Whether it is the one that was created: another user may have put a directory in its place, in which that user
 * could put links at the names that are written.
 */
static bool is_private(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* 1: another process took it for that of a dead one before it was locked, and has removed it. */
static int try_create(int base, const char *prefix, char name[sizeof(temporary.name)], int *ret)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%sXXXXXX", base, prefix);
	if (!mkdtemp(path))
		return -errno;
	snprintf(name, sizeof(temporary.name), "%.31s", strrchr(path, '/') + 1);
	*ret = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret < 0)
		return errno == ENOENT ? 1 : -errno;
	flock(*ret, LOCK_EX); /* where locks are unsupported, no other process removes it */
	if (fstat(*ret, &st) || !st.st_nlink) {
		close(*ret);
		return 1;
	}
	if (is_private(*ret))
		return 0;
	close(*ret);
	return -EPERM;
}

int temporary__create(const char *path, const char *prefix, char ret[PATH_MAX], int *ret_fd)
{
	char name[sizeof(temporary.name)];
	int base = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1, err = 1;

	if (base < 0)
		return -errno;
	remove_all_dead(base, prefix);
	while (err > 0)
		err = try_create(base, prefix, name, &fd);
	if (err) {
		close(base);
		ret[0] = '\0';
		return err;
	}
	temporary.fd = fd;
	temporary.base = base;
	memcpy(temporary.name, name, sizeof(name));
	remove_on_signal();
	snprintf(ret, PATH_MAX, "/proc/self/fd/%d", fd);
	*ret_fd = fd;
	return 0;
}

void temporary__end(void)
{
	remove_folder();
	temporary.name[0] = '\0';
	close(temporary.fd);
	close(temporary.base);
}
