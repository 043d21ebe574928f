/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cgroup whose processes are recorded: where it is in the hierarchy (cgroup v2), and which
 * processes are in it.
 *
 * It may not exist yet, and a unit has a new one after a restart. Upstream: selection.c.
 */
#ifndef SELECTION_CGROUP_H
#define SELECTION_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/error.h"

struct cgroup_place {
	int root;	 /* descriptor of the directory of the hierarchy */
	char path[4096]; /* below it, without a slash at the start; with a unit: found there */
	char unit[256];	 /* name of its directory; empty: none */
	int fd;		 /* of the cgroup's directory; -1: it does not exist now */
	uint64_t ino;	 /* of it */
};

typedef void (*cgroup_fn)(void *ctx, pid_t pid);

/*
 * The directory of the hierarchy of cgroup v2, which is a constant string. NULL: there is none.
 */
const char *cgroup__root(void);

/*
 * `path` is relative to `root`, or begins with it, or is that of /proc/PID/cgroup. Instead, `unit` can
 * be the name of a systemd unit, ".service" being the default suffix. Returns a negative errno and the
 * reason, or 0, also if the cgroup does not exist. The caller closes the place.
 */
int cgroup_place__open(struct cgroup_place *ret, const char *root, const char *path,
		       const char *unit, struct error *error);
void cgroup_place__close(struct cgroup_place *p);

/* Looks for the cgroup again, and sets `fd`. Returns whether it has changed, appeared or disappeared. */
bool cgroup_place__look(struct cgroup_place *p);
/* Each process in the cgroup and in those below it. */
void cgroup_place__each(const struct cgroup_place *p, cgroup_fn fn, void *ctx);

#endif
