// SPDX-License-Identifier: GPL-2.0
/* The examples of RFC 4648, and bytes with the highest bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base64.h"

static void expect(const char *bytes, const char *text)
{
	char out[64];

	memset(out, 'x', sizeof(out));
	base64__encode(out, bytes, strlen(bytes));
	assert_string_equal(out, text);
	assert_int_equal(BASE64_SIZE(strlen(bytes)), strlen(text) + 1);
}

static void test_examples(void **state)
{
	(void)state;
	expect("", "");
	expect("f", "Zg==");
	expect("fo", "Zm8=");
	expect("foo", "Zm9v");
	expect("foob", "Zm9vYg==");
	expect("foobar", "Zm9vYmFy");
	expect("\xff\xfe\xfb\xff", "//77/w==");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_examples) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
