/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The user of the process that answers HTTP clients, if gotrace-bpf runs as root: one that runs nothing
 * else, since processes of one user can kill each other. So it is never nobody (65534), whom many
 * services share.
 */
#ifndef SERVICE_FRONT_USER_H
#define SERVICE_FRONT_USER_H

#include <sys/types.h>

#include "lib/error.h"

#define FRONT_USER "gotrace-bpf" /* created by debian/gotrace-bpf.sysusers at installation */

/*
 * `name`: a user's name or number; NULL: FRONT_USER, or if there is none, or if it runs something, a
 * number between 61184 and 65519 (systemd's range for such users) that has no name and no process.
 * The group is that of the user, or has its number. 0, or a negative errno and the reason: -EINVAL for a
 * user that does not exist, -EPERM for root or nobody, -EBUSY for one that runs processes.
 */
int front_user__find(const char *name, uid_t *ret_uid, gid_t *ret_gid, struct error *error);

#endif
