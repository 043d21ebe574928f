// SPDX-License-Identifier: GPL-2.0
/* Which known word a mistyped one is meant to be. */
#include "unit/test.h"
#include "lib/suggest.h"

static const char *const verbs[] = { "check",	   "text",    "assemble", "events", "stat",
				     "goroutines", "latency", "path",	  "cut",    "index",
				     "describe",   "convert", "align" };

static const char *verb(const char *text)
{
	const char *word = suggest__word(text, verbs, sizeof(verbs) / sizeof(*verbs));

	return word ? word : "";
}

TEST(distances)
{
	assert_int_equal(suggest__distance("", ""), 0);
	assert_int_equal(suggest__distance("", "ab"), 2);
	assert_int_equal(suggest__distance("stat", "stat"), 0);
	assert_int_equal(suggest__distance("stats", "stat"), 1);
	assert_int_equal(suggest__distance("tsat", "stat"), 1);
	assert_int_equal(suggest__distance("evetns", "events"), 1);
	assert_int_equal(suggest__distance("sitting", "kitten"), 3);
	assert_int_equal(suggest__distance("gorutine", "goroutines"), 2);
}

TEST(verbs_meant)
{
	assert_string_equal(verb("goroutine"), "goroutines");
	assert_string_equal(verb("gorutines"), "goroutines");
	assert_string_equal(verb("stats"), "stat");
	assert_string_equal(verb("evetns"), "events");
	assert_string_equal(verb("lat"), "latency"); /* the only one that begins so */
	assert_string_equal(verb("gor"), "goroutines");
	assert_string_equal(verb("ct"), "cut");
	assert_string_equal(verb("frobnicate"), "");
	assert_string_equal(verb(""), "");
	assert_string_equal(verb("xyz"), ""); /* three of three characters */
	assert_string_equal(verb("cot"), "cut");
	assert_string_equal(verb("cat"), "cut");
	assert_string_equal(verb("convrtt"), "convert");
	assert_string_equal(verb("xonvrrtt"), ""); /* three edits */
}

TEST(long_words)
{
	char word[200];

	memset(word, 'a', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_string_equal(verb(word), "");
	word[64] = '\0';
	assert_string_equal(verb(word), "");
}
