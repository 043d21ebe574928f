/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The overwriting ring of a session: reserve, fill, commit (include/gotrace/uapi.h draws it).
 *
 * Upstream: emit.c. Downstream: processes that have mapped the session. No locks, no allocation,
 * any context; a writer may be interrupted between the two calls by others of the same ring. A
 * writer that is preempted there stops the ring in its next lap until it has finished, so emit.c
 * disables preemption.
 */
#ifndef KMOD_RING_H
#define KMOD_RING_H

#include <linux/types.h>

#include "gotrace/uapi.h"

struct ring {
	struct gt_ring_control *control;
	u8 *bytes;		  /* subbufs * subbuf_size */
	u32 subbuf_size, subbufs; /* powers of two */
};

struct ring_slot {
	void *at; /* address for `size` bytes, 8-byte aligned */
	u32 size;
	u32 index; /* slot of the sub-buffer */
};

/*
 * Reserves `size` bytes (a multiple of 8, at most subbuf_size - sizeof(struct gt_subbuf)). 0;
 * -ENOSPC: the sub-buffer to enter is still being written since the last lap (counted in
 * control->lost); -EINVAL: invalid size.
 */
int ring__reserve(struct ring *ring, u32 size, struct ring_slot *ret);
/* The reserved bytes are written. */
void ring__commit(struct ring *ring, const struct ring_slot *slot);

#endif
