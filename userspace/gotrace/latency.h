/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of `gotrace latency` share: latency.c reads the trace, latency_table.c prints for
 * people, latency_json.c for programs, latency_sort.c has what both of them do.
 */
#ifndef GOTRACE_LATENCY_H
#define GOTRACE_LATENCY_H

#include "lib/error.h"
#include "lib/map.h"
#include "trace/latency.h"
#include "trace/record_store.h"

/* What can be sorted by: a part (enum latency_part), or one of these. */
enum { BY_TOTAL = LATENCY_PARTS, BY_COUNT, BY_ID, LATENCY_ORDERS };

struct function { /* goroutines with the same start function */
	uint32_t name;
	uint64_t count;
	struct latency_stats stats;
};

struct latencies {
	struct latency *latency;
	struct map functions;		 /* by name, to struct function */
	struct record_store *goroutines; /* sorted; NULL: they were not asked for */
	bool one;			 /* of the goroutines but the one `id` */
	uint64_t id;
	uint64_t count;	    /* of goroutines */
	uint64_t losses;    /* of the kernel's side, so far */
	uint64_t tables;    /* of its threads, so far */
	int64_t start, end; /* of what was looked at, in the trace's ns */
	bool has_kernel;    /* the trace has a kernel's side */
	bool left_out;	    /* and a broken end, which was not read */
	unsigned int sort;
};

extern const char *const latency_orders[LATENCY_ORDERS]; /* as --sort has them */

/* Functions, those with the most first; to be freed. NULL: no memory. */
const struct function **functions__sorted(const struct latencies *all, size_t *ret_n);
/* The goroutines by all->sort. 0 or -ENOMEM. */
int goroutines__sort(struct latencies *all);

/* Reasons of a part, the longest first; to be freed. NULL: no memory. */
struct amount *reasons__sorted(const struct latency_stats *stats, enum latency_part part,
			       size_t *ret_n);

/* To stdout. 0 or -ENOMEM. */
int latency_table__functions(const struct latencies *all);
int latency_table__goroutines(const struct latencies *all);
int latency_table__goroutine(const struct latencies *all); /* the one, in detail */
int latency_json__print(const struct latencies *all);

#endif
