/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What can befall records on their way: lost, sent twice, swapped, late, broken. Each variant applies
 * one to three of them to a run, chosen by its seed.
 */
#ifndef REPLAY_MUTATIONS_H
#define REPLAY_MUTATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "simulate.h"

/*
 * Mutates the run in place (entries may be added or removed, snapshots emptied) and describes what
 * it did in `text`. 0 or -ENOMEM.
 */
int mutate_run(struct sim_run *run, uint64_t seed, char *text, size_t size);

/* Only losses, of records sent before `before`, and swaps within what clocks differ by. */
int lose_run(struct sim_run *run, uint64_t before, uint64_t seed, char *text, size_t size);

#endif
