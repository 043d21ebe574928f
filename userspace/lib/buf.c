// SPDX-License-Identifier: GPL-2.0
/*
 * Reads that the fast path of lib/buf.h leaves over: variable-length integers near the end of a
 * buffer, long ones and invalid ones.
 */
#include "lib/buf.h"

uint64_t buf__uleb_slow(struct buf *b)
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
