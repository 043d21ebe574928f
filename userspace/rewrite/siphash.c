// SPDX-License-Identifier: GPL-2.0
/*
 * SipHash-2-4: see siphash.h.
 */
#include "rewrite/siphash.h"

#include <endian.h>
#include <string.h>

static uint64_t rotate(uint64_t x, unsigned int bits)
{
	return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], unsigned int n)
{
	while (n--) {
		v[0] += v[1];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[0] = rotate(v[0], 32);
		v[2] += v[3];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

static void add_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

uint64_t siphash(const struct siphash_key *key, const void *data, size_t len)
{
	uint64_t v[4] = { key->word[0] ^ 0x736f6d6570736575ull,
			  key->word[1] ^ 0x646f72616e646f6dull,
			  key->word[0] ^ 0x6c7967656e657261ull,
			  key->word[1] ^ 0x7465646279746573ull };
	uint64_t word, last = (uint64_t)len << 56;
	const unsigned char *p = data;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		add_word(v, le64toh(word));
	}
	for (size_t i = 0; i < len; i++)
		last |= (uint64_t)p[i] << 8 * i;
	add_word(v, last);
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
