/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user of the process that answers HTTP clients, if gotrace-bpf runs as root: one that runs nothing
 * else, since processes of one user can kill each other. So it is never nobody (65534), which many
 * services use.
 */
#ifndef SERVICE_FRONT_USER_H
#define SERVICE_FRONT_USER_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/error.h"

#define FRONT_USER "gotrace-bpf" /* created by debian/gotrace-bpf.sysusers at installation */

struct front_user {
	const char *name; /* as given; NULL: FRONT_USER, if there is one, or the spare */
	uid_t uid;	  /* of the name; 0: there is none */
	gid_t gid;
	uid_t spare; /* a number without a name, which is a group's number, too; 0: none is needed */
};

/*
 * Looks up `name`, a user's name or number, which stays in use, or NULL. The spare is a number from 60706
 * to 61183, which no allocator uses (systemd's UIDS-GIDS.md), without a name or a process. 0, or a negative
 * errno and the reason: -EINVAL for a user that does not exist, -EPERM for root or nobody.
 */
int front_user__find(struct front_user *ret, const char *name, struct error *error);

/*
 * The user and group for a process that begins now: those of the name, or of the spare if the name was not
 * given and runs processes. 0, or a negative errno and the reason, -EBUSY: it runs processes.
 */
int front_user__choose(const struct front_user *u, uid_t *ret_uid, gid_t *ret_gid,
		       struct error *error);

#endif
