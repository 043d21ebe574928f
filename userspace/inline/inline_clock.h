/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Converts the TSC to CLOCK_MONOTONIC, piecewise linearly between pairs of both that were read at
 * about the same time.
 *
 * Upstream: inline_probes.c takes a pair before each drain. Downstream: inline_rings.c.
 */
#ifndef INLINE_INLINE_CLOCK_H
#define INLINE_INLINE_CLOCK_H

#include <stdint.h>

#include "lib/error.h"

#define INLINE_CLOCK_PAIRS 256

/* A pair, and the segment from it to the next pair. */
struct clock_pair {
	uint64_t tsc, ns;
	uint64_t bound; /* of this pair's error, ns */
	uint64_t slope; /* ns per cycle, fixed-point: see inline_clock_x86.c */
};

struct inline_clock {
	struct clock_pair
		pair[INLINE_CLOCK_PAIRS]; /* a ring: pair i is at i % INLINE_CLOCK_PAIRS */
	uint64_t n;			  /* pairs taken so far; at least 2 */
	uint64_t error;			  /* ns */
};

/*
 * Takes the first two pairs, for which it waits 1 ms. -ENOTSUP with a reason: the TSC is not the
 * clock source, not of constant rate, or cannot be read with RDTSCP.
 */
int inline_clock__init(struct inline_clock *c, struct error *error);

/* Takes a pair, unless the last one is less than 1 ms old. */
void inline_clock__sample(struct inline_clock *c);
/* No later load comes before an earlier reading of the TSC. */
void inline_clock__fence(void);
/* The same with a given pair, for tests. Ignores a pair that does not follow the last one. */
void inline_clock__add(struct inline_clock *c, uint64_t tsc, uint64_t ns, uint64_t bound);

/*
 * CLOCK_MONOTONIC at `tsc`, ns. As long as no pair is added, it never decreases with `tsc`. Times
 * before the oldest pair or after the newest one are on the nearest segment's line; they saturate
 * at 0 and UINT64_MAX.
 */
uint64_t inline_clock__ns(const struct inline_clock *c, uint64_t tsc);

/*
 * The largest error seen, ns: the bound of a pair, and the distance of a pair from the line through
 * the two before it.
 */
uint64_t inline_clock__error_ns(const struct inline_clock *c);

#endif
