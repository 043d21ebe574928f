// SPDX-License-Identifier: GPL-2.0
/* The critical path through system calls and threads that sleep in the kernel: which call a segment names. */
#include "unit/test.h"
#include "unit/path_fixture.h"

/* Of a raw system call Go knows nothing: its thread sleeps, and another one's goroutine wakes it. */
TEST(raw_futex)
{
	all_run(2);
	core(1, 1, 0);
	core(1, 2, 1);
	call(10, 1, FUTEX);
	off(12, 1, GT_OFF_SLEEPING, 0, 0);
	off(20, 2, GT_OFF_PREEMPTED, STRESS, 1); /* the waker has to wait itself */
	core(25, 2, 1);
	wake(40, 1, 2);
	core(44, 1, 0);
	expect(1, 5, 50,
	       "5-12 oncpu g1 m1\n"
	       "12-20 oncpu g2 m2\n"
	       "20-25 kernrun g2 m2 first process by=900 by=stress\n"
	       "25-40 oncpu g2 m2\n"
	       "40-44 kernrun g1 m1 call=202\n"
	       "44-50 oncpu g1 m1\n");
}

/* The waker ran no goroutine just then, as a thread of C; before, it did. */
TEST(bare_thread)
{
	all_run(2);
	core(1, 1, 0);
	core(1, 2, 1);
	on(1, 1);
	event(8, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	call(9, 1, FUTEX);
	off(10, 1, GT_OFF_SLEEPING, 0, 0);
	block(20, 2, CHAN);
	wake(30, 1, 2);
	core(31, 1, 0);
	expect(1, 5, 40,
	       "5-8 oncpu g1 m1\n"
	       "8-10 oncpu g1 m1 call=202\n"
	       "10-20 oncpu g2 m2\n"
	       "20-30 oncpu m2\n"
	       "30-31 kernrun g1 m1 call=202\n"
	       "31-40 oncpu g1 m1 call=202\n");
}

/* What preempts goroutines cuts it short: it is the same wait, and the same goroutine that ends it. */
TEST(signals)
{
	all_run(2);
	core(1, 1, 0);
	core(1, 2, 1);
	core(2, 9, 2);
	call(10, 1, FUTEX);
	off(12, 1, GT_OFF_SLEEPING, 0, 0);
	wake(20, 1, 9);
	core(21, 1, 0);
	item(22, 1, KERNEL_SYS_EXIT,
	     (struct kernel_item){ .number = FUTEX, .value = -(uint64_t)512 });
	off(23, 1, GT_OFF_PREEMPTED, 9, 0);
	core(25, 1, 0);
	call(26, 1, FUTEX);
	off(27, 1, GT_OFF_SLEEPING, 0, 0);
	wake(30, 1, 9);
	core(31, 1, 0);
	off(32, 1, GT_OFF_SLEEPING, 0, 0);
	wake(40, 1, 2);
	core(41, 1, 0);
	item(42, 1, KERNEL_SYS_EXIT, (struct kernel_item){ .number = FUTEX });
	call(50000, 1, FUTEX);
	off(60000, 1, GT_OFF_SLEEPING, 0, 0);
	wake(60010, 1, 9); /* not cut short: it did something else then */
	core(60011, 1, 0);
	off(120000, 1, GT_OFF_SLEEPING, 0, 0);
	wake(120010, 1, 2);
	expect(1, 5, 50,
	       "5-12 oncpu g1 m1\n"
	       "12-40 oncpu g2 m2\n"
	       "40-41 kernrun g1 m1 call=202\n"
	       "41-50 oncpu g1 m1\n");
	expect(1, 10, 29, "10-12 oncpu g1 m1\n12-29 oncpu g2 m2\n");
	expect(1, 60000, 60011,
	       "60000-60010 kernblock g1 m1 call=202 thread by=9\n60010-60011 kernrun g1 m1 call=202\n");
}

/* One that returned for another reason was not cut short: the next one is another wait. */
TEST(two_waits)
{
	static const int64_t cut_short[] = { -4, -512, -513, -514, -516 },
			     done[] = { 0, 1, -11, -515 };
	static const char one[] = "12-30 kernblock g1 m1 call=202 thread by=9\n";
	static const char two[] = "12-20 kernblock g1 m1 call=202 thread by=9\n"
				  "20-21 kernrun g1 m1 call=202\n"
				  "21-27 oncpu g1 m1\n"
				  "27-30 kernblock g1 m1 call=202 thread by=9\n";

	for (unsigned int i = 0; i < 9; i++) {
		begin();
		all_run(1);
		core(1, 1, 0);
		core(2, 9, 2);
		call(10, 1, FUTEX);
		off(12, 1, GT_OFF_SLEEPING, 0, 0);
		wake(20, 1, 9);
		core(21, 1, 0);
		item(22, 1, KERNEL_SYS_EXIT,
		     (struct kernel_item){
			     .number = FUTEX,
			     .value = (uint64_t)(i < 5 ? cut_short[i] : done[i - 5]),
		     });
		call(26, 1, FUTEX);
		off(27, 1, GT_OFF_SLEEPING, 0, 0);
		wake(30, 1, 9);
		core(31, 1, 0);
		expect(1, 12, 30, i < 5 ? one : two);
	}
}

/* However many signals there are. */
TEST(many_signals)
{
	all_run(2);
	core(1, 1, 0);
	core(1, 2, 1);
	core(2, 9, 2);
	for (int64_t time = 1000; time < 1301000; time += 1000) {
		call(time, 1, FUTEX);
		off(time + 1, 1, GT_OFF_SLEEPING, 0, 0);
		wake(time + 900, 1, 9);
		core(time + 901, 1, 0);
		item(time + 902, 1, KERNEL_SYS_EXIT,
		     (struct kernel_item){ .number = FUTEX, .value = -(uint64_t)512 });
	}
	call(1301000, 1, FUTEX);
	off(1301001, 1, GT_OFF_SLEEPING, 0, 0);
	wake(1301500, 1, 2);
	core(1301501, 1, 0);
	expect(1, 900, 1301501,
	       "900-1001 oncpu g1 m1\n1001-1301500 oncpu g2 m2\n1301500-1301501 kernrun g1 m1 call=202\n");
	expect(1, 900, 700500, "900-1001 oncpu g1 m1\n1001-700500 oncpu g2 m2\n");
}

/* Until then the end of the wait is unknown. */
TEST(may_go_on)
{
	all_run(1);
	core(1, 1, 0);
	core(2, 9, 2);
	assert_false(path_history__is_pending(&history, 1, 2));
	call(10, 1, FUTEX);
	off(12, 1, GT_OFF_SLEEPING, 0, 0);
	wake(20, 1, 9);
	assert_true(path_history__is_pending(&history, 1, 20));
	core(100020, 1, 0);
	assert_true(path_history__is_pending(&history, 1, 100000)); /* before the item */
	assert_true(path_history__is_pending(&history, 1, 150019));
	assert_false(path_history__is_pending(&history, 1, 150020));
	item(100021, 1, KERNEL_SYS_EXIT, (struct kernel_item){ .number = FUTEX });
	assert_false(path_history__is_pending(&history, 1, 100021));
	call(100030, 1, FUTEX);
	off(100031, 1, GT_OFF_SLEEPING, 0, 0);
	interrupt(100040, 1);
	core(100041, 1, 0);
	assert_false(path_history__is_pending(&history, 1, 100041));
}

/* Whatever it is that the goroutine waits for. */
TEST(pending)
{
	assert_false(path_history__is_pending(&history, 1, 0)); /* there is none */
	all_run(2);
	assert_false(path_history__is_pending(&history, 1, 0)); /* of its thread nothing is known */
	core(1, 1, 0);
	assert_false(path_history__is_pending(&history, 1, 1));
	off(10, 1, GT_OFF_PREEMPTED, 0, 0);
	assert_true(path_history__is_pending(&history, 1, 10));
	core(20, 1, 0);
	off(30, 1, GT_OFF_STOPPED, 0, 0);
	assert_true(path_history__is_pending(&history, 1, 30));
	wake(40, 1, 9);
	core(40, 1, 0);
	block(50, 1, CHAN);
	assert_true(path_history__is_pending(&history, 1, 50));
	unblock(60, 1, 2);
	assert_true(path_history__is_pending(&history, 1, 60));
	start(70, 1);
	assert_false(path_history__is_pending(&history, 1, 70));
	item(80, 1, KERNEL_ENDED, (struct kernel_item){});
	assert_false(path_history__is_pending(&history, 1, 80));
	on(1, 1);
	event(90, EV_GO_DESTROY, 0, 0, 0);
	assert_false(path_history__is_pending(&history, 1, 90));
}

/* The kernel did not report that it had got a CPU in between: then there are two waits. */
TEST(off_twice)
{
	all_run(1);
	core(1, 1, 0);
	off(10, 1, GT_OFF_PREEMPTED, STRESS, 0);
	off(20, 1, GT_OFF_PREEMPTED, PEER, 0);
	core(30, 1, 0);
	off(40, 1, GT_OFF_SLEEPING, 0, 0);
	off(50, 1, GT_OFF_SLEEPING, 0, 0);
	wake(60, 1, PEER);
	core(61, 1, 0);
	expect(1, 5, 61,
	       "5-10 oncpu g1 m1\n"
	       "10-20 kernrun g1 m1 first process by=900 by=stress\n"
	       "20-30 kernrun g1 m1 first process by=901 by=peer\n"
	       "30-40 oncpu g1 m1\n"
	       "40-50 kernblock g1 m1\n"
	       "50-60 kernblock g1 m1 process by=901 by=peer\n"
	       "60-61 kernrun g1 m1\n");
}

TEST(system_calls)
{
	all_run(1);
	core(1, 1, 0);
	event(10, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	call(11, 1, READ);
	off(12, 1, GT_OFF_SLEEPING, PEER, 0);
	wake(30, 1, PEER);
	core(31, 1, 0);
	on(1, 1);
	event(32, EV_GO_SYSCALL_END, 0, 0, 0);
	call(40, 1, FSYNC);
	off(41, 1, GT_OFF_DISK, 0, 0);
	interrupt(60, 1);
	core(61, 1, 0);
	item(61, 1, KERNEL_SYS_EXIT, (struct kernel_item){});
	item(70, 1, KERNEL_FAULT_BEGIN, (struct kernel_item){});
	off(71, 1, GT_OFF_DISK, 0, 0);
	event(90, EV_HEAP_ALLOC, 1, 0, 0);
	expect(1, 5, 80,
	       "5-10 oncpu g1 m1\n"
	       "10-12 oncpu g1 m1 call=0\n"
	       "12-30 sysblock g1 m1 call=0 process by=901 by=peer\n"
	       "30-31 kernrun g1 m1 call=0\n"
	       "31-32 oncpu g1 m1 call=0\n"
	       "32-41 oncpu g1 m1\n"
	       "41-60 kernblock g1 m1 call=74 interrupt\n"
	       "60-61 kernrun g1 m1 call=74\n"
	       "61-71 oncpu g1 m1\n"
	       "71-80 kernblock g1 m1 fault pending\n");
}

/* A call of C, one for Go, makes several system calls: each part has its own. */
TEST(several_system_calls)
{
	all_run(1);
	core(1, 1, 0);
	event(10, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	call(11, 1, READ);
	off(12, 1, GT_OFF_SLEEPING, 0, 0);
	wake(20, 1, PEER);
	core(22, 1, 0);
	item(24, 1, KERNEL_SYS_EXIT, (struct kernel_item){});
	call(25, 1, FSYNC);
	off(26, 1, GT_OFF_DISK, 0, 0);
	wake(30, 1, PEER);
	core(33, 1, 0);
	event(40, EV_GO_SYSCALL_END, 0, 0, 0);
	expect(1, 5, 40,
	       "5-10 oncpu g1 m1\n"
	       "10-12 oncpu g1 m1 call=0\n"
	       "12-20 sysblock g1 m1 call=0 process by=901\n"
	       "20-22 kernrun g1 m1 call=0\n"
	       "22-25 oncpu g1 m1 call=0\n"
	       "25-26 oncpu g1 m1 call=74\n"
	       "26-30 sysblock g1 m1 call=74 process by=901\n"
	       "30-33 kernrun g1 m1 call=74\n"
	       "33-40 oncpu g1 m1 call=74\n");
}

/*
 * The thread has had its core since before the goroutine's call, in calls that the scheduler made: these are
 * not the goroutine's. Its own one has its name to the end of the state, but only once it was entered.
 */
TEST(call_of_the_state)
{
	all_run(1);
	call(1, 1, FUTEX);
	core(2, 1, 0); /* the thread's stretch on the core begins in that call */
	item(3, 1, KERNEL_SYS_EXIT, (struct kernel_item){ .number = FUTEX });
	event(10, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	call(12, 1, READ);
	item(20, 1, KERNEL_SYS_EXIT, (struct kernel_item){ .number = READ });
	event(22, EV_GO_SYSCALL_END, 0, 0, 0);
	call(24, 1, FUTEX);
	item(26, 1, KERNEL_SYS_EXIT, (struct kernel_item){ .number = FUTEX });
	event(30, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	off(32, 1, GT_OFF_PREEMPTED, STRESS, 0); /* before it has entered the call */
	core(34, 1, 0);
	call(36, 1, FSYNC);
	expect(1, 5, 40,
	       "5-10 oncpu g1 m1\n"
	       "10-22 oncpu g1 m1 call=0\n"
	       "22-32 oncpu g1 m1\n"
	       "32-34 kernrun g1 m1 first process by=900 by=stress\n"
	       "34-40 oncpu g1 m1 call=74\n");
	expect(1, 10, 12, "10-12 oncpu g1 m1\n"); /* the window ends as it is entered */
}

/* A call that ends just as the goroutine's begins is not that; one without any has no name. */
TEST(call_before_the_state)
{
	all_run(1);
	core(1, 1, 0);
	call(5, 1, FUTEX);
	item(10, 1, KERNEL_SYS_EXIT, (struct kernel_item){ .number = FUTEX });
	event(10, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	event(20, EV_GO_SYSCALL_END, 0, 0, 0);
	call(20, 1, FUTEX);
	item(30, 1, KERNEL_SYS_EXIT, (struct kernel_item){ .number = FUTEX });
	event(30, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	call(35, 1, READ);
	event(40, EV_GO_SYSCALL_END, 0, 0, 0);
	expect(1, 2, 50, "2-30 oncpu g1 m1\n30-40 oncpu g1 m1 call=0\n40-50 oncpu g1 m1\n");
}

/* What a generation's table says of a thread: it has been in the call since before the trace. */
TEST(call_of_the_table)
{
	struct kernel_thread kt = { .tid = 1, .run = KERNEL_RUNNING, .call = READ };

	assert_int_equal(kernel_threads__set(&threads, &kt), 0);
	on(0, 0);
	event(10, EV_SYNC, 0, 0, 0);
	event(10, EV_GO_STATUS, 1, 1, GO_SYSCALL);
	on(1, 1);
	event(20, EV_GO_SYSCALL_END, 0, 0, 0);
	event(30, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	kernel_threads__find(&threads, 1)->call = KERNEL_NO_CALL; /* its end was lost */
	event(40, EV_SYNC, 0, 0, 0);
	event(50, EV_GO_SYSCALL_END, 0, 0, 0);
	event(60, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	event(70, EV_HEAP_ALLOC, 1, 0, 0);
	expect(1, 10, 70,
	       "10-20 oncpu g1 m1 call=0\n"
	       "20-30 oncpu g1 m1\n"
	       "30-50 oncpu g1 m1 call=0\n"
	       "50-70 oncpu g1 m1\n");
}

/* A sleep that began before the trace: what it is, is known from the table, which has no reason. */
TEST(sleep_of_the_table)
{
	static const uint8_t runs[] = { KERNEL_SLEEPING, KERNEL_BLOCKED, KERNEL_STOPPED };
	static const uint8_t why[] = { GT_OFF_SLEEPING, GT_OFF_DISK, GT_OFF_STOPPED };
	struct kernel_thread kt = { .call = KERNEL_NO_CALL };

	for (uint32_t i = 0; i < 3; i++) {
		kt.tid = i + 1;
		kt.run = runs[i];
		assert_int_equal(kernel_threads__set(&threads, &kt), 0);
	}
	all_run(3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(path_history__last_run(&history, i)->why, why[i]);
}

/* Two threads cannot be on one CPU; if a table has them there, the one with the higher ID is. */
TEST(two_on_one_cpu)
{
	struct kernel_thread kt = { .run = KERNEL_RUNNING, .call = KERNEL_NO_CALL };
	const struct path_occupant *occupant;
	const struct path_list *occupants;
	uint64_t seed = hash__seed[0];

	for (uint64_t i = 1; i <= 32; i++) {
		hash__seed[0] = seed * i | 1;
		begin();
		for (kt.tid = 1; kt.tid <= 2; kt.tid++)
			assert_int_equal(kernel_threads__set(&threads, &kt), 0);
		all_run(2);
		occupants = path_history__cpu(&history, 0);
		assert_non_null(occupants);
		occupant = (const struct path_occupant *)occupants->at + occupants->n - 1;
		assert_int_equal(occupant->tid, 2);
	}
	hash__seed[0] = seed;
}
