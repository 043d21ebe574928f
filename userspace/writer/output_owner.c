// SPDX-License-Identifier: GPL-2.0
/* Gives output files to the user of sudo: see output_owner.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/log.h"
#include "writer/output_owner.h"

#define ID_DIGITS 10 /* of 4294967295 */

struct owner {
	uid_t uid;
	gid_t gid;
};

/* Digits only, without leading zeros. (uid_t)-1 means "no change" to chown(2). */
static bool parse_id(const char *text, uint32_t *ret)
{
	size_t len = text ? strlen(text) : 0;
	unsigned long long id;

	if (!len || len > ID_DIGITS || strspn(text, "0123456789") != len ||
	    (text[0] == '0' && len > 1))
		return false;
	id = strtoull(text, NULL, 10);
	*ret = (uint32_t)id;
	return id < UINT32_MAX;
}

/* secure_getenv(): not in a program that gains privileges when it is executed. */
static bool find(struct owner *ret)
{
	return !getuid() && !geteuid() && parse_id(secure_getenv("SUDO_UID"), &ret->uid) &&
	       parse_id(secure_getenv("SUDO_GID"), &ret->gid) && ret->uid;
}

bool output_owner__is_set(void)
{
	struct owner owner;

	return find(&owner);
}

/* Once: what prevents it for one file prevents it for the next ones. Some file systems have one owner for all files. */
static void warn(int fd, uid_t uid, int err)
{
	static bool warned;
	struct stat st;

	if ((fstat(fd, &st) || st.st_uid != uid) &&
	    !__atomic_exchange_n(&warned, true, __ATOMIC_RELAXED))
		log__msg("warning: output files belong to root, because they cannot be given to "
			 "user %u: %s; run 'sudo chown \"$USER\" FILE'",
			 uid, strerror(err));
}

void output_owner__give(int fd, int dir)
{
	struct owner owner;
	struct stat st;

	if (find(&owner) && !fstat(dir, &st) && st.st_uid == owner.uid &&
	    fchown(fd, owner.uid, owner.gid))
		warn(fd, owner.uid, errno);
}

/* Whether the directory was created since `begin`, by root. */
static bool is_new(int fd, const struct timespec *begin)
{
	struct statx st;

	return !statx(fd, "", AT_EMPTY_PATH, STATX_UID | STATX_BTIME, &st) &&
	       st.stx_mask & STATX_BTIME && !st.stx_uid &&
	       (st.stx_btime.tv_sec > begin->tv_sec ||
		(st.stx_btime.tv_sec == begin->tv_sec &&
		 (long)st.stx_btime.tv_nsec >= begin->tv_nsec));
}

struct timespec output_owner__now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now); /* the clock of file systems */
	return now;
}

void output_owner__give_dir(int fd, const struct timespec *begin)
{
	int parent;

	if (!output_owner__is_set() || !is_new(fd, begin))
		return;
	parent = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return;
	output_owner__give(fd, parent);
	close(parent);
}

int output_owner__open_dir(int dir, const char *name, mode_t mode)
{
	const struct timespec begin = output_owner__now();
	bool made = !mkdirat(dir, name, mode);
	int fd;

	if (!made && errno != EEXIST)
		return -errno;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (made)
		output_owner__give_dir(fd, &begin);
	return fd;
}

bool output_owner__is_trusted(uid_t owner, int dir)
{
	struct stat st;

	return owner == geteuid() || (!fstat(dir, &st) && st.st_uid == owner);
}
