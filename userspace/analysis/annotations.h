/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The durations of the tasks or of the regions of a trace, by name.
 *
 * Upstream: annotation_tracker.h. Downstream: `gotrace tasks` and `gotrace regions`. One counts in
 * the window in which it ends, with all of its duration, so that the windows of a trace add up.
 * Whatever does not begin or does not end in the trace has no duration and is counted separately.
 *
 * Memory is proportional to the number of names, which is bounded (analysis/name_table.h), and to
 * what is open.
 */
#ifndef ANALYSIS_ANNOTATIONS_H
#define ANALYSIS_ANNOTATIONS_H

#include <stdbool.h>

#include "analysis/annotation_filter.h"
#include "analysis/lengths.h"
#include "format/event.h"

enum annotation_kind { ANNOTATION_TASKS, ANNOTATION_REGIONS };

/* Those with the same name. */
struct annotation_name {
	uint32_t name;		/* annotations__name() */
	uint64_t unfinished;	/* open at the end of the trace or window */
	uint64_t unbegun;	/* regions: ended, but the begin is not in the trace */
	struct lengths lengths; /* of all others */
};

struct annotations;

struct annotations *annotations__create(enum annotation_kind kind); /* NULL: no memory */
void annotations__destroy(struct annotations *a);		    /* may be NULL */
/* Only what ends in [from, to) counts; by default all. */
void annotations__set_window(struct annotations *a, int64_t from, int64_t to);
/* Only what it accepts counts; by default all. */
void annotations__set_filter(struct annotations *a, const struct annotation_filter *filter);

int annotations__event(struct annotations *a, const struct trace_event *ev); /* 0 or -ENOMEM */
/* After the last event of the window or trace. 0 or -ENOMEM. */
int annotations__finish(struct annotations *a);

/* Tasks or regions, in the window, that the filter did not accept. */
uint64_t annotations__left_out(const struct annotations *a);
/* Tasks that ended, but whose begin, and so their name, is not in the trace. */
uint64_t annotations__unbegun(const struct annotations *a);
struct trace_string annotations__name(const struct annotations *a, uint32_t name);
/*
 * The names in descending order of `key`; the caller frees the array, not the elements. NULL: no
 * memory.
 */
const struct annotation_name **annotations__sorted(const struct annotations *a,
						   enum lengths_key key, size_t *ret_n);

#endif
