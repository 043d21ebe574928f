/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a recording cost and held, as JSON (record --stats).
 */
#ifndef STATS_H
#define STATS_H

#include "capture/recorder.h"

/* Writes PATH beside and renames it. 0, or a negative errno and the reason. */
int stats__write(const char *path, const struct recorder_stats *stats, struct error *err);

#endif
