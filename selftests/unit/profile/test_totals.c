// SPDX-License-Identifier: GPL-2.0
/*
 * Sums of samples by function and by stack of functions, and the limits of sums.
 */
#include "unit/scratch.h"
#include "profile/totals.h"

static struct samples samples;
static const struct sample_labels none = { .goroutine = TRACE_NO_G, .thread = TRACE_NO_M };

static uint32_t name(const char *s)
{
	return intern__cstring(samples.texts, s);
}

/* Leaf first; NULL: fewer frames. */
static uint32_t stack(const char *a, const char *b, const char *c, uint32_t line)
{
	const struct intern_frame frames[] = { { 1, name(a), 0, line },
					       { 2, b ? name(b) : 0 },
					       { 3, c ? name(c) : 0 } };

	return intern__stack(samples.texts, frames, 1 + (b != NULL) + (c != NULL));
}

static void add(uint32_t id, int64_t value)
{
	assert_int_equal(samples__add(&samples, id, &none, 1, value), 0);
}

static void expect_functions(const char *want)
{
	struct totals t;
	FILE *f = capture();

	assert_int_equal(totals__by_function(&samples, &t), 0);
	fprintf(f, "%" PRIu64 " %" PRId64 "\n", t.count, t.value);
	for (size_t i = 0; i < t.n; i++)
		fprintf(f, "%.*s %" PRId64 " %" PRId64 "\n",
			(int)intern__text_at(samples.texts, t.functions[i].name).len,
			intern__text_at(samples.texts, t.functions[i].name).data,
			t.functions[i].flat, t.functions[i].cumulative);
	expect_captured(want);
	free(t.functions);
}

TEST(by_function)
{
	assert_int_equal(samples__init(&samples), 0);
	add(stack("c", "b", "a", 1), 5);
	add(stack("c", "b", "a", 2), 6);
	add(stack("b", "b", "a", 1), 3); /* recursive: counts once */
	add(stack("a", NULL, NULL, 1), 3);
	add(0, 1);
	expect_functions("5 18\nc 11 11\na 3 17\nb 3 14\n 1 1\n");
	samples__deinit(&samples);
}

TEST(by_stack)
{
	struct folded folded;
	size_t n;

	assert_int_equal(samples__init(&samples), 0);
	add(stack("c", "b", "a", 1), 5);
	add(0, 1);
	add(stack("c", "b", "a", 2), 6);
	assert_int_equal(folded__make(&samples, &folded), 0);
	assert_int_equal(folded.n, 2);
	assert_int_equal(folded.at[0].value, 11);
	assert_int_equal(folded__frames(&folded, &folded.at[0], &n)[0].func, name("c"));
	assert_int_equal(n, 3);
	assert_int_equal(folded.at[1].value, 1);
	assert_null(folded__frames(&folded, &folded.at[1], &n));
	assert_int_equal(n, 0);
	folded__deinit(&folded);
	samples__deinit(&samples);
}

/* Times of a hostile trace: sums stay at the limit. */
TEST(limits)
{
	assert_int_equal(samples__init(&samples), 0);
	add(stack("a", NULL, NULL, 1), INT64_MAX);
	add(stack("a", NULL, NULL, 1), INT64_MAX);
	add(stack("b", NULL, NULL, 1), 1);
	assert_int_equal(samples.at[0].value, INT64_MAX);
	expect_functions(
		"3 9223372036854775807\na 9223372036854775807 9223372036854775807\nb 1 1\n");
	samples__deinit(&samples);
}

TEST(leaves)
{
	struct sample sample = {};
	uint32_t id;
	size_t n;

	assert_int_equal(samples__init(&samples), 0);
	assert_int_equal(
		samples__with_leaf(&samples, name("[x]"), stack("b", "a", NULL, 4), 0, &id), 0);
	sample.stack = id;
	assert_int_equal(samples__frames(&samples, &sample, &n)[0].func, name("[x]"));
	assert_int_equal(n, 3);
	assert_int_equal(samples__frames(&samples, &sample, &n)[1].line, 4);
	assert_int_equal(samples__with_leaf(&samples, name("[x]"), 0, name("root"), &id), 0);
	sample.stack = id;
	assert_int_equal(samples__frames(&samples, &sample, &n)[1].func, name("root"));
	assert_int_equal(n, 2);
	assert_int_equal(samples__with_leaf(&samples, name("[x]"), 0, 0, &id), 0);
	sample.stack = id;
	samples__frames(&samples, &sample, &n);
	assert_int_equal(n, 1);
	samples__deinit(&samples);
}
