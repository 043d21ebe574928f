// SPDX-License-Identifier: GPL-2.0
/*
 * The critical path: chains of waits made by hand, between goroutines and between threads. What
 * contradicts itself: test_path_any.c. System calls: test_path_calls.c.
 */
#include "unit/test.h"
#include "unit/path_fixture.h"

TEST(running)
{
	all_run(1);
	event(100, EV_HEAP_ALLOC, 1, 0, 0);
	expect(1, 10, 100, "10-100 running g1 m1\n");
}

/* g1 and g2 in turns: the time of each one's wait is the other one's. */
TEST(ping_pong)
{
	all_run(2);
	block(10, 2, CHAN);
	unblock(20, 2, 1);
	block(21, 1, CHAN);
	start(25, 2);
	on(2, 2);
	unblock(40, 1, 2);
	block(41, 2, CHAN);
	start(43, 1);
	unblock(60, 2, 1);
	block(61, 1, CHAN);
	start(64, 2);
	unblock(80, 1, 2);
	start(83, 1);
	expect(1, 0, 90,
	       "0-21 running g1 m1\n"
	       "21-25 gorun g2 idle\n"
	       "25-40 running g2 m2\n"
	       "40-43 gorun g1 idle held=g2\n"
	       "43-61 running g1 m1\n"
	       "61-64 gorun g2 idle\n"
	       "64-80 running g2 m2\n"
	       "80-83 gorun g1 idle held=g2\n"
	       "83-90 running g1 m1\n");
}

/* g1 waits for the lock that g2 gets from g3 and then holds for a while. */
TEST(convoy)
{
	all_run(3);
	block(5, 2, CHAN); /* before g1 does */
	block(10, 1, CHAN);
	unblock(50, 2, 3);
	start(51, 2);
	unblock(80, 1, 2);
	start(82, 1);
	expect(1, 0, 90,
	       "0-10 running g1 m1\n"
	       "10-50 running g3 m3\n"
	       "50-51 gorun g2 idle held=g3\n"
	       "51-80 running g2 m2\n"
	       "80-82 gorun g1 idle held=g2 held=g3\n"
	       "82-90 running g1 m1\n");
}

/* A wait within a wait: the path comes back to g2 where that began to wait. */
TEST(nested)
{
	all_run(3);
	block(10, 1, CHAN);
	block(30, 2, CHAN);
	unblock(50, 2, 3);
	start(51, 2);
	unblock(80, 1, 2);
	start(81, 1);
	expect(1, 0, 90,
	       "0-10 running g1 m1\n"
	       "10-30 running g2 m2\n"
	       "30-50 running g3 m3\n"
	       "50-51 gorun g2 idle held=g3\n"
	       "51-80 running g2 m2\n"
	       "80-81 gorun g1 idle held=g2 held=g3\n"
	       "81-90 running g1 m1\n");
}

TEST(created)
{
	all_run(1);
	on(1, 1);
	event(30, EV_GO_CREATE, 2, WORKER, 0);
	start(40, 2);
	expect(2, 0, 50,
	       "0-30 running g1 m1\n"
	       "30-40 gorun g2 idle held=g1\n"
	       "40-50 running g2 m2\n");
	expect(2, 30, 40, "30-40 gorun g2 idle held=g1\n");
}

/* By a timer, as time.AfterFunc() does. */
TEST(created_by_no_goroutine)
{
	all_run(1);
	on(9, 0);
	event(30, EV_GO_CREATE, 2, WORKER, 0);
	start(40, 2);
	expect(2, 0, 50,
	       "0-30 goblock g2 not created yet timer\n"
	       "30-40 gorun g2 idle held=g1\n"
	       "40-50 running g2 m2\n");
}

TEST(waits_for_a_p)
{
	all_run(3);
	block(10, 1, CHAN);
	unblock(20, 1, 2);
	block(35, 3, CHAN); /* gives P 2 up */
	on(3, 0);
	event(40, EV_GO_START, 1, 1, 0);
	expect(1, 20, 50,
	       "20-35 gorun g1 goroutine by=g3 held=g2 held=g3\n"
	       "35-40 gorun g1 idle held=g2 held=g3\n"
	       "40-50 running g1 m3\n");
}

