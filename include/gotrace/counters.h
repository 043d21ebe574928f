/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters that the probes keep and userspace reads: losses by kind, and what should not happen.
 *
 * One struct a CPU (a BPF per-CPU array of one element). Writer: the probes, each on its own CPU,
 * with an atomic add, since a probe may be preempted by another thread's. Reader:
 * userspace/capture/session.c. Size: 8 * (64 + 2) bytes a CPU.
 */
#ifndef GOTRACE_COUNTERS_H
#define GOTRACE_COUNTERS_H

#include "session.h"

struct gt_counters {
	gt_u64 lost[64];    /* by enum gt_kind: no room in the ring */
	gt_u64 foreign;	    /* hits of another process that shares the program */
	gt_u64 read_errors; /* a read of the target's memory failed */
};

_Static_assert(GT_KIND_END <= 64, "lost[] has a place for each kind");
_Static_assert(sizeof(struct gt_counters) == 528, "8-byte members only");

#endif
