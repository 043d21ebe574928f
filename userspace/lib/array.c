// SPDX-License-Identifier: GPL-2.0
/*
 * Growable arrays: see array.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

/* A first allocation of at least 64 bytes and 4 elements: many arrays stay that small. */
static size_t first_capacity(size_t size)
{
	return size < 16 ? 64 / size : 4;
}

int array__enlarge(void *array, size_t n, size_t *cap, size_t size)
{
	size_t bigger = *cap ? *cap : first_capacity(size) / 2, bytes;
	void *p;

	do {
		if (__builtin_mul_overflow(bigger, 2, &bigger))
			return -ENOMEM;
	} while (bigger <= n);
	if (__builtin_mul_overflow(bigger, size, &bytes))
		return -ENOMEM;
	memcpy(&p, array, sizeof(p)); /* its type is not known: no void ** */
	p = realloc(p, bytes);
	if (!p)
		return -ENOMEM;
	memcpy(array, &p, sizeof(p));
	*cap = bigger;
	return 0;
}

int array__grow_cleared(void *array, size_t n, size_t *cap, size_t size)
{
	size_t before = *cap;
	int err = array__grow(array, n, cap, size);
	char *p;

	memcpy(&p, array, sizeof(p));
	if (*cap > before)
		memset(p + before * size, 0, (*cap - before) * size);
	return err;
}
