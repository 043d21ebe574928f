/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A trace and a perf.data file side by side: whose clock is which, and what of perf's belongs into
 * the trace.
 *
 * Before it: align/perfdata.h and align/side.h, which have read the two. After it: align/write.c. Used by
 * gotrace/align.c alone, which says what came out.
 */
#ifndef ALIGN_ALIGNMENT_H
#define ALIGN_ALIGNMENT_H

#include "align/side.h"

struct alignment {
	struct side side;
	struct perf_data *perf;
	struct join_perf join; /* with the clock, fitted or compared */
	bool fitted;	       /* the clock; else perf's is CLOCK_MONOTONIC */
	struct map target;     /* the target's threads, by tid */
	uint8_t *wanted;       /* join__cores() */
	struct join_gaps gaps; /* switches of the target's threads that perf has not seen */
};

/*
 * Takes what was read over; on failure, too. 0, or a negative errno with the reason: of different
 * machines or times, no fit (align/fit.h), nothing to fit by, -ENOMEM.
 */
int alignment__make(struct alignment *ret, struct side *side, struct perf_data *perf,
		    struct error *err);
void alignment__deinit(struct alignment *a);

/* "CLOCK_MONOTONIC_RAW"; of PERF_NO_CLOCK "perf's own". */
const char *alignment__clock(const struct alignment *a);

/* ns of the trace, all of it in *ret_all, in which perf was there: from its first event to its last. */
uint64_t alignment__covered(const struct alignment *a, uint64_t *ret_all);

#endif
