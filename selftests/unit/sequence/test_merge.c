// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of merging rings into one stream: order, watermark, gaps, and freeing of memory. Under
 * test: sequence/merge.c.
 */
#include "unit/test.h"
#include "gotrace/config.h"
#include "sequence/merge.h"

static struct merge *m;

static void setup(void)
{
	m = merge__create();
	assert_non_null(m);
}

static void teardown(void)
{
	merge__destroy(m);
}

FIXTURE(setup, teardown)

static int put_at(unsigned int ring, uint64_t time, uint32_t seq)
{
	struct {
		struct gt_record rec;
		struct gt_execute x;
	} r = {
		.rec = { .time = time, .tid = ring + 1, .kind = GT_EXECUTE, .seq = seq },
		.x = { time },
	};

	return merge__put(m, ring, &r.rec, sizeof(r));
}

static void expect_times(uint64_t watermark, const uint64_t *times, size_t n)
{
	const struct gt_record *rec;

	for (size_t i = 0; i < n; i++) {
		rec = merge__next(m, watermark);
		assert_non_null(rec);
		assert_int_equal(rec->time, times[i]);
		assert_int_equal(((const struct gt_execute *)(rec + 1))->goid, times[i]);
	}
	assert_null(merge__next(m, watermark));
}

TEST(orders_by_time)
{
	put_at(0, 10, 0);
	put_at(0, 40, 1);
	put_at(1, 30, 0);
	put_at(1, 20, 1); /* swapped with its neighbour */
	put_at(5, 5, 0);
	expect_times(100, (uint64_t[]){ 5, 10, 20, 30, 40 }, 5);
}

/* At equal times the records of the first ring come first, each ring's in its own order. */
TEST(equal_times)
{
	const struct gt_record *rec;

	for (unsigned int ring = 6; ring-- > 0;) {
		put_at(ring, 10, 0);
		put_at(ring, 10, 1);
	}
	for (unsigned int i = 0; i < 12; i++) {
		rec = merge__next(m, 10);
		assert_non_null(rec);
		assert_int_equal(rec->tid, i / 2 + 1);
		assert_int_equal(rec->seq, i % 2);
	}
	assert_null(merge__next(m, 10));
}

TEST(stops_at_the_watermark)
{
	put_at(0, 10, 0);
	put_at(0, 30, 1);
	put_at(1, 20, 0);
	expect_times(9, NULL, 0);
	expect_times(20, (uint64_t[]){ 10, 20 }, 2);
	merge__trim(m);
	put_at(1, 25, 1);
	expect_times(30, (uint64_t[]){ 25, 30 }, 2);
}

/* A record later than its watermark is still returned. */
TEST(late_ones_come_next)
{
	put_at(0, 10, 0);
	expect_times(50, (uint64_t[]){ 10 }, 1);
	put_at(0, 60, 2);
	put_at(0, 5, 1);
	expect_times(100, (uint64_t[]){ 5, 60 }, 2);
}

TEST(counts_holes)
{
	assert_int_equal(merge__holes(m), 0);
	put_at(0, 1, 7); /* the first number need not be 0 */
	put_at(0, 2, 9);
	put_at(0, 3, 8); /* out of order is no gap */
	assert_int_equal(merge__holes(m), 0);
	put_at(0, 4, 12);
	assert_int_equal(merge__holes(m), 2);
	merge__count(m, 0, &(struct gt_record){ .time = 11, .seq = 11 });
	assert_int_equal(merge__holes(m), 1);
	put_at(1, 5, UINT32_MAX); /* the number wraps */
	put_at(1, 6, 1);
	assert_int_equal(merge__holes(m), 2);
	put_at(0, 7, 6); /* one before the first */
	assert_int_equal(merge__holes(m), 2);
}

static void expect_gap(uint64_t watermark, uint64_t count, uint64_t from, uint64_t to)
{
	struct merge_gap gap = {};

	assert_true(merge__gap(m, watermark, &gap));
	assert_int_equal(gap.count, count);
	assert_int_equal(gap.from, from);
	assert_int_equal(gap.to, to);
}

/* A gap is reported when missing numbers would have arrived; numbers may be slightly late. */
TEST(reports_gaps)
{
	enum { MS = 1000000 };
	struct merge_gap gap;

	put_at(0, 1 * MS, 0);
	put_at(0, 2 * MS, 5); /* 1 to 4 */
	put_at(0, 2 * MS + 1, 2);
	put_at(1, 2 * MS, 0);
	put_at(1, 3 * MS, 2);
	put_at(1, 3 * MS, 1); /* only late */
	assert_false(merge__gap(m, 2 * MS, &gap));
	expect_gap(3 * MS, 1, 1 * MS, 2 * MS);
	expect_gap(3 * MS, 2, 1 * MS, 2 * MS);
	assert_false(merge__gap(m, UINT64_MAX, &gap));
	put_at(0, 9 * MS, 8);
	assert_false(merge__gap(m, 9 * MS, &gap));
	expect_gap(UINT64_MAX, 2, 2 * MS + 1, 9 * MS);
}

/* So many gaps at once that they are reported as one. */
TEST(reports_many_gaps_as_one)
{
	struct merge_gap gap;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < 2000; i++)
		put_at(0, i, i * 3);
	while (merge__gap(m, UINT64_MAX, &gap)) {
		assert_true(gap.from < gap.to);
		sum += gap.count;
	}
	assert_int_equal(sum, 1999 * 2);
	assert_int_equal(merge__holes(m), sum);
}

