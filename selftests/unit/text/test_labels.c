// SPDX-License-Identifier: GPL-2.0
/*
 * The labels of a goroutine as one text, in both directions. Under test: text/labels.c.
 */
#include "unit/test.h"
#include "text/labels.h"

#define PAIR(key, value) { { key, sizeof(key) - 1 }, { value, sizeof(value) - 1 } }

#define assert_text(pair, n, cut, expected)                                                        \
	do {                                                                                       \
		char to[LABELS_SIZE];                                                              \
		size_t len = labels__format(pair, n, cut, to);                                     \
                                                                                                   \
		assert_int_equal(len, sizeof(expected) - 1);                                       \
		assert_memory_equal(to, expected, len);                                            \
	} while (0)

TEST(written)
{
	struct label_pair pair[] = {
		PAIR("b", "2 \"x\"\n"), PAIR("a.b_c:d/e-9", ""), PAIR("a", "\xff"),
		PAIR("", "empty"),	PAIR("a key", "1"),	 PAIR("...", "dots"),
	};

	assert_text(pair, 0, false, "");
	assert_text(pair, 0, true, "...");
	assert_text(pair, 1, false, "b=\"2 \\\"x\\\"\\n\"");
	assert_text(pair, 1, true, "b=\"2 \\\"x\\\"\\n\", ...");
	assert_text(pair, 6, false,
		    "\"\"=\"empty\", \"...\"=\"dots\", a=\"\\xff\", \"a key\"=\"1\", "
		    "a.b_c:d/e-9=\"\", b=\"2 \\\"x\\\"\\n\"");
}

/* A label that does not fit is left out whole, and others are not. */
TEST(bounded)
{
	static char most[LABELS_SIZE], expected[LABELS_SIZE + 1], to[LABELS_SIZE];
	struct label_pair pair[] = {
		{ { "k", 1 }, { most, LABELS_SIZE - 5 - 4 } },
		{ { "z", 1 }, { "", 0 } },
	};
	size_t len;

	memset(most, 'm', sizeof(most));
	len = (size_t)sprintf(expected, "k=\"%.*s\", ...", LABELS_SIZE - 9, most);
	assert_int_equal(len, LABELS_SIZE);
	assert_int_equal(labels__format(pair, 2, false, to), len);
	assert_memory_equal(to, expected, len);
	pair[0].value.len++;
	assert_text(pair, 2, false, "z=\"\", ...");
	assert_text(pair, 1, false, "...");
}

/* Reads the text and writes it again as KEY=VALUE; one after the other; the result of the last. */
static int read_all(const char *text, char *to, bool *ret_cut)
{
	struct labels_reader r =
		labels_reader__make((struct trace_string){ text, (uint32_t)strlen(text) });
	int result;

	*to = '\0';
	while ((result = labels_reader__next(&r)) == 1)
		to += sprintf(to, "%.*s=%.*s;", (int)r.key.len, r.key.len ? r.key.data : "",
			      (int)r.value.len, r.value.len ? r.value.data : "");
	*ret_cut = r.cut;
	labels_reader__deinit(&r);
	return result;
}

#define assert_read(text, expected, expected_cut)                                                  \
	do {                                                                                       \
		char all[256];                                                                     \
		bool cut;                                                                          \
                                                                                                   \
		assert_int_equal(read_all(text, all, &cut), 0);                                    \
		assert_string_equal(all, expected);                                                \
		assert_int_equal(cut, expected_cut);                                               \
	} while (0)

TEST(read_back)
{
	assert_read("", "", false);
	assert_read("...", "", true);
	assert_read("a=\"\"", "a=;", false);
	assert_read("\"\"=\"empty\", \"a \\\"=\"=\"x, y=\\\"\", b=\"\\x41\", ...",
		    "=empty;a \"==x, y=\";b=A;", true);
}

TEST(rejected)
{
	static const char *const bad[] = {
		"a",	      "=\"x\"",	   "a=",	"a=x",		"a='x'", "a=`x`",
		"a=\"x",      "a=\"x\"b",  "a=\"\\q\"", "....",		"... ",	 "a=\"1\",",
		"a=\"1\"...", "a b=\"1\"", "\"a=\"1\"", "hello, world",
	};
	char all[256];
	bool cut;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_all(bad[i], all, &cut), -EINVAL);
}
