// SPDX-License-Identifier: GPL-2.0
/*
 * The reader of inline probes: records in order and without loss, losses in their place, slots that
 * are not committed, threads that write at the same time, and memory in which a hostile program
 * writes anything.
 *
 * put() follows the protocol of userspace/inline/trampoline_x86.c. Times are TSCs of a clock with two
 * pairs, 1 ns per cycle.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "unit/test.h"
#include "inline/inline_rings.h"
#include "lib/clock.h"

#define SLOTS	4096
#define RING	5
#define SECOND	1000000000ull
#define NOW	(10 * SECOND)
#define WRITERS 4
#define NUMBER	GT_STACK_NUMBER(GT_STACK_PLACES - GT_INLINE_SEEN + 3, 1)

static struct {
	struct gt_inline map;
	struct inline_clock clock;
	struct inline_rings *rings;
	char *area;
	struct gt_inline_ring *ring; /* number RING */
	/* what was passed on */
	unsigned int n, ring_index;
	uint32_t seq[GT_INLINE_RINGS];
	struct gt_record last;
	gt_u64 tail[2 + GT_STACK_MAX]; /* the last one's payload */
	uint64_t from[WRITERS];	       /* the number of the last one of each writer */
	uint64_t count[WRITERS];
	int answer;
} f;

static struct gt_inline_ring *ring_at(unsigned int i)
{
	return (void *)(f.area + GT_INLINE_SEEN_BYTES + i * f.map.stride);
}

static struct gt_inline_slot *slot_at(struct gt_inline_ring *ring, uint64_t at)
{
	return (struct gt_inline_slot *)((char *)ring + GT_INLINE_HEAD) + (at & (SLOTS - 1));
}

static uint32_t tid_of(void *ctx, uint64_t procid)
{
	return procid == 13 ? 0 : (uint32_t)procid + 1000;
}

static int take(void *ctx, unsigned int ring, const struct gt_record *rec, size_t size)
{
	assert_true(ring < GT_INLINE_RINGS);
	assert_true(gt_record_is_whole(rec, size));
	f.n++;
	f.ring_index = ring;
	f.seq[ring] = rec->seq;
	f.last = *rec;
	memcpy(f.tail, rec + 1, size - sizeof(*rec));
	return f.answer;
}

static int set_up(void **state)
{
	memset(&f, 0, sizeof(f));
	f.map.slots = SLOTS;
	f.map.stride = GT_INLINE_HEAD + SLOTS * GT_INLINE_SLOT;
	f.map.ring_bytes = GT_INLINE_SEEN_BYTES + GT_INLINE_RINGS * f.map.stride;
	f.area = calloc(1, f.map.ring_bytes);
	f.ring = ring_at(RING);
	inline_clock__add(&f.clock, SECOND, SECOND, 0);
	inline_clock__add(&f.clock, NOW, NOW, 0);
	return inline_rings__open(&f.rings, &f.map, f.area, &f.clock, tid_of, &f);
}

static void tear_down(void)
{
	inline_rings__close(f.rings);
	free(f.area);
}

FIXTURE(set_up, tear_down)

static unsigned int slots_of(enum gt_kind kind, uint32_t depth)
{
	return kind == GT_STACK ? 1 + (depth - 1 + 6) / 7 : 1;
}

/* UINT64_MAX: there is no room. */
static uint64_t reserve(struct gt_inline_ring *ring, enum gt_kind kind, unsigned int slots)
{
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_RELAXED);

	if (head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) > SLOTS - GT_INLINE_MARGIN) {
		__atomic_fetch_add(&ring->lost[kind], 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&ring->dropped, 1, __ATOMIC_RELAXED);
		return UINT64_MAX;
	}
	return __atomic_fetch_add(&ring->head, slots, __ATOMIC_SEQ_CST);
}

