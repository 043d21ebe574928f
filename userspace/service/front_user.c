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
#include "target/process/process.h"

#define NOBODY	65534
#define FIRST	60706
#define NUMBERS 478

/* Whether one of the process's four user IDs is that one. Zombies run nothing. */
static bool runs_as(int pid, uid_t uid)
{
	unsigned int id[4];
	char text[64];

	return process__status(pid, "status", "Uid", text, sizeof(text)) &&
	       sscanf(text, "%u %u %u %u", &id[0], &id[1], &id[2], &id[3]) == 4 &&
	       (id[0] == uid || id[1] == uid || id[2] == uid || id[3] == uid) &&
	       process__status(pid, "status", "State", text, sizeof(text)) && text[0] != 'Z' &&
	       text[0] != 'X';
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
		if (isdigit((unsigned char)entry->d_name[0]) && runs_as(atoi(entry->d_name), uid))
			pid = atoi(entry->d_name);
	closedir(all);
	return pid;
}

static int check_busy(const char *name, uid_t uid, struct error *error)
{
	int pid = process_of(uid);

	if (pid > 0)
		return error__set(error, -EBUSY,
				  "user %s cannot answer HTTP requests: it runs process %d, and "
				  "processes of one user can kill each other",
				  name, pid);
	return pid < 0 ? error__set(error, pid, "cannot read /proc: %s", strerror(-pid)) : 0;
}

static int check_kind(const char *name, uid_t uid, struct error *error)
{
	if (uid && uid != NOBODY && uid != (uid_t)-1)
		return 0;
	return error__set(
		error, -EPERM,
		"user %s cannot answer HTTP requests: it must be one that runs nothing else, "
		"not root or nobody",
		name);
}

/* A name, or a number with or without a name. */
static int look_up(struct front_user *ret, const char *name, struct error *error)
{
	bool is_number = *name && !name[strspn(name, "0123456789")] && strlen(name) <= 9;
	uid_t number = is_number ? (uid_t)strtoul(name, NULL, 10) : 0;
	const struct passwd *user = is_number ? getpwuid(number) : getpwnam(name);

	if (!user && !is_number)
		return error__set(error, -EINVAL, "there is no user %s", name);
	ret->uid = user ? user->pw_uid : number;
	ret->gid = user && user->pw_gid ? user->pw_gid : ret->uid;
	return check_kind(name, ret->uid, error);
}

static int find_spare(struct front_user *ret, struct error *error)
{
	unsigned int first;
	ssize_t n = getrandom(&first, sizeof(first), GRND_NONBLOCK);

	for (unsigned int i = 0; n == sizeof(first) && i < NUMBERS; i++) {
		uid_t uid = FIRST + (first + i) % NUMBERS;

		if (!getpwuid(uid) && !getgrgid(uid) && !process_of(uid)) {
			ret->spare = uid;
			return 0;
		}
	}
	return error__set(error, -EBUSY,
			  "there is no unused user for HTTP requests: create one, and name it with "
			  "--user");
}

int front_user__find(struct front_user *ret, const char *name, struct error *error)
{
	struct error ignored = {};

	*ret = (struct front_user){ .name = name };
	if (name)
		return look_up(ret, name, error);
	if (look_up(ret, FRONT_USER, &ignored))
		ret->uid = 0;
	return find_spare(ret, error);
}

int front_user__choose(const struct front_user *u, uid_t *ret_uid, gid_t *ret_gid,
		       struct error *error)
{
	struct error busy = {};

	*ret_uid = u->uid;
	*ret_gid = u->gid;
	if (u->name)
		return check_busy(u->name, u->uid, error);
	if (u->uid && !check_busy(FRONT_USER, u->uid, &busy))
		return 0;
	*ret_uid = *ret_gid = u->spare;
	return check_busy("with an unused number", u->spare, error);
}
