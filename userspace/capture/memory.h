/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much memory this process holds: anonymous and shared, not its program and libraries.
 */
#ifndef CAPTURE_MEMORY_H
#define CAPTURE_MEMORY_H

#include <stdint.h>

/* Raises *peak to what is held now, in bytes. The rings are the kernel's: not in it. */
void memory__sample(uint64_t *peak);

/*
 * From here on the kernel's own high-water mark counts what is needed: memory__peak() raises *peak to
 * it, so that what was held between two samples is not missed.
 */
void memory__begin(void);
void memory__peak(uint64_t *peak);

#endif
