// SPDX-License-Identifier: GPL-2.0
/*
 * Which losses are because the recorder got no CPU: by times and numbers of the kernel that the
 * test makes up.
 */
#include "unit/test.h"
#include "capture/starvation.h"
#include "lib/clock.h"

#define MS 1000000ull

/*
 * A drain at a time in ms, at which the thread has waited for so many ms for a CPU since it began.
 */
static void drain_at(struct starvation *s, uint64_t ms, uint64_t delay)
{
	starvation__note(s, ms * MS, delay == UINT64_MAX ? delay : delay * MS);
	s->drained = ms * MS;
}

static void losses_at(struct starvation *s, uint64_t ms, uint64_t count)
{
	starvation__losses(s, ms * MS, count);
}

/* Losses while it gets its CPU are others' fault. */
TEST(in_time)
{
	struct starvation s = { .fd = -1 };

	drain_at(&s, 1000, 500); /* before the first drain it may have waited as long as it likes */
	for (uint64_t ms = 1005; ms < 3000; ms += 5) {
		drain_at(&s, ms, 500 + (ms - 1000) / 3);
		losses_at(&s, ms, ms);
	}
	assert_int_equal(s.times, 0);
	assert_int_equal(s.lost, 0);
	assert_int_equal(s.counted, 2995);
}

TEST(starved)
{
	struct starvation s = { .fd = -1 };

	drain_at(&s, 1000, 0);
	losses_at(&s, 1000, 7); /* of before */
	drain_at(&s, 1300, 290);
	losses_at(&s, 1300, 107);
	assert_int_equal(s.times, 1);
	assert_int_equal(s.longest_ns, 290 * MS);
	assert_int_equal(s.lost, 100);
	drain_at(&s, 1305, 290);
	losses_at(&s, 2300, 127); /* within a second: the counters are read now and then */
	assert_int_equal(s.lost, 120);
	losses_at(&s, 2301, 177);
	assert_int_equal(s.lost, 120);
	drain_at(&s, 1340, 310); /* again, but not for as long */
	assert_int_equal(s.times, 2);
	assert_int_equal(s.longest_ns, 290 * MS);
	assert_int_equal(s.total_ns, 310 * MS);
	losses_at(&s, 1340, 177); /* no new ones */
	assert_int_equal(s.lost, 120);
}

/*
 * 20 ms and half of the time are the bounds; what it waited before the last drain does not count.
 */
TEST(bounds)
{
	static const struct {
		uint64_t gap, waited;
		int starved;
	} cases[] = {
		{ 19, 19, 0 },	 { 20, 10, 1 },	  { 20, 9, 0 },
		{ 300, 149, 0 }, { 300, 150, 1 }, { 300, 900, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct starvation s = { .fd = -1 };

		drain_at(&s, 1000, 100);
		drain_at(&s, 1000 + cases[i].gap, 100 + cases[i].waited);
		assert_int_equal(s.times, cases[i].starved);
		assert_true(s.longest_ns <= cases[i].gap * MS);
	}
}

/*
 * A recorder that worked, or slept, for long was not starved. Without the kernel's figures none is
 * reported as starved.
 */
TEST(late_for_other_reasons)
{
	struct starvation s = { .fd = -1 };

	drain_at(&s, 1000, 100);
	drain_at(&s, 2000, 110);
	losses_at(&s, 2000, 50);
	drain_at(&s, 3000, UINT64_MAX);
	losses_at(&s, 3000, 90);
	assert_int_equal(s.times, 0);
	assert_int_equal(s.lost, 0);
}

/* The kernel's number of this very thread. */
TEST(by_the_kernel)
{
	struct starvation s;

	starvation__init(&s);
	if (s.fd < 0)
		skip();
	starvation__drain(&s, clock__now());
	assert_int_not_equal(s.drained, 0);
	assert_int_equal(s.times, 0);
	starvation__drain(&s, s.drained + 3600000 * MS); /* an hour without a drain */
	assert_int_equal(s.times, 0);
	starvation__deinit(&s);
	assert_int_equal(s.fd, -1);
}
