/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Growable arrays: a pointer, a number of elements and a capacity, which the owner keeps.
 *
 * The capacity doubles, so that appending n elements moves about 2 n of them.
 */
#ifndef LIB_ARRAY_H
#define LIB_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

/* As array__grow(), for a full array. */
int array__enlarge(void *array, size_t n, size_t *cap, size_t size);

/*
 * Makes room for n + 1 elements of `size` bytes in the array that the pointer at `array`, of any type,
 * points to. *cap is its capacity in elements, 0 for a null pointer. New elements are not cleared.
 * Returns 0, or -ENOMEM and leaves the array as it was.
 */
static inline int array__grow(void *array, size_t n, size_t *cap, size_t size)
{
	return n < *cap ? 0 : array__enlarge(array, n, cap, size);
}

/* As array__grow(), but new elements are cleared: for arrays that are filled in any order. */
int array__grow_cleared(void *array, size_t n, size_t *cap, size_t size);

/* qsort() of an array that may be empty, whose pointer is then null. */
static inline void array__sort(void *array, size_t n, size_t size,
			       int (*compare)(const void *a, const void *b))
{
	if (n > 1)
		qsort(array, n, size, compare);
}

#endif
