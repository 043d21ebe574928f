// SPDX-License-Identifier: GPL-2.0
/*
 * The rings of inline probes, into which a hostile process writes anything between two drains: each
 * record that is passed on is whole, of a kind that inline probes write, of a thread that is known, no
 * later than the drain, and numbered in the order of its ring; a drain ends after at most the slots that
 * the rings have, and takes at most STEPS_MAX steps per slot.
 *
 * Input: operations of 4 bytes (kind, ring, slot as u16) and 8 bytes, a value.
 */
#include <stdlib.h>
#include <string.h>

#include "gotrace/inline.h"
#include "gotrace/record.h"
#include "inline/inline_clock.h"
#include "inline/inline_rings.h"
#include "lib/clock.h"
#include "lib/buf.h"

#define SLOTS	  4096u
#define SECOND	  1000000000ull
#define STRIDE	  (GT_INLINE_HEAD + SLOTS * GT_INLINE_SLOT)
#define OPERATION 12
#define STEPS_MAX 4 /* it is read as a further one, and skipped; two pairs of the clock */

enum { HEAD, TAIL, COUNTER, WORD, FIELD, RECORD, STACK, DRAIN, OPERATIONS };

static struct {
	char *area;
	struct inline_rings *rings;
	uint64_t now, steps;
	uint64_t written[256]; /* slots: the rest of the area stays 0 */
	unsigned int nwritten;
	uint32_t seq[GT_INLINE_RINGS];
} f;

static uint32_t tid_of(void *ctx, uint64_t procid)
{
	return procid % 7 ? (uint32_t)procid | 1 : 0;
}

static int take(void *ctx, unsigned int ring, const struct gt_record *rec, size_t size)
{
	if (ring >= GT_INLINE_RINGS || !gt_record_is_whole(rec, size) || !rec->tid ||
	    (int32_t)(rec->seq - f.seq[ring]) <= 0 || rec->time > clock__now() ||
	    ++f.steps > GT_INLINE_RINGS * SLOTS)
		abort();
	switch (rec->kind) {
	case GT_EXECUTE:
	case GT_PARK:
	case GT_READY:
	case GT_CREATE:
	case GT_DESTROY:
	case GT_YIELD:
	case GT_STACK:
		break;
	default:
		abort();
	}
	f.seq[ring] = rec->seq;
	return 0;
}

static struct gt_inline_ring *ring_at(unsigned int i)
{
	return (void *)(f.area + GT_INLINE_SEEN_BYTES + i % GT_INLINE_RINGS * STRIDE);
}

static struct gt_inline_slot *slot_at(unsigned int ring, uint64_t i)
{
	struct gt_inline_slot *slot = (void *)((char *)ring_at(ring) + GT_INLINE_HEAD);

	f.written[f.nwritten++ % 256] = ((uint64_t)(ring % GT_INLINE_RINGS) << 32) | (i % SLOTS);
	return slot + i % SLOTS;
}

/* A record by the protocol of the probes, except that its fields come from the input. */
static void put_record(unsigned int ring, unsigned int kind, uint64_t value)
{
	struct gt_inline_ring *r = ring_at(ring);
	uint64_t at = r->head++;
	struct gt_inline_slot *slot = slot_at(ring, at);

	slot->rec = (struct gt_record){ .time = value,
					.tid = (uint32_t)(value >> 32),
					.kind = (uint16_t)kind };
	slot->payload[0] = value;
	slot->place = (uint32_t)(at + 1) & ~GT_INLINE_FURTHER;
}

static void put_stack(unsigned int ring, unsigned int depth, uint64_t value)
{
	struct gt_inline_ring *r = ring_at(ring);
	uint64_t at = r->head;
	struct gt_inline_slot *slot = slot_at(ring, at);
	struct gt_stack stack = { .depth = depth };

	r->head += 1 + (depth + 5) / 7;
	slot->rec = (struct gt_record){ .time = value,
					.tid = (uint32_t)(value >> 32),
					.kind = GT_STACK,
					.stack = (uint32_t)(GT_STACK_PLACES - GT_INLINE_SEEN +
							    value % GT_INLINE_SEEN) };
	memcpy(slot->payload, &stack, sizeof(stack));
	for (unsigned int i = 1; i < 1 + (depth + 5) / 7 && i < 64; i++)
		slot_at(ring, at + i)->word = (uint32_t)(at + i + 1) | GT_INLINE_FURTHER;
	slot->place = (uint32_t)(at + 1) & ~GT_INLINE_FURTHER;
}

static void drain(uint64_t value)
{
	uint64_t lost[GT_KIND_END];
	bool complete;

	f.now += value % (3 * SECOND);
	f.steps = parser_steps = 0;
	if (inline_rings__drain(f.rings, f.now, take, NULL, &complete))
		abort();
	if (parser_steps > STEPS_MAX * GT_INLINE_RINGS * SLOTS)
		abort();
	if (value % 16 == 0) /* reads all 64 rings, which takes longer than most drains */
		inline_rings__lost(f.rings, lost);
	if (inline_rings__fill(f.rings) > 100)
		abort();
}

static void step(const uint8_t *data)
{
	unsigned int ring = data[1];
	uint64_t value;
	uint16_t i;

	memcpy(&i, data + 2, sizeof(i));
	memcpy(&value, data + 4, sizeof(value));
	switch (data[0] % OPERATIONS) {
	case HEAD:
		ring_at(ring)->head = value;
		break;
	case TAIL:
		ring_at(ring)->tail = value;
		break;
	case COUNTER:
		ring_at(ring)->dropped = value;
		ring_at(ring)->lost[i % GT_KIND_END] = value;
		break;
	case WORD:
		slot_at(ring, i)->word = value;
		break;
	case FIELD:
		slot_at(ring, i)->pc[i / SLOTS % GT_INLINE_SLOT_PCS] = value;
		break;
	case RECORD:
		put_record(ring, i, value);
		break;
	case STACK:
		put_stack(ring, i % 512, value);
		break;
	case DRAIN:
		drain(value);
		break;
	}
}

/* The area has 17 MB: only what was written is cleared. */
static void clear(void)
{
	unsigned int n = f.nwritten < 256 ? f.nwritten : 256;

	for (unsigned int i = 0; i < GT_INLINE_RINGS; i++)
		memset(ring_at(i), 0, sizeof(struct gt_inline_ring));
	for (unsigned int i = 0; i < n; i++)
		memset(slot_at((unsigned int)(f.written[i] >> 32), (uint32_t)f.written[i]), 0,
		       GT_INLINE_SLOT);
	memset(f.seq, 0, sizeof(f.seq));
	f.nwritten = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct gt_inline map = { .slots = SLOTS,
				       .stride = STRIDE,
				       .ring_bytes =
					       GT_INLINE_SEEN_BYTES + GT_INLINE_RINGS * STRIDE };
	struct inline_clock clock = {};

	if (!f.area)
		f.area = calloc(1, map.ring_bytes);
	f.now = 10 * SECOND;
	inline_clock__add(&clock, SECOND, SECOND, 0);
	inline_clock__add(&clock, f.now, f.now, 0);
	if (!f.area || inline_rings__open(&f.rings, &map, f.area, &clock, tid_of, NULL))
		abort();
	for (; size >= OPERATION && f.nwritten < 256 - 80; data += OPERATION, size -= OPERATION)
		step(data);
	drain(SECOND + 1);
	inline_rings__close(f.rings);
	clear();
	return 0;
}
