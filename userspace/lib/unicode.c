// SPDX-License-Identifier: GPL-2.0
/*
 * UTF-8 and properties of characters: see unicode.h.
 *
 * White space is listed here; printable characters, and the columns that characters take, are in
 * unicode_table.h.
 */
#include "lib/unicode.h"

#include <string.h>

#include "lib/buf.h"
#include "lib/unicode_table.h"

bool unicode__is_char(uint32_t c)
{
	return c < 0xd800 || (c > 0xdfff && c <= 0x10ffff);
}

/* The low bits of `n` continuation bytes; false: invalid bytes. */
static bool continuation(struct buf *b, unsigned int n, uint32_t *c)
{
	unsigned char byte;

	for (; n; n--) {
		byte = buf__u8(b);
		if ((byte & 0xc0) != 0x80)
			return false;
		*c = *c << 6 | (byte & 0x3f);
	}
	return true;
}

size_t utf8__length(unsigned char first)
{
	return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

size_t utf8__decode(const unsigned char *p, size_t len, uint32_t *ret)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 }; /* by length */
	struct buf b = buf__make(p, len);
	unsigned char first = buf__u8(&b);
	size_t width = utf8__length(first);
	uint32_t c = first & (0x7f >> width);

	if (first < 0x80) {
		*ret = first;
		return 1;
	}
	if (width == 1 || first >= 0xf8 || !continuation(&b, width - 1, &c) ||
	    c < smallest[width] || !unicode__is_char(c)) {
		*ret = UNICODE_REPLACEMENT;
		return 1;
	}
	*ret = c;
	return width;
}

size_t utf8__encode(uint32_t c, unsigned char *to)
{
	size_t width, i;

	if (!unicode__is_char(c))
		c = UNICODE_REPLACEMENT;
	if (c < 0x80) {
		to[0] = c;
		return 1;
	}
	width = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (i = width - 1; i; i--, c >>= 6)
		to[i] = 0x80 | (c & 0x3f);
	to[0] = (0xf00 >> width & 0xff) | c;
	return width;
}

bool unicode__is_space(uint32_t c)
{
	return (c >= '\t' && c <= '\r') || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 ||
	       (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
	       c == 0x205f || c == 0x3000;
}

/* Whether c is in one of the runs between the `n` edges. */
static bool is_in(const uint32_t *edges, size_t n, uint32_t c)
{
	size_t low = 0, high = n, mid;

	while (low < high) { /* binary search: the number of edges at or before c */
		mid = (low + high) / 2;
		if (edges[mid] <= c)
			low = mid + 1;
		else
			high = mid;
	}
	return low % 2;
}

#define IS_IN(edges, c) is_in(edges, sizeof(edges) / sizeof(*(edges)), c)

bool unicode__is_print(uint32_t c)
{
	return IS_IN(print_edges, c);
}

unsigned int unicode__columns(uint32_t c)
{
	if (c < mark_edges[0])
		return 1;
	return IS_IN(wide_edges, c) ? 2 : !IS_IN(mark_edges, c);
}

size_t utf8__cut(const char *text, size_t len, unsigned int columns)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t at = 0, width;
	uint32_t c;

	while (at < len) {
		width = utf8__decode(bytes + at, len - at, &c);
		if (unicode__columns(c) > columns)
			break;
		columns -= unicode__columns(c);
		at += width;
	}
	return at;
}

void utf8__make_printable(char *text)
{
	const unsigned char *from = (const unsigned char *)text;
	size_t left = strlen(text), width;
	char *to = text;
	uint32_t c;

	for (; left; from += width, left -= width) {
		width = utf8__decode(from, left, &c);
		if (!unicode__is_print(c) || (c == UNICODE_REPLACEMENT && width == 1)) {
			*to++ = '?';
			continue;
		}
		memmove(to, from, width);
		to += width;
	}
	*to = '\0';
}
