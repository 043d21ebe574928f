/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A bounded cursor: the only way to read untrusted bytes.
 *
 * Every parser (ELF, gopclntab, build info, traces, raw files) uses it. A read past the end
 * returns 0, does not move, and marks the buffer bad for good, so that a parser can check once
 * after a group of reads. Numbers are little-endian, as on linux/amd64.
 */
#ifndef LIB_BUF_H
#define LIB_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include "lib/leb_x86.h"
#else
#error "this architecture is not supported: docs/adding.md lists what it needs"
#endif

/*
 * Counts the steps that a parser takes: an entry, a byte or a comparison each. The fuzz targets
 * abort if it takes more than k*n + c of them for an input of n. Other builds do not count.
 */
#ifdef COUNT_PARSER_STEPS
extern uint64_t parser_steps; /* without a lock: each fuzz target that looks at it has one thread */
#define PARSER_STEPS(n) ((void)(parser_steps += (n)))
#else
#define PARSER_STEPS(n) ((void)sizeof(n)) /* not evaluated */
#endif

struct buf {
	const unsigned char *start;
	const unsigned char *pos;
	const unsigned char *end;
	bool bad; /* sticky: a read did not fit */
};

static inline struct buf buf__make(const void *data, size_t len)
{
	const unsigned char *p = data;

	return (struct buf){ .start = p, .pos = p, .end = p ? p + len : p };
}

static inline size_t buf__left(const struct buf *b)
{
	return (size_t)(b->end - b->pos);
}

/* The next `len` bytes, past which the cursor advances; NULL (and bad) if there are fewer. */
static inline const void *buf__take(struct buf *b, size_t len)
{
	const unsigned char *p = b->pos;

	if (b->bad || len > buf__left(b)) {
		b->bad = true;
		return NULL;
	}
	b->pos += len;
	return p;
}

static inline void buf__skip(struct buf *b, size_t len)
{
	buf__take(b, len);
}

/* Move to an absolute offset; beyond the end is bad. */
static inline void buf__seek(struct buf *b, uint64_t offset)
{
	if (b->bad || offset > (uint64_t)(b->end - b->start)) {
		b->bad = true;
		return;
	}
	b->pos = b->start + offset;
}

#define BUF_INTEGER(name, type)                                                                    \
	static inline type buf__##name(struct buf *b)                                              \
	{                                                                                          \
		const void *p = buf__take(b, sizeof(type));                                        \
		type v = 0;                                                                        \
                                                                                                   \
		if (p)                                                                             \
			memcpy(&v, p, sizeof(v));                                                  \
		return v;                                                                          \
	}

BUF_INTEGER(u8, uint8_t)
BUF_INTEGER(u16, uint16_t)
BUF_INTEGER(u32, uint32_t)
BUF_INTEGER(u64, uint64_t)
#undef BUF_INTEGER

uint64_t buf__uleb_slow(struct buf *b);

/* Join the seven-bit groups of the lowest bytes of `v`, the last of which has its top bit clear. */
static inline uint64_t leb__squeeze(uint64_t v, unsigned int bytes)
{
	v &= (~0ull >> (-8 * bytes & 63)) & 0x7f7f7f7f7f7f7f7fu;
	v = (v & 0x007f007f007f007fu) | (v & 0x7f007f007f007f00u) >> 1;
	v = (v & 0x00003fff00003fffu) | (v & 0x3fff00003fff0000u) >> 2;
	return (v & 0x000000000fffffffu) | (v & 0x0fffffff00000000u) >> 4;
}

/*
 * A LEB128 number; more than 64 bits are bad. Traces consist of these: one of up to 8 bytes is read
 * in one load and squeezed without a branch that depends on its length.
 */
static inline uint64_t buf__uleb(struct buf *b)
{
	uint64_t v, stop;
	unsigned int len;

	if (__builtin_expect(buf__left(b) < sizeof(v) || b->bad, 0))
		return buf__uleb_slow(b);
	memcpy(&v, b->pos, sizeof(v));
	stop = ~v & 0x8080808080808080u;
	if (__builtin_expect(!stop, 0))
		return buf__uleb_slow(b);
	len = ((unsigned int)__builtin_ctzll(stop) + 1) / 8;
	b->pos += len;
	return leb__squeeze(v, len);
}

/*
 * Read an event: one byte, its type, and as many numbers as `count` gives for that type (at most
 * 5). False: it gives none, and only the byte was read. One check of the remaining length serves
 * all, and the ends of the numbers are found in advance, 16 bytes at a time, so that the CPU need
 * not wait for the bytes of one number to find the next. `fast`: leb__has_fast().
 */
static inline __attribute__((always_inline)) bool
buf__event(struct buf *b, uint8_t *type, const uint8_t count[256], uint64_t *ret, bool fast)
{
	const unsigned char *p = b->pos;
	unsigned int ends, last, longest = 0, i, n;
	uint64_t v;

	if (__builtin_expect(b->end - p >= 33 && !b->bad, 1)) {
		*type = *p++;
		n = count[*type];
		ends = ~leb__top_bits(p);
		/* Unrolled, so that the CPU predicts for each number whether it is the last. */
#pragma GCC unroll 5
		for (i = 0; i < 5; i++) {
			if (i == n)
				break;
			last = (unsigned int)__builtin_ctz(ends);
			memcpy(&v, p, sizeof(v));
			ret[i] = fast ? leb__fast(v, last) : leb__squeeze(v, last + 1);
			longest |= last; /* more than 8 bytes: beyond the low three bits */
			p += last + 1;
			ends = ends >> last >> 1;
		}
		if (__builtin_expect(longest < 8 && p <= b->pos + 17, 1)) {
			b->pos = p;
			return n;
		}
	}
	*type = buf__u8(b);
	n = count[*type];
	for (i = 0; i < n; i++)
		ret[i] = buf__uleb(b);
	return n;
}

/* A part of `b`, by absolute offset; an empty, bad buffer if it is not within `b`. */
static inline struct buf buf__slice(const struct buf *b, uint64_t offset, uint64_t len)
{
	uint64_t size = (uint64_t)(b->end - b->start);

	if (offset > size || len > size - offset)
		return (struct buf){ .bad = true };
	return buf__make(b->start + offset, (size_t)len);
}

/*
 * Random access, for tables: read the number at an absolute offset into *ret; false: out of bounds.
 * Does not move the cursor.
 */
#define BUF_AT(name, type)                                                                         \
	static inline bool buf__##name##_at(const struct buf *b, uint64_t offset, type *ret)       \
	{                                                                                          \
		uint64_t size = (uint64_t)(b->end - b->start);                                     \
                                                                                                   \
		if (offset > size || sizeof(type) > size - offset)                                 \
			return false;                                                              \
		memcpy(ret, b->start + offset, sizeof(type));                                      \
		return true;                                                                       \
	}

BUF_AT(u8, uint8_t)
BUF_AT(u32, uint32_t)
BUF_AT(u64, uint64_t)
#undef BUF_AT

/* A NUL-terminated string at an absolute offset, in place; NULL when there is none. */
static inline const char *buf__string_at(const struct buf *b, uint64_t offset)
{
	uint64_t size = (uint64_t)(b->end - b->start);

	if (offset >= size || !memchr(b->start + offset, 0, (size_t)(size - offset)))
		return NULL;
	return (const char *)b->start + offset;
}

#endif
