/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Detects signals that are delivered to a process, and how the process ends, for the triggers signal
 * and exit. Loads and reads bpf/fate.bpf.c.
 *
 * Upstream: gotrace-bpf/recording.c. Downstream: trigger/trigger.c, which calls fate__poll().
 */
#ifndef CAPTURE_FATE_H
#define CAPTURE_FATE_H

#include "lib/error.h"
#include "trigger/trigger.h"

struct fate;

/*
 * Loads and attaches the programs, if one of the conditions needs them; otherwise *ret is NULL. 0, or a negative errno and the reason.
 */
int fate__open(struct fate **ret, const struct trigger_opts *opts, int pid, struct error *error);
void fate__close(struct fate *f); /* NULL allowed */
/* Passes all pending records to triggers__signal() and triggers__exit(). `ctx`: a struct fate. */
void fate__poll(void *ctx, struct triggers *t);

#endif
