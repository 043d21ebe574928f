/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The threads of a generation by the time of their next events: a heap, the earliest first.
 *
 * For trace/reader.c alone, inline because it moves once an event. It is Go's heap step by step
 * (internal/trace/batchcursor.go), since its shape decides which of equal times comes first.
 */
#ifndef TRACE_HEAP_H
#define TRACE_HEAP_H

#include "trace/gosort.h"

static inline void heap__swap(struct gosort_item *heap, size_t i, size_t j)
{
	struct gosort_item item = heap[i];

	heap[i] = heap[j];
	heap[j] = item;
}

static inline size_t heap__up(struct gosort_item *heap, size_t i)
{
	for (; i && heap[(i - 1) / 2].time > heap[i].time; i = (i - 1) / 2)
		heap__swap(heap, (i - 1) / 2, i);
	return i;
}

/* Moves the lesser child up until the item of place i is no later than both of its children. */
static inline void heap__down(struct gosort_item *heap, size_t n, size_t i)
{
	struct gosort_item item = heap[i];
	size_t child;

	for (; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && heap[child + 1].time < heap[child].time)
			child++;
		if (heap[child].time >= item.time)
			break;
		heap[i] = heap[child];
	}
	heap[i] = item;
}

static inline void heap__remove(struct gosort_item *heap, size_t *n, size_t i)
{
	for (; i; i = (i - 1) / 2)
		heap__swap(heap, (i - 1) / 2, i);
	heap__swap(heap, 0, --*n);
	heap__down(heap, *n, 0);
}

#endif
