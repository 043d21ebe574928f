// SPDX-License-Identifier: GPL-2.0
/* Packed spans are those that were added, from any time on, and merged as those of a list are. */
#include "unit/test.h"
#include "report/packed.h"

#define SPANS 20000u

static struct span all[SPANS];

static uint64_t random_number(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* Mostly short ones; some have the length 0, and some numbers need all bits. */
static void make_spans(void)
{
	struct span span = {};

	for (unsigned int i = 0; i < SPANS; i++) {
		span.start += span.len + random_number() % 300;
		span.len = random_number() % (i % 100 ? 2000 : 1000000);
		span.len = i % 17 ? span.len : 0;
		span.state = (uint8_t)(SPAN_SLOTS + random_number() % SPAN_SLOTS);
		span.detail = i % 50 ? random_number() % 3 : random_number();
		all[i] = span;
	}
}

static void fill(struct packed *p, size_t n, uint64_t threshold)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(packed__add(p, &all[i], NULL, threshold), 0);
}

TEST(test_each)
{
	const size_t sizes[] = { 0, 1, PACKED_BLOCK, PACKED_BLOCK + 1, PACKED_BLOCK + 2, SPANS };
	struct packed_cursor c;
	struct span_sum sum;
	struct span span;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct packed p = {};

		fill(&p, sizes[i], 0);
		c = packed__seek(&p, 0);
		for (size_t k = 0; k < sizes[i]; k++) {
			assert_true(packed__next(&c, &span, &sum));
			assert_int_equal(span.start, all[k].start);
			assert_int_equal(span.len, all[k].len);
			assert_int_equal(span.detail, all[k].detail);
			assert_int_equal(span.state, all[k].state);
			assert_int_equal(span.sum, 0);
		}
		assert_false(packed__next(&c, &span, &sum));
		assert_false(packed__next(&c, &span, &sum));
		packed__deinit(&p);
	}
}

TEST(test_seek)
{
	struct packed p = {};
	struct packed_cursor c;
	struct span_sum sum;
	struct span span;
	size_t n, first;

	fill(&p, SPANS, 0);
	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t time = random_number() % (all[SPANS - 1].start + 1000),
			 end = time + random_number() % 1000000;

		for (first = 0; all[first].start + all[first].len <= time; first++)
			;
		c = packed__seek(&p, time);
		do {
			assert_true(packed__next(&c, &span, &sum));
		} while (span.start + span.len <= time);
		assert_int_equal(span.start, all[first].start);
		assert_int_equal(span.len, all[first].len);
		for (n = 0; first + n < SPANS && all[first + n].start < end; n++)
			;
		assert_in_range(packed__count(&p, time, end), n, n + 4 * PACKED_BLOCK);
	}
	c = packed__seek(&p, UINT64_MAX);
	while (packed__next(&c, &span, &sum))
		assert_true(span.start >= all[SPANS - PACKED_BLOCK - 1].start);
	packed__deinit(&p);
}

/* The list that spans__merge() makes of all spans is the second way to merge them. */
static void check_merged(const struct packed *p, const struct spans *s)
{
	struct packed_cursor c = packed__seek(p, 0);
	struct span_sum sum;
	struct span span;

	for (size_t i = 0; i < s->n; i++) {
		assert_true(packed__next(&c, &span, &sum));
		assert_int_equal(span.start, s->at[i].start);
		assert_int_equal(span.len, s->at[i].len);
		assert_int_equal(span.detail, s->at[i].detail);
		assert_int_equal(!span.sum, !s->at[i].sum);
		if (!span.sum)
			assert_int_equal(span.state, s->at[i].state);
		else
			assert_memory_equal(&sum, &s->sums[s->at[i].sum - 1], sizeof(sum));
	}
	assert_false(packed__next(&c, &span, &sum));
}

TEST(test_merge)
{
	struct packed p = {};
	struct spans s = {};

	fill(&p, SPANS, 0);
	for (size_t i = 0; i < SPANS; i++)
		assert_int_equal(spans__add(&s, &all[i], 0), 0);
	for (uint64_t threshold = SPANS_FIRST_THRESHOLD; threshold < 1u << 28; threshold *= 8) {
		struct packed merged = {}, direct = {};

		assert_int_equal(packed__merge(&merged, &p, threshold), 0);
		assert_true(packed__count(&merged, 0, UINT64_MAX) <
			    packed__count(&p, 0, UINT64_MAX));
		packed__deinit(&p);
		p = merged;
		assert_int_equal(spans__merge(&s, threshold), 0);
		check_merged(&p, &s);
		fill(&direct, SPANS, threshold);
		check_merged(&direct, &s);
		packed__deinit(&direct);
	}
	assert_in_range(s.n, 1, 10);
	packed__deinit(&p);
	spans__deinit(&s);
}

GROUP(make_spans, NULL)
