/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of `gotrace stat` share: stat.c goes through the trace, stat_table.c and
 * stat_json.c print what came of it.
 */
#ifndef STAT_H
#define STAT_H

#include "trace/statistics.h"

struct stat_report {
	const char *path;
	char format[16];    /* "go1.26" */
	bool has_bytes;	    /* by type and generation; not of v1 traces */
	char left_out[512]; /* why reading ended early; empty: it did not */
	struct statistics counts;
};

/* The n-th smallest of the generations' bytes, events or ns; 0: there are none. */
struct spread {
	uint64_t min, median, max;
};
enum spread_of { SPREAD_BYTES, SPREAD_EVENTS, SPREAD_NS };
int spread__of(const struct statistics *s, enum spread_of what, struct spread *ret); /* -ENOMEM */

/* The first generation's clock that is known; NULL: none is. */
const struct trace_clock *stat__clock(const struct statistics *s);

/* To stdout. 0 or -ENOMEM. */
int stat__print_table(const struct stat_report *r);
int stat__print_json(const struct stat_report *r);

#endif
