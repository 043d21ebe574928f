// SPDX-License-Identifier: GPL-2.0
/*
 * Rings to memory: order, sizes, and above all the watermark, with rings made of an array here.
 *
 * This file's ring functions stand in for libbpf's, its probes__rings() for that of
 * capture/probes.c, and its clock, which ticks each time it is read, for the machine's.
 */

#include <bpf/libbpf.h>

#include "unit/test.h"
#include "capture/drain.h"
#include "capture/probes.h"
#include "lib/clock.h"

#define RINGS 3
#define SLOT  64 /* bytes that each record takes of the position */
#define SLOTS 100

struct ring {
	ring_buffer_sample_fn fn;
	void *ctx;
	unsigned long produced, consumed;
	size_t size[SLOTS];
	bool busy[SLOTS];
	unsigned char data[SLOTS][4096] __attribute__((aligned(8)));
};

struct ring_buffer {
	unsigned int n;
};

static struct ring rings[RINGS];
static struct ring_buffer buffers;
static unsigned int late; /* records that come while ring 0 is consumed */
static bool race;	  /* one comes into ring 0 after its position was read */
static uint64_t now, race_time;

STUB(uint64_t, clock__now, (void), ++now)
STUB(unsigned int, probes__rings, (const struct probes *), RINGS)

int probes__ring_fd(const struct probes *s, unsigned int ring)
{
	return (int)ring;
}

struct ring_buffer *ring_buffer__new(int fd, ring_buffer_sample_fn fn, void *ctx,
				     const struct ring_buffer_opts *opts)
{
	buffers.n = 0;
	ring_buffer__add(&buffers, fd, fn, ctx);
	return &buffers;
}

int ring_buffer__add(struct ring_buffer *rb, int fd, ring_buffer_sample_fn fn, void *ctx)
{
	assert_int_equal(fd, rb->n);
	rings[rb->n].fn = fn;
	rings[rb->n++].ctx = ctx;
	return 0;
}

STUB_VOID(ring_buffer__free, (struct ring_buffer *))

struct ring *ring_buffer__ring(struct ring_buffer *rb, unsigned int index)
{
	return index < rb->n ? &rings[index] : NULL;
}

static struct gt_record *produce(unsigned int ring, unsigned int kind, size_t payload, bool busy);

unsigned long ring__producer_pos(const struct ring *r)
{
	unsigned long pos = r->produced;

	if (race) {
		race = false;
		race_time = produce(0, GT_STW_END, 0, true)->time;
	}
	return pos;
}

STUB(unsigned long, ring__consumer_pos, (const struct ring *r), r->consumed)

size_t ring__size(const struct ring *r)
{
	return SLOTS * SLOT;
}

static struct gt_record *produce(unsigned int ring, unsigned int kind, size_t payload, bool busy)
{
	struct ring *r = &rings[ring];
	unsigned long slot = r->produced / SLOT;
	struct gt_record *rec = (void *)r->data[slot];

	*rec = (struct gt_record){ .time = clock__now(), .tid = 1, .kind = kind, .seq = slot };
	r->size[slot] = sizeof(*rec) + payload;
	r->busy[slot] = busy;
	r->produced += SLOT;
	return rec;
}

int ring__consume(struct ring *r)
{
	int n = 0, code;

	while (r->consumed < r->produced && !r->busy[r->consumed / SLOT]) {
		if (late && r == &rings[0]) {
			late--;
			produce(0, GT_STW_END, 0, true);
		}
		code = r->fn(r->ctx, r->data[r->consumed / SLOT], r->size[r->consumed / SLOT]);
		r->consumed += SLOT;
		if (code < 0)
			return code;
		n++;
	}
	return n;
}

/* ---- what was handed over ---- */

static struct {
	unsigned int n, next[RINGS];
	size_t last_size;
	int answer;
} got;

static int take(void *ctx, unsigned int ring, const struct gt_record *rec, size_t size)
{
	assert_ptr_equal(ctx, &got);
	assert_int_equal(rec->seq, got.next[ring]++);
	got.n++;
	got.last_size = size;
	return got.answer;
}

static struct drain *fresh(void)
{
	struct drain *d = NULL;

