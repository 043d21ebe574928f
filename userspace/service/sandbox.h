/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Confines the process that faces clients: see sandbox.c for what remains possible.
 *
 * Two steps, since a library may have to open descriptors of its own in between. Each either takes
 * effect completely or fails with the reason; after a failure the process must exit. Upstream:
 * front.c.
 */
#ifndef SERVICE_SANDBOX_H
#define SERVICE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"

struct sandbox_opts {
	uid_t uid; /* for a process of root, which changes to it: front_user__find(); not 0 */
	gid_t gid;
	const int *fds; /* stay open, in addition to stderr */
	size_t nfds;
	uint64_t memory;    /* bytes of address space that the process may add */
	unsigned int files; /* descriptors that it may have open */
	/*
	 * A call that is not permitted kills the process, instead of failing with EPERM: for tests,
	 * to prove that normal operation makes no such call.
	 */
	bool strict;
};

/*
 * Closes other descriptors, changes the user and the root directory, drops all capabilities, sets
 * resource limits; the kernel kills the process when its parent ends. 0, or a negative errno and
 * the reason.
 */
int sandbox__drop(const struct sandbox_opts *opts, struct error *error);

/* From here on, only permitted system calls succeed. 0, or a negative errno and the reason. */
int sandbox__seal(const struct sandbox_opts *opts, struct error *error);

#endif
