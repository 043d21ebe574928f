// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the state machine: each kind of record, the rules of Ps (docs/go-runtime.md), and the
 * differences between Go releases and trace formats. Under test: sequence/state*.c.
 */
#include "unit/test.h"
#include "sequence/sequencer_impl.h"
#include "unit/machine.h"

TEST(scheduling)
{
	running(25, "go1.25.3", 2);
	park(1, 1, 7);
	ready(1, 1);
	execute(1, 1);
	yield(1, 1, GT_YIELD_GOSCHED);
	execute(1, 2);
	yield(1, 2, GT_YIELD_PREEMPTED);
	execute(1, 1);
	on_g(1, GT_PREEMPT_PARK, 1);
	p_stop(1, 0);
	expect("m1 GoBlock \"chan receive\" -\n"
	       "m1 GoUnblock g1 #2 -\n"
	       "m1 GoStart g1 #3\n"
	       "m1 GoStop \"runtime.Gosched\" -\n"
	       "m1 GoStart g2 #1\n"
	       "m1 GoStop \"preempted\" -\n"
	       "m1 GoStart g1 #4\n"
	       "m1 GoBlock \"preempted\" -\n"
	       "m1 ProcStop\n");
	expect_no_repair();
}

/*
 * A wake-up of a running goroutine at the time of its last record: its park was lost. The record is
 * held for it, for a millisecond of stream time.
 */
TEST(a_wake_up_at_the_time_of_another_record)
{
	uint64_t time;

	running(25, "go1.25.3", 2);
	p_start(2, 1);
	execute(2, 2);
	expect("m2 ProcStart p1 #1\nm2 GoStart g2 #1\n");
	time = m.now -= STEP_NS;
	ready(1, 2);
	assert_int_equal(sequencer__watermark(m.seq, time + 999999), 0);
	assert_string_equal(m.writer.text, "");
	assert_int_equal(sequencer__watermark(m.seq, time + 1000000), 0);
	assert_string_equal(m.writer.text, "m2 GoBlock \"unspecified\" -\nm1 GoUnblock g2 #2 -\n");
	assert_int_equal(stats()->dropped, 0);
}

TEST(create_and_destroy)
{
	running(25, "go1.25.3", 1);
	create(1, 5);
	destroy(1, 1);
	execute(1, 5);
	create(1, 6);
	p_start(2, 1);
	execute(2, 6);
	destroy(2, 6);
	expect("m1 GoCreate g5 f15 -\n"
	       "m1 GoDestroy\n"
	       "m1 GoStart g5 #1\n"
	       "m1 GoCreate g6 f16 -\n"
	       "m2 ProcStart p1 #1\n"
	       "m2 GoStart g6 #1\n"
	       "m2 GoDestroy\n");
	expect_no_repair();
}

/* The g struct of a goroutine that ended is reused, with another goid. */
TEST(address_reused)
{
	running(25, "go1.25.3", 2);
	destroy(1, 1);
	execute(1, 2);
	machine_give(1, GT_CREATE, G(1), 0, &(struct gt_create){ 77, 3, 2 });
	park(1, 2, 0);
	machine_give(1, GT_EXECUTE, G(1), 0, &(struct gt_execute){ 77 });
	machine_give(1, GT_DESTROY, G(1), 0, &(struct gt_destroy){ 77 });
	expect("m1 GoDestroy\n"
	       "m1 GoStart g2 #1\n"
	       "m1 GoCreate g77 f3 -\n"
	       "m1 GoBlock \"unspecified\" -\n"
	       "m1 GoStart g77 #1\n"
	       "m1 GoDestroy\n");
	expect_no_repair();
}