	memset(rings, 0, sizeof(rings));
	memset(&got, 0, sizeof(got));
	late = 0;
	race = false;
	assert_int_equal(drain__create(&d, NULL, NULL, take, &got), 0);
	return d;
}

TEST(all_rings_in_order)
{
	struct drain *d = fresh();
	uint64_t before, watermark = 0;
	unsigned int i;

	for (i = 0; i < 10; i++)
		produce(i % RINGS, GT_STW_END, 0, false);
	before = clock__now();
	assert_int_equal(drain__run(d, &watermark), 10);
	assert_int_equal(got.n, 10);
	assert_true(watermark >= before && watermark <= clock__now());
	assert_int_equal(drain__fill(d), 4);
	assert_int_equal(drain__run(d, &watermark), 0);
	assert_int_equal(drain__fill(d), 0);
	drain__destroy(d);
}

TEST(a_busy_slot_holds_the_watermark)
{
	uint64_t first, second, third, busy_time;
	struct drain *d = fresh();

	assert_int_equal(drain__run(d, &first), 0);
	assert_true(first > 0);
	produce(0, GT_STW_END, 0, false);
	busy_time = produce(1, GT_STW_END, 0, true)->time;
	produce(1, GT_STW_END, 0, false);
	produce(2, GT_STW_END, 0, false);
	assert_int_equal(drain__run(d, &second), 2);
	assert_true(second == first && second < busy_time);
	rings[1].busy[0] = false;
	assert_int_equal(drain__run(d, &third), 2);
	assert_true(third > second && third >= busy_time);
	drain__destroy(d);
}

/* What comes after T0 need not be there for T0 to hold, busy or not. */
TEST(later_records_do_not_matter)
{
	struct drain *d = fresh();
	uint64_t first, second;

	assert_int_equal(drain__run(d, &first), 0);
	produce(0, GT_STW_END, 0, false);
	late = 1;
	assert_int_equal(drain__run(d, &second), 1);
	assert_true(second > first);
	drain__destroy(d);
}

/* A record that comes after its ring's position was read is newer than the watermark. */
TEST(the_clock_is_read_before_the_positions)
{
	struct drain *d = fresh();
	uint64_t watermark;

	race = true;
	assert_int_equal(drain__run(d, &watermark), 0);
	assert_true(watermark > 0 && watermark < race_time);
	drain__destroy(d);
}

/* The fullest ring counts, whichever it is. */
TEST(the_fill_is_the_largest)
{
	for (unsigned int full = 0; full < RINGS; full++) {
		struct drain *d = fresh();
		uint64_t watermark;

		for (unsigned int i = 0; i < 50; i++)
			produce(full, GT_STW_END, 0, false);
		produce((full + 1) % RINGS, GT_STW_END, 0, false);
		assert_int_equal(drain__run(d, &watermark), 51);
		assert_int_equal(drain__fill(d), 50);
		drain__destroy(d);
	}
}

TEST(stacks_are_cut_to_their_depth)
{
	struct drain *d = fresh();
	struct gt_stack *stack;
	uint64_t watermark;

	stack = (void *)(produce(0, GT_STACK, sizeof(*stack) + 24 * 8, false) + 1);
	stack->depth = 5;
	assert_int_equal(drain__run(d, &watermark), 1);
	assert_int_equal(got.last_size, sizeof(struct gt_record) + sizeof(*stack) + 5 * 8);

	/* a depth that its slot cannot hold: passed on as it is, for the sequencer to refuse */
	stack = (void *)(produce(0, GT_STACK, sizeof(*stack) + 24 * 8, false) + 1);
	stack->depth = 25;
	assert_int_equal(drain__run(d, &watermark), 1);
	assert_int_equal(got.last_size, sizeof(struct gt_record) + sizeof(*stack) + 24 * 8);
	drain__destroy(d);
}

TEST(the_callbacks_error_comes_back)
{
	struct drain *d = fresh();
	uint64_t watermark = 7;

	produce(0, GT_STW_END, 0, false);
	got.answer = -ENOSPC;
	assert_int_equal(drain__run(d, &watermark), -ENOSPC);
	assert_int_equal(watermark, 7);
	drain__destroy(d);
	drain__destroy(NULL);
}
