/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The distribution of durations: how many there are, their sum and extremes, and their number by
 * class of length, from which shares (the median, p99) and histograms follow.
 *
 * Classes of length are also those of the run-queue delays of analysis/latency_stats.c. Downstream:
 * analysis/intervals.c, which adds the intervals of a trace, and `gotrace histogram`.
 */
#ifndef TRACE_LENGTHS_H
#define TRACE_LENGTHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Up to 32 ns there is a class for each nanosecond, from there on 16 classes from each power of two
 * to the next, so that the middle of a class differs by at most 3 % from the lengths in it.
 */
#define LENGTH_CLASSES 960u
uint32_t length_class__of(int64_t ns); /* below 0 as 0 */
int64_t length_class__middle(uint32_t class);

/* Empty if zero. Times in ns. */
struct lengths {
	uint64_t count;
	int64_t sum;	  /* INT64_MAX if it exceeds that */
	int64_t min, max; /* 0 if there are none */
	uint64_t class[LENGTH_CLASSES];
};

void lengths__add(struct lengths *l, int64_t ns); /* below 0 as 0 */

/*
 * The length that the share (0.5, 0.99) of all does not exceed: the middle of its class, but within
 * min and max. 0 if there are none.
 */
int64_t lengths__share(const struct lengths *l, double share);

/* The figures that rows with lengths can be sorted by. */
enum lengths_key {
	LENGTHS_TOTAL,
	LENGTHS_COUNT,
	LENGTHS_P50,
	LENGTHS_P90,
	LENGTHS_P99,
	LENGTHS_MAX,
	LENGTHS_KEYS
};
int64_t lengths__key(const struct lengths *l, enum lengths_key key); /* ns, or a number */

/* A bucket [from, to) of a histogram. The first one is [0, 1), the others begin at powers of two. */
struct lengths_bucket {
	int64_t from, to; /* to: INT64_MAX in the last bucket that is possible */
	uint64_t count;
};

#define LENGTH_BUCKETS 64u
/* From the shortest length to the longest, buckets of 0 between them included. Returns how many. */
size_t lengths__buckets(const struct lengths *l, struct lengths_bucket ret[LENGTH_BUCKETS]);

#endif
