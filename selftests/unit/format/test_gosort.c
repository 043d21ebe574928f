// SPDX-License-Identifier: GPL-2.0
/*
 * The sort with Go's order of equal times. The expected sums are those of slices.SortFunc of Go
 * 1.26 for the same numbers.
 */
#include "unit/test.h"
#include "format/gosort.h"

#define SUM_START 0xcbf29ce484222325u

static uint64_t seed;

static int64_t rnd(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((seed >> 33) % below);
}

static int64_t random_times(int64_t i, int64_t n)
{
	return rnd(1 << 30);
}

static int64_t four_times(int64_t i, int64_t n)
{
	return rnd(4);
}

static int64_t ascending(int64_t i, int64_t n)
{
	return i / 3;
}

static int64_t descending(int64_t i, int64_t n)
{
	return -i;
}

static int64_t one_of_50_misplaced(int64_t i, int64_t n)
{
	return i % 50 == 7 ? rnd((uint64_t)n) : i;
}

static int64_t up_and_down(int64_t i, int64_t n)
{
	return i < n - i ? i : n - i;
}

static int64_t all_equal(int64_t i, int64_t n)
{
	return 5;
}

static int64_t saw(int64_t i, int64_t n)
{
	return i % 7;
}

static int64_t the_last_misplaced(int64_t i, int64_t n)
{
	return i > n - 4 ? n / 2 : i;
}

static int64_t descending_pairs(int64_t i, int64_t n)
{
	return -i / 2;
}

static int64_t neighbours_swapped(int64_t i, int64_t n)
{
	return i ^ 1;
}

static int64_t spread(int64_t i, int64_t n)
{
	return i * 7919 % 101;
}

/* Sorts, and returns a hash of the resulting order and of `sum`. */
static uint64_t sum_sorted(struct gosort_item *item, size_t n, uint64_t sum)
{
	gosort(item, n);
	for (size_t i = 0; i < n; i++) {
		assert_true(!i || item[i - 1].time <= item[i].time);
		sum = (sum ^ (uintptr_t)item[i].what) * 0x100000001b3;
	}
	return sum;
}

TEST(order_equals_go)
{
	static const int64_t sizes[] = { 0,  1,	 2,   3,   12,	13,  20,   49,	 50,
					 51, 64, 100, 127, 128, 200, 1000, 5000, 100000 };
	static const struct {
		int64_t (*time)(int64_t i, int64_t n);
		uint64_t sum;
	} patterns[] = {
		{ random_times, 0x399194e8c0ee76da },
		{ four_times, 0x9020394e616bb9a6 },
		{ ascending, 0x4b0dbeed68fbb2de },
		{ descending, 0xf964024387386afa },
		{ one_of_50_misplaced, 0x829201b66cbaa2b8 },
		{ up_and_down, 0xe1dc75ec327dee50 },
		{ all_equal, 0x4b0dbeed68fbb2de },
		{ saw, 0xceb33889ba54c16 },
		{ the_last_misplaced, 0x4d48f4766891d310 },
		{ descending_pairs, 0xcf0fa2fe0e3dc444 },
		{ neighbours_swapped, 0x48fc824edf837e3c },
		{ spread, 0x585007b06a66a62c },
	};
	struct gosort_item *item = calloc(100000, sizeof(*item));

	for (size_t k = 0; k < sizeof(patterns) / sizeof(*patterns); k++) {
		uint64_t sum = SUM_START;

		seed = 42;
		for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
			for (int64_t i = 0; i < sizes[s]; i++)
				item[i] = (struct gosort_item){ patterns[k].time(i, sizes[s]),
								(void *)(uintptr_t)i };
			sum = sum_sorted(item, (size_t)sizes[s], sum);
		}
		assert_true(sum == patterns[k].sum);
	}
	free(item);
}

/* Input by McIlroy's adversary: each pivot is bad, until heap sort takes over. */
TEST(bad_pivots_use_heap_sort)
{
	static const uint8_t times[] = {
		6,  7,	9,  8,	10, 11, 12, 13, 15, 14, 16, 17, 19, 18, 0,  1,	38, 20, 21, 29,
		58, 52, 60, 53, 45, 49, 54, 50, 48, 2,	3,  56, 34, 24, 26, 55, 28, 30, 57, 32,
		22, 25, 27, 31, 4,  5,	23, 51, 47, 46, 33, 44, 43, 42, 41, 40, 39, 35, 37, 36
	};
	struct gosort_item item[sizeof(times)];

	for (size_t i = 0; i < sizeof(times); i++)
		item[i] = (struct gosort_item){ times[i], (void *)(uintptr_t)times[i] };
	sum_sorted(item, sizeof(times), SUM_START);
	for (size_t i = 0; i < sizeof(times); i++)
		assert_int_equal((uintptr_t)item[i].what, i < 59 ? i : 60);
}
