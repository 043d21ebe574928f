/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a recording cost and held, as JSON (record --stats).
 */
#ifndef STATS_H
#define STATS_H

#include "capture/recorder.h"

struct trace_file;

/* Opens PATH beside, before the recording, so that a bad one is known early. */
int stats__open(struct trace_file **ret, const char *path, struct error *err);
/* Writes it and renames. 0, or a negative errno and the reason. */
int stats__write(struct trace_file *file, const char *path, const struct recorder_stats *stats,
		 struct error *err);

#endif
