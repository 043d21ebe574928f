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
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static const int ending_signals[] = { SIGHUP, SIGINT, SIGPIPE, SIGTERM };
#define ENDING	(sizeof(ending_signals) / sizeof(*ending_signals))
#define FOLDERS 2

static struct {
	char path[FOLDERS][PATH_MAX]; /* empty: there is none */
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

/* What was spilled and unfinished files may fill a disk, and must not stay. Then as without them. */
static void end_by_signal(int sig)
{
	for (size_t i = 0; i < FOLDERS; i++)
		if (on_signal.path[i][0])
			temporary__remove(on_signal.path[i]);
	for (size_t i = 0; i < ENDING; i++)
		if (ending_signals[i] == sig)
			sigaction(sig, &on_signal.before[i], NULL);
	raise(sig);
}

static bool any(void)
{
	for (size_t i = 0; i < FOLDERS; i++)
		if (on_signal.path[i][0])
			return true;
	return false;
}

static void catch_signals(void)
{
	const struct sigaction action = { .sa_handler = end_by_signal };

	for (size_t i = 0; i < ENDING; i++) {
		sigaction(ending_signals[i], NULL, &on_signal.before[i]);
		if (on_signal.before[i].sa_handler != SIG_IGN)
			sigaction(ending_signals[i], &action, NULL);
	}
}

void temporary__remove_on_signal(const char *path)
{
	bool caught = any();

	for (size_t i = 0; i < FOLDERS; i++) {
		if (on_signal.path[i][0])
			continue;
		snprintf(on_signal.path[i], sizeof(on_signal.path[i]), "%s", path);
		break;
	}
	if (!caught)
		catch_signals();
}

void temporary__end(const char *path)
{
	temporary__remove(path);
	for (size_t i = 0; i < FOLDERS; i++)
		if (!strcmp(on_signal.path[i], path))
			on_signal.path[i][0] = '\0';
	if (any())
		return;
	for (size_t i = 0; i < ENDING; i++)
		sigaction(ending_signals[i], &on_signal.before[i], NULL);
}
