/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the files of `gotrace stat`: stat.c reads the trace, stat_table.c and stat_json.c
 * print.
 */
#ifndef STAT_H
#define STAT_H

#include "analysis/statistics.h"

struct stat_report {
	const char *path;
	char format[16];    /* "go1.26" */
	bool has_bytes;	    /* by type and generation; not for v1 traces */
	char left_out[512]; /* why reading ended early; empty: it did not */
	struct statistics counts;
};

/* Spread of the generations' bytes, events or ns; all 0 without generations. 0 or -ENOMEM. */
struct spread {
	uint64_t min, median, max;
};
enum spread_of { SPREAD_BYTES, SPREAD_EVENTS, SPREAD_NS };
int spread__of(const struct statistics *s, enum spread_of what, struct spread *ret);

/* The clock of the first generation that has one; NULL: none. */
const struct trace_clock *stat__clock(const struct statistics *s);

/* Print to stdout. 0 or -ENOMEM. */
int stat__print_table(const struct stat_report *r);
int stat__print_json(const struct stat_report *r);

#endif
