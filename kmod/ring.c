// SPDX-License-Identifier: GPL-2.0
/*
 * The overwriting ring of a session. Upstream: emit.c. Downstream: processes that have mapped the
 * session.
 *
 * A writer owns the bytes between the old head and the one that it has set. All bytes of a
 * sub-buffer, including its header and the padding at its end, are counted in committed[] once they
 * are written, so that this count alone shows whether writers are still active:
 *
 *  - The next lap may enter only a slot whose bytes are all counted, so no two laps write to the
 *    same bytes, however long a writer was interrupted. It reads the count with acquire, after
 *    which all writes of the last lap have happened.
 *  - A count is added to with release: a reader that loads it with acquire sees the bytes counted.
 *  - The writer that moves the head to the end of a sub-buffer, or beyond, writes its `used` before
 *    counting its own part. So `used` is valid when the sub-buffer is complete. It is not reset to
 *    0, because the writer that enters may be later than the one that leaves.
 *  - The head moves by a compare-and-swap, a full barrier, before anything is written: a reader
 *    that has read bytes of the next lap and then reads the head sees the new lap.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/math.h>

#include "ring.h"

#define HEADER ((u32)sizeof(struct gt_subbuf))

static struct gt_subbuf *ring__subbuf(const struct ring *ring, u32 index)
{
	return (struct gt_subbuf *)(ring->bytes + (size_t)index * ring->subbuf_size);
}

/* The number of the sub-buffer of a position in the stream, and its slot in memory. */
static u64 ring__number(const struct ring *ring, u64 position)
{
	return position >> __ffs(ring->subbuf_size);
}

static u32 ring__index(const struct ring *ring, u64 number)
{
	return number & (ring->subbufs - 1);
}

static void ring__count(struct ring *ring, u32 index, u32 bytes)
{
	atomic64_fetch_add_release(bytes, (atomic64_t *)&ring->control->committed[index]);
}

/* Whether all writers of the last lap have left this sub-buffer's memory. */
static bool ring__may_enter(const struct ring *ring, u64 number)
{
	u64 *committed = &ring->control->committed[ring__index(ring, number)];
	u64 laps = number >> __ffs(ring->subbufs);

	/* pairs with ring__count(): all writes of the last lap are visible */
	return smp_load_acquire(committed) == laps * ring->subbuf_size;
}

/* Moves the head into the sub-buffer in which the first record begins at `at`. */
static void ring__move_on(struct ring *ring, u64 head, u64 at)
{
	u32 filled = head & (ring->subbuf_size - 1);
	u64 number = ring__number(ring, at);
	u32 index;

	if (filled) {
		index = ring__index(ring, ring__number(ring, head));
		WRITE_ONCE(ring__subbuf(ring, index)->used, filled);
		ring__count(ring, index, ring->subbuf_size - filled);
	}
	index = ring__index(ring, number);
	WRITE_ONCE(ring__subbuf(ring, index)->number, number);
	ring__count(ring, index, HEADER);
}

int ring__reserve(struct ring *ring, u32 size, struct ring_slot *ret)
{
	struct gt_ring_control *control = ring->control;
	u32 subbuf_size = ring->subbuf_size, filled;
	u64 head = READ_ONCE(control->head), now, at;

	if (!size || size % 8 || size > subbuf_size - HEADER)
		return -EINVAL;
	for (;;) {
		at = head;
		filled = head & (subbuf_size - 1);
		if (!filled || filled + size > subbuf_size)
			at = round_up(head, (u64)subbuf_size) + HEADER;
		if (at != head && !ring__may_enter(ring, ring__number(ring, at))) {
			/* Others may have entered since: then the count includes their bytes. */
			now = READ_ONCE(control->head);
			if (now == head) {
				atomic64_inc((atomic64_t *)&control->lost);
				return -ENOSPC;
			}
			head = now;
		} else if (try_cmpxchg(&control->head, &head, at + size)) {
			break;
		}
	}
	if (at != head)
		ring__move_on(ring, head, at);
	ret->index = ring__index(ring, ring__number(ring, at));
	ret->at = ring->bytes + (size_t)ret->index * subbuf_size + (at & (subbuf_size - 1));
	ret->size = size;
	if (!((at + size) & (subbuf_size - 1)))
		WRITE_ONCE(ring__subbuf(ring, ret->index)->used, subbuf_size);
	return 0;
}

void ring__commit(struct ring *ring, const struct ring_slot *slot)
{
	ring__count(ring, slot->index, slot->size);
}
