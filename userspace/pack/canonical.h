/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads numbers that can be written again with the same bytes.
 *
 * LEB128 permits longer forms of a number than necessary. The models code only values, so what has
 * such forms is coded as bytes instead.
 */
#ifndef PACK_CANONICAL_H
#define PACK_CANONICAL_H

#include "lib/buf.h"

/* Reads a number; false: it is truncated, or longer than necessary. */
static inline bool canonical__take(struct buf *b, uint64_t *ret)
{
	const unsigned char *before = b->pos;

	*ret = buf__uleb(b);
	return !b->bad && (b->pos - before == 1 || b->pos[-1]);
}

#endif
