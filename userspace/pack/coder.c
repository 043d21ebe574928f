// SPDX-License-Identifier: GPL-2.0
/*
 * The range coder and its predictions: see coder.h.
 *
 * The range coder is that of LZMA, with a carry; counters and mixing are those of the lpaq family
 * of compressors, with weights in 16.16 fixed point.
 */
#include "pack/coder.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define TOP	 (1u << 24)
#define LIMIT	 255 /* of a counter: how slowly a probability changes in the end */
#define LOWEST	 8   /* bits after these that are predicted, if there are no more */
#define MANTISSA 4   /* bits of a number after its first one that are predicted */

static int16_t stretched[4096]; /* ln(p / (1 - p)) * 256 of p / 4096 */
static uint16_t squashed[4096]; /* the reverse, of -2048 to 2047 */
static uint32_t step[1024];	/* 65536 / (count + 1.5) */

/* 4096 / (1 + e^-(x / 256)), interpolated between known points. */
static int squash(int x)
{
	static const int point[33] = { 1,    2,	   3,	 6,    10,   16,   27,	 45,   73,
				       120,  194,  310,	 488,  747,  1101, 1546, 2047, 2549,
				       2994, 3348, 3607, 3785, 3901, 3975, 4022, 4050, 4068,
				       4079, 4085, 4089, 4092, 4093, 4094 };
	int part = x & 127, i = (x >> 7) + 16;

	if (x > 2047)
		return 4095;
	if (x < -2047)
		return 1;
	return (point[i] * (128 - part) + point[i + 1] * part + 64) >> 7;
}

static void make_tables(void)
{
	int p = 0, s;

	for (int x = -2048; x < 2048; x++) {
		s = squash(x);
		squashed[x + 2048] = (uint16_t)s;
		for (; p <= s; p++)
			stretched[p] = (int16_t)x;
	}
	for (; p < 4096; p++)
		stretched[p] = 2047;
	for (unsigned int n = 0; n < 1024; n++)
		step[n] = (uint32_t)(131072 / (2 * n + 3));
}

static struct coder *create(unsigned int log2)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct coder *c = calloc(1, sizeof(*c));

	pthread_once(&once, make_tables);
	if (!c)
		return NULL;
	c->bit = malloc(sizeof(*c->bit) << log2);
	if (!c->bit) {
		free(c);
		return NULL;
	}
	for (size_t i = 0; i < (size_t)1 << log2; i++)
		c->bit[i] = 1u << 31;
	c->log2 = log2;
	for (unsigned int i = 0; i < CODER_MIXERS; i++)
		c->weight[i][0] = c->weight[i][1] = (1 << 16) * 2 / 5;
	c->range = UINT32_MAX;
	return c;
}

struct coder *coder__encode(struct outbuf *out, unsigned int log2)
{
	struct coder *c = create(log2);

	if (c) {
		c->out = out;
		c->pending = 1;
	}
	return c;
}

static inline uint8_t next_byte(struct coder *c)
{
	if (c->pos < c->end)
		return *c->pos++;
	c->overrun += c->overrun < 1000;
	return 0;
}

struct coder *coder__decode(const void *data, size_t len, unsigned int log2)
{
	struct coder *c = create(log2);

	if (!c)
		return NULL;
	c->decode = true;
	c->pos = data;
	c->end = c->pos + len;
	for (unsigned int i = 0; i < 5; i++) /* the first byte is always 0 */
		c->code = c->code << 8 | next_byte(c);
	return c;
}

void coder__destroy(struct coder *c)
{
	if (c)
		free(c->bit);
	free(c);
}

static void put(struct coder *c, uint8_t byte)
{
	if (outbuf__room(c->out, 1, NULL))
		c->err = -ENOMEM;
	else
		c->out->data[c->out->len++] = (char)byte;
}

/* Moves a byte from `low` to the output; bytes of 255 wait, since a carry may still change them. */
static void shift_low(struct coder *c)
{
	uint8_t carry = (uint8_t)(c->low >> 32), byte = c->cache;

	if (c->low < 0xff000000u || carry) {
		for (; c->pending; c->pending--) {
			put(c, (uint8_t)(byte + carry));
			byte = 0xff;
		}
		c->cache = (uint8_t)(c->low >> 24);
	}
	c->pending++;
	c->low = (uint32_t)c->low << 8;
}

int coder__finish(struct coder *c)
{
	for (unsigned int i = 0; i < 5; i++)
		shift_low(c);
	return c->err;
}

static inline void normalize(struct coder *c)
{
	while (c->range < TOP) {
		c->range <<= 8;
		if (c->decode)
			c->code = c->code << 8 | next_byte(c);
		else
			shift_low(c);
	}
}

