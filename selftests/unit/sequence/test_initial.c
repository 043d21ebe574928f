// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the state at the window's start, from two snapshots and from records, which have
 * precedence (docs/go-runtime.md). The result is the first generation's prologue. Under test:
 * sequence/initial.c.
 */
#include "unit/test.h"
#include "unit/machine.h"

TEST(from_snapshots_alone)
{
	machine_init(25, "go1.25.3");
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_SYSCALL, 2);
	snap_g(3, GS_RUNNABLE, 0);
	snap_g(4, GS_WAITING, 0);
	snap_g(5, GS_PREEMPTED, 0);
	snap_g(6, GS_COPYSTACK, 3);
	snap_g(7, GS_DEAD, 0);
	snap_m(1, 0);
	snap_m(2, -1);
	snap_m(3, 1);
	snap_m(4, 2); /* seeks work */
	snap_give();
	expect_statuses("- g3 1 f3\n- g4 4 f4\n- g5 4 f5\n- p3 2\n"
			"m1 g1 2 f1\nm1 p0 1\nm2 g2 3 f2\nm3 g6 2 f6\nm3 p1 1\nm4 p2 1\n",
			"open 0\n");
	expect_no_repair();
}

/* A goroutine that waits to suspend another one is running for the tracer. */
TEST(suspend_reasons)
{
	unsigned int reason = 0;

	machine_init(25, "go1.25.3");
	while (strcmp(m.layout.wait_reasons[reason], "garbage collection"))
		reason++;
	snap_g(1, GS_WAITING, 1);
	m.snap_g[0].wait_reason = reason;
	snap_m(1, 0);
	m.snap.procs = 4;
	snap_give();
	expect_statuses("- p1 2\n- p2 2\n- p3 2\nm1 g1 2 f1\nm1 p0 1\n",
			"open 0\nm1 ProcsChange 4 -\n");
	expect_no_repair();
}

/* A goroutine's first record has precedence over later snapshots. */
TEST(records_outrank)
{
	machine_init(25, "go1.25.3");
	p_start(1, 0);
	execute(1, 1); /* was runnable */
	park(1, 1, 0);
	ready(1, 2);  /* was waiting */
	create(1, 3); /* did not exist */
	snap_g(1, GS_WAITING, 0);
	snap_g(2, GS_RUNNABLE, 0);
	snap_g(3, GS_RUNNABLE, 0);
	snap_m(1, 0);
	snap_give();
	expect_statuses(
		"- g1 1 f1\n- g2 4 f2\n- p0 2\n- p1 2\n- p2 2\n- p3 2\n",
		"open 0\nm1 ProcStart p0 #1\nm1 GoStart g1 #1\n"
		"m1 GoBlock \"unspecified\" -\nm1 GoUnblock g2 #1 -\nm1 GoCreate g3 f13 -\n");
	expect_no_repair();
}

/* A goroutine that ended before a snapshot, and one whose address another has by then. */
TEST(ended_before_the_snapshot)
{
	machine_init(25, "go1.25.3");
	destroy(1, 5);
	machine_give(1, GT_CREATE, G(5), 0, &(struct gt_create){ 50, 9, 5 });
	m.snap_g[m.snap.ng++] = (struct snapshot_g){
		.addr = G(5),
		.goid = 50,
		.startpc = 9,
		.status = GS_RUNNABLE,
	};
	snap_m(1, 2);
	snap_give();
	expect_statuses("- p0 2\n- p1 2\n- p3 2\nm1 g5 2\nm1 p2 1\n",
			"open 0\nm1 GoDestroy\nm1 GoCreate g50 f9 -\n");
	expect_no_repair();
}

/* Without any snapshot only the records of the window count. */
TEST(no_snapshot)
{
	machine_init(25, "go1.25.3");
	execute(1, 7);
	on_g(1, GT_SYSCALL_ENTER, 7);
	p_handoff(9, 2);
	lost(1);
	on_g(1, GT_SYSCALL_NO_P, 7);
	assert_int_equal(sequencer__snapshot(m.seq, NULL, NULL), 0);
	expect_statuses("- g7 1\nm1 p2 1\n",
			"open 0\nm1 GoStart g7 #1\nm1 GoSyscallBegin #1 -\nm9 ProcSteal p2 #2 m1\n"
			"m1 GoSyscallEndBlocked\n");
	expect_no_repair();
}

TEST(nothing_at_all)
{
	machine_init(25, "go1.25.3");
	assert_int_equal(sequencer__finish(m.seq, m.now), 0);
	assert_string_equal(m.writer.text, "open 0\nstatus - p0 2\nclose\n");
}

/* In a system call since before the window: <= 1.25 the P is the thread's old one. */
TEST(old_p_of_a_syscall)
{
	machine_init(25, "go1.25.3");
	snap_g(1, GS_SYSCALL, 1);
	snap_g(2, GS_SYSCALL, 2);
	snap_m(1, -1);
	snap_m(2, -1);
	m.snap_m[0].oldp = P(0);
	m.snap_p[0].status = 2;
	m.snap_m[1].oldp = P(1); /* taken away: idle */
	snap_give();
	on_g(1, GT_SYSCALL_EXIT, 1);
	on_g(2, GT_SYSCALL_NO_P, 2);
	expect_statuses("- p1 2\n- p2 2\n- p3 2\nm1 g1 3 f1\nm1 p0 3\nm2 g2 3 f2\n",
			"open 0\nm1 GoSyscallEnd\nm2 GoSyscallEndBlocked\n");
	expect_no_repair();
}

