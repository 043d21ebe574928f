/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Selects the events of perf to add to the trace: who occupied the CPUs and, if the trace has no
 * kernel events, the states of the target's threads.
 *
 * Input: align/perfdata.h (events), align/fit.h (their times), align/side.c (the trace). Output:
 * align/write.c. Memory: one byte per event.
 */
#ifndef ALIGN_JOIN_H
#define ALIGN_JOIN_H

#include "align/fit.h"
#include "align/perfdata.h"
#include "format/kernel.h"

/* perf's events, and how to interpret them. */
struct join_perf {
	const struct perf_sched *sched; /* by time */
	size_t n;
	const struct perf_data *data;	/* names and processes */
	const struct perf_loss *losses; /* by end */
	size_t nlosses;
	struct fit clock;
};

/* Times of perf's first and last event, CLOCK_MONOTONIC; 0 without events. */
static inline uint64_t join_perf__begin(const struct join_perf *perf)
{
	return perf->n ? fit__time(&perf->clock, perf->sched[0].time) : 0;
}

static inline uint64_t join_perf__end(const struct join_perf *perf)
{
	return perf->n ? fit__time(&perf->clock, perf->sched[perf->n - 1].time) : 0;
}

/* Advance *at past the losses that ended by `time`. True: there were any. */
static inline bool join_perf__pass_losses(const struct join_perf *perf, size_t *at, uint64_t time)
{
	const size_t first = *at;

	while (*at < perf->nlosses && fit__time(&perf->clock, perf->losses[*at].to) <= time)
		++*at;
	return *at > first;
}

/*
 * Convert event `i` of perf to items of the threads in `target` (keys: TIDs). Returns their number,
 * 0 to 2.
 */
unsigned int join__items(const struct join_perf *perf, const struct map *target, size_t i,
			 struct kernel_item ret[2]);

/* perf's switches of the target's threads, counted once per thread that leaves or gets a CPU. */
struct join_gaps {
	uint64_t switches;
	uint64_t lacking; /* a thread leaves a CPU that it does not have, or gets one twice */
	bool others;	  /* threads outside of the target left a CPU, too */
};

/* Count the gaps in perf's file. 0 or -ENOMEM. */
int join__gaps(const struct join_perf *perf, const struct map *target, struct join_gaps *ret);

enum join_wanted {
	JOIN_NOT,
	JOIN_TASK,    /* which task has the CPU from then on */
	JOIN_UNKNOWN, /* that this is unknown from then on: the next switches were lost */
};

/*
 * Select the switches that show who occupied the CPUs: all but those to threads of the target, which the
 * trace has itself, and but those that are followed by another one of their CPU by the time `from`. A
 * switch is followed by lost ones if the next one of its CPU is from another task. *ret has one byte per
 * event of perf, an enum join_wanted. 0 or -ENOMEM.
 */
int join__cpus(const struct join_perf *perf, const struct map *target, uint64_t from,
	       uint8_t **ret);
/* The item for a selected switch. */
struct kernel_item join__cpu_item(const struct join_perf *perf, size_t i, enum join_wanted how);

#endif
