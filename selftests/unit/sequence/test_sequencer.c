// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the sequencer's interface: the window, invalid records, hold-back of early records, and
 * the repair for each kind of lost record. Under test: sequence/sequencer.c, hold.c and repair.c.
 */
#include "unit/test.h"
#include "unit/machine.h"

/* Longer than a record is held; nothing else happens. */
static void wait_long(void)
{
	m.now += 5000000;
	plain(99, GT_STW_END, 0);
}

static void expect_repairs(unsigned int repairs, unsigned int dropped)
{
	assert_int_equal(stats()->repairs, repairs);
	assert_int_equal(stats()->dropped, dropped);
}

TEST(the_window)
{
	machine_init(25, "go1.25.3");
	snap_g(1, GS_RUNNABLE, 0);
	m.now = machine_t0 - 5 * STEP_NS;
	p_start(1, 3);
	m.now = machine_t0 + 5 * STEP_NS;
	p_start(1, 0);
	snap_give();
	m.now = machine_t0 + 50 * STEP_NS;
	p_stop(1, 0);
	flush();
	m.now += 50 * STEP_NS;
	p_start(1, 1);
	forget();
	assert_int_equal(sequencer__finish(m.seq, m.now - 2 * STEP_NS), 0);
	assert_string_equal(m.writer.text, "close\n");
	assert_int_equal(stats()->records, 2);
	assert_int_equal(stats()->window_ns, m.now - 2 * STEP_NS - machine_t0);
	expect_repairs(0, 0);
}

static int give_sized(struct gt_record rec, size_t size)
{
	unsigned char bytes[4096] = {};

	memcpy(bytes, &rec, sizeof(rec));
	return sequencer__record(m.seq, 0, (const void *)bytes, size);
}

TEST(broken_records)
{
	struct gt_record good = { .time = machine_t0, .tid = 1, .kind = GT_EXECUTE }, bad;

	start(25, "go1.25.3", 0);
	assert_int_equal(give_sized(good, 40), 0);
	assert_int_equal(give_sized(good, 39), -EBADMSG);
	assert_int_equal(give_sized(good, 41), -EBADMSG);
	assert_int_equal(give_sized(good, 0), -EBADMSG);
	bad = good;
	bad.tid = 0;
	assert_int_equal(give_sized(bad, 40), -EBADMSG);
	bad = good;
	bad.time = GT_TIME_MAX + 1;
	assert_int_equal(give_sized(bad, 40), -EBADMSG);
	bad = good;
	bad.kind = GT_KIND_END;
	assert_int_equal(give_sized(bad, 40), -EBADMSG);
	bad.kind = GT_STACK;
	assert_int_equal(give_sized(bad, 48), 0);
	assert_int_equal(give_sized(bad, 56), -EBADMSG); /* a PC, depth 0 */
	assert_int_equal(stats()->bad_records, 7);
	assert_int_equal(sequencer__record(m.seq, GT_RINGS_ALL, &good, 40), -EBADMSG);
}

/* A few ns early is no loss: no repair, and only the events that it waited for come before it. */
TEST(early_by_a_few_ns)
{
	uint64_t now;

	two_running("go1.25.3");
	park(1, 1, 0);
	flush_and_forget();
	now = m.now;
	m.now = now + 5;
	ready(2, 1);
	m.now = now;
	execute(1, 1); /* its time is before that of its unblock */
	m.now = now + 2 * STEP_NS;
	yield(2, 2, GT_YIELD_GOSCHED);
	p_stop(2, 1);
	m.now -= STEP_NS + 5;
	p_start(3, 1); /* its time is before that of the P's release */
	m.now += STEP_NS;
	expect("m2 GoUnblock g1 #2 -\nm1 GoStart g1 #3\n"
	       "m2 GoStop \"runtime.Gosched\" -\nm2 ProcStop\nm3 ProcStart p1 #2\n");
	assert_int_equal(stats()->held, 2);
	expect_repairs(0, 0);
}

/* Later records of a thread queue behind a held one. */
TEST(queues_behind)
{
	two_running("go1.25.3");
	park(1, 1, 0);
	execute(1, 2); /* still runs on thread 2 */
	park(1, 2, 14);
	execute(1, 3);
	yield(2, 2, GT_YIELD_PREEMPTED);
	expect("m1 GoBlock \"unspecified\" -\nm2 GoStop \"preempted\" -\n"
	       "m1 GoStart g2 #2\nm1 GoBlock \"sleep\" -\nm1 GoStart g3 #1\n");
	expect_repairs(0, 0);
}

