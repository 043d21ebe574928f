/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cells of the tables that gotrace prints: times with as many digits as are easy to compare,
 * counts, names. print.c writes them to stdout.
 */
#ifndef TABLE_H
#define TABLE_H

#include "analysis/lengths.h"
#include "print.h"

#define TABLE_TIME 9 /* width of a column of times */
#define NO_STACK   "(unknown: no stack recorded)"

/* Right-aligned in `width` columns: "12.3ms", "0". */
void table__time(struct out *o, int64_t ns, int width);
/* The same for bytes: "12.3MiB", "512B", "0". */
void table__bytes(struct out *o, uint64_t bytes, int width);
/* A name from a trace, escaped; `without` replaces an empty one. */
void table__name(struct out *o, struct trace_string name, const char *without);
/* Such as "  12.3%", in 8 columns; blank if `whole` is 0. */
void table__share(struct out *o, int64_t ns, int64_t whole);
/* One line of a breakdown: time, share of the total, reason. None if the time is 0. */
void table__part(struct out *o, int64_t ns, int64_t total, const char *what,
		 struct trace_string detail);
/* A histogram with its heading, the longest bar `width` wide; nothing if nothing was counted. */
void table__buckets(struct out *o, const struct lengths *l, int width);

#endif
