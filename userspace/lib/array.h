/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Arrays that grow by one element at a time: by doubling, so that n elements cost about 2 n moves.
 */
#ifndef LIB_ARRAY_H
#define LIB_ARRAY_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Room for n + 1 elements of `size` bytes in the array that the pointer at `array`, of whatever type, points
 * to. 0, or -ENOMEM, and all is as it was.
 */
static inline int array__grow(void *array, size_t n, size_t *cap, size_t size)
{
	size_t bigger = *cap ? *cap : 32;
	void *p;

	if (n < *cap)
		return 0;
	do {
		if (__builtin_mul_overflow(bigger, 2, &bigger))
			return -ENOMEM;
	} while (bigger <= n);
	memcpy(&p, array, sizeof(p));
	p = reallocarray(p, bigger, size);
	if (!p)
		return -ENOMEM;
	memcpy(array, &p, sizeof(p));
	*cap = bigger;
	return 0;
}

#endif
