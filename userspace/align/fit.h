/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Aligns the clock of a perf.data file with CLOCK_MONOTONIC by the context switches of the
 * target's threads that both recordings contain.
 *
 * Input: align/perfdata.h (theirs) and the kernel events of the trace (ours), both as arrays
 * sorted by time. Output: align/join.c converts perf's timestamps.
 *
 * Both recordings may have losses and may overlap only in part; the clocks may be hours apart and
 * drift by up to 500 ppm. An alignment that is ambiguous or bad is rejected.
 */
#ifndef ALIGN_FIT_H
#define ALIGN_FIT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

/* CPU `cpu` switches from one thread to another; 0: idle */
struct fit_switch {
	uint64_t time;
	uint32_t prev, next;
	uint16_t cpu;
};

#define FIT_MATCHES_MIN	 32   /* fewer are no evidence */
#define FIT_RESIDUAL_MAX 5000 /* ns, of 99 in 100 matches */

struct fit {
	uint64_t ours, theirs;	     /* one moment, in the middle of the overlap */
	double drift;		     /* ns that CLOCK_MONOTONIC gains per ns of theirs */
	uint64_t in_ours, in_theirs; /* switches within the overlap */
	uint64_t matched;	     /* of these: found in both, within 50 us */
	uint64_t p50, p99, max;	     /* ns: deviation of these from the line */
};

/* Convert a timestamp of perf to CLOCK_MONOTONIC. */
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
 * Align two unrelated clocks. Both arrays are sorted by time and contain only switches of the
 * target's threads. 0; -ENODATA (too few switches, or none in common), -EDOM (bad alignment),
 * -ENOTUNIQ (ambiguous), each with the reason; -ENOMEM.
 */
int fit__clock(struct fit *ret, const struct fit_switch *ours, size_t nours,
	       const struct fit_switch *theirs, size_t ntheirs, struct error *error);

/* For the same clock: compute how well the recordings agree, see fit__agrees(). 0 or -ENOMEM. */
int fit__compare(struct fit *ret, const struct fit_switch *ours, size_t nours,
		 const struct fit_switch *theirs, size_t ntheirs);

/* Whether at least half of the switches that both should contain match. */
static inline int fit__agrees(const struct fit *fit)
{
	uint64_t both = fit->in_ours < fit->in_theirs ? fit->in_ours : fit->in_theirs;

	return fit->matched * 2 >= both;
}

#endif
