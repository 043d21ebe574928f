/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sums over the samples of a profile: by function, and by stack of functions.
 *
 * Between profile/samples.h and the tables and folded stacks of `gotrace profile`. They differ from
 * the samples in that addresses, files, lines and labels do not count.
 */
#ifndef PROFILE_TOTALS_H
#define PROFILE_TOTALS_H

#include "profile/samples.h"

struct function_total {
	uint32_t name; /* id of a text; 0: samples without a stack */
	/* ns of samples in which it is the innermost function, and in which it occurs */
	int64_t flat, cumulative;
};

struct totals {
	int64_t value;	/* of all samples, ns */
	uint64_t count; /* the same */
	struct function_total *functions;
	size_t n;
};

/*
 * Functions by decreasing `flat`, then `cumulative`, then by name: a total order. Sums are at most
 * INT64_MAX. 0 or -ENOMEM; the caller frees ret->functions.
 */
int totals__by_function(const struct samples *s, struct totals *ret);

struct folded_stack {
	uint32_t stack; /* id in struct folded; 0: none */
	int64_t value;
};

struct folded {
	struct intern *stacks;	 /* whose frames have nothing but a function */
	struct folded_stack *at; /* in the order in which they first occur */
	size_t n, cap;
};

int folded__make(const struct samples *s,
		 struct folded *ret); /* 0 or -ENOMEM; deinit in any case */
void folded__deinit(struct folded *f);
/* The frames of a stack, leaf first. */
const struct intern_frame *folded__frames(const struct folded *f, const struct folded_stack *stack,
					  size_t *ret_n);

#endif
