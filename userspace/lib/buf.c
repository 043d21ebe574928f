// SPDX-License-Identifier: GPL-2.0
/*
 * The longer reads of lib/buf.h: variable-length integers and strings.
 *
 * Used by every parser of foreign bytes; allocates nothing and looks nowhere but into the buffer.
 */
#include "lib/buf.h"

uint64_t buf__uleb(struct buf *b)
{
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = buf__u8(b);
		/* The tenth byte has room for one bit only. */
		if (shift > 63 || (shift == 63 && (byte & 0x7e)))
			b->bad = true;
		if (b->bad)
			return 0;
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return v;
}

int64_t buf__sleb(struct buf *b)
{
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = buf__u8(b);
		if (shift > 63)
			b->bad = true;
		if (b->bad)
			return 0;
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		v |= ~UINT64_C(0) << shift;
	return (int64_t)v;
}

const char *buf__string(struct buf *b)
{
	const unsigned char *s = b->pos;
	const unsigned char *nul = b->bad ? NULL : memchr(s, 0, buf__left(b));

	if (!nul) {
		b->bad = true;
		return NULL;
	}
	b->pos = nul + 1;
	return (const char *)s;
}
