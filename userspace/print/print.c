// SPDX-License-Identifier: GPL-2.0
/*
 * Formats numbers and text into a buffer that is written to stdout: see print.h. print_human.c and
 * print_canonical.c format events with it.
 */
#include <stdarg.h>
#include <stdio.h>

#include "lib/buf.h"
#include "lib/progress.h"
#include "lib/unicode.h"
#include "print.h"
#include "screen.h"

struct out *out__stdout(void)
{
	static struct out out;

	return &out;
}

void out__flush(struct out *o)
{
	progress__end();
	if (o->screen.width)
		screen__write(&o->screen, o->data, o->len);
	else if (!o->failed && fwrite(o->data, 1, o->len, o->file ?: stdout) != o->len)
		o->failed = true;
	o->len = 0;
}

void out__bytes_slow(struct out *o, const void *data, size_t len)
{
	struct buf b = buf__make(data, len);
	size_t part;

	for (; (len = buf__left(&b)); o->len += part) {
		if (o->len == OUT_SIZE)
			out__flush(o);
		part = OUT_SIZE - o->len < len ? OUT_SIZE - o->len : len;
		memcpy(o->data + o->len, buf__take(&b, part), part);
	}
}

void out__u64(struct out *o, uint64_t v)
{
	char digits[20], *p = digits + sizeof(digits);

	do
		*--p = '0' + v % 10;
	while (v /= 10);
	out__bytes(o, p, digits + sizeof(digits) - p);
}

void out__i64(struct out *o, int64_t v)
{
	if (v < 0)
		out__char(o, '-');
	out__u64(o, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void out__hex(struct out *o, uint64_t v)
{
	char digits[16], *p = digits + sizeof(digits);

	do
		*--p = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	out__bytes(o, p, digits + sizeof(digits) - p);
}

void out__nine(struct out *o, uint32_t v)
{
	char *p = out__room(o, 9);

	for (int i = 8; i >= 0; i--, v /= 10)
		p[i] = '0' + v % 10;
	o->len += 9;
}

void out__format(struct out *o, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	out__text(o, text);
}

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/* A backslash, a letter and `digits` hexadecimal digits. */
static void put_hex(struct out *o, char letter, uint32_t value, unsigned int digits)
{
	char *p = out__room(o, OUT_ROOM);

	*p++ = '\\';
	*p++ = letter;
	o->len += 2 + digits;
	while (digits--)
		*p++ = "0123456789abcdef"[value >> 4 * digits & 15];
}

static void put_control(struct out *o, unsigned char c)
{
	static const char letters[] = {
		['\a'] = 'a', ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\v'] = 'v',
		['\f'] = 'f', ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'
	};

	if (c >= sizeof(letters) || !letters[c]) {
		put_hex(o, 'x', c, 2);
		return;
	}
	out__char(o, '\\');
	out__char(o, letters[c]);
}

/* A character that begins with a byte of 0x80 or more. */
static void put_wide(struct out *o, struct buf *text, bool show)
{
	uint32_t c;
	size_t width = utf8__decode(text->pos, buf__left(text), &c);
	const unsigned char *bytes = buf__take(text, width);

	if (width == 1)
		put_hex(o, 'x', *bytes, 2);
	else if (show && unicode__is_print(c))
		out__bytes(o, bytes, width);
	else if (c < 0x10000)
		put_hex(o, 'u', c, 4);
	else
		put_hex(o, 'U', c, 8);
}

static void put_escaped(struct out *o, const void *data, size_t len, bool show)
{
	struct buf text = buf__make(data, len), run;
	size_t plain;

	while (buf__left(&text)) {
		run = text;
		for (plain = 0; buf__left(&run) && is_plain(buf__u8(&run)); plain++)
			;
		out__bytes(o, buf__take(&text, plain), plain);
		if (!buf__left(&text))
			return;
		if (*text.pos < 0x80)
			put_control(o, buf__u8(&text));
		else
			put_wide(o, &text, show);
	}
}

void out__ascii(struct out *o, const void *text, size_t len)
{
	put_escaped(o, text, len, false);
}

void out__unicode(struct out *o, const void *text, size_t len)
{
	put_escaped(o, text, len, true);
}
