/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sorts by time, with equal times in the order of Go's slices.SortFunc.
 *
 * Go's trace reader sorts waiting threads and CPU samples with this unstable sort. The order of
 * equal times determines which event comes first and even whether a trace is accepted.
 * reader/reader.c, reader/decode_tables.c and v1/v1_parse.c therefore use the same algorithm: the
 * pattern-defeating quicksort by Orson Peters, with pivots and limits from Go's package slices
 * (zsortanyfunc.go, Go 1.21 to 1.26).
 */
#ifndef FORMAT_GOSORT_H
#define FORMAT_GOSORT_H

#include <stddef.h>
#include <stdint.h>

struct gosort_item {
	int64_t time;
	void *what;
};

void gosort(struct gosort_item *item, size_t n);

#endif
