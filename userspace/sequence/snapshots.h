/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The snapshots of the window's start, and look-ups in snapshots. Upstream: sequencer.h. Downstream:
 * initial.c and resync_compare.c.
 */
#ifndef SEQUENCE_SNAPSHOTS_H
#define SEQUENCE_SNAPSHOTS_H

#include <stdbool.h>

#include "lib/map.h"
#include "target/process/snapshot.h"

/* Kept until the initial state is known. */
struct startup {
	struct snapshot first, second; /* owned */
	bool has_first, has_second;
	bool given; /* sequencer__take_snapshots() was called */
};

#define RUNTIME_PSYSCALL 2 /* the runtime's _Psyscall, up to 1.25 */

/* Adds the Ms of a snapshot (struct snapshot_m) to the map, by address. 0 or -ENOMEM. */
int snapshots__index_ms(const struct snapshot *snap, struct map *ms);
/* The TID of the M with that address; 0: none, or unknown. */
uint32_t snapshots__tid(const struct map *ms, uint64_t addr);
/* The status of the P with that address; 0: none. */
uint32_t snapshots__proc_status(const struct snapshot *snap, uint64_t addr);

#endif
