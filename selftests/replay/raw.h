/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Raw files as what mutate works on: their records, or their bytes.
 */
#ifndef REPLAY_RAW_H
#define REPLAY_RAW_H

#include "simulate.h"

/* About the first `records` of a raw file. 0 or a negative errno: -EINVAL, it is none. */
int raw__load(struct sim_run *ret, const char *path, size_t records, bool *ret_tentative);

/*
 * Breaks a raw file in place, as the seed says: cut off, bytes changed, removed, twice. Describes it
 * in `text`. 0 or a negative errno.
 */
int raw__break(const char *path, uint64_t seed, char *text, size_t size);

bool raw__same_bytes(const char *a, const char *b); /* files that exist and hold the same */

#endif
