// SPDX-License-Identifier: GPL-2.0
/*
 * The state of the heap at regular points in time: see heap_curve.h.
 */
#include "heap/heap_curve.h"

#define FIRST_STEP 1000		/* ns */
#define LENGTH_MAX (1ull << 62) /* ns; the sums of steps do not overflow */

void heap_curve__begin(struct heap_curve *c, const struct heap_state *now)
{
	c->at[0] = *now;
	c->n = 1;
	c->step = FIRST_STEP;
	c->begun = true;
}

static void halve(struct heap_curve *c)
{
	for (size_t i = 1; i < HEAP_POINTS / 2; i++)
		c->at[i] = c->at[2 * i];
	c->n = HEAP_POINTS / 2;
	c->step *= 2;
}

/* Each pass of 32 points doubles the step, so a gap of any length takes less than 2000 steps. */
void heap_curve__reach(struct heap_curve *c, int64_t time, const struct heap_state *now)
{
	uint64_t since = (uint64_t)time - (uint64_t)c->at[0].time;

	if (since > LENGTH_MAX)
		since = LENGTH_MAX;
	while (c->n * c->step <= since) {
		c->at[c->n] = *now;
		c->at[c->n].time = (int64_t)((uint64_t)c->at[0].time + c->n * c->step);
		if (++c->n == HEAP_POINTS)
			halve(c);
	}
}
