/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reports the programs that processes execute: followed ones, their descendants, and those that are
 * selected by executable or cgroup. Loads and reads bpf/follow.bpf.c, for gotrace-bpf/follow.c and
 * targets.c.
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
/* Follows this process alone. -ESRCH: it has ended. */
int tracker__add_alone(struct tracker *t, pid_t pid);
void tracker__remove(struct tracker *t, pid_t pid);
/*
 * Follows what this recorder, a child of ours, will start; execs at which it holds the command are
 * marked.
 */
int tracker__add_launcher(struct tracker *t, pid_t pid);

/*
 * Also reports processes whose executable has this file name, without directories. Further calls add
 * names. 0, -E2BIG: more than GT_WATCHED_NAMES, or another negative errno.
 */
int tracker__watch_name(struct tracker *t, const char *name);
/*
 * Also reports processes in this cgroup and its descendants; if names are watched, only those with one
 * of the names. `fd` is its directory, or -1: it does not exist now. Replaces the previous cgroup. 0 or
 * a negative errno.
 */
int tracker__watch_cgroup(struct tracker *t, int fd);

int tracker__fd(const struct tracker *t); /* to poll for reading: execs are pending */
/* Calls the callback for each pending exec. */
void tracker__read(struct tracker *t);
bool tracker__is_empty(const struct tracker *t); /* all followed processes have ended */
uint64_t tracker__overflows(const struct tracker *t);

#endif
