/* SPDX-License-Identifier: GPL-2.0 */
/* The mappings of a process, from /proc/PID/maps. Upstream: areas.c and pages_compare.c. */
#ifndef INLINE_MAPPINGS_H
#define INLINE_MAPPINGS_H

#include <stdint.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end, offset, inode;
	char perms[5], dev[16];
};

/*
 * Calls fn for each mapping, in order of address, until it returns other than 0, and returns that;
 * or a negative errno: the file cannot be opened. At most MAPPINGS_MAX.
 */
#define MAPPINGS_MAX (1u << 20)
int mappings__each(pid_t pid, int (*fn)(void *ctx, const struct mapping *mapping), void *ctx);

#endif
