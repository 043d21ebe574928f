// SPDX-License-Identifier: GPL-2.0
/*
 * Go's string literals: see quote.h.
 *
 * A character that Go considers printable is written as it is, a control character by its letter or
 * as \x, other characters as \u or \U, and a byte that is not part of a character as \x. When
 * reading, all of Go's escapes are accepted; each invalid UTF-8 byte becomes U+FFFD.
 */
#include <errno.h>
#include <string.h>

#include "lib/unicode.h"
#include "text/quote.h"

#define ESCAPE_MAX 10 /* \U00012345 */

static const char letters[] = "abtnvfr", controls[] = "\a\b\t\n\v\f\r";

/* Writes \, a letter, and `digits` hexadecimal digits. Returns one past the last. */
static char *put_hex(char *p, char letter, uint32_t value, unsigned int digits)
{
	*p++ = '\\';
	*p++ = letter;
	while (digits--)
		*p++ = "0123456789abcdef"[value >> 4 * digits & 15];
	return p;
}

static char *put_ascii(char *p, unsigned char c)
{
	const char *control;

	if (c == '"' || c == '\\') {
		*p++ = '\\';
		*p++ = c;
		return p;
	}
	if (c >= ' ' && c < 0x7f) {
		*p++ = c;
		return p;
	}
	control = c ? strchr(controls, c) : NULL;
	if (!control)
		return put_hex(p, 'x', c, 2);
	*p++ = '\\';
	*p++ = letters[control - controls];
	return p;
}

/* Writes a character that begins with a byte of 0x80 or more. */
static char *put_wide(char *p, struct buf *b)
{
	uint32_t c;
	size_t width = utf8__decode(b->pos, buf__left(b), &c);
	const unsigned char *bytes = buf__take(b, width);

	if (width == 1)
		return put_hex(p, 'x', *bytes, 2);
	if (!unicode__is_print(c))
		return c < 0x10000 ? put_hex(p, 'u', c, 4) : put_hex(p, 'U', c, 8);
	memcpy(p, bytes, width);
	return p + width;
}

int quote__put(struct outbuf *out, const void *data, size_t len, struct error *error)
{
	struct buf b = buf__make(data, len);
	int err = outbuf__put(out, "\"", 1, error);
	char *p;

	while (!err && buf__left(&b)) {
		err = outbuf__room(out, ESCAPE_MAX, error);
		if (err)
			break;
		p = out->data + out->len;
		p = *b.pos < 0x80 ? put_ascii(p, buf__u8(&b)) : put_wide(p, &b);
		out->len = p - out->data;
	}
	return err ? err : outbuf__put(out, "\"", 1, error);
}

/* Reads `digits` digits of base 1 << bits. Returns false if there are fewer. */
static bool take_digits(struct buf *b, unsigned int digits, unsigned int bits, uint32_t *ret)
{
	static const char all[] = "0123456789abcdef";
	const char *digit;
	unsigned char c;

	for (*ret = 0; digits; digits--) {
		c = buf__u8(b);
		if (c >= 'A' && c <= 'F')
			c += 'a' - 'A';
		digit = c ? memchr(all, c, (size_t)1 << bits) : NULL;
		if (!digit)
			return false;
		*ret = *ret << bits | (uint32_t)(digit - all);
	}
	return true;
}

/* Reads three octal digits, of which the first has been read already. */
static bool take_octal(struct buf *b, unsigned char first, uint32_t *ret)
{
	bool digits = take_digits(b, 2, 3, ret);

	*ret |= (uint32_t)(first - '0') << 6;
	return digits;
}

/* One character of a literal: a byte, or if `wide` a character that is written as UTF-8. */
struct literal_char {
	uint32_t value;
	bool wide;
};

/* Reads what follows a backslash. Returns false if that is invalid within these quotes. */
static bool take_escape(struct buf *b, unsigned char quote, struct literal_char *ret)
{
	unsigned char c = buf__u8(b);
	const char *letter = c ? strchr(letters, c) : NULL;

	*ret = (struct literal_char){ .value = c };
	if (c == 'x')
		return take_digits(b, 2, 4, &ret->value);
	if (c >= '0' && c <= '3') /* first of three digits, below 256 */
		return take_octal(b, c, &ret->value);
	if (c == 'u' || c == 'U') {
		ret->wide = true;
		return take_digits(b, c == 'u' ? 4 : 8, 4, &ret->value) &&
		       unicode__is_char(ret->value);
	}
	if (letter)
		ret->value = controls[letter - letters];
	return letter || c == '\\' || c == quote;
}

static bool take_char(struct buf *b, unsigned char quote, struct literal_char *ret)
{
	unsigned char c = *b->pos;

	if (c == '\\') {
		buf__skip(b, 1);
		return take_escape(b, quote, ret);
	}
	if (c < 0x80) {
		*ret = (struct literal_char){ .value = buf__u8(b) };
		return true;
	}
	ret->wide = true;
	buf__skip(b, utf8__decode(b->pos, buf__left(b), &ret->value));
	return true;
}

/* `b` is behind the first quote. */
static int take_escaped(struct buf *b, unsigned char quote, struct outbuf *out, struct error *error)
{
	struct literal_char c;
	size_t n = 0;
	int err;

	for (; buf__left(b) && *b->pos != quote; n++) {
		if (!take_char(b, quote, &c))
			return -EINVAL;
		err = outbuf__room(out, UTF8_MAX, error);
		if (err)
			return err;
		if (c.wide)
			out->len += utf8__encode(c.value, (unsigned char *)out->data + out->len);
		else
			out->data[out->len++] = c.value;
	}
	return quote == '\'' && n > 1 ? -EINVAL : 0;
}

/* Between `` there are no escapes; carriage returns are ignored, as in Go. */
static int take_plain(struct buf *b, struct outbuf *out, struct error *error)
{
	int err;

	while (buf__left(b) && *b->pos != '`') {
		err = outbuf__room(out, 1, error);
		if (err)
			return err;
		if (*b->pos != '\r')
			out->data[out->len++] = *b->pos;
		buf__skip(b, 1);
	}
	return 0;
}

int quote__take(struct buf *b, struct outbuf *out, struct error *error)
{
	unsigned char quote = buf__u8(b);
	int err;

	if (quote == '`')
		err = take_plain(b, out, error);
	else if (quote == '"' || quote == '\'')
		err = take_escaped(b, quote, out, error);
	else
		return -EINVAL;
	if (err)
		return err;
	return buf__u8(b) == quote ? 0 : -EINVAL;
}
