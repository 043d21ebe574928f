/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which processes descend from one, and what they execute: bpf/follow.bpf.c, loaded and read.
 *
 * For gotrace-bpf/follow.c.
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

/* Loaded and attached; nobody is followed yet. Or a negative errno and the reason. */
int tracker__create(struct tracker **ret, tracker_fn fn, void *ctx, struct error *err);
void tracker__destroy(struct tracker *t);

/* Follows a process: what it starts from now on, and what its children start. -ESRCH: it ended. */
int tracker__add(struct tracker *t, pid_t pid);
/* Follows what that recorder of ours will start; execs in which it holds the command say so. */
int tracker__add_launcher(struct tracker *t, pid_t pid);

int tracker__fd(const struct tracker *t); /* to poll: readable when there are execs */
/* Hands over the execs that came. */
void tracker__read(struct tracker *t);
bool tracker__is_empty(const struct tracker *t); /* all have ended */
uint64_t tracker__overflows(const struct tracker *t);

#endif
