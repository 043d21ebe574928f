/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One recorder at a time has inline probes in a process: its guardian holds a lock.
 *
 * Upstream: choose_process.c and guardian.c.
 */
#ifndef INLINE_CLAIM_H
#define INLINE_CLAIM_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/error.h"

/*
 * Waits up to `ms` until no other guardian has the claim, and takes it for all that share the descriptor
 * `mem_fd` of the process's memory, open for writing. 0, or a negative errno with a reason, -EBUSY:
 * another guardian has it. What the program itself, or another user, has locked does not count.
 */
int claim__take(pid_t pid, int mem_fd, unsigned int ms, struct error *error);
void claim__release(int mem_fd);
/* Waits up to `ms` until no guardian has the claim, but does not take it. False: one has it. */
bool claim__await(pid_t pid, unsigned int ms);
int claim__refuse(pid_t pid, struct error *error); /* sets the reason, and returns -EBUSY */

#endif
