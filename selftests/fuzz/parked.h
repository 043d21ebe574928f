/* SPDX-License-Identifier: GPL-2.0 */
/* Goroutines in the memory that fuzz_parked.c reads. */
#ifndef FUZZ_PARKED_H
#define FUZZ_PARKED_H

#include <stdint.h>

#define PARKED_GS 16

struct parked_g {
	uint64_t lo, hi, goid, sp, pc, bp;
	uint32_t status;
	uint8_t reason, pad[3];
	uint64_t end; /* reads of a member at the end have 8 bytes */
};

#endif
