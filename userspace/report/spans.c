// SPDX-License-Identifier: GPL-2.0
/*
 * Merges short spans: see spans.h. Called by report/lanes.c, for each state that a lane leaves and
 * whenever the budget of spans is exceeded.
 */
#include "report/spans.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/array.h"

void spans__deinit(struct spans *s)
{
	free(s->at);
	free(s->sums);
	*s = (struct spans){};
}

static bool in_one_cell(const struct span *a, const struct span *b, uint64_t threshold)
{
	return a->len < threshold && b->len < threshold &&
	       a->start / threshold == b->start / threshold;
}

/* The sum of an aggregated span, or what it would be of another one. */
static struct span_sum sum_of(const struct span_sum *sums, const struct span *span)
{
	struct span_sum sum = { .count = 1 };

	if (span->sum)
		return sums[span->sum - 1];
	sum.time[span->state % SPAN_SLOTS] = span->len;
	return sum;
}

/* Extends `to`, whose sum is in `sums`, by a later span. */
static void join(struct span *to, struct span_sum *sums, const struct span *span,
		 const struct span_sum *more)
{
	struct span_sum *sum = &sums[to->sum - 1];

	for (unsigned int i = 0; i < SPAN_SLOTS; i++)
		sum->time[i] += more->time[i];
	sum->count += more->count;
	to->len = span->start + span->len - to->start;
	if (to->detail != span->detail)
		to->detail = 0;
}

/* Makes a span of the list an aggregated one. 0 or -ENOMEM. */
static int aggregate(struct spans *s, struct span *span)
{
	struct span_sum sum = sum_of(s->sums, span);

	if (span->sum)
		return 0;
	if (array__grow(&s->sums, s->nsums, &s->cap_sums, sizeof(*s->sums)))
		return -ENOMEM;
	s->sums[s->nsums++] = sum;
	span->sum = (uint32_t)s->nsums;
	return 0;
}

/* Appends a span as it is. 0 or -ENOMEM. */
static int append(struct spans *s, const struct span *span, const struct span_sum *sum)
{
	struct span copy = *span;

	if (array__grow(&s->at, s->n, &s->cap, sizeof(*s->at)))
		return -ENOMEM;
	if (span->sum) {
		if (array__grow(&s->sums, s->nsums, &s->cap_sums, sizeof(*s->sums)))
			return -ENOMEM;
		s->sums[s->nsums++] = *sum;
		copy.sum = (uint32_t)s->nsums;
	}
	s->at[s->n++] = copy;
	return 0;
}

int spans__add_sum(struct spans *s, const struct span *span, const struct span_sum *sum,
		   uint64_t threshold)
{
	struct span *last = s->n ? &s->at[s->n - 1] : NULL;
	struct span_sum own;

	if (!last || !threshold || !in_one_cell(last, span, threshold))
		return append(s, span, sum);
	if (aggregate(s, last))
		return -ENOMEM;
	if (!span->sum) {
		own = sum_of(NULL, span);
		sum = &own;
	}
	join(last, s->sums, span, sum);
	return 0;
}

int spans__add(struct spans *s, const struct span *span, uint64_t threshold)
{
	return spans__add_sum(s, span, NULL, threshold);
}

int spans__merge(struct spans *s, uint64_t threshold)
{
	struct spans merged = {};
	int err = 0;

	for (size_t i = 0; !err && i < s->n; i++) {
		struct span_sum sum = sum_of(s->sums, &s->at[i]);

		err = spans__add_sum(&merged, &s->at[i], &sum, threshold);
	}
	if (err) {
		spans__deinit(&merged);
		return -ENOMEM;
	}
	spans__deinit(s);
	*s = merged;
	return 0;
}

void spans__total(const struct spans *s, uint64_t time[SPAN_SLOTS])
{
	for (size_t i = 0; i < s->n; i++) {
		struct span_sum sum = sum_of(s->sums, &s->at[i]);

		for (unsigned int slot = 0; slot < SPAN_SLOTS; slot++)
			time[slot] += sum.time[slot];
	}
}

uint8_t spans__dominant(const struct spans *s, const struct span *span)
{
	struct span_sum sum = sum_of(s->sums, span);
	unsigned int most = 0;

	for (unsigned int slot = 1; slot < SPAN_SLOTS; slot++)
		if (sum.time[slot] > sum.time[most])
			most = slot;
	return (uint8_t)(span->state - span->state % SPAN_SLOTS + most);
}
