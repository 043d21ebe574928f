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
#include <sys/types.h>
#include <unistd.h>

static const int ending_signals[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
#define ENDING (sizeof(ending_signals) / sizeof(*ending_signals))

static struct {
	char path[PATH_MAX]; /* empty: there is none */
	struct sigaction before[ENDING];
} on_signal;

/* opendir() is not async-signal-safe. */
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

void temporary__remove(const char *path)
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
		temporary__remove(on_signal.path);
	for (size_t i = 0; i < ENDING; i++)
		if (ending_signals[i] == sig)
			sigaction(sig, &on_signal.before[i], NULL);
	raise(sig);
}

void temporary__remove_on_signal(const char *path)
{
	const struct sigaction action = { .sa_handler = end_by_signal };

	snprintf(on_signal.path, sizeof(on_signal.path), "%s", path);
	for (size_t i = 0; i < ENDING; i++) {
		sigaction(ending_signals[i], NULL, &on_signal.before[i]);
		if (on_signal.before[i].sa_handler != SIG_IGN)
			sigaction(ending_signals[i], &action, NULL);
	}
}

void temporary__end(const char *path)
{
	temporary__remove(path);
	on_signal.path[0] = '\0';
}