TEST(stacks_and_skips)
{
	struct {
		struct gt_record rec;
		struct gt_stack stack;
		uint64_t pc[3];
	} s = {
		.rec = { .time = machine_t0,
			 .tid = 1,
			 .kind = GT_STACK,
			 .object = 99,
			 .stack = 99 },
		.stack = { .depth = 3 },
		.pc = { 1, 2, 3 },
	};

	running(25, "go1.25.3", 1);
	assert_int_equal(sequencer__record(m.seq, 0, &s.rec, sizeof(s)), 0);
	machine_give(1, GT_PARK, G(1), 99, &(struct gt_park){ .block_reason = 6, .skip = 1 });
	expect("m1 GoBlock \"chan send\" f2<f3\n");
	expect_no_repair();
}

TEST(gc_worker_labels)
{
	running(25, "go1.25.3", 2);
	park(1, 1, 0);
	machine_give(1, GT_READY, G(1), 0,
		     &(struct gt_ready){ .via = GT_VIA_GC_WORKER, .mode = 1 });
	execute(1, 1);
	park(1, 1, 10);
	execute(1, 2);
	expect("m1 GoBlock \"unspecified\" -\n"
	       "m1 GoUnblock g1 #2 -\n"
	       "m1 GoStart g1 #3\n"
	       "m1 GoLabel \"GC (dedicated)\"\n"
	       "m1 GoBlock \"system goroutine wait\" -\n"
	       "m1 GoStart g2 #1\n");
	expect_no_repair();
}

/* Whatever stops it, a worker that is not unblocked as one again is an ordinary goroutine. */
TEST(gc_worker_ends)
{
	static const bool stops[] = { false, true };

	for (size_t i = 0; i < 2; i++) {
		running(25, "go1.25.3", 2);
		park(1, 1, 0);
		machine_give(1, GT_READY, G(1), 0,
			     &(struct gt_ready){ .via = GT_VIA_GC_WORKER, .mode = 1 });
		execute(1, 1);
		flush();
		assert_non_null(strstr(m.writer.text, "GoLabel"));
		forget();
		if (stops[i]) {
			yield(1, 1, GT_YIELD_PREEMPTED);
		} else {
			park(1, 1, 10);
			ready(1, 1);
		}
		execute(1, 1);
		flush();
		assert_non_null(strstr(m.writer.text, "GoStart g1"));
		assert_null(strstr(m.writer.text, "GoLabel"));
		expect_no_repair();
	}
}

TEST(coroutines)
{
	running(25, "go1.25.3", 1);
	create_blocked(1, 5);
	coswitch(1, 1, 5, false);
	coswitch(1, 5, 1, false);
	coswitch(1, 1, 5, false);
	coswitch(1, 5, 1, true);
	destroy(1, 5); /* gdestroy of the goroutine that the switch has ended */
	park(1, 1, 0);
	expect("m1 GoCreateBlocked g5 f15 -\n"
	       "m1 GoSwitch g5 #1\n"
	       "m1 GoSwitch g1 #2\n"
	       "m1 GoSwitch g5 #2\n"
	       "m1 GoSwitchDestroy g1 #3\n"
	       "m1 GoBlock \"unspecified\" -\n");
	expect_no_repair();
}

/* The page of a goroutine's struct was moved by the kernel just then: its id is 0, the struct is known. */
TEST(ids_that_could_not_be_read)
{
	running(25, "go1.25.3", 3);
	park(1, 1, 0);
	ready(1, 1);
	machine_give(1, GT_EXECUTE, G(1), 0, &(struct gt_execute){ 0 });
	expect("m1 GoBlock \"unspecified\" -\nm1 GoUnblock g1 #2 -\nm1 GoStart g1 #3\n");
	create_blocked(1, 5);
	machine_give(1, GT_SWITCH, G(1), 0, &(struct gt_switch){ G(5), 0, false });
	machine_give(1, GT_DESTROY, G(5), 0, &(struct gt_destroy){ 0 });
	execute(1, 2);
	machine_give(1, GT_ENDED, G(2), 0, &(struct gt_ended){ .goid = 0, .park.derived = 1 });
	m.now += GT_DERIVED_NS_MAX;
	expect("m1 GoCreateBlocked g5 f15 -\n"
	       "m1 GoSwitch g5 #1\n"
	       "m1 GoDestroy\n"
	       "m1 GoStart g2 #1\n"
	       "m1 GoDestroy\n");
	expect_no_repair();
}

