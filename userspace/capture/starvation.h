/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Detects whether the recorder's thread got a CPU in time to drain the rings, and counts the
 * records that were lost because it did not.
 *
 * A few milliseconds are expected between two drains. If it was more, and the thread was runnable
 * for most of that time but had no CPU (run_delay, the second number of
 * /proc/thread-self/schedstat), it was starved, and losses that are counted within the next second
 * are attributed to that. If run_delay cannot be read, no loss is.
 */
#ifndef CAPTURE_STARVATION_H
#define CAPTURE_STARVATION_H

#include <stdint.h>

struct starvation {
	int fd;		     /* of schedstat; -1: none */
	uint64_t drained;    /* start of the last drain, ns */
	uint64_t delay;	     /* run_delay when it was last read */
	uint64_t until;	     /* losses until then are due to starvation; 0: not starved yet */
	uint64_t counted;    /* losses so far */
	uint64_t lost;	     /* of them due to starvation */
	uint64_t times;	     /* number of times */
	uint64_t longest_ns; /* longest time without a CPU between two drains */
	uint64_t total_ns;   /* sum of these times */
};

void starvation__init(struct starvation *s);
void starvation__deinit(struct starvation *s);

/* To be called at the start of each drain. */
void starvation__drain(struct starvation *s, uint64_t now);

/* `count`: all losses that the probes have counted so far. */
void starvation__losses(struct starvation *s, uint64_t now, uint64_t count);

/* For tests: as starvation__drain(), with this run_delay. UINT64_MAX: it could not be read. */
void starvation__note(struct starvation *s, uint64_t now, uint64_t delay);

#endif
