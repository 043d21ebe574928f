// SPDX-License-Identifier: GPL-2.0
/* Merged spans keep the exact time of each state, and curves the extremes of their values. */
#include <math.h>

#include "unit/test.h"
#include "report/curve.h"
#include "report/spans.h"

#define SPANS 20000u

static uint64_t random_number(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* Lengths of 0 ns to 1 ms, most of them short, with gaps; adds their times to time[]. */
static uint64_t fill(struct spans *s, uint64_t threshold, uint64_t time[SPAN_SLOTS])
{
	struct span span = {};

	for (unsigned int i = 0; i < SPANS; i++) {
		span.start += span.len + random_number() % 300;
		span.len = random_number() % (i % 100 ? 2000 : 1000000);
		span.state = (uint8_t)(SPAN_SLOTS + random_number() % SPAN_SLOTS);
		span.detail = random_number() % 3;
		time[span.state % SPAN_SLOTS] += span.len;
		assert_int_equal(spans__add(s, &span, threshold), 0);
	}
	return span.start + span.len;
}

static void check(const struct spans *s, const uint64_t exact[SPAN_SLOTS], uint64_t end)
{
	uint64_t time[SPAN_SLOTS] = {}, last = 0, count = 0;

	spans__total(s, time);
	assert_memory_equal(time, exact, sizeof(time));
	for (size_t i = 0; i < s->n; i++) {
		const struct span *span = &s->at[i];

		assert_true(span->start >= last);
		last = span->start + span->len;
		count += span->sum ? s->sums[span->sum - 1].count : 1;
		assert_in_range(spans__dominant(s, span), SPAN_SLOTS, 2 * SPAN_SLOTS - 1);
	}
	assert_int_equal(count, SPANS);
	assert_int_equal(last, end);
}

TEST(test_merge)
{
	uint64_t exact[SPAN_SLOTS] = {}, end;
	struct spans s = {};
	size_t before;

	end = fill(&s, 0, exact);
	assert_int_equal(s.n, SPANS);
	check(&s, exact, end);
	for (uint64_t threshold = SPANS_FIRST_THRESHOLD; threshold < 1u << 28; threshold *= 2) {
		before = s.n;
		assert_int_equal(spans__merge(&s, threshold), 0);
		assert_true(s.n <= before);
		/* Long ones are as they were. */
		for (size_t i = 0; i < s.n; i++)
			assert_true(!s.at[i].sum || s.at[i].len < 2 * threshold);
		check(&s, exact, end);
	}
	assert_int_equal(s.n, 1);
	spans__deinit(&s);
}

TEST(test_add)
{
	uint64_t exact[SPAN_SLOTS] = {}, end;
	struct spans s = {};

	end = fill(&s, 1u << 16, exact);
	assert_true(s.n < SPANS / 10);
	check(&s, exact, end);
	spans__deinit(&s);
}

TEST(test_dominant)
{
	const struct span a = { .start = 0, .len = 10, .state = 1, .detail = 5 },
			  b = { .start = 10, .len = 30, .state = 3, .detail = 5 },
			  c = { .start = 50, .len = 25, .state = 1, .detail = 6 };
	struct spans s = {};

	assert_int_equal(spans__add(&s, &a, 1024), 0);
	assert_int_equal(spans__add(&s, &b, 1024), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.at[0].detail, 5);
	assert_int_equal(spans__dominant(&s, &s.at[0]), 3);
	assert_int_equal(spans__add(&s, &c, 1024), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.at[0].len, 75);
	assert_int_equal(s.at[0].detail, 0);
	assert_int_equal(spans__dominant(&s, &s.at[0]), 1);
	spans__deinit(&s);
}

TEST(test_curve)
{
	uint64_t min = UINT64_MAX, max = 0, time = 0, last = 0;
	double expected = 0, sum = 0;
	struct curve c = {};

	for (unsigned int i = 0; i < 100000; i++) {
		uint64_t value = random_number() >> 20, length = random_number() % 5000;

		min = value < min ? value : min;
		max = value > max ? value : max;
		time += length;
		expected += (double)last * (double)length;
		last = value;
		assert_int_equal(curve__add(&c, time, value), 0);
		assert_in_range(c.n, 1, CURVE_POINTS);
	}
	assert_true(c.n >= CURVE_POINTS / 4);
	for (size_t i = 0; i < c.n; i++) {
		assert_true(!i || c.at[i].time > c.at[i - 1].time);
		assert_in_range(c.at[i].min, min, c.at[i].max);
		assert_in_range(c.at[i].max, c.at[i].min, max);
		sum += curve__mean(&c, i, time) *
		       (double)((i + 1 < c.n ? c.at[i + 1].time : time) - c.at[i].time);
	}
	assert_true(fabs(sum - expected) <= 1e-9 * expected);
	curve__deinit(&c);
}
