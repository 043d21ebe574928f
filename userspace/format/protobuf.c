// SPDX-License-Identifier: GPL-2.0
/*
 * Encodes fields of protocol buffers: see protobuf.h.
 */
#include "format/protobuf.h"

#include <string.h>

#include "format/encode.h"
#include "lib/unicode.h"

enum { WIRE_NUMBER = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* The key of a field, and a number: its value, or the length of what follows. */
static int put_head(struct outbuf *to, unsigned int field, unsigned int wire, uint64_t v,
		    struct error *error)
{
	int err = outbuf__room(to, 2 * LEB_MAX, error);

	if (err)
		return err;
	leb__append(to, field << 3 | wire);
	leb__append(to, v);
	return 0;
}

int protobuf__number(struct outbuf *to, unsigned int field, uint64_t v, struct error *error)
{
	return put_head(to, field, WIRE_NUMBER, v, error);
}

int protobuf__fixed64(struct outbuf *to, unsigned int field, uint64_t v, struct error *error)
{
	int err = outbuf__room(to, LEB_MAX + sizeof(v), error);

	if (err)
		return err;
	leb__append(to, field << 3 | WIRE_FIXED64);
	memcpy(to->data + to->len, &v, sizeof(v)); /* little-endian, as lib/buf.h */
	to->len += sizeof(v);
	return 0;
}

int protobuf__bytes(struct outbuf *to, unsigned int field, const void *data, size_t len,
		    struct error *error)
{
	int err = put_head(to, field, WIRE_BYTES, len, error);

	return err || !len ? err : outbuf__put(to, data, len, error);
}

/* Bytes of the text once it is valid. */
static size_t utf8_length(const char *data, size_t len)
{
	const unsigned char *at = (const unsigned char *)data, *end = at + len;
	unsigned char to[UTF8_MAX];
	size_t n = 0;
	uint32_t c;

	while (at < end) {
		at += utf8__decode(at, (size_t)(end - at), &c);
		n += utf8__encode(c, to);
	}
	return n;
}

int protobuf__utf8(struct outbuf *to, const char *data, size_t len, struct error *error)
{
	const unsigned char *at = (const unsigned char *)data, *end = at + len;
	uint32_t c;
	int err;

	while (at < end) {
		err = outbuf__room(to, UTF8_MAX, error);
		if (err)
			return err;
		at += utf8__decode(at, (size_t)(end - at), &c);
		to->len += utf8__encode(c, (unsigned char *)to->data + to->len);
	}
	return 0;
}

int protobuf__text(struct outbuf *to, unsigned int field, const char *data, size_t len,
		   struct error *error)
{
	int err = put_head(to, field, WIRE_BYTES, utf8_length(data, len), error);

	return err ? err : protobuf__utf8(to, data, len, error);
}
