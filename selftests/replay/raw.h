/* SPDX-License-Identifier: GPL-2.0 */
/* Raw files as input of mutate: their records, or their bytes. */
#ifndef REPLAY_RAW_H
#define REPLAY_RAW_H

#include "simulate.h"

/* Loads about `records` records of a raw file. 0 or a negative errno: -EINVAL, no raw file. */
int raw__load(struct sim_run *ret, const char *path, size_t records, bool *ret_tentative);

/*
 * Corrupts a raw file in place, according to the seed: truncates it; changes, removes or duplicates
 * bytes. Describes that in `text`. 0 or a negative errno.
 */
int raw__break(const char *path, uint64_t seed, char *text, size_t size);

bool raw__same_bytes(const char *a, const char *b); /* files that exist and have equal contents */

#endif
