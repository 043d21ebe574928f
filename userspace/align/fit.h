/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The clock of a perf.data file, fitted onto CLOCK_MONOTONIC by the switches of the target's threads
 * that both it and the trace hold.
 *
 * Before it: align/perfdata.h (theirs) and the trace's kernel items (ours), both as plain arrays by
 * time. After it: align/join.c, which gives perf's events the times of the trace.
 *
 * Both sides may have losses, and windows that overlap only in part; clocks may be hours apart and
 * drift by up to 500 ppm. A fit that is not the only one, or not a good one, is refused.
 */
#ifndef ALIGN_FIT_H
#define ALIGN_FIT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

struct fit_switch { /* core `cpu` goes from one thread to another; 0: idle */
	uint64_t time;
	uint32_t prev, next;
	uint16_t cpu;
};

#define FIT_MATCHES_MIN	 32   /* fewer say nothing */
#define FIT_RESIDUAL_MAX 5000 /* ns, of 99 in 100 matches */

struct fit {
	uint64_t ours, theirs; /* one moment by either clock, in the middle of what both cover */
	double drift;	       /* ns that CLOCK_MONOTONIC gains in a ns of theirs */
	uint64_t in_ours, in_theirs; /* switches in the time that both cover */
	uint64_t matched;	     /* of those: found on both sides, to 50 us */
	uint64_t p50, p99, max;	     /* ns: how far those are from the fit */
};

/* What perf's time is on CLOCK_MONOTONIC. */
static inline uint64_t fit__time(const struct fit *fit, uint64_t theirs)
{
	int64_t since = (int64_t)(theirs - fit->theirs);

	return fit->ours + (uint64_t)since + (uint64_t)llround((double)since * fit->drift);
}

static inline int64_t fit__offset(const struct fit *fit)
{
	return (int64_t)(fit->ours - fit->theirs);
}

/*
 * Of two clocks that nothing is known of. Both arrays are sorted by time, and are of the target's
 * threads only. 0; -ENODATA (too few, or none that both hold), -EDOM (a bad fit), -ENOTUNIQ (more
 * than one), each with the reason; -ENOMEM.
 */
int fit__clock(struct fit *ret, const struct fit_switch *ours, size_t nours,
	       const struct fit_switch *theirs, size_t ntheirs, struct error *err);

/*
 * Of one and the same clock: fills in how well they agree. 0 or -ENOMEM; what that means is the
 * caller's to say, see fit__agrees().
 */
int fit__compare(struct fit *ret, const struct fit_switch *ours, size_t nours,
		 const struct fit_switch *theirs, size_t ntheirs);

/* Of the switches that both should hold, at least half are there. */
static inline int fit__agrees(const struct fit *fit)
{
	uint64_t both = fit->in_ours < fit->in_theirs ? fit->in_ours : fit->in_theirs;

	return fit->matched * 2 >= both;
}

#endif
