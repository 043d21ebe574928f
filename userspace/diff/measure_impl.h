/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files that measure a recording: measure.c has the slices, measure_functions.c the time
 * of goroutines, measure_ended.c what counts when it ends.
 */
#ifndef DIFF_MEASURE_IMPL_H
#define DIFF_MEASURE_IMPL_H

#include "analysis/goroutine_tracker.h"
#include "analysis/intervals.h"
#include "analysis/requests.h"
#include "diff/measure.h"

enum measured_interval { MEASURED_SCHED, MEASURED_GC, MEASURED_STW, MEASURED_INTERVALS };

struct measure {
	struct naming *naming;
	struct figures figures;
	int64_t start, end;
	bool started;
	size_t slice;	/* the current one */
	int64_t *bound; /* slices + 1 */
	double *seconds, *ended;

	/* measure_functions.c */
	struct goroutine_tracker names; /* of the first pass */
	struct map late; /* by goroutine, to its name: those that become known late */
	struct goroutine_tracker tracker; /* of the second pass */

	/* measure_ended.c: what the analyses had counted at the end of the last slice */
	struct requests *requests;
	struct map requests_before; /* by index of a name, to struct requests_before */
	struct intervals *intervals[MEASURED_INTERVALS];
	struct lengths intervals_before[MEASURED_INTERVALS];
	uint64_t nrequests;
};

/* Adds the time from `from` to `to` to the slices in which it lies. 0 or -ENOMEM. */
int measure__add_time(struct measure *m, enum figure_kind kind, uint32_t name, int64_t from,
		      int64_t to);

/* measure_functions.c */
void measure_functions__init(struct measure *m);
void measure_functions__deinit(struct measure *m);
int measure_functions__look(struct measure *m, const struct trace_event *ev);  /* 0 or -ENOMEM */
int measure_functions__begin(struct measure *m);			       /* 0 or -ENOMEM */
int measure_functions__event(struct measure *m, const struct trace_event *ev); /* 0 or -ENOMEM */
int measure_functions__finish(struct measure *m);			       /* 0 or -ENOMEM */

/* measure_ended.c */
int measure_ended__init(struct measure *m); /* 0 or -ENOMEM; deinit in either case */
void measure_ended__deinit(struct measure *m);
int measure_ended__step(struct measure *m, const struct timeline *t,
			const struct timeline_step *step, struct error *error);
/* The current slice ends. 0 or -ENOMEM. */
int measure_ended__close_slice(struct measure *m);
/* After the last slice: the quantiles of the whole recording. 0 or -ENOMEM. */
int measure_ended__finish(struct measure *m);

#endif