static void commit(struct gt_inline_ring *ring, uint64_t at)
{
	uint64_t word = (uint32_t)(at + 1) & ~GT_INLINE_FURTHER;

	word |= __atomic_load_n(&ring->dropped, __ATOMIC_RELAXED) << 32;
	__atomic_store_n(&slot_at(ring, at)->word, word, __ATOMIC_RELEASE);
}

static void fill_further(struct gt_inline_ring *ring, uint64_t at, uint64_t object, uint32_t depth)
{
	for (uint32_t i = 1; i < depth; i++)
		slot_at(ring, at + 1 + (i - 1) / 7)->pc[(i - 1) % 7] = object + i;
	for (unsigned int i = 1; i < slots_of(GT_STACK, depth); i++)
		__atomic_store_n(&slot_at(ring, at + i)->word,
				 (uint32_t)(at + i + 1) | GT_INLINE_FURTHER, __ATOMIC_RELEASE);
}

/* depth: of a stack. */
static void fill(struct gt_inline_ring *ring, uint64_t at, enum gt_kind kind, uint32_t tid,
		 uint64_t object, uint32_t depth)
{
	struct gt_inline_slot *s = slot_at(ring, at);

	s->rec = (struct gt_record){
		.time = 2 * SECOND, .tid = tid, .kind = (gt_u16)kind, .cpu = 3, .object = object
	};
	memset(s->payload, 0, sizeof(s->payload));
	s->payload[0] = kind == GT_STACK ? (8ull << 32 | depth) : object;
	if (kind != GT_STACK)
		return;
	s->rec.stack = NUMBER;
	s->pc[6] = object;
	fill_further(ring, at, object, depth);
}

/* False: it was dropped. */
static bool put_at(struct gt_inline_ring *ring, enum gt_kind kind, uint32_t tid, uint64_t object,
		   uint32_t depth)
{
	uint64_t at = reserve(ring, kind, slots_of(kind, depth));

	if (at == UINT64_MAX)
		return false;
	fill(ring, at, kind, tid, object, depth);
	commit(ring, at);
	return true;
}

/* Returns its first slot. */
static struct gt_inline_slot *put(enum gt_kind kind, uint64_t object)
{
	uint64_t at = f.ring->head;

	assert_true(put_at(f.ring, kind, RING, object, 1));
	return slot_at(f.ring, at);
}

static bool drain(uint64_t now)
{
	bool complete;

	assert_int_equal(inline_rings__drain(f.rings, now, take, &f, &complete), 0);
	return complete;
}

/* ---- one writer ---- */

/* Many times around the ring. */
TEST(all_in_order)
{
	uint64_t i;

	for (i = 1; i <= 100000; i++) {
		put(GT_EXECUTE, i);
		if (i % 1000)
			continue;
		assert_true(inline_rings__fill(f.rings) == 1000 * 100 / SLOTS);
		assert_true(drain(NOW));
		assert_int_equal(f.tail[0], i);
		assert_int_equal(f.n, i);
		assert_int_equal(f.last.seq, i);
		assert_int_equal(f.ring->tail, i);
		assert_int_equal(slot_at(f.ring, i - 1)->word, 0);
	}
	assert_int_equal(f.ring_index, RING);
	assert_int_equal(f.last.tid, RING + 1000);
	assert_int_equal(f.last.cpu, 3);
	assert_int_equal(inline_rings__fill(f.rings), 0);
}

/* The slot's number has 31 bits. */
TEST(numbers_wrap)
{
	inline_rings__close(f.rings);
	f.ring->head = (1ull << 31) - 10;
	assert_int_equal(inline_rings__open(&f.rings, &f.map, f.area, &f.clock, tid_of, &f), 0);
	assert_int_equal(f.ring->tail, f.ring->head);
	for (int i = 0; i < 10; i++)
		assert_true(put_at(f.ring, GT_STACK, RING, 7, 20));
	assert_true(drain(NOW));
	assert_int_equal(f.n, 10);
	assert_int_equal(f.last.seq, 10);
}

