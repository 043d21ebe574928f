// SPDX-License-Identifier: GPL-2.0
/*
 * A user that runs nothing else: see front_user.h.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "service/front_user.h"

#define NOBODY	    65534
#define FIRST	    61184
#define NUMBERS	    4336
#define TRIES	    256
#define STATUS_SIZE 4096 /* the user is in the first few hundred bytes */

/* Whether one of the process's four user IDs is that one. A process that has ended has none. */
static bool runs_as(const char *pid, uid_t uid)
{
	char path[32], text[STATUS_SIZE], *line;
	unsigned int id[4];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.10s/status", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	line = strstr(text, "\nUid:");
	return line && sscanf(line, "\nUid: %u %u %u %u", &id[0], &id[1], &id[2], &id[3]) == 4 &&
	       (id[0] == uid || id[1] == uid || id[2] == uid || id[3] == uid);
}

/* A process that runs as the user, or 0; a negative errno. */
static int process_of(uid_t uid)
{
	const struct dirent *entry;
	DIR *all = opendir("/proc");
	int pid = 0;

	if (!all)
		return -errno;
	while (!pid && (entry = readdir(all)))
		if (isdigit((unsigned char)entry->d_name[0]) && runs_as(entry->d_name, uid))
			pid = atoi(entry->d_name);
	closedir(all);
	return pid;
}

static int check(const char *name, uid_t uid, struct error *error)
{
	int pid = 0;

	if (!uid || uid == NOBODY || uid == (uid_t)-1)
		return error__set(
			error, -EPERM,
			"user %s cannot answer HTTP requests: it must be one that runs nothing "
			"else, not root or nobody",
			name);
	pid = process_of(uid);
	if (pid > 0)
		return error__set(error, -EBUSY,
				  "user %s cannot answer HTTP requests: it runs process %d, and "
				  "processes of one user can kill each other",
				  name, pid);
	return pid < 0 ? error__set(error, pid, "cannot read /proc: %s", strerror(-pid)) : 0;
}

/* A name, or a number with or without a name. */
static int look_up(const char *name, uid_t *ret_uid, gid_t *ret_gid, struct error *error)
{
	bool is_number = *name && !name[strspn(name, "0123456789")] && strlen(name) <= 9;
	const struct passwd *user =
		is_number ? getpwuid((uid_t)strtoul(name, NULL, 10)) : getpwnam(name);

	if (!user && !is_number)
		return error__set(error, -EINVAL, "there is no user %s", name);
	*ret_uid = user ? user->pw_uid : (uid_t)strtoul(name, NULL, 10);
	*ret_gid = user && user->pw_gid ? user->pw_gid : *ret_uid;
	return 0;
}

static int unused(uid_t *ret_uid, gid_t *ret_gid, struct error *error)
{
	unsigned int first = 0;
	struct error ignored = {};

	if (getrandom(&first, sizeof(first), 0) != sizeof(first))
		return error__set(error, -errno, "getrandom: %s", strerror(errno));
	for (unsigned int i = 0; i < TRIES; i++) {
		uid_t uid = FIRST + (first + i) % NUMBERS;

		if (!getpwuid(uid) && !getgrgid(uid) && !check("", uid, &ignored)) {
			*ret_uid = *ret_gid = uid;
			return 0;
		}
	}
	return error__set(error, -EBUSY,
			  "there is no unused user for HTTP requests: create one with --user");
}

int front_user__find(const char *name, uid_t *ret_uid, gid_t *ret_gid, struct error *error)
{
	struct error ignored = {};
	int err;

	if (name) {
		err = look_up(name, ret_uid, ret_gid, error);
		return err ? err : check(name, *ret_uid, error);
	}
	if (!look_up(FRONT_USER, ret_uid, ret_gid, &ignored) &&
	    !check(FRONT_USER, *ret_uid, &ignored))
		return 0;
	return unused(ret_uid, ret_gid, error);
}
