/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The same records as machines with more CPUs and rings would give them.
 */
#ifndef REPLAY_RINGS_H
#define REPLAY_RINGS_H

#include "simulate.h"

/* The records over `rings` rings by their CPUs, as bpf/emit.bpf.h does it, and numbered anew. */
void rings__assign(struct sim_run *run, unsigned int rings);

/*
 * The order in which a drain takes records `from` to `to`, all that there are: ring after ring. Returns
 * the next one after `prev`, SIZE_MAX being before the first; `to` when there is none.
 */
size_t rings__next(const struct sim_run *run, size_t from, size_t to, size_t prev);

#endif
