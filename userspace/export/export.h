/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exports a trace to a timeline viewer: goroutines, Ps, threads, CPUs, GC, tasks and counters as
 * tracks.
 *
 * Upstream: reader/timeline.h; analysis/goroutine_tracker.h and annotation_tracker.h interpret its
 * events. Downstream: export/sink.h. `gotrace export perfetto` and `chrome` use it.
 *
 * Everything is written as soon as it is known, so memory depends on the number of goroutines
 * that exist at a time, and of threads and Ps that there were, not on the length of the trace.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "analysis/select.h"
#include "export/sink.h"
#include "reader/timeline.h"

struct export;

struct export *export__create(struct export_sink *sink); /* `sink` is borrowed. NULL: no memory */
void export__destroy(struct export *e);			 /* NULL is allowed */
/*
 * Only goroutines that it accepts get tracks; others are shown on Ps, threads and CPUs only. `matches`: see
 * selection__goroutine(). Both are borrowed.
 */
void export__select(struct export *e, const struct selection *select, const struct map *matches);

/* Applies the next step of the timeline. 0 or a negative errno with the reason. */
int export__step(struct export *e, const struct timeline *t, const struct timeline_step *step,
		 struct error *error);
/* The trace has ended: ends what is open, at `end` if that is after the last event. Errors as above. */
int export__finish(struct export *e, int64_t end, struct error *error);

#endif
