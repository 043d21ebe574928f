/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compares the figures of two recordings, and decides which differ by more than noise.
 *
 * All tests together have the error rate DIFF_ERROR_RATE (Bonferroni): if the recordings differ in
 * nothing but noise, the probability that any figure is found is at most that. Figures of little time
 * are not tested, so that they do not make the tests of the others less sensitive. Neither are figures of
 * few requests: too few slices have any to estimate how much they vary. Upstream: diff/measure.h.
 * Downstream: `gotrace diff`.
 */
#ifndef DIFF_COMPARE_H
#define DIFF_COMPARE_H

#include "diff/estimate.h"
#include "diff/measure.h"

#define DIFF_ERROR_RATE		0.01
#define DIFF_LEAST_NS		1e6 /* of time per second of the recording, in A or B: what is tested */
#define DIFF_LEAST_REQUESTS	20  /* in A and in B: what is tested per request, and of medians */
#define DIFF_LEAST_REQUESTS_P99 100 /* of fewer it is the longest one */
#define DIFF_ROUNDING		(1 / 32.) /* relative, of quantiles: half a class of analysis/lengths.h */

enum diff_result {
	DIFF_NOISE,   /* the difference may be noise */
	DIFF_CHANGED, /* it differs, and more of it is neither worse nor better */
	DIFF_BETTER,
	DIFF_WORSE
};

struct diff_row {
	enum figure_kind kind;
	uint32_t name;
	struct estimate a, b;
	struct contrast contrast; /* of b and a */
	bool tested;
	bool exceeds; /* it is worse by more than the threshold, and by more than noise */
	enum diff_result result;
};

struct diff_opts {
	bool per_request; /* chosen weights are requests, not seconds */
	double threshold; /* 0.05: B may exceed A by 5 %; NaN: none */
};

struct diff {
	struct diff_row *rows; /* by group, then in descending order of the difference */
	size_t n, tested, found, exceeding;
};

/* Both measures are finished. 0 or -ENOMEM; the caller deinitializes *ret. */
int diff__compare(const struct measure *a, const struct measure *b, const struct diff_opts *opts,
		  struct diff *ret);
void diff__deinit(struct diff *d);

#endif
