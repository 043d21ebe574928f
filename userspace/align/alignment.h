/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The alignment of a trace with a perf.data file: the relation of their clocks, and which events
 * of perf are to be added to the trace.
 *
 * Input: align/perfdata.h and align/side.h. Output: align/write.c. Used by gotrace/align.c, which
 * prints the report.
 */
#ifndef ALIGN_ALIGNMENT_H
#define ALIGN_ALIGNMENT_H

#include "align/side.h"

struct alignment {
	struct side side;
	struct perf_data *perf;
	struct join_perf join; /* with the clock, aligned or compared */
	bool fitted;	       /* the clock was aligned; otherwise perf's is CLOCK_MONOTONIC */
	struct map target;     /* the target's threads, by tid */
	uint8_t *wanted;       /* join__cpus() */
	struct join_gaps gaps; /* switches of the target's threads that perf lacks */
};

/*
 * Takes over both inputs, also on failure. 0, or a negative errno with the reason: recordings of
 * different machines or times, no alignment (align/fit.h), no switches to align by, -ENOMEM.
 */
int alignment__make(struct alignment *ret, struct side *side, struct perf_data *perf,
		    struct error *error);
void alignment__deinit(struct alignment *a);

/* Such as "CLOCK_MONOTONIC_RAW"; "perf's own" for PERF_NO_CLOCK. */
const char *alignment__clock(const struct alignment *a);

/*
 * Time in ns between perf's first and last event within the trace; *ret_all is the length of the
 * trace.
 */
uint64_t alignment__covered(const struct alignment *a, uint64_t *ret_all);

#endif
