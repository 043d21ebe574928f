/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Seeded hash functions for all tables whose keys come from input: traces, raw files, programs,
 * strings of the target.
 *
 * Both programs call hash__randomize() first, so that the author of an input cannot choose keys
 * that collide. Nothing may depend on a hash or on the order of a table: what is written or
 * printed is sorted otherwise.
 */
#ifndef LIB_HASH_H
#define LIB_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Replace the default seeds by random ones; must precede the first entry of any table. Without it,
 * as in unit tests and fuzzers, hashes are the same in each run.
 */
void hash__randomize(void);
extern uint64_t hash__seed[2]; /* [0] is odd */

/* The 128-bit product of two numbers, folded: each input bit affects all bits of the result. */
static inline uint64_t hash__fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash__word(uint64_t word)
{
	return hash__fold(word ^ hash__seed[1], hash__seed[0]);
}

uint64_t hash__bytes(const void *data, size_t len);

#endif