TEST(stacks_of_every_depth)
{
	for (uint32_t depth = 1; depth <= GT_STACK_MAX; depth++) {
		assert_true(put_at(f.ring, GT_STACK, RING, 1000, depth));
		assert_true(drain(NOW));
		assert_int_equal(f.n, depth);
		assert_int_equal(f.last.stack, NUMBER);
		assert_int_equal(f.tail[0], 1ull << 32 | depth); /* cut: 1 */
		assert_int_equal(f.tail[1], 1);			 /* placed */
		for (uint32_t i = 0; i < depth; i++)
			assert_int_equal(f.tail[2 + i], 1000 + i);
	}
	assert_int_equal(f.ring->tail, f.ring->head);
}

TEST(times_are_limited)
{
	const uint64_t tsc[] = { 2 * SECOND, 0, NOW + 5 };
	uint64_t before = clock__now();

	for (int i = 0; i < 3; i++) {
		put(GT_EXECUTE, 1)->rec.time = tsc[i];
		drain(NOW + 1); /* a record behind `now` has its own time all the same */
		assert_in_range(f.last.time, tsc[i], tsc[i] + 1);
	}
	put(GT_EXECUTE, 1)->rec.time = UINT64_MAX;
	drain(NOW + 1);
	assert_in_range(f.last.time, before, clock__now());
}

TEST(losses_are_gaps)
{
	uint64_t lost[GT_KIND_END];
	unsigned int room = SLOTS - GT_INLINE_MARGIN + 1;

	for (unsigned int i = 0; i < room; i++)
		put(GT_EXECUTE, i);
	for (unsigned int i = 0; i < 40; i++)
		assert_false(put_at(f.ring, i % 2 ? GT_PARK : GT_READY, RING, 1, 1));
	drain(NOW);
	assert_int_equal(f.last.seq, room);
	put(GT_EXECUTE, 2);
	drain(NOW);
	assert_int_equal(f.last.seq, room + 41);
	f.ring->dropped = 39; /* committed later than the one before */
	put(GT_EXECUTE, 3);
	drain(NOW);
	assert_int_equal(f.last.seq, room + 42);
	assert_int_equal(inline_rings__lost(f.rings, lost), 40);
	assert_int_equal(lost[GT_PARK], 20);
	assert_int_equal(lost[GT_READY], 20);
}

TEST(counters_never_decrease)
{
	uint64_t lost[GT_KIND_END];

	f.ring->lost[GT_PARK] = 7;
	assert_int_equal(inline_rings__lost(f.rings, lost), 7);
	f.ring->lost[GT_PARK] = 3;
	assert_int_equal(inline_rings__lost(f.rings, lost), 7);
	ring_at(9)->lost[GT_PARK] = 1ull << 62;
	f.ring->lost[GT_READY] = 1ull << 50;
	assert_int_equal(inline_rings__lost(f.rings, lost), 7 + (1ull << 32));
	assert_int_equal(inline_rings__lost(f.rings, lost), 7 + (2ull << 32));
	assert_int_equal(lost[GT_READY] + lost[GT_PARK], 7 + (2ull << 32));
}

/* ---- slots that are not committed ---- */

TEST(an_uncommitted_slot_blocks_its_ring)
{
	uint64_t at;

	put(GT_EXECUTE, 1);
	at = reserve(f.ring, GT_DESTROY, 1);
	put(GT_EXECUTE, 3);
	put_at(ring_at(RING + 1), GT_EXECUTE, 1, 1, 1);
	assert_false(drain(NOW));
	assert_int_equal(f.n, 2);
	assert_int_equal(f.ring->tail, 1);
	fill(f.ring, at, GT_DESTROY, RING, 2, 1);
	commit(f.ring, at);
	assert_true(drain(NOW + SECOND * 2));
	assert_int_equal(f.n, 4);
	assert_int_equal(f.last.seq, 3);
}

