// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics of `gotrace diff`: see estimate.h.
 *
 * Student's t distribution is computed from the incomplete beta function, by its continued fraction
 * (Abramowitz and Stegun, 26.5.8 and 26.7.1); its quantiles by bisection.
 */
#include "diff/estimate.h"

#include <float.h>
#include <math.h>

struct estimate estimate__ratio(const double *sums, const double *weights, size_t n)
{
	double sum = 0, weight = 0, squares = 0, rest;
	struct estimate e = { .error = NAN };
	size_t samples = 0;

	for (size_t i = 0; i < n; i++) {
		if (weights[i] <= 0)
			continue;
		sum += sums[i];
		weight += weights[i];
		samples++;
	}
	if (!samples)
		return e;
	e.known = true;
	e.value = sum / weight;
	if (samples < 2)
		return e;
	for (size_t i = 0; i < n; i++) {
		if (weights[i] <= 0)
			continue;
		rest = sums[i] - e.value * weights[i];
		squares += rest * rest;
	}
	e.freedom = (double)(samples - 1);
	e.error = sqrt(squares * (double)samples / e.freedom) / weight;
	return e;
}

void estimate__carry(const double *sums, const double *weights, size_t n, double *ret)
{
	double *last = NULL, carried = 0;

	for (size_t i = 0; i < n; i++) {
		carried += sums[i];
		if (weights[i] <= 0)
			continue;
		last = &ret[i];
		*last = carried;
		carried = 0;
	}
	if (last)
		*last += carried;
}

struct estimate estimate__quantile(double value, const double *slices, size_t n, double rounding)
{
	struct estimate e = { .value = value, .error = NAN, .margin = fabs(value) * rounding };
	double squares = 0;
	size_t samples = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(slices[i]))
			continue;
		squares += (slices[i] - value) * (slices[i] - value);
		samples++;
	}
	e.known = samples > 0;
	if (samples < 2)
		return e;
	e.freedom = (double)(samples - 1);
	e.error = sqrt(squares / e.freedom / (double)samples);
	return e;
}

/* ---- Student's t distribution ---- */

#define STEPS 500 /* of the continued fraction; fewer than 100 are needed for up to 2,000 samples */

/* The i-th coefficient of the continued fraction of the incomplete beta function. */
static double coefficient(double a, double b, double x, int i)
{
	double m = i / 2;

	if (i % 2)
		return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
	return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
}

static double not_zero(double x)
{
	return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

/* For x < (a + 1) / (a + b + 2), where the fraction converges fast. Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 + coefficient(a, b, x, 1)), value = d, k;

	for (int i = 2; i < STEPS; i++) {
		k = coefficient(a, b, x, i);
		d = 1 / not_zero(1 + k * d);
		c = not_zero(1 + k / c);
		value *= c * d;
		if (fabs(c * d - 1) < 4 * DBL_EPSILON)
			break;
	}
	return value;
}

static double incomplete_beta(double a, double b, double x)
{
	double scale;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	scale = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return scale * beta_fraction(a, b, x) / a;
	return 1 - scale * beta_fraction(b, a, 1 - x) / b;
}

/* The probability that the variable exceeds t >= 0. */
static double upper_tail(double t, double freedom)
{
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
}

double student__upper(double tail, double freedom)
{
	double low = 0, high = 1, middle;

	while (upper_tail(high, freedom) > tail && high < 1e100)
		high *= 2;
	for (int i = 0; i < 100; i++) {
		middle = (low + high) / 2;
		if (upper_tail(middle, freedom) > tail)
			low = middle;
		else
			high = middle;
	}
	return high;
}

struct contrast contrast__of(const struct estimate *a, const struct estimate *b, double factor,
			     double tail)
{
	double of_a = factor * factor * a->error * a->error, of_b = b->error * b->error;
	struct contrast c = { .difference = b->value - factor * a->value };
	double half = factor * a->margin + b->margin, freedom;

	c.known = !isnan(of_a) && !isnan(of_b);
	if (c.known && of_a + of_b > 0) { /* Welch and Satterthwaite */
		freedom = (of_a + of_b) * (of_a + of_b) /
			  (of_a * of_a / a->freedom + of_b * of_b / b->freedom);
		half += student__upper(tail, isfinite(freedom) && freedom > 1 ? freedom : 1) *
			sqrt(of_a + of_b);
	}
	c.low = c.difference - half;
	c.high = c.difference + half;
	return c;
}
