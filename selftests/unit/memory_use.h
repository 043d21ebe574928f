/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory in use, for tests that repeat a job and compare: exact, so that a small leak is visible.
 */
#ifndef UNIT_MEMORY_USE_H
#define UNIT_MEMORY_USE_H

#include <malloc.h>

#include "unit/test.h"

/*
 * glibc counts freed chunks as used while its per-thread cache holds them, up to 7 of each size up
 * to 1 KB. The cache is full whenever this counts.
 */
static inline size_t memory_in_use(void)
{
	void *chunk[7];

	for (size_t size = 16; size <= 1024; size += 16) {
		for (size_t i = 0; i < 7; i++)
			chunk[i] = malloc(size);
		for (size_t i = 0; i < 7; i++)
			free(chunk[i]);
	}
	return mallinfo2().uordblks;
}

#endif
