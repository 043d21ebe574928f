// SPDX-License-Identifier: GPL-2.0
/* Sets of IDs: against an array, at both ends of the range, and with IDs that are far apart. */
#include "unit/test.h"
#include "reader/id_set.h"

TEST(against_an_array)
{
	static bool model[3000];
	struct id_set set = {};

	for (uint64_t i = 0, id = 1; i < 1500; i++, id = id * 7 % 2999) {
		assert_int_equal(id_set__has(&set, id), model[id]);
		assert_int_equal(id_set__add(&set, id), 0);
		model[id] = true;
	}
	for (uint64_t id = 0; id < 3000; id++)
		assert_int_equal(id_set__has(&set, id), model[id]);
	id_set__deinit(&set);
}

TEST(ends_of_the_range)
{
	struct id_set set = {};

	assert_false(id_set__has(&set, 0));
	assert_int_equal(id_set__add(&set, 0), 0);
	assert_int_equal(id_set__add(&set, UINT64_MAX), 0);
	assert_true(id_set__has(&set, 0));
	assert_true(id_set__has(&set, UINT64_MAX));
	assert_false(id_set__has(&set, 1));
	assert_false(id_set__has(&set, UINT64_MAX - 1));
	id_set__deinit(&set);
}

/* Each needs a bitmap of its own: the last ones are kept, and no more than twice as many. */
TEST(far_apart)
{
	const uint64_t n = 5 * ID_SET_BITMAPS / 2, step = 1ull << 40;
	struct id_set set = {};

	for (uint64_t i = 1; i <= n; i++) {
		assert_int_equal(id_set__add(&set, i * step), 0);
		assert_true(set.recent.n + set.older.n <= 2 * ID_SET_BITMAPS);
	}
	for (uint64_t i = n - ID_SET_BITMAPS + 1; i <= n; i++)
		assert_true(id_set__has(&set, i * step));
	assert_false(id_set__has(&set, step));
	id_set__deinit(&set);
}