/* Each goroutine that had the P is charged the time for which it had it. */
TEST(several_had_the_p)
{
	all_run(4);
	block(5, 4, CHAN);
	block(10, 1, CHAN);
	unblock(15, 4, 2);
	unblock(20, 1, 2);
	block(30, 3, CHAN);
	on(3, 0);
	event(31, EV_GO_START, 4, 1, 0);
	on(3, 4);
	event(45, EV_GO_BLOCK, CHAN, 0, 0);
	on(3, 0);
	event(50, EV_GO_START, 1, 1, 0);
	expect(1, 10, 60,
	       "10-20 running g2 m2\n"
	       "20-30 gorun g1 goroutine by=g3 held=g2 held=g4 held=g3\n"
	       "30-31 gorun g1 idle held=g2 held=g4 held=g3\n"
	       "31-45 gorun g1 goroutine by=g4 held=g2 held=g4 held=g3\n"
	       "45-50 gorun g1 idle held=g2 held=g4 held=g3\n"
	       "50-60 running g1 m3\n");
}

/* It had the P, but no CPU: not it is the cause, but what kept it from one. */
TEST(the_holder_has_no_cpu)
{
	all_run(3);
	for (uint32_t m = 1; m <= 3; m++)
		core(1, m, (uint16_t)(m - 1));
	block(10, 1, CHAN);
	unblock(20, 1, 2);
	off(25, 3, GT_OFF_PREEMPTED, STRESS, 0);
	core(28, 3, 2);
	off(30, 3, GT_OFF_THROTTLED, STRESS, 2);
	core(37, 3, 2);
	block(40, 3, CHAN);
	on(3, 0);
	event(40, EV_GO_START, 1, 1, 0);
	expect(1, 20, 50,
	       "20-25 gorun g1 goroutine by=g3 held=g2 held=g3\n"
	       "25-28 gorun g1 first process by=900 by=stress held=g2 held=g3\n"
	       "28-30 gorun g1 goroutine by=g3 held=g2 held=g3\n"
	       "30-37 gorun g1 cgroup held=g2 held=g3\n"
	       "37-40 gorun g1 goroutine by=g3 held=g2 held=g3\n"
	       "40-50 oncpu g1 m3\n");
}

/* The P is there, but the thread that is to run with it has no core. */
TEST(waits_for_a_thread)
{
	all_run(2);
	core(1, 1, 0);
	core(1, 2, 1);
	history.machine = true; /* since 0 */
	block(10, 1, CHAN);
	off(11, 1, GT_OFF_SLEEPING, STRESS, 0);
	unblock(20, 1, 2);
	wake(22, 1, 2);
	machine(26, 0, PEER);
	core(30, 1, 0);
	start(33, 1);
	expect(1, 20, 40,
	       "20-22 gorun g1 idle held=g2\n"
	       "22-26 gorun g1 process by=900 by=stress held=g2\n"
	       "26-30 gorun g1 process by=901 by=peer held=g2\n"
	       "30-33 gorun g1 idle held=g2\n"
	       "33-40 oncpu g1 m1\n");
}

/* What no goroutine ends: the chain ends there. */
TEST(scheduler)
{
	all_run(1);
	block(10, 1, SLEEP);
	unblock(20, 1, 0);
	start(21, 1);
	block(30, 1, CHAN); /* a timer's channel */
	unblock(40, 1, 0);
	start(41, 1);
	block(50, 1, NETWORK);
	unblock(60, 1, 0);
	start(61, 1);
	block(70, 1, CHAN);
	event(100, EV_HEAP_ALLOC, 1, 0, 0);
	expect(1, 10, 90,
	       "10-20 goblock g1 m9 sleep timer\n"
	       "20-21 gorun g1 idle\n"
	       "21-30 running g1 m1\n"
	       "30-40 goblock g1 m9 chan receive timer\n"
	       "40-41 gorun g1 idle\n"
	       "41-50 running g1 m1\n"
	       "50-60 goblock g1 m9 network netpoll\n"
	       "60-61 gorun g1 idle\n"
	       "61-70 running g1 m1\n"
	       "70-90 goblock g1 chan receive pending\n");
}

/*
 * The thread that looks at the network for the scheduler was woken by a process, or by a goroutine,
 * which is not followed.
 */
