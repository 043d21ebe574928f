// SPDX-License-Identifier: GPL-2.0
/*
 * Values over time, as points: see curve.h. When there are too many points, the width of their parts
 * doubles until half of the space is free, so all doublings cost time in proportion to the values.
 */
#include "report/curve.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/array.h"

#define FIRST_WIDTH 1024u /* ns */

void curve__deinit(struct curve *c)
{
	free(c->at);
	*c = (struct curve){};
}

static bool same_part(const struct curve *c, uint64_t a, uint64_t b)
{
	return c->width ? a / c->width == b / c->width : a == b;
}

static void extend(struct curve_point *p, uint64_t min, uint64_t max)
{
	if (min < p->min)
		p->min = min;
	if (max > p->max)
		p->max = max;
}

static void widen(struct curve *c)
{
	size_t n = 0;

	c->width = c->width ? 2 * c->width : FIRST_WIDTH;
	for (size_t i = 0; i < c->n; i++) {
		if (n && same_part(c, c->at[n - 1].time, c->at[i].time)) {
			extend(&c->at[n - 1], c->at[i].min, c->at[i].max);
			c->at[n - 1].sum += c->at[i].sum;
		} else {
			c->at[n++] = c->at[i];
		}
	}
	c->n = n;
}

int curve__add(struct curve *c, uint64_t time, uint64_t value)
{
	if (c->n)
		c->at[c->n - 1].sum += (double)c->value * (double)(time - c->time);
	c->value = value;
	c->time = time;
	if (c->n && same_part(c, c->at[c->n - 1].time, time)) {
		extend(&c->at[c->n - 1], value, value);
		return 0;
	}
	if (c->n == CURVE_POINTS)
		while (c->n > CURVE_POINTS / 2 && c->width <= UINT64_MAX / 4)
			widen(c);
	if (array__grow(&c->at, c->n, &c->cap, sizeof(*c->at)))
		return -ENOMEM;
	c->at[c->n++] = (struct curve_point){ time, value, value, 0 };
	return 0;
}

double curve__mean(const struct curve *c, size_t i, uint64_t end)
{
	const struct curve_point *p = &c->at[i];
	bool last = i + 1 == c->n;
	uint64_t next = last ? end : p[1].time;
	double sum = p->sum;

	if (last && end > c->time)
		sum += (double)c->value * (double)(end - c->time);
	return next > p->time ? sum / (double)(next - p->time) : (double)p->max;
}
