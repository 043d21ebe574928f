// SPDX-License-Identifier: GPL-2.0
/*
 * Lines on a terminal of ten columns: wide characters take two of them, combining marks none, also where
 * a line is cut and at the edges of the parts that are written.
 */
#include "unit/test.h"
#include "unit/child.h"

#include "lib/unicode.h"
#include "print/screen.h"

#define DOTS "\xe2\x80\xa6"
#define WIDE "\xe8\xa8\x98" /* U+8A18 */
#define MARK "\xcc\x81"	    /* U+0301, over the character before it */

struct shown {
	const char *text;
	size_t part; /* bytes that are written at a time */
};

static void show(const void *ctx)
{
	const struct shown *s = ctx;
	struct screen screen = { .width = 10 };
	size_t len = strlen(s->text), n;

	for (size_t at = 0; at < len; at += n) {
		n = len - at < s->part ? len - at : s->part;
		screen__write(&screen, s->text + at, n);
	}
}

/* `text`, written in parts of all sizes, is `want`. */
static void expect(const char *text, const char *want)
{
	for (size_t part = 1; part <= strlen(text); part++)
		assert_string_equal(in_child(show, &(struct shown){ text, part }).out, want);
}

TEST(narrow)
{
	expect("123456789\n", "123456789\n");
	expect("1234567890\n", "1234567890\n");
	expect("12345678901\n", "123456789" DOTS "\n");
	expect("12345678901234\n\nab\n", "123456789" DOTS "\n\nab\n");
	expect("\x1b[1m1234567890\x1b[m\n", "\x1b[1m123456789\x1b[m0\n");
	expect("caf\xc3\xa9 \xe2\x82\xac\n", "caf\xc3\xa9 \xe2\x82\xac\n");
}

TEST(wide)
{
	expect(WIDE WIDE WIDE WIDE WIDE "\n", WIDE WIDE WIDE WIDE WIDE "\n");
	expect(WIDE WIDE WIDE WIDE WIDE "x\n", WIDE WIDE WIDE WIDE DOTS "\n");
	expect("x" WIDE WIDE WIDE WIDE WIDE "\n", "x" WIDE WIDE WIDE WIDE DOTS "\n");
	expect("x" WIDE WIDE WIDE WIDE "y\n", "x" WIDE WIDE WIDE WIDE "y\n");
}

TEST(marks)
{
	char text[64] = "x", want[64] = "x";

	expect("e" MARK "23456789a" MARK "\n", "e" MARK "23456789a" MARK "\n");
	expect("e" MARK "23456789a" MARK "b\n", "e" MARK "23456789" DOTS "\n");
	expect(WIDE WIDE WIDE WIDE WIDE MARK "\n", WIDE WIDE WIDE WIDE WIDE MARK "\n");
	for (int i = 0; i < 12; i++) {
		strcat(text, MARK);
		strcat(want, i < 8 ? MARK : "");
	}
	expect(strcat(text, "y\n"), strcat(want, "y\n"));
}

/* Columns by the tables of Unicode. */
TEST(columns)
{
	static const struct {
		uint32_t c;
		unsigned int columns;
	} known[] = {
		{ 'a', 1 },	{ 0xe9, 1 },	{ 0x2ff, 1 },	{ 0x300, 0 },	{ 0x36f, 0 },
		{ 0x370, 1 },	{ 0x10ff, 1 },	{ 0x1100, 2 },	{ 0x115f, 2 },	{ 0x1160, 0 },
		{ 0x200b, 1 },	{ 0x20ac, 1 },	{ 0x231a, 2 },	{ 0x3042, 2 },	{ 0x302a, 0 },
		{ 0xac00, 2 },	{ 0xd7a3, 2 },	{ 0xff01, 2 },	{ 0xff61, 1 },	{ 0x1f600, 2 },
		{ 0x20000, 2 }, { 0x323af, 2 }, { 0xe0100, 0 }, { 0xe01ef, 0 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (unicode__columns(known[i].c) != known[i].columns)
			fail_msg("U+%04X: %u columns", known[i].c, unicode__columns(known[i].c));
}

TEST(cut)
{
	assert_int_equal(utf8__cut("abc", 3, 0), 0);
	assert_int_equal(utf8__cut("abc", 3, 2), 2);
	assert_int_equal(utf8__cut("abc", 3, 4), 3);
	assert_int_equal(utf8__cut(WIDE WIDE, 6, 3), 3);
	assert_int_equal(utf8__cut("e" MARK "f", 4, 1), 3);
}