/* Format 1.22 has no GoSwitch: its parts are written instead. */
TEST(coroutines_in_1_22)
{
	running(22, "go1.25.3", 1);
	create_blocked(1, 5);
	coswitch(1, 1, 5, false);
	coswitch(1, 5, 1, true);
	destroy(1, 5);
	expect("m1 GoCreate g5 f15 -\n"
	       "m1 GoBlock \"unspecified\" -\n"
	       "m1 GoStart g5 #1\n"
	       "m1 GoUnblock g1 #2 -\n"
	       "m1 GoDestroy\n"
	       "m1 GoStart g1 #3\n");
	expect_no_repair();
}

TEST(syscalls)
{
	running(25, "go1.25.3", 1);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_EXIT, 1);
	on_g(1, GT_SYSCALL_BLOCK, 1);
	p_stop(1, 0);
	p_handoff(1, 0); /* after the fact */
	on_g(1, GT_SYSCALL_NO_P, 1);
	expect("m1 GoSyscallBegin #2 -\n"
	       "m1 GoSyscallEnd\n"
	       "m1 GoSyscallBegin #3 -\n"
	       "m1 ProcStop\n"
	       "m1 GoSyscallEndBlocked\n");
	expect_no_repair();
}

/* Rule 1 applies in every test. Rule 2: handoffp of a P in a system call. */
TEST(rule_2_handoff_steals)
{
	running(25, "go1.25.3", 1);
	on_g(1, GT_SYSCALL_ENTER, 1);
	p_handoff(9, 0);
	lost(1);
	p_start(1, 2);
	on_g(1, GT_SYSCALL_EXIT, 1);
	expect("m1 GoSyscallBegin #2 -\n"
	       "m9 ProcSteal p0 #3 m1\n"
	       "m1 ProcStart p2 #1\n"
	       "m1 GoSyscallEndBlocked\n"
	       "m1 GoStart g1 #2\n");
	expect_no_repair();
}

/*
 * A thread of C calls Go, returns for good, and another one gets its M with its goroutine, and
 * finds the P of the last call, without a record.
 */
TEST(threads_of_c)
{
	running(25, "go1.25.3", 1);
	machine_give(7, GT_CREATE_SYSCALL, G(17), 0, &(struct gt_create_syscall){ 17, 0 });
	lost(7);
	p_start(7, 2);
	on_g(7, GT_SYSCALL_EXIT, 17);
	on_g(7, GT_SYSCALL_ENTER, 17);
	machine_give(7, GT_DESTROY_SYSCALL, G(17), 0, &(struct gt_destroy){ 17 });
	machine_give(8, GT_CREATE_SYSCALL, G(17), 0, &(struct gt_create_syscall){ 17, P(2) });
	on_g(8, GT_SYSCALL_EXIT, 17);
	on_g(8, GT_SYSCALL_ENTER, 17);
	p_handoff(1, 2);
	machine_give(8, GT_DESTROY_SYSCALL, G(17), 0, &(struct gt_destroy){ 17 });
	expect("m7 GoCreateSyscall g17\n"
	       "m7 ProcStart p2 #1\n"
	       "m7 GoSyscallEndBlocked\n"
	       "m7 GoStart g17 #1\n"
	       "m7 GoSyscallBegin #2 -\n"
	       "m7 ProcSteal p2 #3 m7\n"
	       "m7 GoDestroySyscall\n"
	       "m8 GoCreateSyscall g17\n"
	       "m8 ProcStart p2 #4\n"
	       "m8 GoSyscallEndBlocked\n"
	       "m8 GoStart g17 #1\n"
	       "m8 GoSyscallBegin #5 -\n"
	       "m1 ProcSteal p2 #6 m8\n"
	       "m8 GoDestroySyscall\n");
	expect_no_repair();
	expect_no_repair();
}

