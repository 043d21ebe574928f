/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Several processes in one continuous recording ('record --rotate') or flight recorder: those that the
 * options select, including those that start later.
 *
 * Upstream: record.c and flight.c. Downstream: recorders.c, one recorder per program.
 */
#ifndef TARGETS_H
#define TARGETS_H

#include <stdbool.h>

#include "lib/error.h"
#include "recording.h"

/* Parses -p, --exe, --cgroup and --unit. Invalid text is a usage error. */
void targets__option(struct record_args *a, int key, const char *text);
/* Whether the options can select more than one process. */
bool targets__given(const struct record_args *a);
/* Checks such options: an unsupported combination is a usage error. */
void targets__check(const struct record_args *a);

/*
 * Returns after SIGINT or SIGTERM, after the duration, or when the last process has ended and none can
 * follow. Returns the exit status, and the reason if it is not 0 and has not been reported.
 */
int targets__run(const struct recording *how, struct error *error);

#endif
