/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a recording costs the target, by the number of its events: for `doctor --measure` before a
 * recording, for the budget during one, and for the message at its end.
 */
#ifndef CAPTURE_COST_H
#define CAPTURE_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/recorder.h"
#include "gotrace/hits.h"

/*
 * What a trap takes in a busy program, over what it takes in a loop: it disturbs caches and TLB. The
 * servers of `make bench` paid 1.9 to 2.7 times what this program's own loop predicts.
 */
#define COST_IN_PROCESS 2

struct cost_events {
	uint64_t probes, stepped; /* hits whose instruction the kernel emulates, or single-steps */
	double step_ns;		  /* what single-stepping adds to a hit; 0: unknown */
	uint64_t inlined;	  /* events of inline probes: no hits */
	uint64_t calls;		  /* system calls */
	uint64_t switches;	  /* a thread gets a CPU, or loses it */
	uint64_t wakes;		  /* a thread is made runnable */
};

/* Adds those of event set `set` (of all that have probes: SITE_SETS) that were counted. */
void cost__add(struct cost_events *ret, const uint64_t hits[GT_HITS_COUNT], unsigned int set);
/* Those of a recording. */
struct cost_events cost__of_recording(const struct recorder_stats *stats);

/* The member step_ns, from what a hit takes in a loop without and with a single step, ns. */
double cost__step_ns(double trap_ns, double stepped_ns);

/* CPU time of the target, ns, where a hit without any work takes `trap_ns`. */
double cost__recording(const struct cost_events *events, double trap_ns, bool stacks);
/* The same, if the events were only counted. */
double cost__counting(const struct cost_events *events, double trap_ns);

#endif