/* Its end was lost: another thread has the goroutine by now. Or all records of its thread were. */
TEST(threads_of_c_with_losses)
{
	running(25, "go1.25.3", 1);
	machine_give(7, GT_CREATE_SYSCALL, G(17), 0, &(struct gt_create_syscall){ 17, 0 });
	machine_give(8, GT_CREATE_SYSCALL, G(17), 0, &(struct gt_create_syscall){ 17, 0 });
	machine_give(9, GT_DESTROY_SYSCALL, G(18), 0, &(struct gt_destroy){ 18 });
	expect_no_repair();
}

/* Rule 3: the P of a system call is acquired elsewhere, without a record of its loss. */
TEST(rule_3_acquire_steals)
{
	running(25, "go1.25.3", 1);
	on_g(1, GT_SYSCALL_ENTER, 1);
	p_start(2, 0);
	lost(1);
	on_g(1, GT_SYSCALL_NO_P, 1);
	expect("m1 GoSyscallBegin #2 -\n"
	       "m2 ProcSteal p0 #3 m1\n"
	       "m2 ProcStart p0 #4\n"
	       "m1 GoSyscallEndBlocked\n");
	expect_no_repair();
}

/* After a stop-the-world pause it acquires its own P again, or gets none. */
TEST(rule_3_own_p)
{
	running(25, "go1.25.3", 1);
	on_g(1, GT_SYSCALL_ENTER, 1);
	lost(1);
	p_start(1, 0);
	on_g(1, GT_SYSCALL_EXIT, 1);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_NO_P, 1);
	expect("m1 GoSyscallBegin #2 -\n"
	       "m1 ProcSteal p0 #3 m1\n"
	       "m1 ProcStart p0 #4\n"
	       "m1 GoSyscallEndBlocked\n"
	       "m1 GoStart g1 #2\n"
	       "m1 GoSyscallBegin #5 -\n"
	       "m1 ProcSteal p0 #6 m1\n"
	       "m1 GoSyscallEndBlocked\n");
	expect_no_repair();
}

/* Rule 4: another thread had the P in between, and it is taken back without acquirep. */
TEST(rule_4_reacquired)
{
	running(25, "go1.25.3", 2);
	on_g(1, GT_SYSCALL_ENTER, 1);
	p_handoff(9, 0);
	p_start(2, 0);
	execute(2, 2);
	on_g(2, GT_SYSCALL_ENTER, 2);
	on_g(1, GT_SYSCALL_EXIT, 1);
	lost(2);
	on_g(2, GT_SYSCALL_NO_P, 2);
	expect("m1 GoSyscallBegin #2 -\n"
	       "m9 ProcSteal p0 #3 m1\n"
	       "m2 ProcStart p0 #4\n"
	       "m2 GoStart g2 #1\n"
	       "m2 GoSyscallBegin #5 -\n"
	       "m1 ProcSteal p0 #6 m2\n"
	       "m1 ProcStart p0 #7\n"
	       "m1 GoSyscallEndBlocked\n"
	       "m1 GoStart g1 #2\n"
	       "m2 GoSyscallEndBlocked\n");
	expect_no_repair();
}

/* Rule 5: the next record of the thread decides the tentative exit of 1.26. */
TEST(rule_5_kept)
{
	running(26, "go1.26.0", 2);
	m.writer.times = true;
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	p_start(2, 1);
	expect("m1 GoSyscallBegin @4000 #2 -\n"
	       "m2 ProcStart @6000 p1 #1\n");
	park(1, 1, 0);
	expect("m1 GoSyscallEnd @5000\n"
	       "m1 GoBlock @7000 \"unspecified\" -\n");
	expect_no_repair();
}

