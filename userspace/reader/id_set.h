/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set of IDs that are assigned mostly in ascending order, such as those of tasks: bitmaps of 512
 * IDs each, so that successive ones need little more than a bit each.
 *
 * Memory is bounded, also for IDs that are far apart: the set forgets the IDs of bitmaps to which
 * none has been added for long, but none of the last ID_SET_BITMAPS bitmaps that have been added.
 */
#ifndef READER_ID_SET_H
#define READER_ID_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/map.h"

#define ID_SET_BITMAPS 16384 /* 1 MiB of bitmaps, or 8 million successive IDs */

struct id_set {
	struct map recent, older; /* by ID / 512, to the bitmaps */
};

void id_set__deinit(struct id_set *set);
bool id_set__has(const struct id_set *set, uint64_t id);
int id_set__add(struct id_set *set, uint64_t id); /* 0 or -ENOMEM */

#endif
