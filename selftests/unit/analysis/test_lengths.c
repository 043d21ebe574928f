// SPDX-License-Identifier: GPL-2.0
/* The distribution of durations: classes of length, extremes, shares and buckets. */
#include "unit/test.h"
#include "analysis/lengths.h"

TEST(none)
{
	struct lengths_bucket buckets[LENGTH_BUCKETS];
	struct lengths l = {};

	assert_int_equal(lengths__share(&l, 0.5), 0);
	assert_int_equal(lengths__buckets(&l, buckets), 0);
}

/* Classes ascend without a gap, and each length is near the middle of its class. */
TEST(classes)
{
	assert_int_equal(length_class__of(-5), 0);
	assert_int_equal(length_class__of(INT64_MIN), 0);
	assert_int_equal(length_class__of(0), 0);
	assert_int_equal(length_class__of(31), 31);
	assert_int_equal(length_class__of(32), 32);
	assert_int_equal(length_class__of(33), 32);
	assert_int_equal(length_class__of(34), 33);
	assert_int_equal(length_class__of(INT64_MAX), LENGTH_CLASSES - 1);
	for (uint32_t class = 0; class < LENGTH_CLASSES; class ++)
		assert_int_equal(length_class__of(length_class__middle(class)), class);
	for (int64_t ns = 1; ns < INT64_MAX / 3; ns = ns * 3 + 1) {
		double middle = (double)length_class__middle(length_class__of(ns));

		assert_true(middle <= 1.032 * (double)ns && middle >= 0.968 * (double)ns);
	}
}

TEST(one)
{
	struct lengths_bucket buckets[LENGTH_BUCKETS];
	struct lengths l = {};

	lengths__add(&l, 1000);
	assert_int_equal(l.count, 1);
	assert_int_equal(l.sum, 1000);
	assert_int_equal(l.min, 1000);
	assert_int_equal(l.max, 1000);
	assert_int_equal(lengths__share(&l, 0.5), 1000); /* not the middle of its class */
	assert_int_equal(lengths__share(&l, 0.99), 1000);
	assert_int_equal(lengths__buckets(&l, buckets), 1);
	assert_int_equal(buckets[0].from, 512);
	assert_int_equal(buckets[0].to, 1024);
	assert_int_equal(buckets[0].count, 1);
}

TEST(shares)
{
	struct lengths l = {};

	for (int64_t ns = 1; ns <= 20; ns++)
		lengths__add(&l, ns);
	assert_int_equal(l.sum, 210);
	assert_int_equal(lengths__share(&l, 0), 1);
	assert_int_equal(lengths__share(&l, 0.5), 10);
	assert_int_equal(lengths__share(&l, 0.51), 11);
	assert_int_equal(lengths__share(&l, 0.99), 20);
	assert_int_equal(lengths__share(&l, 1), 20);
}

TEST(buckets)
{
	static const struct lengths_bucket want[] = {
		{ 0, 1, 2 },  { 1, 2, 1 },   { 2, 4, 2 },   { 4, 8, 0 },
		{ 8, 16, 0 }, { 16, 32, 1 }, { 32, 64, 2 },
	};
	static const int64_t lengths[] = { 0, -1, 1, 2, 3, 31, 32, 63 };
	struct lengths_bucket got[LENGTH_BUCKETS];
	struct lengths l = {};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		lengths__add(&l, lengths[i]);
	assert_int_equal(l.min, 0);
	assert_int_equal(lengths__buckets(&l, got), sizeof(want) / sizeof(*want));
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		assert_int_equal(got[i].from, want[i].from);
		assert_int_equal(got[i].to, want[i].to);
		assert_int_equal(got[i].count, want[i].count);
	}
}

/* A hostile trace: sums do not wrap, and all buckets are there. */
TEST(extremes)
{
	struct lengths_bucket got[LENGTH_BUCKETS];
	struct lengths l = {};

	lengths__add(&l, INT64_MAX);
	lengths__add(&l, INT64_MAX);
	lengths__add(&l, 0);
	assert_int_equal(l.sum, INT64_MAX);
	assert_int_equal(lengths__share(&l, 0.99), length_class__middle(LENGTH_CLASSES - 1));
	assert_int_equal(lengths__buckets(&l, got), LENGTH_BUCKETS);
	assert_int_equal(got[0].count, 1);
	assert_int_equal(got[63].from, (int64_t)1 << 62);
	assert_int_equal(got[63].to, INT64_MAX);
	assert_int_equal(got[63].count, 2);
}
