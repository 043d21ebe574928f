/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measures the figures of one recording, in slices of equal length, for `gotrace diff`.
 *
 * The trace is read twice: measure__look() gets every event, for the length of the trace and the names
 * of goroutines that become known late; then measure__step() gets every step of the timeline. Time of
 * goroutines counts in the slices in which it passes, from their creation or the first generation that
 * contains them on. Requests, waits and pauses count in the slice in which they end, as in the
 * analyses that find them: analysis/requests.h, analysis/intervals.h.
 *
 * Memory: that of those analyses, figures.h, 8 KiB per name of a request, and an entry per goroutine
 * whose name becomes known late.
 */
#ifndef DIFF_MEASURE_H
#define DIFF_MEASURE_H

#include "analysis/naming.h"
#include "diff/figures.h"
#include "reader/timeline.h"

struct measure;

/* `naming` has the names of both recordings, so that equal ones have equal ids; borrowed. NULL: no memory. */
struct measure *measure__create(struct naming *naming, size_t slices);
void measure__destroy(struct measure *m); /* may be NULL */

/* The first pass. 0 or -ENOMEM. */
int measure__look(struct measure *m, const struct trace_event *ev);
/* Between the passes. 0; or a negative errno with the reason: -ENODATA, the trace has no length. */
int measure__begin(struct measure *m, struct error *error);
/* The second pass. 0 or a negative errno with the reason. */
int measure__step(struct measure *m, const struct timeline *t, const struct timeline_step *step,
		  struct error *error);
int measure__finish(struct measure *m, struct error *error);

/* The result, valid until destroy. */
const struct figures *measure__figures(const struct measure *m);
int64_t measure__length(const struct measure *m);	 /* ns, from the first event to the last */
uint64_t measure__requests(const struct measure *m);	 /* that ended, of all names */
const double *measure__seconds(const struct measure *m); /* of each slice */
const double *measure__ended(const struct measure *m);	 /* requests, of each slice */

#endif
