// SPDX-License-Identifier: GPL-2.0
/*
 * The TSC as CLOCK_MONOTONIC: segments of given pairs, compared with 128-bit arithmetic, and this
 * machine's clock, compared with the kernel's.
 */
#include <time.h>

#include <x86intrin.h>

#include "unit/test.h"
#include "inline/inline_clock.h"
#include "lib/clock.h"

#define HZ    2445404321ull
#define START 77123456789ull /* TSC of the first pair */

__extension__ typedef unsigned __int128 u128;

static struct inline_clock c;

static uint64_t linear(uint64_t tsc)
{
	return 5000000000ull + (uint64_t)((u128)(tsc - START) * 1000000000 / HZ);
}

/* Pairs on one line. */
static void add_pairs(unsigned int n, uint64_t apart)
{
	memset(&c, 0, sizeof(c));
	for (uint64_t i = 0; i < n; i++)
		inline_clock__add(&c, START + i * apart, linear(START + i * apart), 10);
}

static uint64_t random_number(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

static void assert_near(uint64_t got, uint64_t expected, uint64_t by)
{
	assert_in_range(got, expected - by, expected + by);
}

/* In all segments that are stored, whether or not the ring of pairs has wrapped. */
TEST(segments_are_exact)
{
	const unsigned int counts[] = { 2, 3, 255, 256, 257, 1000 };
	const uint64_t apart = HZ / 100;

	for (unsigned int i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		uint64_t n = counts[i], first = n > 256 ? n - 256 : 0;

		add_pairs(counts[i], apart);
		for (int k = 0; k < 2000; k++) {
			uint64_t tsc = START + first * apart +
				       random_number() % ((n - 1 - first) * apart + 1);

			assert_near(inline_clock__ns(&c, tsc), linear(tsc), 1);
		}
		assert_int_equal(inline_clock__ns(&c, START + (n - 1) * apart),
				 linear(START + (n - 1) * apart));
	}
	assert_in_range(inline_clock__error_ns(&c), 10, 11);
}

/* Segments of an hour: the slope has enough bits. */
TEST(long_segments_are_exact)
{
	const uint64_t apart = HZ * 3600;

	add_pairs(5, apart);
	for (int k = 0; k < 2000; k++) {
		uint64_t tsc = START + random_number() % (4 * apart);

		assert_near(inline_clock__ns(&c, tsc), linear(tsc), 1);
	}
}

TEST(each_segment_has_its_slope)
{
	memset(&c, 0, sizeof(c));
	inline_clock__add(&c, 1000, 10000, 3);
	inline_clock__add(&c, 2000, 11000, 3); /* 1 ns per cycle */
	inline_clock__add(&c, 3000, 13000, 3); /* 2 */
	assert_int_equal(inline_clock__error_ns(&c), 1000);
	inline_clock__add(&c, 4000, 13500, 3); /* 0.5 */
	assert_int_equal(inline_clock__error_ns(&c), 1500);
	assert_int_equal(inline_clock__ns(&c, 900), 9900);
	assert_near(inline_clock__ns(&c, 1500), 10500, 1);
	assert_near(inline_clock__ns(&c, 2500), 12000, 1);
	assert_near(inline_clock__ns(&c, 3500), 13250, 1);
	assert_near(inline_clock__ns(&c, 6000), 14500, 1);
}

TEST(hostile_times_saturate)
{
	add_pairs(3, HZ / 100);
	assert_int_equal(inline_clock__ns(&c, 0), 0);
	assert_true(inline_clock__ns(&c, UINT64_MAX) > 7000000000000000000ull);
	memset(&c, 0, sizeof(c));
	inline_clock__add(&c, 1000, UINT64_MAX - 3000, 0);
	inline_clock__add(&c, 2000, UINT64_MAX - 2000, 0);
	assert_int_equal(inline_clock__ns(&c, UINT64_MAX), UINT64_MAX);
}

TEST(bad_pairs_are_ignored)
{
	add_pairs(3, HZ / 100);
	inline_clock__add(&c, START, UINT64_MAX, 0);
	inline_clock__add(&c, START + HZ, 1, 0);
	inline_clock__add(&c, START + HZ / 50 + 1, linear(START + HZ / 50) + 1000,
			  0); /* too steep */
	assert_int_equal(c.n, 3);
	assert_in_range(inline_clock__error_ns(&c), 10, 11);
}

/* Through pairs with noise, across and around all of them. */
TEST(never_decreases)
{
	uint64_t tsc = START, last = 0, ns;

	memset(&c, 0, sizeof(c));
	for (int i = 0; i < 400; i++) {
		inline_clock__add(&c, tsc, linear(tsc) + random_number() % 200, 10);
		tsc += HZ / 1000;
	}
	for (uint64_t at = START; at < tsc + HZ / 10; at += random_number() % 1000) {
		ns = inline_clock__ns(&c, at);
		assert_true(ns >= last);
		last = ns;
	}
	for (unsigned int i = 0; i < INLINE_CLOCK_PAIRS; i++) {
		uint64_t at = c.pair[i].tsc;

		assert_int_equal(inline_clock__ns(&c, at), c.pair[i].ns);
		assert_true(inline_clock__ns(&c, at - 1) <= c.pair[i].ns);
		assert_true(inline_clock__ns(&c, at + 1) >= c.pair[i].ns);
	}
}

/* Compared with the kernel's clock, for 50 ms, or until this thread has had the CPU for two more pairs. */
TEST(follows_the_kernels_clock)
{
	struct error error = {};
	uint64_t until;
	unsigned int aux, good = 0, all = 0;

	if (inline_clock__init(&c, &error)) {
		assert_true(error.text[0]);
		skip();
	}
	assert_int_equal(c.n, 2);
	until = clock__now() + 50000000;
	while (clock__now() < until || c.n < 4) {
		uint64_t before, tsc, after, ns;

		inline_clock__sample(&c);
		before = clock__now();
		tsc = __rdtscp(&aux);
		after = clock__now();
		ns = inline_clock__ns(&c, tsc);
		good += ns + 1000 >= before && ns <= after + 1000;
		all++;
	}
	assert_true(good >= all - all / 50); /* the first slope is of 1 ms */
	assert_in_range(c.n, 4, 60);
}

TEST(pairs_are_a_millisecond_apart)
{
	struct timespec ms = { .tv_nsec = 1200000 };
	struct error error = {};
	uint64_t n;

	if (inline_clock__init(&c, &error))
		skip();
	for (int i = 0; i < 5; i++) {
		nanosleep(&ms, NULL);
		n = c.n;
		inline_clock__sample(&c);
		assert_int_equal(c.n, n + 1);
		inline_clock__sample(&c);
	}
	for (uint64_t i = 1; i < c.n; i++)
		assert_true(c.pair[i].ns - c.pair[i - 1].ns >= 1000000);
}
