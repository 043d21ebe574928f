// SPDX-License-Identifier: GPL-2.0
/*
 * The windows of a duty cycle: when each begins and ends, what is forgotten between two of them, and
 * what ends the recording. An attach takes 70 ms.
 */
#include "unit/test.h"
#include "unit/recorder_fixture.h"

#define LENGTH (50 * MS)
#define PERIOD (1000 * MS)

static int set_up_cycle(void **state)
{
	set_up(state);
	t.opts.cycle = (struct cycle_opts){ .window_ns = LENGTH, .period_ns = PERIOD };
	t.opts.duration_ns = 0;
	return 0;
}

FIXTURE(set_up_cycle, tear_down)

static void assert_windows(uint64_t first, unsigned int n)
{
	assert_int_equal(t.windows, n);
	for (unsigned int i = 0; i < n; i++) {
		assert_in_range(t.window[i].t0, first + i * PERIOD, first + i * PERIOD + MS / 10);
		assert_in_range(t.window[i].t1 - t.window[i].t0, LENGTH, LENGTH + MS);
	}
}

/* The programs are loaded once. The duration counts from the start of the first window. */
TEST(in_periods)
{
	t.opts.duration_ns = 3 * PERIOD + LENGTH / 2;
	add(T0 + 10 * MS, GT_PARK);
	add(T0 + LENGTH + 3 * MS / 2, GT_PARK); /* after the window: nothing of it is left */
	add(T0 + PERIOD + 10 * MS, GT_PARK);
	assert_int_equal(run(), 0);
	assert_int_equal(t.windows, 4);
	assert_int_equal(t.window[3].t1 - t.window[3].t0, LENGTH / 2);
	t.windows = 3;
	assert_windows(T0, 3);
	assert_int_equal(noted("open"), 1);
	assert_int_equal(noted("attach"), 4);
	assert_int_equal(noted("detach finish pause reset"), 4);
	assert_int_equal(noted("record"), 2);
	assert_int_equal(noted("memory"), 1);
	assert_int_equal(noted("symbols"), 1);
	assert_int_equal(t.committed, 0);
	assert_int_equal(t.stats.t0, T0);
	assert_int_equal(t.stats.windows, 4);
	assert_int_equal(t.stats.windows_missed, 0);
	assert_int_equal(t.stats.window_attach_min_ns, 70 * MS);
	assert_int_equal(t.stats.window_attach_median_ns, 70 * MS);
	assert_int_equal(t.stats.window_attach_max_ns, 70 * MS);
	assert_int_equal(t.stats.writer.events, 4 * 6); /* as the fake sink counts */
	assert_int_equal(t.stats.sequencer.corrected, 4 * 5);
}

/* The duration may end within the first window. */
TEST(cut)
{
	t.opts.duration_ns = LENGTH / 5;
	assert_int_equal(run(), 0);
	assert_int_equal(t.windows, 1);
	assert_in_range(t.window[0].t1 - t.window[0].t0, LENGTH / 5, LENGTH / 5 + MS);
}

/* The attach of the first aligned window takes longer than expected; it is as long as the others. */
TEST(aligned)
{
	t.opts.cycle.is_aligned = true;
	t.opts.duration_ns = PERIOD + 500 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.windows, 2);
	assert_in_range(t.window[0].t0, 6040 * MS, 6040 * MS + MS / 10);
	assert_in_range(t.window[0].t1 - t.window[0].t0, LENGTH, LENGTH + MS);
	assert_in_range(t.window[1].t0, 7000 * MS, 7000 * MS + MS / 10);
}

/* The recorder looks for the next window again; the distance to the one before does not count. */
TEST(clock_is_set)
{
	t.opts.cycle.is_aligned = true;
	t.opts.duration_ns = PERIOD;
	t.clock_set = 6500 * MS;
	t.clock_step = 700 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.windows, 2);
	assert_in_range(t.window[1].t0, 6700 * MS, 6700 * MS + MS / 10);
	assert_int_equal(t.stats.windows_missed, 0);
}

/* The time of a window has passed: it is left out, and the next ones keep their times. */
TEST(too_short)
{
	t.opts.cycle.period_ns = 60 * MS;
	t.opts.duration_ns = 1000 * MS;
	assert_int_equal(run(), 0);
	assert_true(t.windows >= 4 && t.windows <= 6);
	for (unsigned int i = 0; i < t.windows; i++)
		assert_true((t.window[i].t0 - T0) % (60 * MS) < MS / 10);
	assert_int_equal(t.windows + t.stats.windows_missed, 17); /* in 1000 ms, also at the end */
}

TEST(disk_is_slow)
{
	t.fulls = 2;
	t.opts.duration_ns = 3 * PERIOD;
	assert_int_equal(run(), 0);
	assert_int_equal(t.windows, 3);
	assert_int_equal(noted("attach"), 3);
}

TEST(process_ends)
{
	fake.exits = T0 + PERIOD + 500 * MS; /* between two windows */
	assert_int_equal(run(), 0);
	assert_windows(T0, 2);
	assert_int_equal(fake.now, fake.exits);
	assert_int_equal(t.committed, 0);
	fake_end();

	set_up_cycle(NULL);
	fake.exits = T0 + PERIOD + 20 * MS;
	assert_int_equal(run(), 0);
	assert_int_equal(t.windows, 2);
	assert_int_equal(t.window[1].t1, fake.exits);
	assert_int_equal(t.committed, 0);
}

TEST(other_program)
{
	t.replaced_at = T0 + 500 * MS;
	assert_int_equal(run(), 0);
	assert_windows(T0, 1);
	assert_int_equal(noted("attach"), 1);
	fake_end();

	set_up_cycle(NULL);
	add(T0 + PERIOD + 20 * MS, GT_EXEC);
	assert_int_equal(run(), 0);
	assert_int_equal(t.windows, 2);
	assert_int_equal(t.window[1].t1, T0 + PERIOD + 20 * MS);
}

TEST(failures)
{
	t.reset_error = -ENOMEM;
	assert_int_equal(run(), -ENOMEM);
	assert_windows(T0, 1);
	assert_int_equal(t.committed, -ENOMEM);
	fake_end();

	set_up_cycle(NULL);
	fake.attach_error = -EPERM;
	assert_int_equal(run(), -EPERM);
	assert_int_equal(t.windows, 0);
	assert_int_equal(t.committed, 1);
	fake_end();

	set_up_cycle(NULL);
	t.drain_fails = T0 + 200 * MS; /* the rings are emptied at the end of a window */
	t.opts.duration_ns = 3 * PERIOD;
	assert_int_equal(run(), -EIO);
	assert_int_equal(t.windows, 1);
}

TEST(keeps_what_attaches)
{
	t.opts.duration_ns = PERIOD;
	assert_int_equal(run(), 0);
	assert_int_equal(t.sample_period, 0);
	assert_int_equal(fake.kept, PRIVILEGE_READ);
	fake_end();

	set_up_cycle(NULL);
	t.opts.duration_ns = PERIOD;
	t.opts.sample_hz = 100;
	assert_int_equal(run(), 0);
	assert_int_equal(t.sample_period, 10000000);
	assert_true(t.throttles > 1);
	assert_int_equal(fake.kept, PRIVILEGE_READ | PRIVILEGE_EVENTS);
	fake_end();

	set_up_cycle(NULL);
	t.opts.duration_ns = PERIOD;
	t.opts.sets = SITE_SET(FAULT);
	assert_int_equal(run(), 0);
	assert_int_equal(fake.kept, PRIVILEGE_READ | PRIVILEGE_EVENTS);
}

#undef TEST
