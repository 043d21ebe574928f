/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of the probes: losses by kind, and unexpected conditions.
 *
 * One struct per CPU (a BPF per-CPU array of one element). Writer: the probes, each on its own CPU,
 * with an atomic addition, because a probe may be preempted by that of another thread. Reader:
 * userspace/capture/probes.c. Size: 8 * (72 + 3) bytes per CPU.
 */
#ifndef GOTRACE_COUNTERS_H
#define GOTRACE_COUNTERS_H

#include "config.h"

struct gt_counters {
	gt_u64 lost[72];    /* by enum gt_kind: the ring was full */
	gt_u64 foreign;	    /* hits by another process that runs the same program */
	gt_u64 read_errors; /* failed reads of the target's memory */
	gt_u64 stacks_gone; /* of parks: the goroutine ran or moved before its stack was read */
};

_Static_assert(GT_KIND_END <= 72, "lost[] has a place for each kind");
_Static_assert(sizeof(struct gt_counters) == 600, "8-byte members only");

#endif
