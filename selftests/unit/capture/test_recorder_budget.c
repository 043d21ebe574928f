// SPDX-License-Identifier: GPL-2.0
/*
 * A recording with a budget: when the probes are removed and attached again, in which order that is
 * noted in the trace, and what happens if they cannot be attached. What is decided is tested in
 * budget/test_budget.c. A hit is assumed to take 1.06 us, because no trap can be measured here.
 */
#include "unit/test.h"
#include "unit/recorder_fixture.h"

#define SECOND (1000 * MS)
#define HIT_NS 1060

static int set_up_budget(void **state)
{
	set_up(state);
	t.opts.budget.share = 0.01;
	t.opts.sets = SITE_SET(SCHED);
	t.opts.duration_ns = 40 * SECOND;
	return 0;
}

FIXTURE(set_up_budget, tear_down)

static uint64_t hits(void)
{
	return t.stats.records[GT_READY];
}

/* 10,000 hits per second or more take more than 1 % of a CPU. */
TEST(pauses)
{
	t.busy = 200;
	assert_int_equal(run(), 0);
	assert_int_equal(t.committed, 0);
	assert_in_range(t.stats.overhead_pauses, 2, 8);
	assert_int_equal(noted("recorded0 suspend"), t.stats.overhead_pauses);
	assert_int_equal(noted("select1 attach recorded1"),
			 t.stats.overhead_changes - t.stats.overhead_pauses);
	assert_int_equal(noted("recorded"), t.stats.overhead_changes);
	assert_int_equal(noted("say"), 1 + t.stats.overhead_changes);
	assert_in_range(t.stats.overhead_ns, hits() * (HIT_NS - 10), hits() * (HIT_NS + 10));
	assert_in_range(t.stats.overhead_ns, 200 * MS, 480 * MS);
	assert_in_range(t.stats.overhead_paused_ns, 10 * SECOND, 39 * SECOND);
	assert_int_equal(t.paused_steps, 0);
}

TEST(cheap)
{
	t.busy = 10;
	assert_int_equal(run(), 0);
	assert_int_equal(noted("recorded"), 0);
	assert_int_equal(noted("suspend"), 0);
	assert_int_equal(t.stats.overhead_changes, 0);
	assert_in_range(t.stats.overhead_ns, hits() * (HIT_NS - 10), hits() * (HIT_NS + 10));
}

TEST(without_a_budget)
{
	t.opts.budget.share = 0;
	t.busy = 200;
	assert_int_equal(run(), 0);
	assert_int_equal(noted("recorded"), 0);
	assert_int_equal(noted("suspend"), 0);
	assert_int_equal(t.stats.overhead_ns, 0);
}

/* The process has ended, or executes another program. */
TEST(ends_in_a_pause)
{
	t.busy = 200;
	t.resume_error = -ESRCH;
	assert_int_equal(run(), 0);
	assert_int_equal(t.committed, 0);
	assert_int_equal(t.stats.overhead_changes, 1);
	assert_true(t.t1 < T0 + 40 * SECOND);
	assert_int_equal(t.stats.overhead_paused_ns, t.t1 - t.recorded_at);
	assert_non_null(strstr(fake.text, "finish commit"));
}

/* What was recorded is kept, and the reason is reported. */
TEST(cannot_continue)
{
	t.busy = 200;
	t.resume_error = -EPERM;
	assert_int_equal(run(), 0);
	assert_int_equal(t.committed, 0);
	assert_int_equal(t.stats.overhead_changes, 1);
	assert_int_equal(noted("say"), 4); /* it begins, pauses, would continue, and ends */
}

/* A signal and the end of the time are noticed in a pause. */
TEST(stopped_in_a_pause)
{
	t.busy = 2000;
	t.opts.duration_ns = 3 * SECOND;
	assert_int_equal(run(), 0);
	assert_int_equal(t.stats.overhead_pauses, 1);
	assert_int_equal(t.t1, T0 + 3 * SECOND);
	assert_true(t.recorded_at < t.t1);
	assert_int_equal(t.stats.overhead_paused_ns, t.t1 - t.recorded_at);
	assert_int_equal(t.committed, 0);
}
