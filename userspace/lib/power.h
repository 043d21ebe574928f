/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Powers of two, which the sizes of rings and of their parts are.
 */
#ifndef LIB_POWER_H
#define LIB_POWER_H

#include <stdbool.h>
#include <stdint.h>

static inline bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* For n > 0: the largest power of two that is not greater. */
static inline uint64_t power_of_two_below(uint64_t n)
{
	return 1ull << (63 - __builtin_clzll(n));
}

#endif
