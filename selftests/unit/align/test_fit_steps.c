// SPDX-License-Identifier: GPL-2.0
/* The steps of a fit: the nearest switch, runs that both sides hold, and which matches count. */
#include "unit/test.h"
#include "align/fit.h"
#include "align/fit_impl.h"

#define RUN_MIN 3 /* switches of the shortest run that counts */

static struct fit_sides sides;

static void teardown(void)
{
	fit_sides__deinit(&sides);
}

FIXTURE(NULL, teardown)

static void init(const struct fit_switch *ours, size_t nours, const struct fit_switch *theirs,
		 size_t ntheirs)
{
	assert_int_equal(fit_sides__init(&sides, ours, nours, theirs, ntheirs), 0);
}

/* Of key 0 of theirs; 0: none is that near. */
static uint64_t nearest(uint64_t time, uint64_t slack)
{
	uint64_t found = 0;

	return fit_side__nearest(&sides.theirs, 0, time, slack, &found) ? found : 0;
}

TEST(the_nearest_switch)
{
	static const struct fit_switch ours[] = { { 50, 1, 2, 0 } };
	static const struct fit_switch theirs[] = {
		{ 50, 9, 9, 0 },  { 100, 1, 2, 0 }, { 140, 9, 9, 0 }, { 200, 1, 2, 0 },
		{ 300, 1, 2, 0 }, { 310, 9, 9, 0 }, { 990, 1, 3, 0 },
	};

	init(ours, 1, theirs, 7);
	assert_int_equal(nearest(100, 0), 100);
	assert_int_equal(nearest(99, 0), 0);
	assert_int_equal(nearest(99, 1), 100);
	assert_int_equal(nearest(90, 9), 0);
	assert_int_equal(nearest(90, 10), 100);
	assert_int_equal(nearest(149, 1000), 100);
	assert_int_equal(nearest(150, 1000), 200); /* of two the later one */
	assert_int_equal(nearest(151, 1000), 200);
	assert_int_equal(nearest(249, 1000), 200);
	assert_int_equal(nearest(310, 9), 0);
	assert_int_equal(nearest(310, 10), 300);
	assert_int_equal(nearest(5000, UINT64_MAX), 300);
	assert_int_equal(nearest(0, UINT64_MAX), 100);
}

/* A key that only one side has is near to nothing on the other. */
TEST(keys_of_one_side)
{
	static const struct fit_switch ours[] = { { 50, 1, 2, 0 }, { 60, 1, 2, 1 } };
	static const struct fit_switch theirs[] = { { 50, 1, 2, 0 }, { 60, 2, 1, 0 } };
	uint64_t found;

	init(ours, 2, theirs, 2);
	assert_int_equal(sides.keys.n, 3);
	assert_true(fit_side__nearest(&sides.theirs, sides.ours.key[0], 50, 0, &found));
	assert_false(fit_side__nearest(&sides.theirs, sides.ours.key[1], 60, 1000, &found));
	assert_false(fit_side__nearest(&sides.ours, sides.theirs.key[1], 60, 1000, &found));
}

/* A run is of one CPU: `each` switches on each of two, the same on both sides, `ahead` apart. */
TEST(runs_of_cpus)
{
	enum { EACH = 6 };
	struct fit_switch ours[2 * EACH], theirs[2 * EACH];
	struct fit_candidate *found;
	size_t n;

	for (uint32_t i = 0; i < 2 * EACH; i++) {
		ours[i] = (struct fit_switch){ 1000000 + 100000 * i + i * i * 1000, 100 + i,
					       200 + i, i % 2 };
		theirs[i] = ours[i];
		theirs[i].time += 777;
	}
	init(ours, 2 * EACH, theirs, 2 * EACH);
	assert_int_equal(fit_runs__find(&sides, &found, &n), 0);
	assert_int_equal(n, 2 * (EACH - RUN_MIN + 1));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(found[i].offset, -777);
	free(found);
}

/* What is farther from the line than 50 us is another switch. */
TEST_WITH(how_far_a_match_may_be, NULL, NULL)
{
	static const uint64_t away[] = { 0, 10, 5000, 50000, 50001 };
	enum { N = sizeof(away) / sizeof(*away) };
	struct fit_switch ours[N + 2], theirs[N + 2];
	struct fit fit;

	for (uint32_t i = 0; i < N + 2; i++) {
		ours[i] = (struct fit_switch){ 1000000 * (i + 1), 0, 100 + i, 0 };
		theirs[i] = ours[i];
		if (i && i <= N)
			theirs[i].time += away[i - 1];
	}
	assert_int_equal(fit__compare(&fit, ours, N + 2, theirs, N + 2), 0);
	assert_int_equal(fit.matched, N + 1);
	assert_int_equal(fit.in_ours, N + 2);
	assert_int_equal(fit.in_theirs, N + 2);
	assert_int_equal(fit.max, 50000);
	assert_int_equal(fit.p99, 50000);
	assert_int_equal(fit.p50, 10);
}

/* Fewer than 32 switches of either side say nothing. */
TEST_WITH(few_switches, NULL, NULL)
{
	struct fit_switch ours[32], theirs[32];

	for (uint32_t i = 0; i < 32; i++) {
		ours[i] = (struct fit_switch){ 1000000 * i + i * i % 97 * 1000, 100 + i, 0, 0 };
		theirs[i] = ours[i];
		theirs[i].time += 5000000000;
	}
	for (unsigned int lack = 0; lack < 4; lack++) {
		struct error err = {};
		struct fit fit;

		assert_int_equal(fit__clock(&fit, ours, 32 - lack % 2, theirs, 32 - lack / 2, &err),
				 lack ? -ENODATA : 0);
		if (!lack)
			assert_int_equal(fit__offset(&fit), -5000000000);
	}
}
