/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the records that inline probes have written (gotrace/inline.h).
 *
 * Upstream: trampoline_x86.c, in the traced process, which may write anything into this memory at any
 * time. Downstream: inline_probes.c.
 */
#ifndef INLINE_INLINE_RINGS_H
#define INLINE_INLINE_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/inline.h"
#include "inline/inline_clock.h"

struct inline_rings;

/* The host's TID of a thread that the process names `procid`; 0: unknown. */
typedef uint32_t (*inline_tid_fn)(void *ctx, uint64_t procid);
/* `rec` is valid only during the call. A negative errno ends the drain. */
typedef int (*inline_rings_fn)(void *ctx, unsigned int ring, const struct gt_record *rec,
			       size_t size);

/*
 * Reads what is written from now on. Of `map`, which is a trusted copy, it uses the geometry; it
 * borrows `area`, this process's mapping of the area of rings, and the clock. 0, -ENOMEM, or
 * -EINVAL: the geometry is invalid.
 */
int inline_rings__open(struct inline_rings **ret, const struct gt_inline *map, void *area,
		       struct inline_clock *clock, inline_tid_fn tid, void *tid_ctx);
void inline_rings__close(struct inline_rings *r); /* NULL allowed */

/*
 * Passes on each record that was reserved before the call, in the order of its ring: with its
 * number there, its time in ns, and its host TID. A record that was lost, or that is invalid,
 * leaves a gap in the numbers. `now` (CLOCK_MONOTONIC, ns), and a pair of the clock, are taken
 * before the call; later times become `now`. *ret_complete: all records up to `now`, except for the
 * error of the clock, have been passed on, because no slot is reserved and not committed. A slot
 * that stays so for more than 1 s is given up as lost.
 *
 * 0, or what `fn` returned. *ret_complete is set only on success.
 */
int inline_rings__drain(struct inline_rings *r, uint64_t now, inline_rings_fn fn, void *ctx,
			bool *ret_complete);

/* Whether the program has written into the rings: the head of one was not that of any records. */
bool inline_rings__is_forged(const struct inline_rings *r);

/* Whether the ring had a record, or a slot that was given up. */
bool inline_rings__is_used(const struct inline_rings *r, unsigned int ring);
unsigned int inline_rings__fill(const struct inline_rings *r); /* of the fullest ring, percent */
/*
 * Records dropped since inline_rings__open() because a ring was full, by kind; returns their sum.
 * Never decreases, and increases by at most 2^32 per call.
 */
uint64_t inline_rings__lost(struct inline_rings *r, uint64_t ret[GT_KIND_END]);

#endif
