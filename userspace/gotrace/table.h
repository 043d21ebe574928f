/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Cells of the tables that gotrace prints for people: times in as many digits as one can compare at
 * a glance, counts, names.
 *
 * Between the commands that have figures and print.c, which takes them to stdout.
 */
#ifndef TABLE_H
#define TABLE_H

#include "print.h"

/* Right-aligned in `width` columns: "12.3ms", "0". */
void table__time(struct out *o, int64_t ns, int width);
void table__count(struct out *o, uint64_t n, int width);
void table__padded(struct out *o, const char *text, int width);
/* A name of a trace, escaped; `without`: what stands for an empty one. */
void table__name(struct out *o, struct trace_string name, const char *without);
/* "  12.3%" in 8 columns; blanks if there is no whole. */
void table__share(struct out *o, int64_t ns, int64_t whole);

#endif
