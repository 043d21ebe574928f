// SPDX-License-Identifier: GPL-2.0
/* The examples of RFC 4648, and bytes with the highest bit. */
#include "unit/test.h"
#include "lib/base64.h"

static void expect(const char *bytes, const char *text)
{
	char out[64];

	memset(out, 'x', sizeof(out));
	base64__encode(out, bytes, strlen(bytes));
	assert_string_equal(out, text);
	assert_int_equal(BASE64_SIZE(strlen(bytes)), strlen(text) + 1);
}

TEST(test_examples)
{
	expect("", "");
	expect("f", "Zg==");
	expect("fo", "Zm8=");
	expect("foo", "Zm9v");
	expect("foob", "Zm9vYg==");
	expect("foobar", "Zm9vYmFy");
	expect("\xff\xfe\xfb\xff", "//77/w==");
}
