/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory use of this process: anonymous and shared memory, without mapped files.
 */
#ifndef BUDGET_MEMORY_H
#define BUDGET_MEMORY_H

#include <stdint.h>

/* Raises *peak to the current use in bytes. The rings are not included: they are kernel memory. */
void memory__sample(uint64_t *peak);

/*
 * Resets the kernel's high-water mark. memory__peak() raises *peak to it, so that use between two
 * samples is not missed.
 */
void memory__begin(void);
void memory__peak(uint64_t *peak);

#endif
