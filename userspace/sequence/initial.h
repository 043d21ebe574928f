/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of all Gs, Ms and Ps at the start of the window. Upstream: sequencer.c. Downstream:
 * model.c and boundary.c.
 */
#ifndef SEQUENCE_INITIAL_H
#define SEQUENCE_INITIAL_H

#include <stddef.h>
#include <stdint.h>

struct gt_record;
struct layout;
struct sequencer;
struct snapshot_g;

/*
 * Derives the state at the window's start from the two snapshots and `n` records, ordered by time,
 * which reach at least to the time of the second. Opens the first generation. 0 or a negative
 * errno.
 */
int initial__resolve(struct sequencer *s, const struct gt_record *const *rec, size_t n);
/* The trace's state of a goroutine in a snapshot: enum trace_go_status, 0: does not exist. */
uint32_t initial__state(const struct layout *layout, const struct snapshot_g *g);

#endif
