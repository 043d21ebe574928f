/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For how long the kernel throttled a perf event: between two records, which it writes to the ring
 * buffer of the event. The event's BPF program runs in place of all other output, so that the ring
 * contains nothing else.
 *
 * The kernel stops an event until the next tick when it has more samples in a tick than
 * kernel.perf_event_max_sample_rate permits, which the kernel lowers by itself if interrupts take too
 * long.
 */
#ifndef BUDGET_THROTTLE_H
#define BUDGET_THROTTLE_H

#include <stdint.h>

#include "format/private.h"

/* With at most two records of 32 bytes per tick, these last for a quarter of a second at 1000 Hz. */
#define THROTTLE_PAGES 4

struct throttle {
	void *ring;	/* of the event; NULL: unavailable */
	uint64_t since; /* when the event was stopped, by its clock; 0: it is not */
};

/* Maps the ring of the event; without it nothing is counted. */
void throttle__open(struct throttle *t, int fd);
/* Adds what has been throttled since the last call to two members of *ret. */
void throttle__read(struct throttle *t, struct private_cpu_samples *ret);
void throttle__close(struct throttle *t); /* may be zeroed */

#endif
