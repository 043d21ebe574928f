// SPDX-License-Identifier: GPL-2.0
/* When the windows of a duty cycle begin, by either clock, and the timer for that. */
#include <poll.h>

#include "unit/test.h"
#include "capture/cycle.h"
#include "lib/clock.h"

#define MS 1000000ull

static uint64_t now = 5000 * MS, offset = 1700000000123ull * MS; /* CLOCK_REALTIME's */

uint64_t clock__now(void)
{
	return now;
}

uint64_t clock__wall_at(uint64_t mono)
{
	return mono + offset;
}

TEST(after_the_first)
{
	const struct cycle_opts opts = { .window_ns = MS, .period_ns = 100 * MS };

	assert_int_equal(cycle__next(&opts, 5000, 4000), 5000);
	assert_int_equal(cycle__next(&opts, 5000, 5000), 5000);
	assert_int_equal(cycle__next(&opts, 5000, 5001), 5000 + 100 * MS);
	assert_int_equal(cycle__next(&opts, 5000, 5000 + 100 * MS), 5000 + 100 * MS);
	assert_int_equal(cycle__next(&opts, 5000, 5000 + 250 * MS), 5000 + 300 * MS);
}

/* Whatever the first one was. */
TEST(by_the_wall_clock)
{
	const struct cycle_opts opts = { .window_ns = MS,
					 .period_ns = 1000 * MS,
					 .is_aligned = true };
	uint64_t next = cycle__next(&opts, 77, now);

	assert_int_equal(next, 5877 * MS);
	assert_int_equal((next + offset) % (1000 * MS), 0);
	assert_int_equal(cycle__next(&opts, 99, next), next);
	assert_int_equal(cycle__next(&opts, 99, next + 1), next + 1000 * MS);
	offset += 300 * MS;
	assert_int_equal(cycle__next(&opts, 77, now), 5577 * MS);
	offset -= 300 * MS;
}

/* The clocks are not those of the machine: both times have passed. */
TEST(timer)
{
	struct cycle_opts opts = { .window_ns = MS, .period_ns = 1000 * MS };
	struct pollfd fd = { .events = POLLIN };

	for (int aligned = 0; aligned < 2; aligned++) {
		opts.is_aligned = aligned;
		fd.fd = cycle__open_timer(&opts);
		assert_true(fd.fd >= 0);
		assert_int_equal(poll(&fd, 1, 0), 0);
		assert_int_equal(cycle__set_timer(fd.fd, &opts, 1), 0);
		assert_int_equal(poll(&fd, 1, 5000), 1);
		assert_false(cycle__clock_was_set(fd.fd));
		close(fd.fd);
	}
}