TEST(network)
{
	all_run(2);
	core(1, 1, 0);
	core(1, 2, 1);
	core(2, 9, 2);
	off(3, 9, GT_OFF_SLEEPING, 0, 2);
	block(10, 1, NETWORK);
	wake(25, 9, PEER);
	core(27, 9, 2);
	unblock(30, 1, 0);
	off(31, 9, GT_OFF_SLEEPING, 0, 2);
	start(31, 1);
	block(40, 1, NETWORK);
	wake(55, 9, 2);
	core(57, 9, 2);
	unblock(60, 1, 0);
	start(61, 1);
	expect(1, 10, 70,
	       "10-30 goblock g1 m9 network netpoll by=901\n"
	       "30-31 gorun g1 idle held=g2\n"
	       "31-40 oncpu g1 m1\n"
	       "40-60 goblock g1 m9 network netpoll\n"
	       "60-61 gorun g1 idle held=g2\n"
	       "61-70 oncpu g1 m1\n");
}

/* A goroutine that polled the network ended waits by chance; closing the connection is no chance. */
TEST(polled_by_a_goroutine)
{
	all_run(2);
	block(10, 1, NETWORK);
	unblock_in(20, 1, 2, HOLDER);
	start(21, 1);
	block(30, 1, SLEEP);
	unblock_in(40, 1, 2, EVICT);
	start(41, 1);
	block(50, 1, NETWORK);
	unblock_in(60, 1, 2, EVICT);
	start(61, 1);
	expect(1, 10, 70,
	       "10-20 goblock g1 m2 network netpoll\n"
	       "20-21 gorun g1 idle held=g2\n"
	       "21-30 running g1 m1\n"
	       "30-40 goblock g1 m2 sleep timer\n"
	       "40-41 gorun g1 idle held=g2\n"
	       "41-50 running g1 m1\n"
	       "50-60 running g2 m2\n"
	       "60-61 gorun g1 idle held=g2\n"
	       "61-70 running g1 m1\n");
}

/*
 * An interrupt woke the thread: the interrupted task did not. A thread that was woken before the wait began,
 * or just then, was not woken for it.
 */
TEST(network_by_an_interrupt)
{
	all_run(1);
	core(1, 1, 0);
	core(2, 9, 2);
	off(3, 9, GT_OFF_SLEEPING, 0, 2);
	block(10, 1, NETWORK);
	interrupt(25, 9);
	core(27, 9, 2);
	unblock(30, 1, 0);
	off(31, 9, GT_OFF_SLEEPING, 0, 2);
	start(31, 1);
	wake(40, 9, PEER);
	block(40, 1, NETWORK);
	core(42, 9, 2);
	unblock(50, 1, 0);
	off(51, 9, GT_OFF_SLEEPING, 0, 2);
	start(51, 1);
	wake(61, 9, PEER);
	block(60, 1, NETWORK);
	core(62, 9, 2);
	unblock(70, 1, 0);
	start(71, 1);
	expect(1, 10, 80,
	       "10-30 goblock g1 m9 network netpoll\n"
	       "30-31 gorun g1 idle\n"
	       "31-40 oncpu g1 m1\n"
	       "40-50 goblock g1 m9 network netpoll\n"
	       "50-51 gorun g1 idle\n"
	       "51-60 oncpu g1 m1\n"
	       "60-70 goblock g1 m9 network netpoll by=901\n"
	       "70-71 gorun g1 idle\n"
	       "71-80 oncpu g1 m1\n");
	expect(1, 10, 31,
	       "10-30 goblock g1 m9 network netpoll\n"
	       "30-31 gorun g1 idle\n");
}

