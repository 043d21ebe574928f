/* SPDX-License-Identifier: GPL-2.0 */
/* Records of texts with any number and any bytes, for fuzz_labels.c and fuzz_texts.c. */
#ifndef FUZZ_TEXT_RECORD_H
#define FUZZ_TEXT_RECORD_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gotrace/record.h"
#include "sequence/texts.h"

/* The empty text, names of a few places, and messages. */
static inline uint64_t text_number(uint8_t n)
{
	if (n & 0x80)
		return GT_TEXT_ONCE | (n & 0x0f);
	if (n & 0x40)
		return GT_TEXT_GIVEN(n & 0x3f);
	return n & 0x20 ? (uint64_t)GT_TEXT_PLACES * (n & 0x0f) + 3 : n;
}

/* The record has exactly the bytes of the text, so that the sanitizer detects a read past it. */
static inline void add_text(struct texts *texts, uint64_t number, uint64_t time,
			    const uint8_t *bytes, uint32_t len, uint32_t cut)
{
	struct {
		struct gt_record rec;
		struct gt_text text;
		uint8_t bytes[];
	} *r = malloc(sizeof(*r) + len);

	if (!r)
		abort();
	r->rec = (struct gt_record){ .time = time, .tid = 1, .kind = GT_TEXT, .object = number };
	r->text = (struct gt_text){ len, cut };
	memcpy(r->bytes, bytes, len);
	if (texts__add(texts, &r->rec))
		abort();
	free(r);
}

/* Takes up to `want` bytes of the rest of an input. */
static inline const uint8_t *take_bytes(const uint8_t **data, size_t *size, uint32_t want,
					uint32_t *ret)
{
	const uint8_t *at = *data;

	*ret = want < *size ? want : (uint32_t)*size;
	*data += *ret;
	*size -= *ret;
	return at;
}

#endif
