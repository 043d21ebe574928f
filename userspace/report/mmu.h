/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mutator utilization: which share of GOMAXPROCS is left for the program by the garbage collector,
 * and its minimum over all windows of a length (MMU).
 *
 * Upstream: events of a trace, in order. Downstream: report/lanes_print.c. The GC takes all Ps
 * during its stop-the-world pauses, and one for each mark worker or mark assist that runs, as in
 * Go's `go tool trace`; idle mark workers take nothing. Sweeping is not counted.
 */
#ifndef REPORT_MMU_H
#define REPORT_MMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/map.h"
#include "reader/semantics.h"

#define MMU_POINTS (1u << 18) /* at most; then neighbours are averaged in pairs */

struct mmu_point {
	uint64_t time; /* ns: the utilization from here on */
	double utilization;
	double sum; /* ns of the program until here: integral of the utilization */
};

/* {} is an empty one. */
struct mmu {
	struct mmu_point *at;
	size_t n, cap;
	struct map goroutines; /* those that work for the GC: bits of enum mmu_goroutine, cast */
	uint64_t gomaxprocs;   /* 0: not known yet */
	uint64_t working;      /* goroutines that run and work for the GC */
	unsigned int pauses;
	uint64_t end;
	bool coarse; /* points were averaged */
};

/* `time`: ns since the start of the trace, not decreasing. 0 or -ENOMEM. */
int mmu__event(struct mmu *m, const struct trace_event *ev, uint64_t time);
/* The trace has ended at `end`. */
void mmu__finish(struct mmu *m, uint64_t end);
/* The minimum, 0 to 1, over all windows of `window` ns, at least 1; a negative one: unknown. */
double mmu__at(const struct mmu *m, uint64_t window);
void mmu__deinit(struct mmu *m);

#endif