/* A stack of which only further slots were committed: one record is lost. */
TEST(a_slot_is_given_up)
{
	uint64_t at = reserve(f.ring, GT_STACK, 4);

	slot_at(f.ring, at + 1)->word = (uint32_t)(at + 2) | GT_INLINE_FURTHER;
	assert_false(drain(NOW));
	put(GT_EXECUTE, 1);
	assert_false(drain(NOW + SECOND));
	assert_int_equal(f.n, 0);
	assert_true(drain(NOW + SECOND + 1));
	assert_int_equal(f.n, 1);
	assert_int_equal(f.last.seq, 2);
	commit(f.ring, at); /* too late */
	put(GT_EXECUTE, 2);
	assert_true(drain(NOW + SECOND + 2));
	assert_int_equal(f.last.seq, 3);
}

/* Those reserved after the one that blocked have their own time, which is short from then on. */
TEST(later_slots_are_waited_for)
{
	uint64_t at;

	reserve(f.ring, GT_EXECUTE, 1);
	assert_false(drain(NOW));
	at = reserve(f.ring, GT_EXECUTE, 1);
	assert_false(drain(NOW + SECOND + 1));
	assert_int_equal(f.ring->tail, at);
	assert_false(drain(NOW + SECOND + 2));
	fill(f.ring, at, GT_EXECUTE, RING, 5, 1);
	commit(f.ring, at);
	assert_true(drain(NOW + SECOND + 2));
	assert_int_equal(f.n, 1);
	assert_int_equal(f.last.seq, 2);
	reserve(f.ring, GT_EXECUTE, 1);
	assert_false(drain(NOW + SECOND * 3));
	assert_true(drain(NOW + SECOND * 3 + SECOND / 50));
	put(GT_EXECUTE, 6);
	assert_true(drain(NOW + SECOND * 3 + SECOND / 50));
	assert_int_equal(f.n, 2);
	assert_int_equal(f.last.seq, 4);
}

/* ---- hostile writers ---- */

TEST(invalid_records_are_gaps)
{
	unsigned int kind;

	for (kind = 0; kind < 100; kind++)
		put((enum gt_kind)kind, 4)->payload[0] = 1; /* of a stack: 1 PC */
	drain(NOW);
	assert_int_equal(f.n, 7);
	put(GT_EXECUTE, 1)->rec.stack = 5; /* of the BPF half */
	put(GT_EXECUTE, 1)->rec.tid = 13;  /* no thread */
	put(GT_STACK, 1)->rec.stack = 17;
	put(GT_STACK, 1)->rec.stack = 0;
	put(GT_STACK, 1)->payload[0] = 0;
	put(GT_STACK, 1)->payload[0] = GT_STACK_MAX + 1;
	put(GT_STACK, 1)->payload[0] = 8; /* its further slot is another record */
	put(GT_EXECUTE, 6)->rec.stack = NUMBER;
	put(GT_STACK, 1)->payload[0] = 9; /* beyond the head */
	drain(NOW);
	assert_int_equal(f.n, 8);
	assert_int_equal(f.tail[0], 6);
	assert_int_equal(f.last.seq, 100 + 8);
	put(GT_EXECUTE, 7);
	drain(NOW);
	assert_int_equal(f.n, 9);
	assert_int_equal(f.last.seq, 100 + 10);
}

TEST(fields_are_forced)
{
	put(GT_PARK, 0)->payload[0] = UINT64_MAX;
	drain(NOW);
	assert_int_equal(f.tail[0], 0xffffffff0000ffffull); /* without `derived` */
}