TEST(lost_ready)
{
	two_running("go1.25.3");
	park(1, 1, 0);
	execute(1, 1);
	expect("m1 GoBlock \"unspecified\" -\n");
	wait_long();
	expect("m1 GoUnblock g1 #2 -\nm1 GoStart g1 #3\n");
	expect_repairs(2, 0);
}

TEST(lost_park)
{
	two_running("go1.25.3");
	execute(1, 3);
	wait_long();
	expect("m1 GoStop \"unspecified\" -\nm1 GoStart g3 #1\n");
	ready(2, 3); /* so 3 must have parked */
	wait_long();
	expect("m1 GoBlock \"unspecified\" -\nm2 GoUnblock g3 #2 -\n");
	expect_repairs(3, 0);
}

TEST(lost_create)
{
	two_running("go1.25.3");
	park(1, 1, 0);
	execute(1, 9);
	wait_long();
	expect("m1 GoBlock \"unspecified\" -\nm1 GoCreate g9 - -\nm1 GoStart g9 #1\n");
	expect_repairs(2, 0);
}

/* Another goroutine has the address by then; records contain its goid. */
TEST(lost_destroy)
{
	two_running("go1.25.3");
	park(2, 2, 0);
	machine_give(1, GT_CREATE, G(2), 0, &(struct gt_create){ 50, 5, 1 });
	machine_give(2, GT_EXECUTE, G(2), 0, &(struct gt_execute){ 50 });
	wait_long();
	expect("m2 GoBlock \"unspecified\" -\nm1 GoCreate g50 f5 -\nm2 GoStart g50 #1\n");
	expect_repairs(0, 0);
}

/* The end of one and the creation of the next. */
TEST(lost_destroy_and_create)
{
	two_running("go1.25.3");
	machine_give(2, GT_EXECUTE, G(2), 0, &(struct gt_execute){ 50 });
	wait_long();
	expect("m2 GoStop \"unspecified\" -\nm2 GoCreate g50 - -\nm2 GoStart g50 #1\n");
	expect_repairs(3, 0);
}

TEST(lost_execute)
{
	two_running("go1.25.3");
	park(1, 1, 0);
	park(1, 3, 0);
	wait_long();
	expect("m1 GoBlock \"unspecified\" -\nm1 GoStart g3 #1\nm1 GoBlock \"unspecified\" -\n");
	expect_repairs(1, 0);
}

TEST(lost_p_start)
{
	two_running("go1.25.3");
	execute(3, 3);
	wait_long();
	flush();
	assert_non_null(strstr(m.writer.text, "m3 ProcStart p"));
	assert_non_null(strstr(m.writer.text, "m3 GoStart g3 #1\n"));
	expect_repairs(2, 0);
}

TEST(lost_p_stop)
{
	two_running("go1.25.3");
	park(1, 1, 0);
	p_start(3, 0);
	wait_long();
	expect("m1 GoBlock \"unspecified\" -\nm1 ProcStop\nm3 ProcStart p0 #2\n");
	expect_repairs(1, 0);
}

TEST(lost_syscall_enter)
{
	two_running("go1.25.3");
	on_g(1, GT_SYSCALL_EXIT, 1);
	park(1, 1, 0);
	wait_long();
	expect("m1 GoBlock \"unspecified\" -\n");
	expect_repairs(0, 1);
}

TEST(lost_syscall_exit)
{
	two_running("go1.25.3");
	on_g(1, GT_SYSCALL_ENTER, 1);
	park(1, 1, 0);
	wait_long();
	expect("m1 GoSyscallBegin #2 -\nm1 GoSyscallEnd\nm1 GoBlock \"unspecified\" -\n");
	expect_repairs(1, 0);
}

TEST(lost_handoff_and_exit)
{
	two_running("go1.25.3");
	on_g(1, GT_SYSCALL_ENTER, 1);
	p_start(3, 0);
	execute(3, 1); /* so it came back without a P */
	wait_long();
	expect("m1 GoSyscallBegin #2 -\nm3 ProcSteal p0 #3 m1\nm3 ProcStart p0 #4\n"
	       "m1 GoSyscallEndBlocked\nm3 GoStart g1 #2\n");
	expect_repairs(2, 0);
}