/* `p` is the probability of 1, 1 to 65535 of 65536. */
static inline bool code(struct coder *c, uint32_t p, bool bit)
{
	uint32_t bound = (c->range >> 16) * p;

	if (c->decode)
		bit = c->code < bound;
	if (bit) {
		c->range = bound;
	} else {
		c->range -= bound;
		if (c->decode)
			c->code -= bound;
		else
			c->low += bound;
	}
	normalize(c);
	return bit;
}

static inline void learn(uint32_t *counter, bool bit)
{
	uint32_t n = *counter & 1023;
	int32_t p = (int32_t)(*counter >> 10), target = bit ? (1 << 22) - 1 : 0;

	p += (int32_t)(((int64_t)(target - p) * step[n]) >> 16);
	*counter = (uint32_t)p << 10 | (n < LIMIT ? n + 1 : n);
}

/* The counters a and b, and the weights w. */
static inline bool code_mixed(struct coder *c, uint32_t *a, uint32_t *b, int32_t w[2], bool bit)
{
	int32_t sa = stretched[*a >> 20], sb = stretched[*b >> 20], sum, err;
	uint32_t p;

	sum = (int32_t)(((int64_t)sa * w[0] + (int64_t)sb * w[1]) >> 16);
	sum = sum > 2047 ? 2047 : sum < -2047 ? -2047 : sum;
	p = squashed[sum + 2048];
	bit = code(c, p << 4 | 8, bit);
	err = ((bit << 12) - (int32_t)p) * 6;
	w[0] += (sa * err + 0x2000) >> 14;
	w[1] += (sb * err + 0x2000) >> 14;
	learn(a, bit);
	learn(b, bit);
	return bit;
}

/* The counters of a context are neighbours, 16 of them in a cache line. */
static inline uint32_t *counters(struct coder *c, uint64_t context)
{
	return &c->bit[pack__index(context, c->log2) & ~(uint64_t)15];
}

bool coder__bit(struct coder *c, uint64_t a, uint64_t b, unsigned int mixer, bool bit)
{
	return code_mixed(c, counters(c, a), counters(c, b), c->weight[mixer % CODER_MIXERS], bit);
}

uint64_t coder__plain(struct coder *c, unsigned int n, uint64_t value)
{
	uint64_t ret = 0;
	unsigned int part;
	uint32_t v;

	for (; n; n -= part) {
		part = n < 12 ? n : 12;
		c->range >>= part;
		if (c->decode) {
			v = c->code / c->range;
			if (v >> part) /* only in corrupt data */
				v = (1u << part) - 1;
			c->code -= v * c->range;
		} else {
			v = (uint32_t)(value >> (n - part)) & ((1u << part) - 1);
			c->low += (uint64_t)v * c->range;
		}
		normalize(c);
		ret = ret << part | v;
	}
	return ret;
}

unsigned int coder__symbol(struct coder *c, uint64_t a, uint64_t b, unsigned int mixer,
			   unsigned int n, unsigned int symbol)
{
	unsigned int node = 1, done = 0;
	uint32_t *ca = NULL, *cb = NULL;
	unsigned int at;

	for (; done < n; done++) {
		if (done % 4 == 0) {
			ca = counters(c, pack__hash(a, node));
			cb = counters(c, pack__hash(b, node));
		}
		at = (node & ((1u << done % 4) - 1)) | 1u << done % 4;
		node = node << 1 |
		       code_mixed(c, &ca[at], &cb[at], c->weight[(mixer + done) % CODER_MIXERS],
				  symbol >> (n - 1 - done) & 1);
	}
	return node & ((1u << n) - 1);
}

/*
 * A clock that is coarser than its unit yields only some of the numbers, so that the lowest bits of
 * times are predictable, too, in the same way for all kinds of events.
 */
static uint64_t code_lowest(struct coder *c, uint64_t b, unsigned int mixer, unsigned int bits,
			    unsigned int highest, unsigned int n, uint64_t number)
{
	if (!n || n > LOWEST)
		return coder__plain(c, n, number);
	return coder__symbol(c, pack__hash(bits, highest + 7777), pack__hash(b, highest), mixer, n,
			     (unsigned int)number);
}

uint64_t coder__number(struct coder *c, uint64_t a, uint64_t b, unsigned int mixer, uint64_t number)
{
	unsigned int bits = number ? 64 - (unsigned int)__builtin_clzll(number) : 0, n, rest;
	uint64_t highest;

	bits = coder__symbol(c, a, b, mixer, 7, bits);
	if (bits > 64) /* only in corrupt data */
		bits = 64;
	if (bits < 2)
		return bits;
	n = bits - 1 < MANTISSA ? bits - 1 : MANTISSA;
	rest = bits - 1 - n;
	a = pack__hash(a, bits + 1000);
	b = pack__hash(b, bits + 1000);
	highest = coder__symbol(c, a, b, mixer + 8, n, (unsigned int)(number >> rest)) | 1u << n;
	return highest << rest |
	       code_lowest(c, b, mixer + 16, bits, (unsigned int)highest, rest, number);
}