/* A stack that is rejected counts once; forged slots count, too. */
TEST(further_slots_are_skipped)
{
	uint64_t at = f.ring->head;

	assert_true(put_at(f.ring, GT_STACK, 13, 1, 40));
	put(GT_EXECUTE, 1);
	drain(NOW);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.last.seq, 2);
	at = reserve(f.ring, GT_EXECUTE, 2);
	for (int i = 0; i < 2; i++, at++)
		slot_at(f.ring, at)->word = (uint32_t)(at + 1) | GT_INLINE_FURTHER;
	assert_true(drain(NOW));
	put(GT_EXECUTE, 2);
	assert_true(drain(NOW));
	assert_int_equal(f.n, 2);
	assert_int_equal(f.last.seq, 4);
}

TEST(a_forged_head_is_refused)
{
	const uint64_t head[] = { SLOTS + 1, UINT64_MAX, 1ull << 63 };

	assert_true(drain(NOW));
	assert_false(inline_rings__is_forged(f.rings));
	for (int i = 0; i < 3; i++) {
		f.ring->head = head[i];
		assert_true(drain(NOW));
		assert_true(inline_rings__is_forged(f.rings));
		assert_int_equal(inline_rings__fill(f.rings), 100);
	}
	assert_int_equal(f.n, 0);
	f.ring->head = 0;
	put(GT_EXECUTE, 1);
	f.ring->tail = 12345; /* never read */
	assert_true(drain(NOW));
	assert_int_equal(f.ring->tail, 1);
}

TEST(the_callbacks_error_ends_the_drain)
{
	bool complete = true;

	put(GT_EXECUTE, 1);
	put(GT_EXECUTE, 2);
	f.answer = -ENOSPC;
	assert_int_equal(inline_rings__drain(f.rings, NOW, take, &f, &complete), -ENOSPC);
	assert_true(complete);
	assert_int_equal(f.n, 1);
	assert_int_equal(f.ring->tail, 1);
}

TEST(an_invalid_geometry_is_refused)
{
	struct inline_rings *r = NULL;
	struct gt_inline map[4] = { f.map, f.map, f.map, f.map };

	map[0].slots = SLOTS - 1;
	map[1].slots = GT_INLINE_MARGIN;
	map[2].stride -= GT_INLINE_SLOT;
	map[3].ring_bytes--;
	for (int i = 0; i < 4; i++)
		assert_int_equal(inline_rings__open(&r, &map[i], f.area, &f.clock, tid_of, &f),
				 -EINVAL);
	assert_null(r);
	inline_rings__close(NULL);
}

static uint64_t random_number(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	return *x ^= *x << 17;
}

static atomic_bool stop;

/* Anything anywhere; and slots that look committed, where the reader is. */
static void *scribble(void *ctx)
{
	const unsigned int kinds[] = { GT_EXECUTE, GT_PARK, GT_STACK, GT_STACK };
	uint64_t x = 1, *word = (uint64_t *)f.area, n = f.map.ring_bytes / 8;

	while (!stop) {
		struct gt_inline_ring *ring = ring_at(random_number(&x) % GT_INLINE_RINGS);
		uint64_t at = __atomic_load_n(&ring->tail, __ATOMIC_RELAXED), k;

		__atomic_store_n(&word[random_number(&x) % n], x, __ATOMIC_RELAXED);
		for (int i = 0; i < 200; i++, at++) {
			word = (uint64_t *)slot_at(ring, at);
			k = random_number(&x);
			for (int j = 1; j < 8; j++)
				__atomic_store_n(&word[j], random_number(&x), __ATOMIC_RELAXED);
			__atomic_store_n(&word[2], 5 | (uint64_t)kinds[k % 4] << 32,
					 __ATOMIC_RELAXED);
			__atomic_store_n(&word[4], NUMBER, __ATOMIC_RELAXED);
			__atomic_store_n(&word[5], k >> 20 & 0x9f, __ATOMIC_RELAXED);
			__atomic_store_n(&word[0], (uint32_t)(at + 1) | (k >> 63) << 31,
					 __ATOMIC_RELEASE);
		}
		__atomic_store_n(&ring->head, at - (k & 127), __ATOMIC_RELAXED);
		word = (uint64_t *)f.area;
	}
	return NULL;
}