TEST(refuses_rings_out_of_range)
{
	assert_true(put_at(GT_RINGS_ALL, 1, 0) < 0);
	assert_int_equal(put_at(GT_RINGS_ALL - 1, 1, 0), 0);
}

/* Memory is limited to queued records, also if one record is never returned. */
TEST(frees_memory)
{
	uint64_t time = 0;

	put_at(0, UINT64_MAX - 1, 0);
	for (unsigned int round = 0; round < 500; round++) {
		for (unsigned int i = 0; i < 200; i++)
			put_at(i % 3, ++time, 0);
		for (unsigned int i = 0; i < 200; i++)
			assert_non_null(merge__next(m, time));
		assert_null(merge__next(m, time));
		merge__trim(m);
	}
	assert_in_range(merge__memory(m), 1, 1u << 20);
	expect_times(UINT64_MAX, (uint64_t[]){ UINT64_MAX - 1 }, 1);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

TEST(random_streams)
{
	enum { N = 5000 };
	static uint64_t times[N];

	srandom(7);
	for (unsigned int i = 0; i < N; i++) {
		times[i] = 1000 + i * 10 + random() % 200;
		assert_int_equal(put_at(random() % 7, times[i], i), 0);
	}
	qsort(times, N, sizeof(times[0]), compare);
	for (unsigned int i = 0; i < N; i++) {
		const struct gt_record *rec = merge__next(m, times[i]);

		assert_non_null(rec);
		assert_int_equal(rec->time, times[i]);
		if (random() % 20 == 0)
			merge__trim(m);
	}
	assert_null(merge__next(m, UINT64_MAX));
}

/* A thread's next hit, in whichever ring; once it is taken, it is not returned again. */
TEST(looks_ahead)
{
	struct gt_record *rec;
	uint64_t left = 100;

	for (unsigned int i = 0; i < 3; i++) {
		put_at(0, 10 + i, i);
		put_at(1, 20 + i, i);
	}
	expect_times(10, (uint64_t[]){ 10 }, 1);
	assert_null(merge__ahead(m, 2, 19, &left));
	rec = merge__ahead(m, 2, 20, &left);
	assert_non_null(rec);
	assert_int_equal(rec->time, 20);
	merge__take(rec);
	assert_int_equal(merge__ahead(m, 2, 30, &left)->time, 21);
	assert_int_equal(merge__ahead(m, 1, 30, &left)->time, 11);
	left = 6;
	assert_null(merge__ahead(m, 3, 30, &left));
	assert_int_equal(left, 1);		    /* 11, 12, 20 (taken), 21 and 22 */
	assert_null(merge__ahead(m, 2, 30, &left)); /* would find 21 */
	assert_int_equal(left, 0);
	left = 100;
	assert_true(merge__has(m, GT_EXECUTE, 0, 12));
	assert_false(merge__has(m, GT_EXECUTE, 0, 11));
	assert_false(merge__has(m, GT_PARK, 0, 12));
	expect_times(30, (uint64_t[]){ 11, 12, 21, 22 }, 4);
	merge__trim(m);
	assert_null(merge__ahead(m, 2, 30, &left));
}

static void put_of(unsigned int ring, uint64_t time, uint64_t object)
{
	struct {
		struct gt_record rec;
		struct gt_execute x;
	} r = { .rec = { .time = time, .tid = 7, .kind = GT_EXECUTE, .object = object } };

	assert_int_equal(merge__add(m, ring, &r.rec, sizeof(r)), 0);
}

/* A search begins in the ring of the last result, but the earliest hit counts, then the first ring. */
TEST(looks_ahead_in_all_rings)
{
	uint64_t left = 100;

	put_of(2, 30, 1);
	assert_int_equal(merge__ahead(m, 7, 50, &left)->object, 1);
	put_of(3, 30, 2);
	assert_int_equal(merge__ahead(m, 7, 50, &left)->object, 1);
	put_of(1, 30, 3);
	assert_int_equal(merge__ahead(m, 7, 50, &left)->object, 3);
	put_of(4, 20, 4);
	assert_int_equal(merge__ahead(m, 7, 50, &left)->object, 4);
}

/* Kernel events count, samples do not. */
TEST(latest_of_a_thread)
{
	struct gt_record on = { .time = 10, .tid = 7, .kind = GT_CPU_ON };
	struct {
		struct gt_record rec;
		struct gt_stack stack;
	} sample = { .rec = { .time = 12, .tid = 7, .kind = GT_SAMPLE } };

	assert_int_equal(merge__add(m, 0, &on, sizeof(on)), 0);
	assert_int_equal(merge__add(m, 0, &sample.rec, sizeof(sample)), 0);
	assert_int_equal(merge__time_after(m, 0, 7, 5), 10);
	assert_int_equal(merge__time_after(m, 0, 7, 11), 11);
	assert_int_equal(merge__time_after(m, 0, 8, 5), 5);
	assert_int_equal(merge__time_after(m, 1, 7, 5), 5);
}

TEST(rewinds)
{
	put_at(0, 10, 0);
	put_at(1, 11, 0);
	put_at(0, 12, 1);
	expect_times(11, (uint64_t[]){ 10, 11 }, 2);
	merge__rewind(m);
	expect_times(20, (uint64_t[]){ 10, 11, 12 }, 3);
}

TEST(is_crowded)
{
	uint64_t n = 0;

	for (; !merge__is_crowded(m); n++)
		put_at(0, n, (uint32_t)n);
	assert_in_range(n * (sizeof(struct gt_record) + sizeof(struct gt_execute) + 16),
			MERGE_BYTES_MAX / 2, MERGE_BYTES_MAX / 2 + 100);
}
