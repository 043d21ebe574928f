/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The goroutine that a thread of the target runs, as the probes remember it to notice that it left.
 *
 * Writer: bpf/slot.bpf.h, at each hit at which the goroutine of a thread changes; and, for threads
 * that have had no hit yet, userspace/target/process/slots.c. Reader: bpf/slot.bpf.h.
 *
 *      0        8        16       24       32       40       48       128
 *      +--------+--------+--------+--------+--------+--------+--------+
 *      |   g0   |   m    |   g    |  goid  |  call  |  park  | scratch ...
 *      +--------+--------+--------+--------+--------+--------+--------+
 */
#ifndef GOTRACE_SLOT_H
#define GOTRACE_SLOT_H

#include "record.h"

/* Threads; Go's own limit is 10,000 (runtime/debug.SetMaxThreads). */
#define GT_SLOTS	16384

#define GT_SLOT_SCRATCH 10

/* The system call that the thread's goroutine has begun, for the trace. */
enum gt_call {
	GT_CALL_NONE = 0,
	GT_CALL_BEGUN = 1,    /* in a system call of Go, seen by the tracepoint of its entry */
	GT_CALL_RESTARTS = 2, /* interrupted by a signal: it may enter the kernel again */
	GT_CALL_PROBED = 3,   /* begun at a probe, and ended at one */
};

/* Of one thread, by its TID. Addresses in the target. */
struct gt_slot {
	gt_u64 g0; /* of the M; another one: the TID was reused, and the rest is outdated */
	gt_u64 m;
	gt_u64 g;    /* 0: none, or its end on this thread has been recorded */
	gt_u64 goid; /* of g: another goroutine may use the struct by now */
	gt_u64 call; /* enum gt_call */
	/* Of the programs, while one runs: what they read. (Their own stack has 512 bytes.) */
	struct gt_park park;
	gt_u64 scratch[GT_SLOT_SCRATCH];
};

#ifndef __cplusplus
_Static_assert(sizeof(struct gt_slot) == 128, "a slot is 128 bytes");
#endif

#endif