TEST(lost_switch)
{
	two_running("go1.25.3");
	create_blocked(1, 9);
	park(1, 9, 7); /* the coroutine runs in 1's place */
	wait_long();
	expect("m1 GoCreateBlocked g9 f19 -\nm1 GoStop \"unspecified\" -\n"
	       "m1 GoUnblock g9 #1 -\nm1 GoStart g9 #2\nm1 GoBlock \"chan receive\" -\n");
	expect_repairs(3, 0);
}

TEST(lost_ends)
{
	two_running("go1.25.3");
	plain(1, GT_GC_BEGIN, 0);
	plain(2, GT_GC_BEGIN, 0);
	plain(1, GT_STW_BEGIN, 1);
	plain(2, GT_STW_BEGIN, 2);
	plain(2, GT_STW_END, 0);
	expect("m1 GCBegin #1 -\nm2 GCEnd #2\nm2 GCBegin #3 -\n"
	       "m1 STWBegin \"GC mark termination\" -\nm1 STWEnd\n"
	       "m2 STWBegin \"GC sweep termination\" -\nm2 STWEnd\n");
}

/* The second of two equal records has no effect. */
TEST(duplicates)
{
	two_running("go1.25.3");
	execute(1, 1);
	park(1, 1, 0);
	ready(2, 1);
	ready(2, 1);
	create(2, 9);
	create(2, 9);
	p_stop(1, 0);
	p_stop(1, 0);
	wait_long();
	wait_long();
	flush();
	assert_string_equal(m.writer.text, "m1 GoBlock \"unspecified\" -\nm2 GoUnblock g1 #2 -\n"
					   "m1 ProcStop\nm2 GoCreate g9 f19 -\n");
	expect_repairs(0, 3); /* creates may be repeated: site_inline.c */
}

TEST(holes_and_losses)
{
	two_running("go1.25.3");
	m.ring_seq += 5;
	park(1, 1, 0);
	assert_int_equal(sequencer__lost(m.seq, GT_READY, 3), 0);
	assert_int_equal(sequencer__lost(m.seq, GT_READY, 2), -EINVAL);
	assert_int_equal(sequencer__lost(m.seq, GT_KIND_END, 2), -EINVAL);
	assert_int_equal(sequencer__lost(m.seq, GT_PARK, 2), 0);
	flush();
	assert_int_equal(sequencer__finish(m.seq, m.now), 0);
	assert_int_equal(stats()->holes, 5);
	assert_int_equal(stats()->lost, 5);
	assert_int_equal(stats()->lost_by_kind[GT_READY], 3);
}

/* Of three events one has its stack; that of the second was not sent, that of the third has lost its place. */
TEST(missing_stacks)
{
	two_running("go1.25.3");
	send_stack(m.now);
	machine_give(1, GT_CREATE, G(9), 6, &(struct gt_create){ .goid = 9 });
	machine_give(1, GT_SYSCALL_ENTER, G(1), 5, "");
	machine_give(2, GT_SYSCALL_ENTER, G(2), GT_STACK_NUMBER(5, 0x7fff), "");
	assert_int_equal(sequencer__finish(m.seq, m.now), 0);
	assert_string_equal(m.writer.text, "m1 GoCreate g9 - -\nm1 GoSyscallBegin #2 f21\n"
					   "m2 GoSyscallBegin #2 -\nclose\n");
	assert_int_equal(stats()->stack_misses, 2);
	assert_int_equal(stats()->stack_displaced, 1);
}

/* The writer's error is returned by each later call. */
TEST(errors_stick)
{
	two_running("go1.25.3");
	m.writer.fail = -ENOSPC;
	park(1, 1, 0);
	assert_int_equal(sequencer__watermark(m.seq, m.now), -ENOSPC);
	m.writer.fail = 0;
	ready(2, 1);
	assert_int_equal(sequencer__watermark(m.seq, m.now), -ENOSPC);
	assert_int_equal(sequencer__finish(m.seq, m.now), -ENOSPC);
}

/* At the end of the window held records are forced; an undecided tentative exit kept its P. */
TEST(the_end)
{
	start(26, "go1.26.0", 2);
	p_start(1, 0);
	execute(1, 1);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	m.now += 5000000;
	p_start(2, 1);
	execute(2, 9);
	assert_int_equal(sequencer__finish(m.seq, m.now), 0);
	assert_string_equal(m.writer.text,
			    "m1 ProcStart p0 #1\nm1 GoStart g1 #1\nm1 GoSyscallBegin #2 -\n"
			    "m2 ProcStart p1 #1\nm2 GoCreate g9 - -\nm2 GoStart g9 #1\n"
			    "m1 GoSyscallEnd\nclose\n");
	expect_repairs(2, 0);
}
