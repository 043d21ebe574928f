// SPDX-License-Identifier: GPL-2.0
/*
 * Splits a private data record into the strings that carry it, and encodes losses: see private.h.
 *
 * Used by writer/private_write.c and align/write.c; format/private_read.c joins the strings again,
 * and decodes.
 */
#include <string.h>

#include "format/encode.h"
#include "format/private.h"
#include "format/spec.h"

#define PART_HEADER (PRIVATE_PREFIX_LEN + 2 * LEB_MAX + 1)
#define PART_DATA   (TRACE_STRING_MAX - PART_HEADER)

int private__parts(enum private_kind kind, const void *data, size_t len,
		   int (*put)(void *to, const void *part, size_t len), void *to)
{
	const uint8_t *from = data;
	uint8_t part[TRACE_STRING_MAX], *p;
	uint64_t number = 0;
	size_t n;
	int err;

	do {
		n = len < PART_DATA ? len : PART_DATA;
		len -= n;
		memcpy(part, PRIVATE_PREFIX, PRIVATE_PREFIX_LEN);
		p = leb__put(part + PRIVATE_PREFIX_LEN, kind);
		p = leb__put(p, number++);
		*p++ = len != 0;
		if (n) {
			memcpy(p, from, n);
			from += n;
		}
		err = put(to, part, p + n - part);
	} while (!err && len);
	return err;
}

int private__append_loss(struct outbuf *to, const struct private_loss *loss, struct error *error)
{
	uint8_t data[4 * LEB_MAX], *p = data;

	p = leb__put(p, loss->kind);
	p = leb__put(p, loss->count);
	p = leb__put(p, loss->from);
	p = leb__put(p, loss->to - loss->from);
	return outbuf__put(to, data, (size_t)(p - data), error);
}

/* A number as the difference from another one: the sign is the lowest bit. */
static uint8_t *put_difference(uint8_t *p, uint64_t number, uint64_t from)
{
	uint64_t difference = number - from;

	return leb__put(p, difference << 1 ^ -(difference >> 63));
}

int private__append_request(struct outbuf *to, struct private_request *last,
			    const struct private_request *request, struct error *error)
{
	uint8_t data[4 * LEB_MAX], *p = leb__put(data, request->what);

	p = put_difference(p, request->task, last->task);
	p = put_difference(p, request->g, last->g);
	p = put_difference(p, request->time, last->time);
	*last = *request;
	return outbuf__put(to, data, (size_t)(p - data), error);
}
