/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The analysis of a trace that comes in generations.
 *
 * Upstream: metrics/metrics.c, whose thread calls it. Downstream: reader/push.h, and metrics/engine.h
 * with the steps of each generation.
 */
#ifndef METRICS_STREAM_H
#define METRICS_STREAM_H

#include "format/header.h"
#include "metrics/engine.h"

struct stream_analysis {
	char header[TRACE_HEADER_LEN];
	struct engine *engine;
	struct reader *reader; /* NULL: begins with the next generation */
	struct timeline *timeline;
	/* A generation is missing: the others are left out up to one with the state of everything. */
	bool broken;
};

int stream_analysis__init(struct stream_analysis *s, const void *header); /* 0 or -ENOMEM */
void stream_analysis__deinit(struct stream_analysis *s);

/* One was left out. */
void stream_analysis__skip(struct stream_analysis *s);
/*
 * Analyses the next one; `has_state`: a trace can begin with it. A corrupt one is left out from where
 * it is corrupt, and counted. 0 or -ENOMEM.
 */
int stream_analysis__add(struct stream_analysis *s, const void *generation, size_t len,
			 bool has_state);
/*
 * The values of a trace that ends with the latest generation, as of the end of that trace. 0 or a
 * negative errno; the values are the caller's to deinitialize on success.
 */
int stream_analysis__collect(struct stream_analysis *s, struct metric_values *ret);
/* Whether one with all state is needed to go on, or to free memory. */
bool stream_analysis__wants_state(const struct stream_analysis *s);
/* There are no more. 0 or -ENOMEM. */
int stream_analysis__finish(struct stream_analysis *s);

#endif
