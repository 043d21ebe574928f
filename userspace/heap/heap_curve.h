/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of the heap at regular points in time, of which the number is limited and the length of
 * the trace need not be known in advance.
 *
 * Filled by heap/heap.c. When all points are used, every other one is dropped, and the step
 * doubles.
 */
#ifndef HEAP_HEAP_CURVE_H
#define HEAP_HEAP_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_sum {
	uint64_t objects, bytes;
};

struct heap_state {
	int64_t time;		/* trace time, ns */
	struct heap_sum live;	/* slots of objects */
	struct heap_sum spans;	/* those of objects, and their size */
	struct heap_sum stacks; /* of goroutines */
};

#define HEAP_POINTS 64

struct heap_curve {
	struct heap_state at[HEAP_POINTS];
	size_t n;
	uint64_t step; /* ns */
	bool begun;
};

/* Before the first change: `now` is the first point. */
void heap_curve__begin(struct heap_curve *c, const struct heap_state *now);
/* The time is `time`, until which the state has been `now`: adds the points up to it. */
void heap_curve__reach(struct heap_curve *c, int64_t time, const struct heap_state *now);

#endif
