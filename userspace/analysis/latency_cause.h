/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The top cause of a time: what most of it was spent on, with the place in the program.
 *
 * Upstream: latency.h, whose parts, reasons and places it compares. Downstream: `gotrace requests` and
 * `gotrace report`.
 *
 * The causes: on CPU, except in mark assists and system calls; mark assists of the GC, on CPU and
 * blocked until there is work for them; Go-runnable; kernel-runnable, for all reasons; throttled; each
 * system call from entry to exit; and each other reason for which a goroutine was blocked. Each has what
 * would be saved without it: time within a system call also counts for what held the call up, so
 * causes may add up to more than the time.
 */
#ifndef ANALYSIS_LATENCY_CAUSE_H
#define ANALYSIS_LATENCY_CAUSE_H

#include "analysis/latency.h"

struct latency_cause {
	enum latency_part part; /* PART_ONCPU with `assist`: mark assists */
	bool assist;
	bool call;		      /* a system call, with PART_SYSCALL_BLOCKED: all of it, and */
	int64_t split[LATENCY_PARTS]; /* its parts, which add up to `ns` */
	int64_t ns;
	/* Why, if it was blocked; kernel-runnable: the longest of the reasons; else "". */
	struct trace_string reason;
	struct place_frame place; /* where the longest time of the cause was; or unknown */
};

/* False: there is no time. Of equal ones that with the first part. */
bool latency__top_cause(const struct latency *l, const struct latency_stats *stats,
			struct latency_cause *ret);

#define LATENCY_CAUSES_MAX 64u

/*
 * The causes that took time, but not that on CPU, longest first. Returns how many: the longest
 * LATENCY_CAUSES_MAX at most.
 */
size_t latency__causes(const struct latency *l, const struct latency_stats *stats,
		       struct latency_cause ret[LATENCY_CAUSES_MAX]);

#endif
