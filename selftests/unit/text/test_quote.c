// SPDX-License-Identifier: GPL-2.0
/*
 * Go's string literals in both directions, and printable characters. check/text.sh compares every
 * character with Go.
 */
#include "unit/test.h"
#include "lib/unicode.h"
#include "text/quote.h"

static void assert_output(const struct outbuf *out, const void *expected, size_t len)
{
	assert_int_equal(out->len, len);
	assert_true(!len || !memcmp(out->data, expected, len));
}

static void assert_quoted(const void *data, size_t len, const char *expected)
{
	struct outbuf out = {}, back = {};
	struct buf b;

	assert_int_equal(quote__put(&out, data, len, NULL), 0);
	if (expected)
		assert_output(&out, expected, strlen(expected));
	b = buf__make(out.data, out.len);
	assert_int_equal(quote__take(&b, &back, NULL), 0);
	assert_int_equal(buf__left(&b), 0);
	assert_output(&back, data, len);
	outbuf__deinit(&out);
	outbuf__deinit(&back);
}

TEST(quoted_data)
{
	static const char controls[] = "\a\b\f\n\r\t\v\0\x1f\x7f";
	uint8_t bytes[64];
	size_t i, n;

	assert_quoted("a\"\\'`", 5, "\"a\\\"\\\\'`\"");
	assert_quoted(controls, 10, "\"\\a\\b\\f\\n\\r\\t\\v\\x00\\x1f\\x7f\"");
	assert_quoted("\u00fc\u20ac\U0001f600", 9, "\"\u00fc\u20ac\U0001f600\"");
	/*
	 * Not printable: soft hyphen, no-break space, line separator, private use, tag, unassigned
	 */
	assert_quoted("\u00ad\u00a0\u2028\ue000\U000e0001\u0378", 16,
		      "\"\\u00ad\\u00a0\\u2028\\ue000\\U000e0001\\u0378\"");
	/* Bytes that are not characters; the replacement character is one. */
	assert_quoted("\xff\xc3(\xed\xa0\x80\xc0\x80\xf4\x90\x80\x80\xe2\x82", 14,
		      "\"\\xff\\xc3(\\xed\\xa0\\x80\\xc0\\x80\\xf4\\x90\\x80\\x80\\xe2\\x82\"");
	assert_quoted("\ufffd", 3, "\"\ufffd\"");
	srand(1);
	for (n = 0; n < 20000; n++) {
		for (i = 0; i < n % sizeof(bytes); i++)
			bytes[i] = rand() >> (n % 2 ? 8 : 12);
		assert_quoted(bytes, i, NULL);
	}
}

static int unquote(const char *literal, size_t len, struct outbuf *out)
{
	struct buf b = buf__make(literal, len);
	int code;

	*out = (struct outbuf){};
	code = quote__take(&b, out, NULL);
	return code ? code : (int)buf__left(&b);
}

static void assert_unquoted(const char *literal, const char *expected, size_t len)
{
	struct outbuf out;

	assert_int_equal(unquote(literal, strlen(literal), &out), 0);
	assert_output(&out, expected, len);
	outbuf__deinit(&out);
}

TEST(unquoted_literals)
{
	static const char *const none[] = {
		"",
		"x",
		"\"",
		"\"a",
		"'",
		"'ab'",
		"`",
		"`a",
		"\"\\",
		"\"\\\"",
		"\"\\'\"",
		"'\\\"'",
		"\"\\q\"",
		"\"\\x4\"",
		"\"\\xg0\"",
		"\"\\400\"",
		"\"\\18\"",
		"\"\\7\"",
		"\"\\u12\"",
		"\"\\ud800\"",
		"\"\\U00110000\"",
		"\"\\Uffffffff\"",
		"\"\\0",
	};
	struct outbuf out;
	size_t i;

	assert_unquoted("\"\\a\\b\\f\\n\\r\\t\\v\\\\\\\"\"", "\a\b\f\n\r\t\v\\\"", 9);
	assert_unquoted("\"\\x41\\101\\xFf\\377\\000\"", "AA\xff\xff\0", 5);
	assert_unquoted("\"\\u00E9\\U0001f600\\u0041\"", "\u00e9\U0001f600A", 7);
	assert_unquoted("\"\"", "", 0);
	assert_unquoted("\"'`\"", "'`", 2);
	assert_unquoted("`\\n\"'\r`", "\\n\"'", 4); /* no escapes; carriage returns are dropped */
	assert_unquoted("`\xff`", "\xff", 1);
	assert_unquoted("\"\xff\xed\xa0\"", "\ufffd\ufffd\ufffd", 9);
	assert_unquoted("'a'", "a", 1);
	assert_unquoted("'\\''", "'", 1);
	assert_unquoted("'\\xe9'", "\xe9", 1);
	assert_unquoted("'\u20ac'", "\u20ac", 3);
	assert_unquoted("''", "", 0);
	for (i = 0; i < sizeof(none) / sizeof(*none); i++) {
		assert_int_equal(unquote(none[i], strlen(none[i]), &out), -EINVAL);
		outbuf__deinit(&out);
	}
	assert_int_equal(unquote("\"\\\0\"", 4, &out), -EINVAL);
	outbuf__deinit(&out);
	assert_int_equal(unquote("\"a\"bc", 5, &out), 2); /* stops after it */
	outbuf__deinit(&out);
}

TEST(all_utf8_characters)
{
	uint8_t bytes[UTF8_MAX];
	uint32_t c, back;
	size_t len, cut;

	for (c = 0; c < 0x110000; c++) {
		len = utf8__encode(c, bytes);
		assert_int_equal(utf8__decode(bytes, len, &back), len);
		assert_int_equal(back, unicode__is_char(c) ? c : UNICODE_REPLACEMENT);
		for (cut = 1; cut < len; cut++)
			assert_int_equal(utf8__decode(bytes, cut, &back), 1);
	}
	assert_int_equal(utf8__encode(0x110000, bytes), 3);
	for (c = 0; c < 0x10000; c++) { /* all pairs of bytes, followed by two valid ones */
		uint8_t p[] = { c >> 8, c, 0x80, 0x80 };

		len = utf8__decode(p, 4, &back);
		assert_in_range(len, 1, 4);
		if (len > 1)
			assert_int_equal(utf8__encode(back, bytes), len);
		assert_true(len == 1 || !memcmp(p, bytes, len));
		assert_true(len > 1 || back == (p[0] < 0x80 ? p[0] : UNICODE_REPLACEMENT));
	}
}
