// SPDX-License-Identifier: GPL-2.0
/* Statistics of `gotrace diff`: Student's distribution, estimates from slices, intervals. */
#include <math.h>

#include "unit/test.h"
#include "diff/estimate.h"

static void close_to(double have, double want, double relative)
{
	if (!(fabs(have - want) <= relative * fabs(want)))
		fail_msg("%.12g instead of %.12g", have, want);
}

/* Tables of Student's distribution; with one and two degrees of freedom there is a formula. */
TEST(student)
{
	close_to(student__upper(0.025, 10), 2.228138852, 1e-8);
	close_to(student__upper(0.005, 30), 2.749995654, 1e-8);
	close_to(student__upper(0.05, 5), 2.015048373, 1e-8);
	close_to(student__upper(0.025, 1e7), 1.959964, 1e-6);
	for (double tail = 0.4; tail > 1e-9; tail /= 3) {
		double p = 1 - 2 * tail;

		close_to(student__upper(tail, 1), 1 / tan(M_PI * tail), 1e-7);
		close_to(student__upper(tail, 2), p * sqrt(2 / (1 - p * p)), 1e-6);
	}
}

TEST(mean)
{
	static const double sums[] = { 1, 2, 3, 4, 99 }, weights[] = { 2, 2, 2, 2, 0 };
	struct estimate e = estimate__ratio(sums, weights, 5);

	assert_true(e.known);
	close_to(e.value, 1.25, 1e-12);
	/* of 0.5, 1, 1.5 and 2: the standard deviation divided by sqrt(4) */
	close_to(e.error, sqrt(1.25 / 3) / 2, 1e-12);
	close_to(e.freedom, 3, 0);
	assert_true(e.margin == 0);
}

/* Slices in which there is more to do and that take longer do not vary. */
TEST(ratio)
{
	static const double sums[] = { 10, 20, 30 }, weights[] = { 1, 2, 3 };
	struct estimate e = estimate__ratio(sums, weights, 3);

	close_to(e.value, 10, 1e-12);
	assert_true(e.error < 1e-12);
}

/* Time that passed in slices without requests belongs to requests of others. */
TEST(carried)
{
	static const double sums[] = { 1, 2, 3, 4, 99 }, weights[] = { 0, 2, 0, 1, 0 };
	static const double none[] = { 0, 0, 0, 0, 0 }, want[] = { 0, 3, 0, 106, 0 };
	double have[5] = {}, zero[5] = {};

	estimate__carry(sums, weights, 5, have);
	estimate__carry(sums, none, 5, zero);
	for (unsigned int i = 0; i < 5; i++)
		assert_true(have[i] == want[i] && zero[i] == 0);
	close_to(estimate__ratio(have, weights, 5).value, 109. / 3, 1e-12);
}

TEST(too_few)
{
	static const double sums[] = { 10, 20 }, weights[] = { 0, 2 }, none[] = { 0, 0 };
	struct estimate e = estimate__ratio(sums, weights, 2),
			known = estimate__ratio(sums, sums, 2);
	struct contrast c;

	assert_true(e.known && e.value == 10 && isnan(e.error));
	assert_false(estimate__ratio(sums, none, 2).known);
	c = contrast__of(&e, &known, 1, 0.01);
	assert_false(c.known);
	close_to(c.difference, -9, 1e-12);
}

TEST(quantile)
{
	const double slices[] = { 8, NAN, 12, 10 };
	struct estimate e = estimate__quantile(10, slices, 4, 0.05);

	assert_true(e.known && e.value == 10);
	close_to(e.error, sqrt(8. / 2 / 3), 1e-12);
	close_to(e.margin, 0.5, 1e-12);
	assert_true(isnan(estimate__quantile(10, slices, 2, 0.05).error));
	assert_false(estimate__quantile(10, slices + 1, 1, 0.05).known);
}

/* Welch's example of unequal variances: 15 samples with variance 1, 6 with variance 9. */
TEST(welch)
{
	const struct estimate a = { true, 10, sqrt(1. / 15), 14, 0 };
	const struct estimate b = { true, 12, sqrt(9. / 6), 5, 0.25 };
	double variance = 1. / 15 + 9. / 6;
	double freedom = variance * variance / (1. / 225 / 14 + 2.25 / 5);
	struct contrast c = contrast__of(&a, &b, 1, 0.025);

	assert_true(c.known);
	close_to(c.difference, 2, 1e-12);
	close_to(c.high - 2, student__upper(0.025, freedom) * sqrt(variance) + 0.25, 1e-9);
	close_to(2 - c.low, c.high - 2, 1e-9);
	/* 5 % more of A */
	c = contrast__of(&a, &b, 1.05, 0.025);
	close_to(c.difference, 1.5, 1e-12);
	close_to(c.high - c.low,
		 2 * (0.25 + student__upper(0.025, 5.510) * sqrt(1.5 + 1.1025 / 15)), 1e-3);
}

TEST(equal)
{
	const struct estimate a = { true, 10, 0, 14, 0 }, b = { true, 11, 0, 14, 0 };
	struct contrast c = contrast__of(&a, &b, 1, 0.025);

	assert_true(c.known && c.low == 1 && c.high == 1);
}
