/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of `doctor --measure`, shared by bpf/hits.bpf.c and userspace/capture/hits.c: one
 * per probe, twice, and those of kernel events.
 */
#ifndef GOTRACE_HITS_H
#define GOTRACE_HITS_H

#include "config.h"

/* A probe whose instruction the kernel emulates, or single-steps. */
#define GT_HITS_OF(probe, stepped) ((unsigned int)(probe) * 2 + !!(stepped))

enum gt_hits {
	GT_HITS_CALLS = GT_PROBE_COUNT * 2, /* system calls */
	GT_HITS_LEAVES,			    /* a thread loses its CPU */
	GT_HITS_GETS,			    /* a thread gets a CPU */
	GT_HITS_WAKES,			    /* a thread is made runnable */
	GT_HITS_COUNT,
};

#endif
