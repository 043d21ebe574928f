/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of requests share: requests.c (who works for which task) and requests_sum.c (sums
 * of requests that have ended).
 */
#ifndef ANALYSIS_REQUESTS_IMPL_H
#define ANALYSIS_REQUESTS_IMPL_H

#include "analysis/annotation_tracker.h"
#include "analysis/requests.h"

struct requests {
	struct annotation_tracker tracker;
	struct latency *latency;
	struct map workers; /* by goroutine, to struct worker: those that work for a task */
	struct map work;    /* by task and goroutine, to struct work */
	struct annotation_filter filter;
	int64_t from, to;
	uint64_t unbegun;
	struct request_single *worst; /* in descending order */
	size_t nworst, most_worst;
	struct request_name *by_name[NAME_TABLE_MAX + 1]; /* NULL: nothing counted yet */
};

/* requests_sum.c; 0 or -ENOMEM */

/* Takes over the time of `single`, also on failure. */
int requests__count(struct requests *r, struct request_single *single);
int requests__count_unfinished(struct requests *r, uint32_t name);
void requests__free_sums(struct requests *r);

#endif
