/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Binary heaps: arrays of `n` items, the least one first. Inline, since merges use them per event.
 *
 * The steps are those of Go's container/heap: they decide which of equal items comes first, and the
 * readers of traces (reader/reader.c, v1/v1_order.c) must choose as Go's readers do.
 */
#ifndef LIB_HEAP_H
#define LIB_HEAP_H

#include <stddef.h>

/*
 * Defines functions on heaps of `type`, ordered by `bool is_less(const type *, const type *)`:
 *
 *	NAME__up(heap, i)	 restores the order after item i became less; returns its new index
 *	NAME__down(heap, n, i)	 restores the order after item i became greater
 *	NAME__remove(heap, &n, i) removes item i
 */
#define DEFINE_HEAP(name, type, is_less)                                                           \
	static inline size_t name##__up(type *heap, size_t i)                                      \
	{                                                                                          \
		type item = heap[i];                                                               \
                                                                                                   \
		for (; i && is_less(&item, &heap[(i - 1) / 2]); i = (i - 1) / 2)                   \
			heap[i] = heap[(i - 1) / 2];                                               \
		heap[i] = item;                                                                    \
		return i;                                                                          \
	}                                                                                          \
                                                                                                   \
	static inline void name##__down(type *heap, size_t n, size_t i)                            \
	{                                                                                          \
		type item = heap[i];                                                               \
		size_t child;                                                                      \
                                                                                                   \
		for (; (child = 2 * i + 1) < n; i = child) {                                       \
			if (child + 1 < n && is_less(&heap[child + 1], &heap[child]))              \
				child++;                                                           \
			if (!is_less(&heap[child], &item))                                         \
				break;                                                             \
			heap[i] = heap[child];                                                     \
		}                                                                                  \
		heap[i] = item;                                                                    \
	}                                                                                          \
                                                                                                   \
	static inline void name##__remove(type *heap, size_t *n, size_t i)                         \
	{                                                                                          \
		for (; i; i = (i - 1) / 2)                                                         \
			heap[i] = heap[(i - 1) / 2];                                               \
		heap[0] = heap[--*n];                                                              \
		name##__down(heap, *n, 0);                                                         \
	}

#endif
