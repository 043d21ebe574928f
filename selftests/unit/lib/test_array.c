// SPDX-License-Identifier: GPL-2.0
/* Growable arrays: elements stay, capacities double, an impossible size changes nothing. */
#include "unit/test.h"
#include "lib/array.h"

TEST(elements_stay)
{
	uint32_t *v = NULL, reallocations = 0;
	size_t cap = 0, before;

	for (uint32_t i = 0; i < 100000; i++) {
		before = cap;
		assert_int_equal(array__grow(&v, i, &cap, sizeof(*v)), 0);
		assert_true(cap > i);
		reallocations += cap != before;
		v[i] = i;
	}
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(v[i], i);
	assert_in_range(reallocations, 1, 17);
	free(v);
}

/* n may be anywhere beyond the capacity, and the capacity need not be a power of two. */
TEST(by_many)
{
	char *v = NULL;
	size_t cap = 0;

	assert_int_equal(array__grow(&v, 999, &cap, 1), 0);
	assert_true(cap >= 1000);
	v[999] = 'x';
	cap = 1000;
	assert_int_equal(array__grow(&v, 999, &cap, 1), 0);
	assert_int_equal(cap, 1000);
	assert_int_equal(array__grow(&v, 1000, &cap, 1), 0);
	assert_int_equal(cap, 2000);
	assert_int_equal(v[999], 'x');
	free(v);
}

TEST(too_large)
{
	size_t cap = 0;
	char *v = NULL;

	assert_int_equal(array__grow(&v, SIZE_MAX - 1, &cap, 1), -ENOMEM);
	assert_int_equal(array__grow(&v, SIZE_MAX / 16, &cap, 32), -ENOMEM);
	assert_null(v);
	assert_int_equal(cap, 0);
}
