/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers that are equal on every machine: the seed alone identifies a variant. */
#ifndef REPLAY_RNG_H
#define REPLAY_RNG_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t rng__next(uint64_t *state) /* splitmix64 */
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static inline uint64_t rng__below(uint64_t *state, uint64_t n) /* 0 … n-1; 0 for n = 0 */
{
	return n ? rng__next(state) % n : 0;
}

static inline bool rng__chance(uint64_t *state, unsigned int one_in)
{
	return rng__below(state, one_in) == 0;
}

#endif
