/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Recorded raw files as what mutate works on.
 */
#ifndef REPLAY_RAW_H
#define REPLAY_RAW_H

#include "simulate.h"

/* About the first `records` of a raw file. 0 or a negative errno: -EINVAL, it is none. */
int raw__load(struct sim_run *ret, const char *path, size_t records, bool *ret_tentative);

#endif
