/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Go's slices.SortFunc by a time, with its order of equals.
 *
 * Go's reader sorts the threads that wait for each other, and CPU samples, with a sort that is not
 * stable, and the order that equal times come out in decides what it delivers and even what it
 * accepts. So that ours is the same, trace/reader.c and trace/decode.c sort in the same steps: a
 * pattern-defeating quicksort (Orson Peters) with Go's choices of pivot and limits (package slices,
 * Go 1.21 to 1.26).
 */
#ifndef TRACE_GOSORT_H
#define TRACE_GOSORT_H

#include <stddef.h>
#include <stdint.h>

struct gosort_item {
	int64_t time;
	void *what;
};

void gosort(struct gosort_item *item, size_t n);

#endif