/* At the latest when its generation ends, if it had a CPU: records of others do not decide it. */
TEST(rule_5_kept_until_the_boundary)
{
	running(26, "go1.26.0", 2);
	m.writer.times = true;
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	expect("m1 GoSyscallBegin @4000 #2 -\n");
	machine_give(1, GT_CPU_ON, 9, 0, "");
	m.now += 2000000000;
	p_start(2, 1);
	flush();
	assert_non_null(strstr(m.writer.text, "m1 GoSyscallEnd @5000\n"));
	assert_true(strstr(m.writer.text, "GoSyscallEnd") < strstr(m.writer.text, "ProcStart"));
	expect_no_repair();
}

/* Counts from when the thread got its CPU; a millisecond is required. */
TEST(rule_5_kept_if_on_a_cpu_for_long_enough)
{
	static const uint64_t on_cpu[] = { 500000, 1500000 }; /* ns before the boundary */

	for (unsigned int i = 0; i < 2; i++) {
		running(26, "go1.26.0", 2);
		on_g(1, GT_SYSCALL_ENTER, 1);
		on_g(1, GT_SYSCALL_TRY_EXIT, 1);
		m.now = machine_t0 + 1000000000 - on_cpu[i];
		machine_give(1, GT_CPU_ON, 9, 0, "");
		m.now = machine_t0 + 1000000000 + STEP_NS;
		p_start(2, 1);
		flush();
		assert_non_null(strstr(m.writer.text, "open "));
		assert_int_equal(strstr(m.writer.text, "GoSyscallEnd") != NULL, i);
	}
}

/* All Ps are in use, and one is needed after a loss: the exit is confirmed, then the P taken. */
TEST(rule_5_kept_until_a_repair)
{
	running(26, "go1.26.0", 5);
	for (unsigned int i = 1; i < 4; i++) {
		p_start(i + 1, i);
		execute(i + 1, i + 1);
	}
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	flush_and_forget();
	execute(5, 5);
	m.now += 10000000;
	expect("m1 GoSyscallEnd\n"
	       "m1 GoStop \"unspecified\" -\n"
	       "m1 ProcStop\n"
	       "m5 ProcStart p0 #3\n"
	       "m5 GoStart g5 #1\n");
}

/* It may have been stopped just then: the exit stays undecided. */
TEST(rule_5_open_beyond_the_boundary)
{
	running(26, "go1.26.0", 2);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	m.now += 2000000000;
	p_start(2, 1);
	flush();
	assert_null(strstr(m.writer.text, "GoSyscallEnd"));
	p_handoff(9, 0);
	lost(1);
	p_start(1, 3);
	on_g(1, GT_SYSCALL_ENTER, 1);
	flush();
	assert_non_null(strstr(m.writer.text, "m1 GoSyscallEndBlocked"));
	expect_no_repair();
	expect_no_repair();
}

TEST(rule_5_lost)
{
	running(26, "go1.26.0", 2);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	p_handoff(9, 0);
	lost(1);
	p_start(1, 3);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	lost(1);
	on_g(1, GT_SYSCALL_NO_P, 1);
	expect("m1 GoSyscallBegin #2 -\n"
	       "m9 ProcSteal p0 #3 m1\n"
	       "m1 ProcStart p3 #1\n"
	       "m1 GoSyscallEndBlocked\n"
	       "m1 GoStart g1 #2\n"
	       "m1 GoSyscallBegin #2 -\n"
	       "m1 ProcSteal p3 #3 m1\n"
	       "m1 GoSyscallEndBlocked\n");
	expect_no_repair();
}

TEST(rule_5_no_p_at_once)
{
	running(26, "go1.26.0", 1);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_TRY_EXIT, 1);
	on_g(1, GT_SYSCALL_NO_P, 1);
	expect("m1 GoSyscallBegin #2 -\n"
	       "m1 ProcSteal p0 #3 m1\n"
	       "m1 GoSyscallEndBlocked\n");
	expect_no_repair();
}

