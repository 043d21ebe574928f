/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The process of the front: started, replaced if it ends, and ended with its parent.
 *
 * Upstream: supervisor.c. Downstream: service/front.c, which is what the process runs.
 */
#ifndef FRONT_PROCESS_H
#define FRONT_PROCESS_H

#include <stdint.h>

#include "lib/error.h"

struct front_process;
struct router;

/*
 * Listens at `address` (see front__listen()). The process starts with the first
 * front_process__step(), as `user` if this one is root (see front_user__find(); NULL: one of its own).
 * `user` stays in use. 0, or a negative errno and the reason.
 */
int front_process__create(struct front_process **ret, const char *address, const char *user,
			  struct error *error);
/* The channels of the router must be closed. NULL allowed. */
void front_process__destroy(struct front_process *f);
/* The same in a process that was forked: it only closes its copies. NULL allowed. */
void front_process__abandon(struct front_process *f);

/*
 * Starts the process if it does not run, with a channel to the router. `now`: CLOCK_MONOTONIC, ns.
 * `abandon` is called in the process: it closes what the front must not have.
 */
void front_process__step(struct front_process *f, struct router *router, uint64_t now,
			 void (*abandon)(void *ctx), void *ctx);

#endif
