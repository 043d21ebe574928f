/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The overwriting ring of a session: reserve, fill, commit (include/gotrace/uapi.h draws it).
 *
 * Before it in an event's way: kfuncs.c and the ioctl in main.c, which have a record. After it:
 * whoever has mapped the session. No locks, no allocation, any context; a writer may be interrupted
 * between the two calls by others of the same ring. One that is preempted there does no harm but
 * that the ring takes nothing from its next lap on until it is done, so emit.c sees to it that none
 * is.
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
	void *at; /* where to write `size` bytes, 8-byte aligned */
	u32 size;
	u32 index; /* of the sub-buffer's memory */
};

/*
 * Room for `size` bytes (a multiple of 8, at most subbuf_size - sizeof(struct gt_subbuf)).
 * 0; -ENOSPC: the sub-buffer to enter is still being written since the last lap (counted in
 * control->lost); -EINVAL: no such size.
 */
int ring__reserve(struct ring *ring, u32 size, struct ring_slot *ret);
/* What was reserved is written. */
void ring__commit(struct ring *ring, const struct ring_slot *slot);

#endif
