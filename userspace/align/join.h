/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What of perf's events belongs into the trace: who held the cores that the target's threads waited
 * for, and, if the trace has no kernel's side, what happened to those threads.
 *
 * Before it: align/perfdata.h (perf's events), align/fit.h (their times), align/side.c (what the trace
 * has). After it: align/write.c. Memory: 24 bytes a time that a thread waited, a bit an event.
 */
#ifndef ALIGN_JOIN_H
#define ALIGN_JOIN_H

#include "align/fit.h"
#include "align/perfdata.h"
#include "trace/kernel.h"

/* A thread could go on, but had no core. */
struct join_wait {
	uint64_t from, to; /* CLOCK_MONOTONIC */
	uint32_t tid;
	uint32_t cpu; /* one that it waited for */
};

/* Follows the target's threads through the kernel's items, and keeps when they waited. */
struct join_waits {
	struct kernel_threads threads;
	struct join_wait *at; /* in the order of their ends */
	size_t n, cap;
};

int join_waits__init(struct join_waits *w); /* 0 or -ENOMEM */
void join_waits__deinit(struct join_waits *w);
/* A thread as it is when a generation begins: of a known one what was lost since. 0 or -ENOMEM. */
int join_waits__thread(struct join_waits *w, const struct kernel_thread *thread);
int join_waits__item(struct join_waits *w, const struct kernel_item *item); /* 0 or -ENOMEM */
/* What threads did before `time` is not known any more, as events were lost. */
void join_waits__lose(struct join_waits *w, uint64_t time);
int join_waits__end(struct join_waits *w,
		    uint64_t time); /* of those who still wait; 0 or -ENOMEM */

/* perf's events, and how to read them. */
struct join_perf {
	const struct perf_sched *sched; /* by time */
	size_t n;
	const struct perf_data *data;	/* names and processes */
	const struct perf_loss *losses; /* by their ends */
	size_t nlosses;
	struct fit clock;
};

/* When perf's first and last event were, CLOCK_MONOTONIC; of none 0. */
static inline uint64_t join_perf__begin(const struct join_perf *perf)
{
	return perf->n ? fit__time(&perf->clock, perf->sched[0].time) : 0;
}

static inline uint64_t join_perf__end(const struct join_perf *perf)
{
	return perf->n ? fit__time(&perf->clock, perf->sched[perf->n - 1].time) : 0;
}

/* The losses from *at on that were over by `time` are passed. True: there were some. */
static inline bool join_perf__pass_losses(const struct join_perf *perf, size_t *at, uint64_t time)
{
	const size_t first = *at;

	while (*at < perf->nlosses && fit__time(&perf->clock, perf->losses[*at].to) <= time)
		++*at;
	return *at > first;
}

/*
 * Makes items of the threads in `target` (keys: tids) out of perf's events: index `i` of
 * perf's events. How many: 0 to 2.
 */
unsigned int join__items(const struct join_perf *perf, const struct map *target, size_t i,
			 struct kernel_item ret[2]);

/* perf's switches of the target's threads, a thread that leaves a core or gets one counts once. */
struct join_gaps {
	uint64_t switches;
	uint64_t
		lacking; /* another one must have come before it: it leaves what it has not, or gets one twice */
	bool others; /* a thread that is not of the target left a core, too */
};

/* What perf's file lacks. 0 or -ENOMEM. */
int join__gaps(const struct join_perf *perf, const struct map *target, struct join_gaps *ret);

/*
 * Which switches show who held the cores: from the one before a wait to the one after it. *ret: a
 * byte an event of perf's, 1: that one; of threads of the target, none. 0 or -ENOMEM.
 */
int join__cores(const struct join_perf *perf, const struct map *target,
		const struct join_waits *waits, uint8_t **ret);
/* The item of such a switch. */
struct kernel_item join__core(const struct join_perf *perf, size_t i);

#endif
