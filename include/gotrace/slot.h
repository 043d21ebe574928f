/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The goroutine that a thread of the target runs, as the probes remember it to notice that it left.
 *
 * Writer: bpf/slot.bpf.h, at each hit at which the goroutine of a thread changes; and, for threads
 * that have had no hit yet, userspace/target/process/slots.c. Reader: bpf/slot.bpf.h.
 *
 *      0        8        16       24       32
 *      +--------+--------+--------+--------+
 *      |   g0   |   m    |   g    |  goid  |
 *      +--------+--------+--------+--------+
 */
#ifndef GOTRACE_SLOT_H
#define GOTRACE_SLOT_H

#include "record.h"

/* Threads; Go's own limit is 10,000 (runtime/debug.SetMaxThreads). */
#define GT_SLOTS 16384

/* Of one thread, by its TID. Addresses in the target. */
struct gt_slot {
	gt_u64 g0; /* of the M; another one: the TID was reused, and the rest is outdated */
	gt_u64 m;
	gt_u64 g;    /* 0: none, or its end on this thread has been recorded */
	gt_u64 goid; /* of g: another goroutine may use the struct by now */
};

#ifndef __cplusplus
_Static_assert(sizeof(struct gt_slot) == 32, "a slot is 32 bytes");
#endif

#endif
