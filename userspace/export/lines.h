/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exports a trace as lines of JSON, one per event and kernel event.
 *
 * Upstream: reader/timeline.h. Downstream: print/print.h, which prints events as `gotrace events
 * --json` does. The first line names the schema and its version; gotrace(1) describes it.
 */
#ifndef EXPORT_LINES_H
#define EXPORT_LINES_H

#include "reader/timeline.h"

/* Of the schema: to be increased when a member changes its meaning or is removed. */
#define LINES_VERSION 1

/* Reads the timeline to its end. 0 or a negative errno with the reason. */
int lines__write(struct timeline *t, struct outbuf *out, struct error *error);

#endif
