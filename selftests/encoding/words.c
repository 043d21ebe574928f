// SPDX-License-Identifier: GPL-2.0
/*
 * Writes events as words, and reads the ones that are rare: see encoding.h.
 */
#include "encoding.h"

#include <errno.h>

#define MASK_SHIFT 8
#define MASK	   ((1u << EV_ARGS_MAX) - 1)
#define TOP_SHIFT  16 /* of dt >> 56 in the escape */
#define DT_SHIFT   8
#define DT_BITS	   (32 - DT_SHIFT)

/* What the event's own word has no space for, without the top byte of dt. */
static uint64_t high_part(const struct event *e, unsigned int i)
{
	return i ? e->number[i] >> 32 : e->number[0] >> DT_BITS;
}

int words__put(struct outbuf *o, const struct event *e, const uint8_t count[256])
{
	uint32_t word[1 + 2 * EV_ARGS_MAX], mask = 0;
	unsigned int i, n = count[e->type], len = 0;

	for (i = 0; i < n; i++)
		mask |= (uint32_t)!!high_part(e, i) << i;
	if (mask)
		word[len++] =
			ESCAPE | mask << MASK_SHIFT | (uint32_t)(e->number[0] >> 56) << TOP_SHIFT;
	for (i = 0; i < n; i++)
		if (mask >> i & 1)
			word[len++] = (uint32_t)high_part(e, i);
	word[len++] = e->type | (uint32_t)e->number[0] << DT_SHIFT;
	for (i = 1; i < n; i++)
		word[len++] = (uint32_t)e->number[i];
	return outbuf__put(o, word, len * sizeof(*word), NULL);
}

/* Reads the words of an escape. Returns false if it is invalid. */
static bool take_escape(struct buf *b, uint32_t escape, uint32_t *ret_mask, uint64_t *ret_high)
{
	uint32_t mask = escape >> MASK_SHIFT & MASK;
	uint32_t known = ESCAPE | MASK << MASK_SHIFT | 0xffu << TOP_SHIFT;

	if (!mask || (escape & ~known))
		return false;
	for (unsigned int i = 0; i < EV_ARGS_MAX; i++)
		ret_high[i] = mask >> i & 1 ? buf__u32(b) : 0;
	ret_high[0] |= (uint64_t)(escape >> TOP_SHIFT) << 32;
	*ret_mask = mask;
	return true;
}

bool words__take_slow(struct buf *b, struct event *e, const uint8_t count[256])
{
	uint64_t high[EV_ARGS_MAX] = {};
	uint32_t mask = 0, head = buf__u32(b);
	unsigned int n;

	if ((uint8_t)head == ESCAPE) {
		b->bad |= !take_escape(b, head, &mask, high);
		head = buf__u32(b);
	}
	n = count[(uint8_t)head];
	if (!n || mask >> n)
		b->bad = true;
	e->type = (uint8_t)head;
	e->number[0] = head >> DT_SHIFT | high[0] << DT_BITS;
	for (unsigned int i = 1; i < n; i++)
		e->number[i] = buf__u32(b) | high[i] << 32;
	return !b->bad;
}
