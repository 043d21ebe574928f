// SPDX-License-Identifier: GPL-2.0
/*
 * Writes events as groups, and reads the ones that are rare: see encoding.h.
 */
#include "encoding.h"

static unsigned int code_of(uint32_t v)
{
	return !v ? 0 : v <= 0xff ? 1 : v <= 0xffff ? 2 : 3;
}

static unsigned int append(unsigned char *to, uint32_t v, unsigned int len)
{
	memcpy(to, &v, len);
	return len;
}

int groups__put(struct outbuf *o, const struct event *e, const uint8_t count[256])
{
	unsigned char bytes[2 + 4 * EV_ARGS_MAX + 2 + 4 * EV_ARGS_MAX];
	unsigned int i, code, at, n = count[e->type], len = 2;

	bytes[0] = ESCAPE;
	bytes[1] = 0;
	for (i = 0; i < n; i++) {
		if (!(e->number[i] >> 32))
			continue;
		bytes[1] |= (unsigned char)(1 << i);
		len += append(bytes + len, (uint32_t)(e->number[i] >> 32), 4);
	}
	if (!bytes[1])
		len = 0;
	bytes[len++] = e->type;
	at = len++;
	bytes[at] = 0;
	for (i = 0; i < n && i < GROUPED; i++) {
		code = code_of((uint32_t)e->number[i]);
		bytes[at] |= (unsigned char)(code << 2 * i);
		len += append(bytes + len, (uint32_t)e->number[i], groups_length[code]);
	}
	if (n > GROUPED)
		len += append(bytes + len, (uint32_t)e->number[GROUPED], 4);
	return outbuf__put(o, bytes, len, NULL);
}

static uint64_t take_number(struct buf *b, unsigned int len)
{
	const void *p = buf__take(b, len);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, len);
	return v;
}

bool groups__take_slow(struct buf *b, struct event *e, const uint8_t count[256])
{
	uint64_t high[EV_ARGS_MAX] = {};
	uint8_t mask = 0, lengths;
	unsigned int i, n;

	e->type = buf__u8(b);
	if (e->type == ESCAPE) {
		mask = buf__u8(b);
		for (i = 0; i < EV_ARGS_MAX; i++)
			high[i] = mask >> i & 1 ? take_number(b, 4) << 32 : 0;
		b->bad |= !mask;
		e->type = buf__u8(b);
	}
	n = count[e->type];
	lengths = buf__u8(b);
	if (!n || mask >> n)
		b->bad = true;
	for (i = 0; i < GROUPED; i++)
		e->number[i] = high[i] | take_number(b, groups_length[lengths >> 2 * i & 3]);
	if (n > GROUPED)
		e->number[GROUPED] = high[GROUPED] | take_number(b, 4);
	return !b->bad;
}

#ifdef HAVE_VECTORS
struct groups_table groups_table;

void groups__init(void)
{
	unsigned int at, len;

	for (unsigned int lengths = 0; lengths < 256; lengths++) {
		at = 0;
		for (unsigned int i = 0; i < 16; i++) {
			len = groups_length[lengths >> 2 * (i / 4) & 3];
			groups_table.from[lengths][i] = i % 4 < len ? (uint8_t)at++ : 0x80;
		}
		groups_table.length[lengths] = (uint8_t)at;
	}
}
#endif
