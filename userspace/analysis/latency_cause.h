/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The top cause of a time: what most of it was spent on, with the place in the program.
 *
 * Upstream: latency.h, whose parts, reasons and places it compares. Downstream: `gotrace requests` and
 * `gotrace report`.
 *
 * The causes: on CPU, except in mark assists; mark assists of the GC, on CPU and blocked until there
 * is work for them; Go-runnable; kernel-runnable, for all reasons; throttled; and each reason for
 * which a goroutine was blocked.
 */
#ifndef ANALYSIS_LATENCY_CAUSE_H
#define ANALYSIS_LATENCY_CAUSE_H

#include "analysis/latency.h"

struct latency_cause {
	enum latency_part part; /* PART_ONCPU with `assist`: mark assists */
	bool assist;
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
 * The causes that took time, but not those on CPU outside of mark assists, longest first. Returns how
 * many; beyond LATENCY_CAUSES_MAX, reasons that are seen later are left out.
 */
size_t latency__causes(const struct latency *l, const struct latency_stats *stats,
		       struct latency_cause ret[LATENCY_CAUSES_MAX]);

#endif
