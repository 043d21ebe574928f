// SPDX-License-Identifier: GPL-2.0
/*
 * Event sets that are not recorded for a while: what is ignored meanwhile, what the trace contains
 * about it, and that goroutines are corrected afterwards. Under test: the second part of
 * sequence/losses.c.
 */
#include "unit/test.h"
#include "target/probe/site.h"
#include "unit/machine.h"

#define SECOND 1000000000ull
#define ALL    (SITE_SET(SCHED) | SITE_SET(GC) | SITE_SET(KERNEL))

static void recorded(unsigned int sets)
{
	const struct gt_recorded r = { .sets = sets, .asked = ALL, .cost = 31000, .budget = 30000 };

	machine_give(1, GT_RECORDED, 0, 0, &r);
}

/* Goroutines 1 to 3 runnable, then 1 runs on thread 1 with P 0. */
static void begin(void)
{
	start(25, "go1.25.3", 3);
	p_start(1, 0);
	execute(1, 1);
	flush_and_forget();
}

/* The latest private data ends with the names of these sets. */
static void assert_written(const char *sets)
{
	size_t len = strlen(sets);

	assert_true(m.writer.private_len > len + 8);
	assert_memory_equal(m.writer.private + m.writer.private_len - len, sets, len);
}

TEST(a_pause_hides_records)
{
	uint64_t before;

	begin();
	before = sequencer__go_losses(m.seq);
	recorded(0);
	expect("");
	park(1, 1, 0);
	execute(1, 2);
	create(1, 4);
	expect("");
	assert_int_equal(sequencer__go_losses(m.seq),
			 before); /* the snapshots would be too early */
	m.now += 2 * SECOND;
	recorded(ALL);
	flush();
	assert_true(sequencer__go_losses(m.seq) > before);
	assert_non_null(
		strstr(m.writer.text, "close")); /* a generation begins with what is recorded */
	expect_no_repair();
	assert_int_equal(stats()->lost, 0);
}

/* `known`: when the list of plugins was read. */
static void probed(uint64_t known)
{
	machine_give(1, GT_PLUGINS_PROBED, known, 0, NULL);
}

TEST(a_plugin_without_probes_hides_records)
{
	uint64_t before, mapped;

	begin();
	before = sequencer__go_losses(m.seq);
	mapped = m.now;
	machine_give(1, GT_PLUGIN_MAPPED, 0, 0, NULL);
	park(1, 1, 0);
	execute(1, 2);
	expect("");
	probed(mapped - 1); /* a list that does not contain it */
	create(1, 4);
	flush();
	assert_null(strstr(m.writer.text, "close"));
	assert_int_equal(sequencer__go_losses(m.seq), before);
	m.now += SECOND;
	probed(mapped);
	flush();
	assert_true(sequencer__go_losses(m.seq) > before);
	assert_non_null(strstr(m.writer.text, "close"));
	probed(m.now); /* no plugin was mapped */
	expect_no_repair();
}

/* The budget has ended the recording before the plugin has probes. */
TEST(a_plugin_in_a_pause)
{
	uint64_t before, mapped;

	begin();
	before = sequencer__go_losses(m.seq);
	mapped = m.now;
	machine_give(1, GT_PLUGIN_MAPPED, 0, 0, NULL);
	recorded(0);
	probed(mapped);
	park(1, 1, 0);
	flush();
	expect("");
	assert_int_equal(sequencer__go_losses(m.seq), before);
	recorded(ALL);
	flush();
	assert_true(sequencer__go_losses(m.seq) > before);
	assert_non_null(strstr(m.writer.text, "close"));
	expect_no_repair();
}

/* Goroutine 1 has parked in the pause, and 2 runs: the snapshots show it. */
TEST(corrected_after_a_pause)
{
	struct snapshot first, second;

	begin();
	recorded(0);
	m.now += SECOND;
	recorded(ALL);
	m.now += SECOND;
	flush_and_forget();
	m.snap.ng = m.snap.nm = 0;
	snap_g(1, GS_WAITING, 0);
	snap_g(2, GS_RUNNING, 1);
	snap_g(3, GS_RUNNABLE, 0);
	snap_m(1, 0);
	first = second = m.snap;
	first.time = m.now;
	first.time_end = second.time = m.now + 1;
	second.time_end = m.now + 2;
	m.now += STEP_NS;
	assert_int_equal(sequencer__resnapshot(m.seq, &first, &second), 0);
	expect("m1 GoBlock \"unspecified\" -\nstatus - g2 1 f2\nm1 GoStart g2 #1\n");
	yield(1, 2, 0);
	flush();
	assert_non_null(strstr(m.writer.text, "GoStop"));
	assert_int_equal(stats()->dropped, 0);
}

/* Goroutines are recorded all the time; nothing is corrected. */
TEST(only_kernel_events_are_hidden)
{
	uint64_t before;

	begin();
	before = sequencer__go_losses(m.seq);
	recorded(SITE_SET(SCHED) | SITE_SET(GC));
	flush();
	assert_written("sched,gc");
	forget();
	yield(1, 1, 0);
	execute(1, 2);
	flush();
	assert_non_null(strstr(m.writer.text, "GoStart g2"));
	recorded(ALL);
	flush();
	assert_int_equal(sequencer__go_losses(m.seq), before);
	expect_no_repair();
}

/* As a file may contain that was not made by a recorder. */
TEST(repeated_and_unknown)
{
	begin();
	for (unsigned int i = 0; i < 3; i++) {
		recorded(0);
		recorded(0);
		recorded(~0u);
		recorded(~0u);
		recorded(SITE_SET(FAULT));
	}
	flush();
	yield(1, 1, 0);
	flush();
	assert_non_null(strstr(m.writer.text, "GoStop"));
	recorded(0);
	assert_int_equal(sequencer__finish(m.seq, m.now), 0); /* in a pause */
}

/* It has no effect before the initial state is known. */
TEST(too_early)
{
	machine_init(25, "go1.25.3");
	recorded(ALL);
	snap_g(1, GS_RUNNABLE, 0);
	snap_give();
	p_start(1, 0);
	execute(1, 1);
	flush();
	assert_non_null(strstr(m.writer.text, "GoStart g1"));
	expect_no_repair();
}