TEST(scribbled_memory_is_survived)
{
	uint64_t until = clock__now() + SECOND / 4, now = NOW, lost[GT_KIND_END];
	unsigned int before;
	pthread_t thread;
	bool complete;

	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, scribble, &f), 0);
	while (clock__now() < until) {
		before = f.n;
		assert_int_equal(
			inline_rings__drain(f.rings, now += SECOND / 10, take, &f, &complete), 0);
		assert_true(f.n - before <= GT_INLINE_RINGS * SLOTS);
		inline_rings__lost(f.rings, lost);
		if (!inline_rings__is_forged(f.rings))
			continue;
		inline_rings__close(f.rings);
		assert_int_equal(inline_rings__open(&f.rings, &f.map, f.area, &f.clock, tid_of, &f),
				 0);
	}
	stop = true;
	pthread_join(thread, NULL);
	assert_true(f.n > 100);
}

/* ---- many writers ---- */

struct writer {
	pthread_t thread;
	unsigned int index;
	uint64_t made, dropped;
};

static atomic_uint running;

static void *write_records(void *ctx)
{
	struct writer *w = ctx;
	uint64_t x = w->index + 1, k;

	for (uint64_t i = 1; i <= 50000; i++) {
		k = random_number(&x);
		w->made++;
		w->dropped +=
			!put_at(f.ring, k % 8 ? GT_EXECUTE : GT_STACK, w->index + 100,
				(uint64_t)w->index << 56 | i << 8, 1 + (k >> 8) % GT_STACK_MAX);
		if (k >> 32 & 1) /* leaves time to the reader */
			for (int spin = 0; spin < 100; spin++)
				__builtin_ia32_pause();
	}
	running--;
	return NULL;
}

static int take_of_writers(void *ctx, unsigned int ring, const struct gt_record *rec, size_t size)
{
	const struct gt_stack *stack = (const struct gt_stack *)(rec + 1);
	unsigned int writer = rec->object >> 56;
	bool good = ring == RING && writer < WRITERS && rec->tid == writer + 1100 &&
		    rec->seq > f.seq[RING] && rec->object > f.from[writer];

	assert_true(good);
	f.seq[RING] = rec->seq;
	f.from[writer] = rec->object;
	f.count[writer]++;
	for (uint32_t i = 0; rec->kind == GT_STACK && i < stack->depth; i++)
		good = good && stack->pc[i] == rec->object + i;
	assert_true(good);
	return 0;
}

static void drain_writers(void)
{
	bool complete;

	assert_int_equal(inline_rings__drain(f.rings, NOW, take_of_writers, &f, &complete), 0);
}

TEST(many_writers_lose_nothing_unseen)
{
	struct writer w[WRITERS] = {};
	uint64_t sum = 0, dropped = 0, lost[GT_KIND_END];

	running = WRITERS;
	for (unsigned int i = 0; i < WRITERS; i++) {
		w[i].index = i;
		assert_int_equal(pthread_create(&w[i].thread, NULL, write_records, &w[i]), 0);
	}
	while (running)
		drain_writers();
	for (unsigned int i = 0; i < WRITERS; i++)
		pthread_join(w[i].thread, NULL);
	drain_writers();
	/* shows the gap before it */
	assert_true(put_at(f.ring, GT_EXECUTE, 100, 1ull << 50, 1));
	w[0].made++;
	drain_writers();
	for (unsigned int i = 0; i < WRITERS; i++) {
		assert_int_equal(f.count[i] + w[i].dropped, w[i].made);
		sum += f.count[i];
		dropped += w[i].dropped;
	}
	assert_int_equal(inline_rings__lost(f.rings, lost), dropped);
	assert_int_equal(lost[GT_STACK] + lost[GT_EXECUTE], dropped);
	assert_int_equal(f.seq[RING], sum + dropped);
}
