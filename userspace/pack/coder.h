/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An adaptive binary range coder, which encodes and decodes with the same functions.
 *
 * Used by the models of this folder. A model passes each value that it encodes and receives the
 * same value; in a decoder the value that is passed does not matter. So one function describes both
 * directions, and they cannot differ. Integer arithmetic only: the result is the same on all
 * machines.
 *
 * The probability of a bit is learned in two contexts, which are 64-bit hashes of what is known,
 * and a mixer weighs the two predictions by how good they have been. Memory: a table of fixed size,
 * in which contexts may collide, which costs compression only.
 */
#ifndef PACK_CODER_H
#define PACK_CODER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/outbuf.h"

#define CODER_MIXERS 4096 /* power of two */

struct coder {
	bool decode;
	uint32_t range;
	/* encoder */
	uint64_t low, pending;
	uint8_t cache;
	struct outbuf *out;
	int err;
	/* decoder */
	uint32_t code;
	const unsigned char *pos, *end;
	unsigned int overrun; /* bytes read behind the end, which are 0 */
	/* what was learned */
	uint32_t *bit;	   /* probability of 1 in the upper 22 bits, count in the lower 10 */
	unsigned int log2; /* of the number of probabilities */
	int32_t weight[CODER_MIXERS][2];
};

/*
 * Begins to encode to `out`, which is borrowed, or to decode `len` bytes. The table has 2^log2
 * probabilities, 10 to 24. Returns NULL if memory is exhausted.
 */
struct coder *coder__encode(struct outbuf *out, unsigned int log2);
struct coder *coder__decode(const void *data, size_t len, unsigned int log2);
void coder__destroy(struct coder *c);
/* Writes what remains. Returns 0 or -ENOMEM. */
int coder__finish(struct coder *c);
/* Whether more was decoded than the data can contain: the rest is meaningless. */
static inline bool coder__is_bad(const struct coder *c)
{
	return c->overrun > 8;
}

static inline uint64_t pack__hash(uint64_t a, uint64_t b)
{
	return (a ^ (b + 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u) * 0xff51afd7ed558ccdu;
}

/* The place of a hash in a table of 2^log2 entries. */
static inline uint64_t pack__index(uint64_t hash, unsigned int log2)
{
	return (hash * 0x9e3779b97f4a7c15u) >> (64 - log2);
}

/* A bit in the contexts `a` and `b`; `mixer` selects the weights. */
bool coder__bit(struct coder *c, uint64_t a, uint64_t b, unsigned int mixer, bool bit);
/* The lowest `n` bits of the value, n <= 64, all values equally likely. */
uint64_t coder__plain(struct coder *c, unsigned int n, uint64_t value);
/* A symbol of `n` <= 8 bits. */
unsigned int coder__symbol(struct coder *c, uint64_t a, uint64_t b, unsigned int mixer,
			   unsigned int n, unsigned int symbol);
/* Any number: its length and its highest bits depend on the contexts. */
uint64_t coder__number(struct coder *c, uint64_t a, uint64_t b, unsigned int mixer,
		       uint64_t number);

#endif
