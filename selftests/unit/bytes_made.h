/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Appends bytes, numbers and batches to a buffer, for tests that make traces and tables by hand.
 * Include it after cmocka.h.
 */
#ifndef UNIT_BYTES_MADE_H
#define UNIT_BYTES_MADE_H

#include "unit/test.h"
#include "format/encode.h"
#include "format/spec.h"

struct made_bytes {
	uint8_t data[32768];
	size_t len;
};

static inline void add(struct made_bytes *b, const void *data, size_t len)
{
	assert_true(b->len + len <= sizeof(b->data));
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static inline void add_leb(struct made_bytes *b, uint64_t v)
{
	uint8_t leb[LEB_MAX];

	add(b, leb, leb__put(leb, v) - leb);
}

static inline void add_batch(struct made_bytes *b, uint64_t gen, uint64_t m, uint64_t time,
			     const void *data, size_t len)
{
	const uint64_t head[] = { EV_EVENT_BATCH, gen, m, time, len };

	for (size_t i = 0; i < 5; i++)
		add_leb(b, head[i]);
	add(b, data, len);
}

#endif
