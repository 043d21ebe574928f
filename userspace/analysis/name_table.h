/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The names of annotations, at most NAME_TABLE_MAX of them: a program may give each task a name of
 * its own, and what is kept per name must not grow with the trace.
 *
 * Names are those of a trace, so they are bytes that may be anything. Used by
 * analysis/annotation_tracker.c, whose clients keep arrays by index.
 */
#ifndef ANALYSIS_NAME_TABLE_H
#define ANALYSIS_NAME_TABLE_H

#include <stdint.h>

#include "format/dictionary.h"
#include "lib/arena.h"
#include "lib/map.h"

#define NAME_TABLE_MAX	 1000u
#define NAME_TABLE_OTHER NAME_TABLE_MAX /* index of all further names together */

struct name_table {
	struct map index; /* by hash, to index + 1 */
	struct arena arena;
	struct trace_string name[NAME_TABLE_MAX];
	uint32_t n;
};

void name_table__init(struct name_table *t); /* allocates nothing */
void name_table__deinit(struct name_table *t);

/* Finds or adds a name, which is copied; the first one has index 0. 0 or -ENOMEM. */
int name_table__get(struct name_table *t, struct trace_string name, uint32_t *ret);

/* The name at an index, until deinit. That of NAME_TABLE_OTHER is "other". */
struct trace_string name_table__at(const struct name_table *t, uint32_t index);

/* A name, and the figure that it is sorted by. */
struct name_rank {
	int64_t key;
	uint32_t name;
};

/* In descending order; equal ones in the order in which their names first appeared. */
void name_ranks__sort(struct name_rank *ranks, size_t n);

#endif
