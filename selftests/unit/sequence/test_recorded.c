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

static void recorded(struct machine *m, unsigned int sets)
{
	const struct gt_recorded r = { .sets = sets, .asked = ALL, .cost = 31000, .budget = 30000 };

	machine_give(m, 1, GT_RECORDED, 0, 0, &r);
}

/* Goroutines 1 to 3 runnable, then 1 runs on thread 1 with P 0. */
static void begin(struct machine *m)
{
	start(m, 25, "go1.25.3", 3);
	p_start(m, 1, 0);
	execute(m, 1, 1);
	flush(m);
	forget(m);
}

/* The latest private data ends with the names of these sets. */
static void assert_written(const struct machine *m, const char *sets)
{
	size_t len = strlen(sets);

	assert_true(m->writer.private_len > len + 8);
	assert_memory_equal(m->writer.private + m->writer.private_len - len, sets, len);
}

TEST(a_pause_hides_records)
{
	struct machine m;
	uint64_t before;

	begin(&m);
	before = sequencer__go_losses(m.seq);
	recorded(&m, 0);
	expect(&m, "");
	park(&m, 1, 1, 0);
	execute(&m, 1, 2);
	create(&m, 1, 4);
	expect(&m, "");
	assert_int_equal(sequencer__go_losses(m.seq),
			 before); /* the snapshots would be too early */
	m.now += 2 * SECOND;
	recorded(&m, ALL);
	flush(&m);
	assert_true(sequencer__go_losses(m.seq) > before);
	assert_non_null(
		strstr(m.writer.text, "close")); /* a generation begins with what is recorded */
	expect_no_repair(&m);
	assert_int_equal(stats(&m)->lost, 0);
	stop(&m);
}

/* Goroutine 1 has parked in the pause, and 2 runs: the snapshots show it. */
TEST(corrected_after_a_pause)
{
	struct snapshot first, second;
	struct machine m;

	begin(&m);
	recorded(&m, 0);
	m.now += SECOND;
	recorded(&m, ALL);
	m.now += SECOND;
	flush(&m);
	forget(&m);
	m.snap.ng = m.snap.nm = 0;
	snap_g(&m, 1, GS_WAITING, 0);
	snap_g(&m, 2, GS_RUNNING, 1);
	snap_g(&m, 3, GS_RUNNABLE, 0);
	snap_m(&m, 1, 0);
	first = second = m.snap;
	first.time = m.now;
	first.time_end = second.time = m.now + 1;
	second.time_end = m.now + 2;
	m.now += STEP_NS;
	assert_int_equal(sequencer__resnapshot(m.seq, &first, &second), 0);
	expect(&m, "m1 GoBlock \"unspecified\" -\nstatus - g2 1 f2\nm1 GoStart g2 #1\n");
	yield(&m, 1, 2, 0);
	flush(&m);
	assert_non_null(strstr(m.writer.text, "GoStop"));
	assert_int_equal(stats(&m)->dropped, 0);
	stop(&m);
}

/* Goroutines are recorded all the time; nothing is corrected. */
TEST(only_kernel_events_are_hidden)
{
	struct machine m;
	uint64_t before;

	begin(&m);
	before = sequencer__go_losses(m.seq);
	recorded(&m, SITE_SET(SCHED) | SITE_SET(GC));
	flush(&m);
	assert_written(&m, "sched,gc");
	forget(&m);
	yield(&m, 1, 1, 0);
	execute(&m, 1, 2);
	flush(&m);
	assert_non_null(strstr(m.writer.text, "GoStart g2"));
	recorded(&m, ALL);
	flush(&m);
	assert_int_equal(sequencer__go_losses(m.seq), before);
	expect_no_repair(&m);
	stop(&m);
}

/* As a file may contain that was not made by a recorder. */
TEST(repeated_and_unknown)
{
	struct machine m;

	begin(&m);
	for (unsigned int i = 0; i < 3; i++) {
		recorded(&m, 0);
		recorded(&m, 0);
		recorded(&m, ~0u);
		recorded(&m, ~0u);
		recorded(&m, SITE_SET(FAULT));
	}
	flush(&m);
	yield(&m, 1, 1, 0);
	flush(&m);
	assert_non_null(strstr(m.writer.text, "GoStop"));
	recorded(&m, 0);
	assert_int_equal(sequencer__finish(m.seq, m.now), 0); /* in a pause */
	stop(&m);
}

/* It has no effect before the initial state is known. */
TEST(too_early)
{
	struct machine m;

	machine_init(&m, 25, "go1.25.3");
	recorded(&m, ALL);
	snap_g(&m, 1, GS_RUNNABLE, 0);
	snap_give(&m);
	p_start(&m, 1, 0);
	execute(&m, 1, 1);
	flush(&m);
	assert_non_null(strstr(m.writer.text, "GoStart g1"));
	expect_no_repair(&m);
	stop(&m);
}
