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
	bool restart; /* with the next generation, because it does not continue the last one */
};

int stream_analysis__init(struct stream_analysis *s, const void *header); /* 0 or -ENOMEM */
void stream_analysis__deinit(struct stream_analysis *s);

/* One was left out. */
void stream_analysis__skip(struct stream_analysis *s);
/* Analyses the next one. A corrupt one is left out and counted. 0 or -ENOMEM. */
int stream_analysis__add(struct stream_analysis *s, const void *generation, size_t len);
/* There are no more. 0 or -ENOMEM. */
int stream_analysis__finish(struct stream_analysis *s);

#endif