/* Without perf's events only who got the core at first is known; with them, everyone who had it. */
TEST(core_is_held)
{
	all_run(1);
	core(1, 1, 0);
	off(10, 1, GT_OFF_PREEMPTED, STRESS, 0);
	core(20, 1, 0);
	expect(1, 5, 30,
	       "5-10 oncpu g1 m1\n"
	       "10-20 kernrun g1 m1 first process by=900 by=stress\n"
	       "20-30 oncpu g1 m1\n");
	off(30, 1, GT_OFF_SLEEPING, 0, 0);
	machine(31, 3, STRESS);
	wake(40, 1, PEER);
	machine(44, 3, PEER);
	machine(48, 3, 0);
	core(50, 1, 3);
	off(60, 1, GT_OFF_THROTTLED, STRESS, 3);
	core(70, 1, 3);
	off(80, 1, GT_OFF_PREEMPTED, STRESS, 3);
	machine(84, 3, PEER);
	core(90, 1, 0); /* taken over */
	expect(1, 30, 95,
	       "30-40 kernblock g1 m1 process by=901 by=peer\n"
	       "40-44 kernrun g1 m1 process by=900 by=stress\n"
	       "44-48 kernrun g1 m1 process by=901 by=peer\n"
	       "48-50 kernrun g1 m1 idle\n"
	       "50-60 oncpu g1 m1\n"
	       "60-70 throttled g1 m1 cgroup\n"
	       "70-80 oncpu g1 m1\n"
	       "80-84 kernrun g1 m1 process by=900 by=stress\n"
	       "84-90 kernrun g1 m1 process by=901 by=peer\n"
	       "90-95 oncpu g1 m1\n");
	off(95, 1, GT_OFF_PREEMPTED, STRESS, 0); /* perf has ended */
	core(97, 1, 0);
	expect(1, 92, 99,
	       "92-95 oncpu g1 m1\n"
	       "95-97 kernrun g1 m1 first process by=900 by=stress\n"
	       "97-99 oncpu g1 m1\n");
}

/*
 * A name that appears behind the window is not used: how far is read depends on the other goroutines
 * that are looked at.
 */
TEST(a_name_behind_the_window)
{
	all_run(1);
	core(1, 1, 0);
	off(10, 1, GT_OFF_SLEEPING, 0, 0);
	wake(20, 1, STRESS);
	core(21, 1, 0);
	history.to = 30;
	off(30, 1, GT_OFF_PREEMPTED, STRESS, 0);
	expect(1, 10, 20, "10-20 kernblock g1 m1 process by=900\n");
	history.to = INT64_MAX;
	core(31, 1, 0);
	off(40, 1, GT_OFF_PREEMPTED, STRESS, 0);
	expect(1, 10, 20, "10-20 kernblock g1 m1 process by=900 by=stress\n");
}

/* A thread that wakes another one has a CPU, which no event need have shown. */
TEST(a_waker_has_a_cpu)
{
	all_run(1);
	core(1, 1, 0);
	off(10, 1, GT_OFF_PREEMPTED, STRESS, 0);
	wake(20, 2, 1);
	expect(1, 5, 30,
	       "5-10 oncpu g1 m1\n"
	       "10-20 kernrun g1 m1 first process by=900 by=stress\n"
	       "20-30 oncpu g1 m1\n");
}

/* The core was another goroutine's of the same program. */
TEST(core_is_ours)
{
	all_run(2);
	core(1, 2, 0);
	off(10, 2, GT_OFF_PREEMPTED, 1, 0);
	core(10, 1, 0);
	off(20, 1, GT_OFF_SLEEPING, 2, 0);
	core(20, 2, 0);
	expect(2, 5, 30,
	       "5-10 oncpu g2 m2\n"
	       "10-20 kernrun g2 m2 goroutine by=g1 by=1\n"
	       "20-30 oncpu g2 m2\n");
}

