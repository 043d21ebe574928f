/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resynchronization after a loss: a pair of snapshots corrects the model. Upstream: sequencer.c.
 * Downstream: resync_compare.c and transition.c.
 */
#ifndef SEQUENCE_RESYNC_H
#define SEQUENCE_RESYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/map.h"
#include "target/process/snapshot.h"

struct sequencer;

struct resync {
	struct snapshot pair[2]; /* the pending pair, if any; owned */
	bool has_pair;
	struct map strays;    /* after a loss: g address to its latest record */
	uint64_t strays_from; /* complete since this time */
};

/* The stream time from which the pair can be compared with the model. */
uint64_t resync__due(const struct sequencer *s);
void resync__apply(struct sequencer *s, uint64_t time);
/* After a loss: notes a record of a goroutine that is unknown, or has ended in the model. */
void resync__note_stray(struct sequencer *s, uint64_t addr, unsigned int kind, uint64_t time);

#endif
