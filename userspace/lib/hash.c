// SPDX-License-Identifier: GPL-2.0
/*
 * The seeds of the hash functions of lib/hash.h, and the hash of a byte string.
 */
#include "lib/hash.h"

#include <string.h>
#include <sys/random.h>

uint64_t hash__seed[2] = { 0x9e3779b97f4a7c15ull, 0x243f6a8885a308d3ull };

void hash__randomize(void)
{
	uint64_t random[2];

	/* Without random numbers crafted keys cost time, but nothing else. */
	if (getrandom(random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		return;
	hash__seed[0] = random[0] | 1;
	hash__seed[1] = random[1];
}

uint64_t hash__bytes(const void *data, size_t len)
{
	const char *p = data;
	uint64_t h = hash__word(len), word;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		h = hash__fold(h ^ word, hash__seed[0]) + hash__seed[1];
	}
	word = 0;
	if (len)
		memcpy(&word, p, len);
	return hash__fold(h ^ word, hash__seed[0]);
}