/* The first P that a thread stops is the one that it had, whatever a later snapshot contains. */
TEST(first_stop_shows_the_p)
{
	machine_init(25, "go1.25.3");
	park(1, 1, 0);
	p_stop(1, 3);
	p_start(1, 0);
	snap_g(1, GS_WAITING, 0);
	snap_m(1, 0);
	snap_give();
	expect_statuses("- p0 2\n- p1 2\n- p2 2\nm1 g1 2 f1\nm1 p3 1\n",
			"open 0\nm1 GoBlock \"unspecified\" -\nm1 ProcStop\nm1 ProcStart p0 #1\n");
	expect_no_repair();
}

/* It had a P, and lost it before a snapshot: gets the P that is possible. */
TEST(likely_p)
{
	machine_init(25, "go1.25.3");
	p_start(2, 0); /* not this one: thread 1 still has its own */
	on_g(1, GT_SYSCALL_ENTER, 1);
	p_handoff(9, 1);
	on_g(1, GT_SYSCALL_NO_P, 1);
	snap_g(1, GS_RUNNABLE, 0);
	snap_m(1, -1);
	snap_m(2, 0);
	snap_give();
	expect_statuses(
		"- p0 2\n- p2 2\n- p3 2\nm1 g1 2 f1\nm1 p1 1\n",
		"open 0\nm2 ProcStart p0 #1\nm1 GoSyscallBegin #1 -\nm9 ProcSteal p1 #2 m1\n"
		"m1 GoSyscallEndBlocked\n");
	expect_no_repair();
}

/* Invalid: two goroutines on one thread, one goid twice, no address, a goid out of range. */
TEST(broken_snapshots)
{
	machine_init(25, "go1.25.3");
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_RUNNING, 1);
	snap_g(3, GS_WAITING, 0);
	snap_g(4, GS_WAITING, 0);
	m.snap_g[3].goid = 3;
	snap_g(5, GS_WAITING, 0);
	m.snap_g[4].addr = 0;
	snap_g(6, GS_WAITING, 0);
	m.snap_g[5].goid = UINT64_MAX;
	snap_g(7, GS_RUNNING, 77); /* an M that does not exist */
	snap_m(1, 0);
	snap_give();
	expect_statuses("- g2 1 f2\n- g3 4 f3\n- g7 1 f7\n- p1 2\n- p2 2\n- p3 2\n"
			"m1 g1 2 f1\nm1 p0 1\n",
			"open 0\n");
	expect_no_repair();
}

/* Address 0 belongs to no goroutine and no P. */
TEST(records_without_an_address)
{
	machine_init(25, "go1.25.3");
	machine_give(1, GT_EXECUTE, 0, 0, &(struct gt_execute){ 9 });
	machine_give(1, GT_P_STOP, 0, 0, &(struct gt_proc){ 9 });
	snap_m(1, -1);
	snap_give();
	assert_null(strstr(m.writer.text, "g9"));
	assert_null(strstr(m.writer.text, "p9"));
}

/* Whatever the kind of its create record, it did not exist before. */
TEST(created_in_the_window)
{
	static const struct {
		unsigned int kind;
		const char *event;
	} cases[] = {
		{ GT_CREATE, "GoCreate g3" },
		{ GT_CREATE_BLOCKED, "GoCreateBlocked g3" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		machine_init(25, "go1.25.3");
		p_start(1, 0);
		execute(1, 1);
		machine_give(1, cases[i].kind, G(3), 0, &(struct gt_create){ 3, 13, 1 });
		snap_g(1, GS_RUNNING, 1);
		snap_g(3, GS_WAITING, 0);
		snap_m(1, 0);
		snap_give();
		assert_null(strstr(m.writer.text, "- g3"));
		assert_non_null(strstr(m.writer.text, cases[i].event));
		expect_no_repair();
	}
}

/* A running goroutine does not get the P of another thread. */
TEST(likely_p_is_free)
{
	machine_init(25, "go1.25.3");
	snap_g(1, GS_RUNNING, 1);
	snap_g(2, GS_RUNNING, 2);
	snap_m(1, 0);
	snap_m(2, -1);
	snap_give();
	expect_statuses("- p2 2\n- p3 2\nm1 g1 2 f1\nm1 p0 1\nm2 g2 2 f2\nm2 p1 1\n", "open 0\n");
	expect_no_repair();
}

/* Nothing is written before both snapshots and all records up to the second have arrived. */
TEST(waits_for_the_second)
{
	machine_init(25, "go1.25.3");
	p_start(1, 0);
	flush();
	assert_string_equal(m.writer.text, "");
	m.snap.time = m.now;
	m.snap.time_end = m.now + 10 * STEP_NS;
	assert_int_equal(sequencer__snapshot(m.seq, &m.snap, &m.snap), 0);
	assert_int_equal(sequencer__snapshot(m.seq, NULL, NULL), -EALREADY);
	flush();
	assert_string_equal(m.writer.text, "");
	m.now += 20 * STEP_NS;
	expect_statuses("- p0 2\n- p1 2\n- p2 2\n- p3 2\n", "open 0\nm1 ProcStart p0 #1\n");
	expect_no_repair();
}
