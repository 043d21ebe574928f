// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a recording while it continues: which samples the rates are computed from, and that
 * every figure is that of its source.
 */
#include "unit/test.h"
#include "unit/recorder_fixture.h"

#include "capture/recorder_impl.h"

FIXTURE(set_up, tear_down)

#define SECOND (1000 * MS)

static struct recorder r;

static void begin(void)
{
	memset(&r, 0, sizeof(r));
	r.opts = &t.opts;
	r.stats = &t.stats;
	r.t0 = fake.now = T0;
	recorder__begin_samples(&r);
}

/* A generation has ended. */
static void generation(uint64_t time, uint64_t events)
{
	fake.now = time;
	t.written.generations++;
	t.written.events = events;
	t.written.bytes = 10 * events;
	recorder__sample(&r, fake.now);
}

static struct status status(void)
{
	struct status *s, ret;
	size_t size;
	void *bytes;

	assert_int_equal(recorder__status_bytes(&r, &bytes, &size), 0);
	assert_int_equal(size, sizeof(*s));
	s = bytes;
	ret = *s;
	free(s);
	return ret;
}

/* Between the ends of generations, not the times of requests. */
TEST(rates)
{
	struct status s;

	begin();
	s = status();
	assert_int_equal(s.first.time, T0);
	assert_int_equal(s.last.time, T0);
	generation(T0 + SECOND, 1000);
	fake.now += SECOND / 2;
	recorder__sample(&r, fake.now);
	s = status();
	assert_int_equal(s.first.time, T0);
	assert_int_equal(s.first.events, 0);
	assert_int_equal(s.last.time, T0 + SECOND);
	assert_int_equal(s.last.events, 1000);
	assert_int_equal(s.last.bytes, 10000);
	assert_int_equal(s.now.time, T0 + 3 * SECOND / 2);
	/* shorter generations have no samples of their own */
	generation(T0 + 3 * SECOND / 2, 1700);
	assert_int_equal(status().last.events, 1000);
	assert_int_equal(status().now.events, 1700);
	generation(T0 + 2 * SECOND, 2000);
	assert_int_equal(status().last.events, 2000);
}

TEST(many_generations)
{
	struct status s;

	begin();
	for (unsigned int i = 1; i <= 100; i++) {
		generation(T0 + i * SECOND, i * 10);
		s = status();
		assert_int_equal(s.last.time, T0 + i * SECOND);
		assert_int_equal(s.first.time,
				 T0 + (i < RECORDER_SAMPLES ? 0 : i - RECORDER_SAMPLES + 1) *
						 SECOND);
		assert_int_equal(s.first.events, 10 * (s.first.time - T0) / SECOND);
	}
}

TEST(figures)
{
	struct status s;

	begin();
	t.layout.derives_parks = true;
	t.opts.stack_depth = 1;
	t.stats.records[GT_EXECUTE] = 100;
	t.stats.records[GT_PARK] = 40;
	t.stats.records[GT_CPU_ON] = 4;
	t.stats.records[GT_CPU_OFF] = 3;
	t.stats.records[GT_WAKING] = 2;
	t.stats.records[GT_SYS_ENTER] = 5;
	t.stats.records[GT_SYS_EXIT] = 5;
	t.stats.stepped = 10;
	t.stats.inlined = 20;
	t.stats.target_cpu_ns = 77777;
	r.counters.lost[GT_EXECUTE] = 7;
	r.lost = 8;
	s = status();
	assert_int_equal(s.magic, STATUS_MAGIC);
	assert_int_equal(s.pid, t.process.pid);
	assert_int_equal(s.recorder, getpid());
	assert_int_equal(s.started, T0);
	assert_int_equal(s.now.events, 6);
	assert_int_equal(s.now.lost, 8);
	/* of 147 records parks were derived, 10 hits were single-stepped and 20 were no hits */
	assert_int_equal(s.now.probes, 107 - 10 - 20);
	assert_int_equal(s.now.stepped, 10);
	assert_int_equal(s.now.inlined, 20);
	assert_int_equal(s.now.calls, 5);
	assert_int_equal(s.now.switches, 7);
	assert_int_equal(s.now.wakes, 2);
	assert_int_equal(s.now.target_cpu_ns, 77777);
	assert_int_equal(s.now.cpu_ns, 77);
	assert_int_equal(s.memory, 100);
	assert_int_equal(s.ring_bytes, 4 << 20);
	assert_int_equal(s.kernel_memory, 1000);
	assert_int_equal(s.window_from, T0);
	assert_int_equal(s.window_to, T0 + 9 * MS);
	assert_int_equal(s.window_events, 10);
	assert_int_equal(s.window_bytes, 11);
	assert_int_equal(s.causes, 12);
	assert_int_equal(s.snapshots, 13);
	assert_true(s.is_flight && s.has_stacks);
}

/* Losses are counted later than records, so that a sum may seem to become smaller. */
TEST(sums_only_grow)
{
	struct status s;

	begin();
	t.stats.records[GT_EXECUTE] = 100;
	generation(T0 + SECOND, 1);
	t.stats.inlined = 50;
	s = status();
	assert_int_equal(s.last.probes, 100);
	assert_int_equal(s.now.probes, 100);
}
