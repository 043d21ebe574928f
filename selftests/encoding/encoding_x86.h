/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The decoders of both encodings with AVX2, for encoding.h alone: one vector holds the four words of
 * an event's arguments, or the first four numbers of a group, and is widened to 64 bits at once.
 */
#ifndef SELFTESTS_ENCODING_X86_H
#define SELFTESTS_ENCODING_X86_H

#include <immintrin.h>

#define HAVE_VECTORS
#define VECTORS __attribute__((target("avx2"))) /* of a function that calls X__take_vector() */

static inline bool vectors_work(void)
{
	return __builtin_cpu_supports("avx2");
}

static VECTORS ALWAYS_INLINE void widen(uint64_t *ret, __m128i words)
{
	_mm256_storeu_si256((void *)ret, _mm256_cvtepu32_epi64(words));
}

static VECTORS ALWAYS_INLINE bool words__take_vector(struct buf *b, struct event *e,
						     const uint8_t count[256])
{
	unsigned int n = words__head(b, e, count);

	if (__builtin_expect(!n, 0))
		return words__take_slow(b, e, count);
	widen(e->number + 1, _mm_loadu_si128((const void *)(b->pos + sizeof(uint32_t))));
	b->pos += sizeof(uint32_t) * n;
	return true;
}

/* By the byte with the lengths: where the bytes of four words are, and the sum of the lengths. */
struct groups_table {
	uint8_t from[256][16];
	uint8_t length[256];
};

extern struct groups_table groups_table;
void groups__init(void); /* fills the table */

static VECTORS ALWAYS_INLINE bool groups__take_vector(struct buf *b, struct event *e,
						      const uint8_t count[256])
{
	const unsigned char *p = b->pos + 2;
	__m128i bytes, from;
	uint8_t lengths;
	unsigned int n = groups__head(b, e, &lengths, count);

	if (__builtin_expect(!n, 0))
		return groups__take_slow(b, e, count);
	bytes = _mm_loadu_si128((const void *)p);
	from = _mm_loadu_si128((const void *)groups_table.from[lengths]);
	widen(e->number, _mm_shuffle_epi8(bytes, from));
	groups__end(b, e, p + groups_table.length[lengths], n);
	return true;
}

#endif
