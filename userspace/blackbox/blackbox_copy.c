// SPDX-License-Identifier: GPL-2.0
/*
 * Copies a flight recorder buffer while it records: see blackbox_copy.h.
 *
 * The order of the reads is that of gotrace/uapi.h. For each ring:
 *
 *  1. The number of the next record, then the counts, then the head, until the counts show that
 *     each sub-buffer is complete up to the head. A record whose number is lower has been reserved
 *     before that head, so the copy reports no loss that did not happen.
 *  2. The sub-buffers, oldest first, since the oldest is overwritten next.
 *  3. The head again: the sub-buffers that writers have entered since then are invalid.
 *
 * The stack table is copied after the rings, when it contains the stacks of all their records; an
 * entry that is overwritten during the copy is detected by its hash.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blackbox/blackbox_copy.h"
#include "gotrace/uapi.h"

#define TRIES	 2000 /* at most 100 ms */
#define PAUSE_US 50
#define AT_ONCE	 100 /* tries without a pause: a record takes less than 1 us */

struct live_ring {
	const struct gt_session_page *page;
	const struct gt_ring_control *from;
	struct gt_ring_control *to;
	const char *bytes;
	char *copy;
};

static uint64_t read_head(const struct live_ring *r)
{
	return __atomic_load_n(&r->from->head, __ATOMIC_ACQUIRE);
}

/* Of the sub-buffer that was entered last. */
static uint64_t last_number(const struct live_ring *r, uint64_t head)
{
	return head ? (head - 1) / r->page->subbuf_size : 0;
}

/* Of the oldest sub-buffer in the memory, and behind that of the newest. */
static uint64_t first_number(const struct live_ring *r)
{
	uint64_t last = last_number(r, r->to->head);

	return last >= r->page->subbufs ? last + 1 - r->page->subbufs : 0;
}

static uint64_t end_number(const struct live_ring *r)
{
	return (r->to->head + r->page->subbuf_size - 1) / r->page->subbuf_size;
}

/* Bytes of a sub-buffer that are reserved. */
static uint64_t filled(const struct live_ring *r, uint64_t number)
{
	uint64_t left = r->to->head - number * r->page->subbuf_size;

	return left < r->page->subbuf_size ? left : r->page->subbuf_size;
}

static bool is_complete(const struct live_ring *r)
{
	for (uint64_t n = first_number(r); n < end_number(r); n++)
		if (r->to->committed[n % r->page->subbufs] !=
		    n / r->page->subbufs * r->page->subbuf_size + filled(r, n))
			return false;
	return true;
}

static void read_control(const struct live_ring *r)
{
	r->to->seq = __atomic_load_n(&r->from->seq, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < r->page->subbufs; i++)
		r->to->committed[i] = __atomic_load_n(&r->from->committed[i], __ATOMIC_ACQUIRE);
	r->to->lost = r->from->lost;
	r->to->head = read_head(r);
}

/* A writer that stays longer than all tries leaves its sub-buffer incomplete. */
static void settle(const struct live_ring *r)
{
	for (unsigned int i = 0; i < TRIES; i++) {
		read_control(r);
		if (is_complete(r))
			return;
		if (i >= AT_ONCE)
			usleep(PAUSE_US);
	}
}

static void copy_bytes(const struct live_ring *r)
{
	for (uint64_t n = first_number(r); n < end_number(r); n++) {
		uint64_t at = n % r->page->subbufs * r->page->subbuf_size;

		memcpy(r->copy + at, r->bytes + at, filled(r, n));
	}
}

/*
 * Makes the sub-buffers invalid that the next lap has entered: bytes of it are reserved. Returns
 * whether there are any.
 */
static bool drop_overwritten(const struct live_ring *r)
{
	bool found = false;
	uint64_t entered;

	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* the bytes were read before */
	entered = last_number(r, read_head(r));
	for (uint64_t n = first_number(r); n < end_number(r); n++)
		if (n + r->page->subbufs <= entered) {
			r->to->committed[n % r->page->subbufs] = 0;
			found = true;
		}
	return found;
}

/*
 * A ring that wrapped for the first time during the copy is copied again: the copy must show that there
 * were older records.
 */
static void copy_ring(const struct live_ring *r)
{
	bool wrapped;

	do {
		settle(r);
		wrapped = end_number(r) > r->page->subbufs;
		copy_bytes(r);
	} while (drop_overwritten(r) && !wrapped);
}

/* The parts of the memory in their order; the last one extends to the end. */
static bool is_whole(const struct gt_session_page *page, size_t bytes)
{
	return bytes >= sizeof(*page) && page->magic == GT_ABI_MAGIC &&
	       page->version == GT_ABI_VERSION && page->subbuf_size && page->subbufs &&
	       page->control_offset + page->rings * page->control_stride <= page->ring_offset &&
	       page->ring_offset + page->rings * page->ring_stride <= page->index_offset &&
	       page->index_offset <= bytes;
}

int blackbox_copy__take(struct blackbox_copy *ret, const void *memory, size_t bytes, uint64_t time)
{
	const struct gt_session_page *page = memory;
	const char *from = memory;
	char *to;

	*ret = (struct blackbox_copy){};
	if (!is_whole(page, bytes))
		return -EPROTO;
	to = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (to == MAP_FAILED)
		return -ENOMEM;
	*ret = (struct blackbox_copy){ to, bytes };
	for (uint32_t i = 0; i < page->rings; i++) {
		uint64_t control = page->control_offset + i * page->control_stride;
		uint64_t ring = page->ring_offset + i * page->ring_stride;
		struct live_ring r = { page, (const void *)(from + control), (void *)(to + control),
				       from + ring, to + ring };

		copy_ring(&r);
	}
	memcpy(to + page->index_offset, from + page->index_offset, bytes - page->index_offset);
	memcpy(to, page, sizeof(*page));
	if (!page->frozen)
		((struct gt_session_page *)to)->frozen = time;
	return 0;
}

void blackbox_copy__free(struct blackbox_copy *c)
{
	if (c->memory)
		munmap(c->memory, c->bytes);
	*c = (struct blackbox_copy){};
}
