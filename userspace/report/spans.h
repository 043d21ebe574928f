/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spans of a timeline with a level of detail: neighbouring short ones are merged into aggregated
 * ones, which keep the exact time of each state.
 *
 * Between report/lanes.c, which adds the states of a lane, and report/lanes_print.c, which encodes
 * them. A span that is shorter than the threshold belongs to the cell of the grid of that width in
 * which it starts; all short spans of a cell make one aggregated span. So after the threshold has
 * doubled, all aggregated spans are short again, and each of the doublings costs one pass.
 */
#ifndef REPORT_SPANS_H
#define REPORT_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "export/states.h"

/* States of a list belong to one group, so an aggregated span needs one slot for each of that. */
#define SPAN_SLOTS	      STATE_SLOTS

#define SPANS_FIRST_THRESHOLD 1024u /* ns: the first one, after 0 */
#define SPANS_THRESHOLD_MAX   (1ull << 62)

/* Of an aggregated span. */
struct span_sum {
	uint64_t time[SPAN_SLOTS]; /* ns, exact */
	uint64_t count;		   /* spans that it stands for */
};

struct span {
	uint64_t start, len; /* ns since the start of the trace */
	uint64_t detail;     /* for the owner; of an aggregated span: if equal in all, else 0 */
	uint32_t sum;	     /* index of its sum plus 1; 0: it is not aggregated */
	uint8_t state;	     /* of an aggregated span: any state of the group */
};

/* Sorted by time, without overlaps. {} is an empty one. */
struct spans {
	struct span *at;
	struct span_sum *sums;
	size_t n, cap, nsums, cap_sums;
};

void spans__deinit(struct spans *s);

/*
 * Appends a span, which starts at the end of the last one or later, and merges it with the last one
 * if the threshold permits. 0 or -ENOMEM.
 */
int spans__add(struct spans *s, const struct span *span, uint64_t threshold);
/* The same for one of another list: its member `sum` is not 0 if it is aggregated, with *sum. */
int spans__add_sum(struct spans *s, const struct span *span, const struct span_sum *sum,
		   uint64_t threshold);

/* Merges what is shorter than `threshold`, at least twice the one before. 0 or -ENOMEM. */
int spans__merge(struct spans *s, uint64_t threshold);

/* Adds the exact time of each slot to time[]. */
void spans__total(const struct spans *s, uint64_t time[SPAN_SLOTS]);

/* The state with most of the time of a span. */
uint8_t spans__dominant(const struct spans *s, const struct span *span);

#endif
