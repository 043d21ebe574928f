/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mutations of records: lost, duplicated, swapped, late, corrupt. Each variant applies one to three
 * of them to a run, chosen by its seed. Upstream: simulate.c, raw.c. Downstream: mutate.c.
 */
#ifndef REPLAY_MUTATIONS_H
#define REPLAY_MUTATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "simulate.h"

/*
 * Mutates the run in place (entries may be added or removed, snapshots emptied) and describes the
 * mutations in `text`. 0 or -ENOMEM.
 */
int mutate_run(struct sim_run *run, uint64_t seed, char *text, size_t size);

/* Only loses records sent before `before`, and swaps records within the difference of clocks. */
int lose_run(struct sim_run *run, uint64_t before, uint64_t seed, char *text, size_t size);

#endif
