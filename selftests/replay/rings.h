/* SPDX-License-Identifier: GPL-2.0 */
/* The same records in the rings of machines with more CPUs. Downstream: mutate.c. */
#ifndef REPLAY_RINGS_H
#define REPLAY_RINGS_H

#include "simulate.h"

/* Distributes the records over `rings` rings by CPU, as in bpf/emit.bpf.h; renumbers them. */
void rings__assign(struct sim_run *run, unsigned int rings);

/*
 * The order in which a drain reads records `from` to `to`: ring after ring. Returns the next one
 * after `prev`, SIZE_MAX being before the first; `to` after the last.
 */
size_t rings__next(const struct sim_run *run, size_t from, size_t to, size_t prev);

#endif
