/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A value over time in at most CURVE_POINTS points: each has the lowest and the highest value that
 * was set within a part of the trace, and the mean up to the next point. The value of a time is that of
 * the point before it.
 */
#ifndef REPORT_CURVE_H
#define REPORT_CURVE_H

#include <stddef.h>
#include <stdint.h>

#define CURVE_POINTS 4096

struct curve_point {
	uint64_t time; /* ns since the start of the trace: the first one of the part */
	uint64_t min, max;
	double sum; /* value times ns, until the last time that was added or the next point */
};

/* {} is an empty one. */
struct curve {
	struct curve_point *at;
	size_t n, cap;
	uint64_t width;	      /* ns of the parts; 0: each point is one value */
	uint64_t value, time; /* that were added last */
};

/* Times do not decrease. 0 or -ENOMEM. */
int curve__add(struct curve *c, uint64_t time, uint64_t value);
/* The mean value from a point to the next one; from the last one, to `end`. */
double curve__mean(const struct curve *c, size_t i, uint64_t end);
void curve__deinit(struct curve *c);

#endif
