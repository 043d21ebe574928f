/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one way to read bytes that we did not write: a bounded cursor.
 *
 * Every parser of a file (ELF, gopclntab, build info, traces, raw files) reads through it. A read
 * past the end returns 0, does not move, and marks the buffer bad for good, so that a parser checks
 * once at the end of a group of reads. Numbers are little-endian, as linux/amd64 has them.
 */
#ifndef LIB_BUF_H
#define LIB_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
	const unsigned char *start;
	const unsigned char *pos;
	const unsigned char *end;
	bool bad;		/* sticky: some read did not fit */
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

/* `len` bytes at the cursor, which moves behind them; NULL (and bad) when there are fewer. */
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

/* Moves to an absolute offset; one behind the end is bad. */
static inline void buf__seek(struct buf *b, uint64_t offset)
{
	if (b->bad || offset > (uint64_t)(b->end - b->start)) {
		b->bad = true;
		return;
	}
	b->pos = b->start + offset;
}

#define BUF_INTEGER(name, type)						\
	static inline type buf__##name(struct buf *b)			\
	{								\
		const void *p = buf__take(b, sizeof(type));		\
		type v = 0;						\
									\
		if (p)							\
			memcpy(&v, p, sizeof(v));			\
		return v;						\
	}

BUF_INTEGER(u8, uint8_t)
BUF_INTEGER(u16, uint16_t)
BUF_INTEGER(u32, uint32_t)
BUF_INTEGER(u64, uint64_t)
#undef BUF_INTEGER

uint64_t buf__uleb(struct buf *b);	/* LEB128; one of more than 64 bits is bad */

/* A part of `b`, by absolute offset; an empty, bad buffer when it does not lie within. */
static inline struct buf buf__slice(const struct buf *b, uint64_t offset, uint64_t len)
{
	uint64_t size = (uint64_t)(b->end - b->start);

	if (offset > size || len > size - offset)
		return (struct buf){ .bad = true };
	return buf__make(b->start + offset, (size_t)len);
}

/*
 * Random access, for tables that are looked up rather than read through: the number at an absolute
 * offset into *ret, or false. The cursor stays.
 */
#define BUF_AT(name, type)						\
	static inline bool buf__##name##_at(const struct buf *b, uint64_t offset, type *ret) \
	{								\
		uint64_t size = (uint64_t)(b->end - b->start);		\
									\
		if (offset > size || sizeof(type) > size - offset)	\
			return false;					\
		memcpy(ret, b->start + offset, sizeof(type));		\
		return true;						\
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
