/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follows processes and their descendants, and reports the programs that they execute. Loads and
 * reads bpf/follow.bpf.c, for gotrace-bpf/follow.c.
 */
#ifndef CAPTURE_TRACKER_H
#define CAPTURE_TRACKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gotrace/follow.h"
#include "lib/error.h"

struct tracker;

typedef void (*tracker_fn)(void *ctx, const struct gt_followed_exec *exec);

/*
 * Loads and attaches the programs; no process is followed yet. 0, or a negative errno and the
 * reason.
 */
int tracker__create(struct tracker **ret, tracker_fn fn, void *ctx, struct error *error);
void tracker__destroy(struct tracker *t);

/* Follows a process and the descendants that it has from now on. -ESRCH: it has ended. */
int tracker__add(struct tracker *t, pid_t pid);
/*
 * Follows what this recorder, a child of ours, will start; execs at which it holds the command are
 * marked.
 */
int tracker__add_launcher(struct tracker *t, pid_t pid);

int tracker__fd(const struct tracker *t); /* to poll for reading: execs are pending */
/* Calls the callback for each pending exec. */
void tracker__read(struct tracker *t);
bool tracker__is_empty(const struct tracker *t); /* all followed processes have ended */
uint64_t tracker__overflows(const struct tracker *t);

#endif
