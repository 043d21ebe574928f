// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of ring.c against a model that keeps everything reserved, and a reader that follows the
 * rules of include/gotrace/uapi.h.
 */
#include <kunit/test.h>

#include "random_kunit.h"
#include "ring.h"

#define SUBBUF_SIZE 1024u /* smaller than in a session: more laps */
#define SUBBUFS	    4u
#define HEADER	    ((u32)sizeof(struct gt_subbuf))
#define LARGEST	    (SUBBUF_SIZE - HEADER)

#define WRITERS_MAX 16

/* A record of the tests: size and serial, then words derived from them. */
struct note {
	u64 size, serial, rest[];
};

/* A reservation in the model. */
struct writer {
	struct ring_slot slot;
	u64 serial, subbuf;
};

struct model {
	struct ring ring;
	u64 head, serial, lost;
	u64 first_number;      /* of the first sub-buffer of the test */
	u64 *begins, *serials; /* per sub-buffer: its first serial, and their number */
	u32 *used;	       /* per sub-buffer */
	struct writer writers[WRITERS_MAX];
	u32 n; /* writers that have not committed */
};

#define NUMBERS_MAX 20000

static void *zalloc(struct kunit *test, size_t size)
{
	void *p = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

/* A ring in which `number` sub-buffers were filled before. */
static struct model *model__create(struct kunit *test, u64 number)
{
	struct model *m = zalloc(test, sizeof(*m));
	struct gt_ring_control *control;
	u64 i;

	m->ring.control = zalloc(test, sizeof(struct gt_ring_control) + SUBBUFS * sizeof(u64));
	m->ring.bytes = zalloc(test, SUBBUFS * SUBBUF_SIZE);
	m->ring.subbuf_size = SUBBUF_SIZE;
	m->ring.subbufs = SUBBUFS;
	m->begins = zalloc(test, NUMBERS_MAX * sizeof(u64));
	m->serials = zalloc(test, NUMBERS_MAX * sizeof(u64));
	m->used = zalloc(test, NUMBERS_MAX * sizeof(u32));
	m->first_number = number;
	m->head = number * SUBBUF_SIZE;
	control = m->ring.control;
	control->head = m->head;
	for (i = number < SUBBUFS ? 0 : number - SUBBUFS; i < number; i++)
		control->committed[i % SUBBUFS] = (i / SUBBUFS + 1) * SUBBUF_SIZE;
	return m;
}

/* Whether a writer is still in the memory of sub-buffer `number`. */
static bool model__is_held(const struct model *m, u64 number)
{
	u32 i;

	for (i = 0; i < m->n; i++)
		if (m->writers[i].subbuf % SUBBUFS == number % SUBBUFS)
			return true;
	return false;
}

/* Where the ring should place `size` bytes; false: nowhere. */
static bool model__place(struct model *m, u32 size, u64 *ret_at)
{
	u32 filled = m->head % SUBBUF_SIZE;
	u64 next = DIV_ROUND_UP(m->head, SUBBUF_SIZE);

	if (filled && filled + size <= SUBBUF_SIZE) {
		*ret_at = m->head;
		return true;
	}
	if (model__is_held(m, next))
		return false;
	*ret_at = next * SUBBUF_SIZE + HEADER;
	return true;
}

static void note__write(void *at, u32 size, u64 serial)
{
	struct note *note = at;
	u32 i;

	note->size = size;
	note->serial = serial;
	for (i = 0; i < size / 8 - 2; i++)
		note->rest[i] = serial * 31 + i;
}

static bool note__is(const struct note *note, u64 serial)
{
	u32 i;

	for (i = 0; i < note->size / 8 - 2; i++)
		if (note->rest[i] != serial * 31 + i)
			return false;
	return note->serial == serial;
}

/* Reserves as the model predicts; adds the new writer as the last one. False: -ENOSPC. */
static bool model__reserve(struct kunit *test, struct model *m, u32 size)
{
	struct ring *ring = &m->ring;
	struct ring_slot slot;
	u64 at, number, old;
	bool place = model__place(m, size, &at);

	KUNIT_ASSERT_EQ(test, ring__reserve(ring, size, &slot), place ? 0 : -ENOSPC);
	m->lost += !place;
	KUNIT_ASSERT_EQ(test, ring->control->lost, m->lost);
	if (place) {
		number = at / SUBBUF_SIZE - m->first_number;
		KUNIT_ASSERT_LT(test, number, NUMBERS_MAX);
		if (at != m->head) {
			old = m->head / SUBBUF_SIZE - m->first_number;
			if (m->head % SUBBUF_SIZE)
				m->used[old] = m->head % SUBBUF_SIZE;
			m->begins[number] = m->serial;
		}
		KUNIT_ASSERT_EQ(test, slot.size, size);
		KUNIT_ASSERT_EQ(test, slot.index, at / SUBBUF_SIZE % SUBBUFS);
		KUNIT_ASSERT_PTR_EQ(test, slot.at, ring->bytes + at % (SUBBUFS * SUBBUF_SIZE));
		m->head = at + size;
		if (m->head % SUBBUF_SIZE == 0)
			m->used[number] = SUBBUF_SIZE;
		m->serials[number]++;
		m->writers[m->n++] = (struct writer){ slot, m->serial++, at / SUBBUF_SIZE };
	}
	KUNIT_ASSERT_EQ(test, ring->control->head, m->head);
	return place;
}

/* Writes and commits one reservation. */
static void model__commit(struct model *m, u32 which)
{
	struct writer *writer = &m->writers[which];

	note__write(writer->slot.at, writer->slot.size, writer->serial);
	ring__commit(&m->ring, &writer->slot);
	*writer = m->writers[--m->n];
}

static bool model__put(struct kunit *test, struct model *m, u32 size)
{
	if (!model__reserve(test, m, size))
		return false;
	model__commit(m, m->n - 1);
	return true;
}

/* The notes of sub-buffer `number` up to `end` equal the model's. */
static void reader__check(struct kunit *test, const struct model *m, u64 number, u32 end)
{
	const u8 *bytes = m->ring.bytes + number % SUBBUFS * SUBBUF_SIZE;
	u64 i = number - m->first_number, serial = m->begins[i];
	const struct note *note;
	u32 at;

	KUNIT_ASSERT_EQ(test, ((const struct gt_subbuf *)bytes)->number, number);
	for (at = HEADER; at < end; at += note->size) {
		note = (const void *)(bytes + at);
		KUNIT_ASSERT_GE(test, note->size, sizeof(*note));
		KUNIT_ASSERT_LE(test, at + note->size, end);
		KUNIT_ASSERT_TRUE(test, note__is(note, serial));
		serial++;
	}
	KUNIT_ASSERT_EQ(test, at, end);
	KUNIT_ASSERT_EQ(test, serial, m->begins[i] + m->serials[i]);
}

/*
 * Reads all sub-buffers in memory: those without a writer are complete and have all records.
 * Returns the number of complete ones; *ret_filled: bytes of the newest if it is not full, but
 * complete.
 */
static u32 reader__read(struct kunit *test, const struct model *m, u32 *ret_filled)
{
	const struct gt_ring_control *control = m->ring.control;
	u64 newest = control->head / SUBBUF_SIZE, number = m->first_number, laps;
	u32 filled = control->head % SUBBUF_SIZE, whole = 0;
	const struct gt_subbuf *subbuf;
	bool held;

	*ret_filled = 0;
	if (newest >= SUBBUFS && newest - SUBBUFS + !!filled > number)
		number = newest - SUBBUFS + !!filled;
	for (; number <= newest; number++) {
		if (number == newest && !filled)
			break;
		held = model__is_held(m, number);
		laps = number / SUBBUFS * SUBBUF_SIZE;
		subbuf = (const void *)(m->ring.bytes + number % SUBBUFS * SUBBUF_SIZE);
		if (number < newest) {
			KUNIT_ASSERT_EQ(test, held,
					control->committed[number % SUBBUFS] != laps + SUBBUF_SIZE);
			if (held)
				continue;
			KUNIT_ASSERT_EQ(test, subbuf->used, m->used[number - m->first_number]);
			reader__check(test, m, number, subbuf->used);
			whole++;
		} else {
			KUNIT_ASSERT_EQ(test, held,
					control->committed[number % SUBBUFS] != laps + filled);
			if (held)
				continue;
			reader__check(test, m, number, filled);
			*ret_filled = filled;
		}
	}
	return whole;
}

static u32 some_size(u64 *seed, u32 limit)
{
	return sizeof(struct note) + 8 * random__below(seed, (limit - sizeof(struct note)) / 8 + 1);
}

static void refuses_sizes(struct kunit *test)
{
	struct model *m = model__create(test, 0);
	static const u32 sizes[] = { 0,		  1,	       4,
				     9,		  23,	       LARGEST + 1,
				     LARGEST + 8, SUBBUF_SIZE, SUBBUF_SIZE + 8,
				     1u << 31,	  ~7u,	       ~0u };
	struct ring_slot slot;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		KUNIT_EXPECT_EQ(test, ring__reserve(&m->ring, sizes[i], &slot), -EINVAL);
	KUNIT_EXPECT_EQ(test, m->ring.control->head, 0);
	KUNIT_EXPECT_EQ(test, m->ring.control->lost, 0);
}

static void first_record(struct kunit *test)
{
	struct model *m = model__create(test, 0);
	u32 filled;

	KUNIT_EXPECT_EQ(test, reader__read(test, m, &filled), 0);
	KUNIT_EXPECT_EQ(test, filled, 0);
	KUNIT_EXPECT_TRUE(test, model__reserve(test, m, 48));
	KUNIT_EXPECT_EQ(test, m->ring.control->committed[0], HEADER);
	KUNIT_EXPECT_EQ(test, reader__read(test, m, &filled), 0);
	KUNIT_EXPECT_EQ(test, filled, 0);
	model__commit(m, 0);
	KUNIT_EXPECT_EQ(test, m->ring.control->committed[0], HEADER + 48);
	KUNIT_EXPECT_EQ(test, reader__read(test, m, &filled), 0);
	KUNIT_EXPECT_EQ(test, filled, HEADER + 48);
}

/* The last record ends with its sub-buffer: there is no padding. */
static void fills_exactly(struct kunit *test)
{
	struct model *m = model__create(test, 0);
	const struct gt_subbuf *subbuf = (const void *)m->ring.bytes;
	u32 filled;

	KUNIT_EXPECT_TRUE(test, model__put(test, m, LARGEST / 2));
	KUNIT_EXPECT_EQ(test, subbuf->used, 0);
	KUNIT_EXPECT_TRUE(test, model__reserve(test, m, LARGEST / 2));
	KUNIT_EXPECT_EQ(test, subbuf->used, SUBBUF_SIZE);
	KUNIT_EXPECT_EQ(test, reader__read(test, m, &filled), 0);
	model__commit(m, 0);
	KUNIT_EXPECT_EQ(test, m->ring.control->committed[0], SUBBUF_SIZE);
	KUNIT_EXPECT_EQ(test, reader__read(test, m, &filled), 1);
	KUNIT_EXPECT_EQ(test, m->ring.control->committed[1], 0);
	/* a record that fills a whole sub-buffer */
	KUNIT_EXPECT_TRUE(test, model__put(test, m, LARGEST));
	KUNIT_EXPECT_EQ(test, m->ring.control->head, 2 * SUBBUF_SIZE);
	KUNIT_EXPECT_EQ(test, reader__read(test, m, &filled), 2);
	KUNIT_EXPECT_EQ(test, filled, 0);
}

static void pads(struct kunit *test)
{
	struct model *m = model__create(test, 0);
	const struct gt_subbuf *subbuf = (const void *)m->ring.bytes;
	u32 filled;

	KUNIT_EXPECT_TRUE(test, model__put(test, m, LARGEST - 8));
	KUNIT_EXPECT_EQ(test, m->ring.control->committed[0], SUBBUF_SIZE - 8);
	KUNIT_EXPECT_TRUE(test, model__put(test, m, 16));
	KUNIT_EXPECT_EQ(test, subbuf->used, SUBBUF_SIZE - 8);
	KUNIT_EXPECT_EQ(test, m->ring.control->committed[0], SUBBUF_SIZE);
	KUNIT_EXPECT_EQ(test, m->ring.control->committed[1], HEADER + 16);
	KUNIT_EXPECT_EQ(test, reader__read(test, m, &filled), 1);
	KUNIT_EXPECT_EQ(test, filled, HEADER + 16);
}

/* Sub-buffers filled before, so that bytes and then sub-buffers exceed 2^32. */
static const u64 first_numbers[] = {
	0,
	(1ull << 32) / SUBBUF_SIZE - 2 * SUBBUFS,
	(1ull << 32) - 2 * SUBBUFS,
	(1ull << 32) * SUBBUFS - 3 * SUBBUFS + 1,
	(1ull << 53) - NUMBERS_MAX,
};

static void first_number__say(const u64 *number, char *ret)
{
	snprintf(ret, KUNIT_PARAM_DESC_SIZE, "after %#llx", *number);
}

KUNIT_ARRAY_PARAM(first_number, first_numbers, first_number__say);

/* Many laps: the newest sub-buffers are complete, except for the one with the head. */
static void overwrites_oldest(struct kunit *test)
{
	struct model *m = model__create(test, *(const u64 *)test->param_value);
	u64 seed = 1 + m->first_number;
	u32 i, size, filled, whole;

	for (i = 0; i < 30000; i++) {
		size = some_size(&seed, i % 64 ? 200 : LARGEST);
		KUNIT_ASSERT_TRUE(test, model__put(test, m, size));
		whole = reader__read(test, m, &filled);
		if (m->head > (m->first_number + SUBBUFS) * SUBBUF_SIZE)
			KUNIT_ASSERT_EQ(test, whole, filled ? SUBBUFS - 1 : SUBBUFS);
	}
	KUNIT_EXPECT_GT(test, m->head / SUBBUF_SIZE - m->first_number, 50 * SUBBUFS);
	KUNIT_EXPECT_EQ(test, m->ring.control->lost, 0);
}

/* A writer interrupted before its commit: others continue up to its sub-buffer in the next lap. */
static void waits_for_writer(struct kunit *test)
{
	struct model *m = model__create(test, *(const u64 *)test->param_value);
	u32 i, filled, room;
	u64 head;

	KUNIT_ASSERT_TRUE(test, model__put(test, m, 64));
	KUNIT_ASSERT_TRUE(test, model__reserve(test, m, 64));
	for (i = 0; model__put(test, m, 80); i++)
		KUNIT_ASSERT_LT(test, i, SUBBUFS * SUBBUF_SIZE / 80);
	head = m->head;
	KUNIT_EXPECT_EQ(test, head / SUBBUF_SIZE, m->first_number + SUBBUFS - 1);
	KUNIT_EXPECT_EQ(test, m->ring.control->lost, 1);
	KUNIT_EXPECT_EQ(test, reader__read(test, m, &filled), SUBBUFS - 2);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_FALSE(test, model__put(test, m, LARGEST));
	KUNIT_EXPECT_EQ(test, m->head, head);
	KUNIT_EXPECT_EQ(test, m->ring.control->lost, 11);
	/* what fits before that sub-buffer is still accepted */
	room = SUBBUF_SIZE - head % SUBBUF_SIZE;
	KUNIT_ASSERT_GE(test, room, sizeof(struct note));
	KUNIT_EXPECT_TRUE(test, model__put(test, m, room));
	KUNIT_EXPECT_FALSE(test, model__put(test, m, 16));
	KUNIT_EXPECT_EQ(test, reader__read(test, m, &filled), SUBBUFS - 1);
	model__commit(m, 0);
	KUNIT_EXPECT_EQ(test, reader__read(test, m, &filled), SUBBUFS);
	for (i = 0; i < 100; i++) {
		KUNIT_EXPECT_TRUE(test, model__put(test, m, 80));
		reader__read(test, m, &filled);
	}
	KUNIT_EXPECT_EQ(test, m->ring.control->lost, 12);
}

/* Writers that are interrupted by others, and commit in any order. */
static void writers_in_any_order(struct kunit *test)
{
	struct model *m = model__create(test, *(const u64 *)test->param_value);
	u64 seed = 77 + m->first_number, stored = 0;
	u32 i, filled;

	for (i = 0; i < 40000; i++) {
		if (m->n < WRITERS_MAX && random__below(&seed, 100) < 52)
			stored += model__reserve(test, m, some_size(&seed, i % 32 ? 160 : LARGEST));
		else if (m->n)
			model__commit(m, random__below(&seed, m->n));
		reader__read(test, m, &filled);
	}
	KUNIT_EXPECT_GT(test, m->ring.control->lost, 100);
	KUNIT_EXPECT_GT(test, stored, 5000);
	while (m->n)
		model__commit(m, m->n - 1);
	for (i = 0; i < SUBBUFS + 1; i++)
		KUNIT_EXPECT_TRUE(test, model__put(test, m, LARGEST));
	KUNIT_EXPECT_EQ(test, reader__read(test, m, &filled), SUBBUFS);
}

/* The first writer of a sub-buffer commits after others have filled and left it. */
static void first_commits_last(struct kunit *test)
{
	struct model *m = model__create(test, 3 * SUBBUFS);
	const struct gt_subbuf *subbuf = (const void *)m->ring.bytes;
	u32 filled;

	KUNIT_ASSERT_TRUE(test, model__reserve(test, m, 32));
	while (m->head / SUBBUF_SIZE == m->first_number)
		KUNIT_ASSERT_TRUE(test, model__put(test, m, 96));
	KUNIT_EXPECT_EQ(test, subbuf->number, 3 * SUBBUFS);
	KUNIT_EXPECT_EQ(test, subbuf->used, m->used[0]);
	KUNIT_EXPECT_EQ(test, reader__read(test, m, &filled), 0);
	model__commit(m, 0);
	KUNIT_EXPECT_EQ(test, reader__read(test, m, &filled), 1);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(refuses_sizes),
	KUNIT_CASE(first_record),
	KUNIT_CASE(fills_exactly),
	KUNIT_CASE(pads),
	KUNIT_CASE(first_commits_last),
	KUNIT_CASE_PARAM(overwrites_oldest, first_number_gen_params),
	KUNIT_CASE_PARAM(waits_for_writer, first_number_gen_params),
	KUNIT_CASE_PARAM(writers_in_any_order, first_number_gen_params),
	{},
};

static struct kunit_suite ring_suite = {
	.name = "gotrace_ring",
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
