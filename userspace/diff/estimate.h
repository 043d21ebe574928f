/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Statistics of `gotrace diff`: what a figure of a recording is, how uncertain it is, and whether that
 * of another recording differs by more than noise.
 *
 * A recording is divided into slices of equal length, each of which is a sample. A figure is a sum
 * divided by a weight (time per second or per request), or a quantile. Its variance follows from how
 * much the slices differ. Two figures are compared by Welch's t-test, which does not presume that both
 * vary equally. Upstream: diff/figures.h. Downstream: diff/compare.c.
 *
 * What differs between two runs of a program, but not within one (such as the clock rate of the CPU)
 * is not part of this noise.
 */
#ifndef DIFF_ESTIMATE_H
#define DIFF_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

struct estimate {
	bool known;	/* false: there are no data, and the value is 0 */
	double value;	/* in the unit of the figure */
	double error;	/* its standard error; NaN: unknown, with fewer than two samples */
	double freedom; /* degrees of freedom of the error */
	double margin;	/* the value may be off by this much in addition, because it is rounded */
};

/*
 * The sums of all slices divided by their weights: a ratio estimate, whose error is linearized. With
 * equal weights it is the mean and its standard error. Slices without weight do not count.
 */
struct estimate estimate__ratio(const double *sums, const double *weights, size_t n);
/*
 * Moves the sum of each slice without weight to the next slice with one, after the last of them to that
 * one, so that all sums count in estimate__ratio(): with few requests, many slices have none. `ret` has
 * n zeros.
 */
void estimate__carry(const double *sums, const double *weights, size_t n, double *ret);
/*
 * A quantile, `value` that of all data and `slices` those of each slice, NaN without data ("sectioning").
 * `rounding`: the relative error of the value.
 */
struct estimate estimate__quantile(double value, const double *slices, size_t n, double rounding);

/* The interval within which b - factor * a lies, except with the probability 2 * tail. */
struct contrast {
	bool known; /* both errors are */
	double difference, low, high;
};
struct contrast contrast__of(const struct estimate *a, const struct estimate *b, double factor,
			     double tail);

/* The number that a variable with Student's t distribution exceeds with the probability `tail` < 0.5. */
double student__upper(double tail, double freedom);

#endif
