/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The processes that a recording of several processes selects: by PID, by executable, by cgroup.
 *
 * Upstream: the options of 'record --rotate' and 'flight'. Downstream: gotrace-bpf/targets.c, which
 * passes the names and the cgroup on to capture/tracker.c, for processes that start later.
 */
#ifndef SELECTION_H
#define SELECTION_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/error.h"

#define SELECTION_PIDS	64
#define SELECTION_NAMES 8

/* Processes of `pid`, and those of one executable of `exe`, if any, that are in the cgroup, if any. */
struct selection_opts {
	int pid[SELECTION_PIDS];
	unsigned int npids;
	const char *exe[SELECTION_NAMES]; /* file name, or path; borrowed */
	unsigned int nexe;
	const char *cgroup, *unit; /* NULL: none; at most one of them; borrowed */
};

struct selection;
struct tracker;

typedef void (*selection_fn)(void *ctx, pid_t pid);

/* Whether processes that start later can be selected. */
static inline bool selection__is_open(const struct selection_opts *o)
{
	return o->nexe || o->cgroup || o->unit;
}

/* 0, or a negative errno and the reason. What is selected need not exist. */
int selection__create(struct selection **ret, const struct selection_opts *opts,
		      struct error *error);
void selection__destroy(struct selection *s); /* NULL allowed */

/* Whether the executable of the process is one of those selected, or there are none. */
bool selection__has_executable(const struct selection *s, pid_t pid);
/* Calls fn for each process that is selected now, except by PID, in any order. */
void selection__each(const struct selection *s, selection_fn fn, void *ctx);

/* The i-th file name that the executable of a selected process can have; NULL: no more. */
const char *selection__name(const struct selection *s, unsigned int i);
/*
 * Looks again for the cgroup. Returns whether *ret_fd, its directory or -1, is another one than
 * before; the descriptor stays the selection's.
 */
bool selection__look_for_cgroup(struct selection *s, int *ret_fd);
bool selection__has_cgroup(const struct selection *s); /* one is selected, existing or not */

#endif
