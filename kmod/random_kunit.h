/* SPDX-License-Identifier: GPL-2.0 */
/* Reproducible pseudo-random numbers for the KUnit suites (xorshift64*). */
#ifndef KMOD_RANDOM_KUNIT_H
#define KMOD_RANDOM_KUNIT_H

#include <linux/types.h>

/* state: initially a seed other than 0. */
static inline u32 random__below(u64 *state, u32 limit)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return ((*state * 0x2545f4914f6cdd1dull) >> 32) % limit;
}

#endif