/* Rule 6: procresize takes the caller's P and gives it another one. */
TEST(rule_6_procresize)
{
	running(25, "go1.25.3", 1);
	plain(1, GT_STW_BEGIN, 9);
	plain(1, GT_PROCS, 2);
	p_start(1, 1);
	plain(1, GT_STW_END, 0);
	expect("m1 STWBegin \"GOMAXPROCS\" -\n"
	       "m1 ProcsChange 2 -\n"
	       "m1 GoStop \"runtime.Gosched\" -\n"
	       "m1 ProcStop\n"
	       "m1 ProcStart p1 #1\n"
	       "m1 GoStart g1 #2\n"
	       "m1 STWEnd\n");
	expect_no_repair();
}

TEST(collections)
{
	running(25, "go1.25.3", 1);
	plain(1, GT_GC_END, 0); /* begun before the window */
	plain(1, GT_STW_END, 0);
	plain(1, GT_STW_BEGIN, 1);
	plain(1, GT_GC_BEGIN, 0);
	plain(1, GT_STW_END, 0);
	plain(1, GT_GC_END, 0);
	expect("m1 STWBegin \"GC mark termination\" -\n"
	       "m1 GCBegin #1 -\n"
	       "m1 STWEnd\n"
	       "m1 GCEnd #2\n");
	expect_no_repair();
}

/* A P that is in no snapshot; an invalid one. */
TEST(unknown_procs)
{
	start(25, "go1.25.3", 1);
	p_start(1, 6);
	expect("status - p6 2\nm1 ProcStart p6 #1\n");
	machine_give(2, GT_P_START, P(7), 0, &(struct gt_proc){ 1u << 20 });
	expect("");
	assert_int_equal(stats()->dropped, 1);
	machine_give(3, GT_P_START, 0xdead0, 0, &(struct gt_proc){ 2 }); /* wrong address */
	p_stop(3, 2);
	expect("m3 ProcStart p2 #1\nm3 ProcStop\n");
}

/* Threads that start and end without limit are freed, except for those with state. */
TEST(threads_without_end)
{
	const uint64_t second = 1000000000;

	running(25, "go1.25.3", 3);
	on_g(1, GT_SYSCALL_ENTER, 1);
	p_start(2, 1);
	execute(2, 2);
	for (unsigned int i = 0; i < 20000; i++) {
		p_start(100 + i, 2);
		p_stop(100 + i, 2);
		if (i % 100)
			continue;
		m.now += second / 8; /* 800 a second */
		flush_and_forget();
		assert_true(m.seq->model.threads.n <
			    10500); /* those of eleven seconds, and of a generation */
	}
	m.now += 12 * second;
	p_start(3, 2);
	flush();
	assert_int_equal(m.seq->model.threads.n, 3);
	forget();
	on_g(1, GT_SYSCALL_EXIT, 1);
	park(2, 2, 7);
	expect("m1 GoSyscallEnd\n"
	       "m2 GoBlock \"chan receive\" -\n");
	expect_no_repair();
}

/* The maximum number of goroutines: further ones are ignored, others continue as before. */
TEST(goroutines_without_end)
{
	running(25, "go1.25.3", 2);
	m.seq->model.goroutines_max = 4;
	for (unsigned int g = 10; g < 20; g++)
		create(1, g);
	expect("m1 GoCreate g10 f20 -\n"
	       "m1 GoCreate g11 f21 -\n");
	assert_int_equal(stats()->dropped, 8);
	destroy(1, 1);
	execute(1, 10);
	create(1, 20);
	expect("m1 GoDestroy\n"
	       "m1 GoStart g10 #1\n"
	       "m1 GoCreate g20 f30 -\n");
	assert_int_equal(m.seq->model.by_id.n, 4);
}
