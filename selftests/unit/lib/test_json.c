// SPDX-License-Identifier: GPL-2.0
/* JSON as it is written: commas, lines, and every kind of byte that a string can hold. */
#include <math.h>

#include "unit/test.h"
#include "lib/json.h"

static struct json json;
static char *text;
static size_t text_len;

static void begin(bool lines)
{
	FILE *out = open_memstream(&text, &text_len);

	assert_non_null(out);
	json__init(&json, out, lines);
}

static void expect(const char *want)
{
	assert_int_equal(fclose(json.out), 0);
	assert_string_equal(text, want);
	free(text);
	text = NULL;
}

static void write_all_kinds(void)
{
	json__open(&json, NULL, '{');
	json__u64(&json, "most", UINT64_MAX);
	json__i64(&json, "least", INT64_MIN);
	json__open(&json, "list", '[');
	json__bool(&json, NULL, true);
	json__bool(&json, NULL, false);
	json__null(&json, NULL);
	json__open(&json, NULL, '{');
	json__close(&json, '}');
	json__close(&json, ']');
	json__open(&json, "none", '[');
	json__close(&json, ']');
	json__string(&json, "text", "x");
	json__string(&json, "no text", NULL);
	json__close(&json, '}');
}

TEST(indented)
{
	begin(false);
	write_all_kinds();
	expect("{\n"
	       "  \"most\": 18446744073709551615,\n"
	       "  \"least\": -9223372036854775808,\n"
	       "  \"list\": [\n"
	       "    true,\n"
	       "    false,\n"
	       "    null,\n"
	       "    {}\n"
	       "  ],\n"
	       "  \"none\": [],\n"
	       "  \"text\": \"x\",\n"
	       "  \"no text\": null\n"
	       "}\n");
}

TEST(lines)
{
	begin(true);
	write_all_kinds();
	json__open(&json, NULL, '[');
	json__u64(&json, NULL, 1);
	json__u64(&json, NULL, 2);
	json__close(&json, ']');
	expect("{\"most\":18446744073709551615,\"least\":-9223372036854775808,"
	       "\"list\":[true,false,null,{}],\"none\":[],\"text\":\"x\",\"no text\":null}\n"
	       "[1,2]\n");
}

TEST(doubles)
{
	static const struct {
		double value;
		const char *want;
	} cases[] = {
		{ 0, "0\n" },
		{ 0.1, "0.1\n" },
		{ -1.5, "-1.5\n" },
		{ 1e300, "1e+300\n" },
		{ 1.0 / 3, "0.33333333333333331\n" },
		{ NAN, "null\n" },
		{ -INFINITY, "null\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(false);
		json__double(&json, NULL, cases[i].value);
		expect(cases[i].want);
	}
}

#define BYTES(s) s, sizeof(s) - 1
#define BAD	 "\xef\xbf\xbd"

TEST(strings)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *want;
	} cases[] = {
		{ BYTES(""), "" },
		{ BYTES("main.(*T).f[...]"), "main.(*T).f[...]" },
		{ BYTES("\"\\/"), "\\\"\\\\/" },
		{ BYTES("\b\t\n\f\r"), "\\b\\t\\n\\f\\r" },
		{ BYTES("a\0b"), "a\\u0000b" },
		{ BYTES("\x1b[31m\x7f"), "\\u001b[31m\\u007f" },
		{ BYTES("\xc2\x9b"), "\\u009b" },
		{ BYTES("\xc2\xa0\xc3\xa9"), "\xc2\xa0\xc3\xa9" },
		{ BYTES("\xe2\x82\xac \xf0\x9f\x98\x80"), "\xe2\x82\xac \xf0\x9f\x98\x80" },
		{ BYTES("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"),
		  "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf" },
		{ BYTES("\xff"), BAD },
		{ BYTES("\x80x"), BAD "x" },
		{ BYTES("\xc3"), BAD },
		{ BYTES("\xc3("), BAD "(" },
		{ BYTES("\xe2\x82"), BAD BAD },
		{ BYTES("\xf0\x9f\x98"), BAD BAD BAD },
		{ BYTES("\xc0\x80"), BAD BAD }, /* too long for what it is */
		{ BYTES("\xe0\x9f\xbf"), BAD BAD BAD },
		{ BYTES("\xf0\x8f\xbf\xbf"), BAD BAD BAD BAD },
		{ BYTES("\xed\xa0\x80"), BAD BAD BAD },		/* half of a pair */
		{ BYTES("\xf4\x90\x80\x80"), BAD BAD BAD BAD }, /* beyond the last */
		{ BYTES("\xf5\x80\x80\x80"), BAD BAD BAD BAD },
	};
	char want[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		/* Not one byte more than there is, so that a sanitizer sees a read past it. */
		void *copy = malloc(cases[i].len);

		memcpy(copy, cases[i].bytes, cases[i].len);
		begin(true);
		json__open(&json, NULL, '{');
		json__bytes(&json, "\n", copy, cases[i].len);
		json__close(&json, '}');
		snprintf(want, sizeof(want), "{\"\\n\":\"%s\"}\n", cases[i].want);
		expect(want);
		free(copy);
	}
}

TEST(deep)
{
	begin(true);
	for (int i = 1; i < JSON_DEPTH; i++)
		json__open(&json, NULL, '[');
	for (int i = 1; i < JSON_DEPTH; i++)
		json__close(&json, ']');
	expect("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
	       "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n");
}
