/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whether the recorder's thread got a CPU in time to drain the rings, and how much was lost because it did not.
 *
 * Between two drains a few milliseconds are to pass. If it was more, and the thread could run for most of that
 * time but had no CPU, as the kernel says (run_delay, the second number of /proc/thread-self/schedstat), it was starved;
 * losses that are counted in the second that follows are because of that. Without the kernel's number nothing is.
 */
#ifndef CAPTURE_STARVATION_H
#define CAPTURE_STARVATION_H

#include <stdint.h>

struct starvation {
	int fd;		     /* of schedstat; -1: none */
	uint64_t drained;    /* when the last drain began, ns */
	uint64_t delay;	     /* run_delay then, or at the last look before */
	uint64_t until;	     /* losses counted up to then are because of it; 0: not starved yet */
	uint64_t counted;    /* losses so far */
	uint64_t lost;	     /* of them because of it */
	uint64_t times;	     /* that it was starved */
	uint64_t longest_ns; /* without a CPU between two drains */
	uint64_t total_ns;   /* the same, of all times together */
};

void starvation__init(struct starvation *s);
void starvation__deinit(struct starvation *s);

/* A drain begins. */
void starvation__drain(struct starvation *s, uint64_t now);

/* The probes have counted so many losses since the beginning. */
void starvation__losses(struct starvation *s, uint64_t now, uint64_t count);

/* What the two above do, with what was read: for tests. UINT64_MAX: it could not be read. */
void starvation__note(struct starvation *s, uint64_t now, uint64_t delay);

#endif