TEST(collector)
{
	all_run(1);
	on(1, 1);
	event(10, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0);
	event(20, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	event(30, EV_STW_BEGIN, STW, 0, 0);
	event(35, EV_STW_END, STW, 0, 0);
	block(50, 1, SLEEP);
	unblock(60, 1, 0);
	start(61, 1);
	expect(1, 5, 70,
	       "5-10 running g1 m1\n"
	       "10-20 running g1 m1 assist\n"
	       "20-50 running g1 m1 stopped\n"
	       "50-60 goblock g1 m9 sleep timer\n"
	       "60-61 gorun g1 idle\n"
	       "61-70 running g1 m1\n");
}

/* It waits within the assist, and is in a call of C: it still assists when it runs on. */
TEST(assist_goes_on)
{
	all_run(2);
	on(1, 1);
	event(10, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0);
	block(20, 1, SLEEP);
	unblock(30, 1, 0);
	start(31, 1);
	on(1, 1);
	event(40, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	block(50, 1, SLEEP);
	unblock(60, 1, 0);
	start(61, 1);
	on(1, 1);
	event(70, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0);
	event(80, EV_GO_DESTROY, 0, 0, 0);
	on(2, 2);
	event(90, EV_GO_CREATE, 1, WORKER, 0); /* another one, by the same number */
	on(1, 0);
	event(91, EV_GO_START, 1, 1, 0);
	expect(1, 5, 100,
	       "5-10 running g1 m1\n"
	       "10-20 running g1 m1 assist\n"
	       "20-30 goblock g1 m9 sleep timer\n"
	       "30-31 gorun g1 idle held=g2\n"
	       "31-40 running g1 m1 assist\n"
	       "40-50 running g1 m1\n"
	       "50-60 goblock g1 m9 sleep timer\n"
	       "60-61 gorun g1 idle held=g2\n"
	       "61-70 running g1 m1\n"
	       "70-80 running g1 m1 assist\n"
	       "80-90 unknown g1\n"
	       "90-91 gorun g1 idle held=g2\n"
	       "91-100 running g1 m1\n");
}

/* The window ends, or begins, within a wait: what ended that is behind it. */
TEST(within_a_wait)
{
	all_run(2);
	block(10, 1, CHAN);
	unblock(80, 1, 2);
	start(81, 1);
	expect(1, 20, 40, "20-40 running g2 m2\n");
	expect(1, 5, 40, "5-10 running g1 m1\n10-40 running g2 m2\n");
}

/* Who is gone, and has come again by the same number. */
TEST(ended)
{
	all_run(1);
	on(1, 1);
	event(10, EV_GO_DESTROY, 0, 0, 0);
	expect(1, 0, 30, "0-10 running g1 m1\n10-30 unknown g1\n");
	on(2, 0);
	event(40, EV_GO_CREATE, 1, WORKER, 0);
	start(45, 1);
	expect(1, 0, 50,
	       "0-10 running g1 m1\n10-40 unknown g1\n40-45 gorun g1 idle\n45-50 running g1 m1\n");
}

/* Before the window only the last of each is kept. */
TEST(only_the_window)
{
	history.from = 5000;
	all_run(2);
	core(1, 1, 0);
	for (int64_t t = 10; t < 4000; t += 10) {
		off(t, 1, GT_OFF_PREEMPTED, STRESS, 0);
		core(t + 1, 1, 0);
		block(t + 2, 1, CHAN);
		unblock(t + 3, 1, 2);
		start(t + 4, 1);
	}
	assert_int_equal(path_goroutine(&history, 0)->states.n, 1);
	assert_int_equal(path_thread(&history, 0)->runs.n, 1);
	assert_int_equal(path_thread(&history, 0)->on.n, 1);
	on(1, 1);
	event(4500, EV_GO_CREATE, 7, WORKER, 0);
	start(4501, 7);
	on(7, 7);
	event(4600, EV_GO_DESTROY, 0, 0, 0);
	assert_int_equal(path_goroutine(&history, 2)->states.cap, 0);
	expect(1, 5000, 6000, "5000-6000 oncpu g1 m1\n");
}

/* Waits for two threads of the program are two causes, since each is printed with its id. */
TEST(causes_by_thread)
{
	struct path_segment segments[] = {
		{ 0, 10, .kind = PATH_KERNEL_RUNNABLE, .cause = PATH_CAUSE_THREAD, .other = 5 },
		{ 10, 30, .kind = PATH_KERNEL_RUNNABLE, .cause = PATH_CAUSE_THREAD, .other = 6 },
		{ 30, 31, .kind = PATH_KERNEL_RUNNABLE, .cause = PATH_CAUSE_THREAD, .other = 5 },
		{ 31, 35, .kind = PATH_ON_CPU, .goroutine = PATH_NONE, .thread = 1 },
		{ 35, 36, .kind = PATH_ON_CPU, .goroutine = PATH_NONE, .thread = 2 },
	};
	static const uint64_t want[] = { 20, 11, 4, 1 };
	struct path p = { .segments = segments, .n = 5, .to = 36 };
	struct path_cause_total *all;
	size_t n;

	assert_int_equal(path__summary(&p, &all, &n), 0);
	assert_int_equal(n, 4);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(all[i].ns, want[i]);
	assert_int_equal(all[0].like->other, 6);
	free(all);
}
