/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The statistics of a recording, as JSON (record --stats). Upstream: capture/recorder.c.
 */
#ifndef STATS_H
#define STATS_H

#include "capture/recorder.h"

struct trace_file;

/*
 * Opens a temporary file in the directory of PATH. To be called before the recording, so that an invalid path
 * fails early.
 */
int stats__open(struct trace_file **ret, const char *path, struct error *error);
/* Writes and renames the file. 0, or a negative errno and the reason. */
int stats__write(struct trace_file *file, const char *path, const struct recorder_stats *stats,
		 struct error *error);

#endif
