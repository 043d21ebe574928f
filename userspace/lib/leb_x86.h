/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The instructions of x86-64 that decode LEB128 numbers quickly: for buf.h alone.
 */
#ifndef LIB_LEB_X86_H
#define LIB_LEB_X86_H

#include <emmintrin.h>
#include <stdbool.h>
#include <stdint.h>

/* Of a function that calls buf__event() with `fast`. */
#define LEB_FAST __attribute__((target("bmi,bmi2")))

/* The top bits of 16 bytes. */
static inline unsigned int leb__top_bits(const unsigned char *p)
{
	return (unsigned int)_mm_movemask_epi8(_mm_loadu_si128((const void *)p));
}

/* False also where it exists but is slow: AMD's Zen 1 and 2. */
static inline bool leb__has_fast(void)
{
	return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
	       !__builtin_cpu_is("znver1") && !__builtin_cpu_is("znver2");
}

/* leb__squeeze() in one instruction, of last + 1 bytes. */
static inline __attribute__((always_inline)) uint64_t leb__fast(uint64_t v, unsigned int last)
{
	static const uint64_t groups[32] = {
		0x7full,
		0x7f7full,
		0x7f7f7full,
		0x7f7f7f7full,
		0x7f7f7f7f7full,
		0x7f7f7f7f7f7full,
		0x7f7f7f7f7f7f7full,
		0x7f7f7f7f7f7f7f7full, /* and none of more than 8 bytes */
	};
	uint64_t ret;

	__asm__("pextq %2, %1, %0" : "=r"(ret) : "r"(v), "m"(groups[last]));
	return ret;
}

#endif
