// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of goroutines that belong to a task because they were created in it: their region begins
 * with their first execution, and ends before them or after the task. Under test:
 * sequence/members.c.
 */
#include "unit/test.h"
#include "sequence/sequencer_impl.h"
#include "unit/call_records.h"

/* Goroutine 1 runs, in a task whose goroutines inherit it. */
static void in_task(void)
{
	running(25, "go1.26.8", 3);
	name_calls();
	inherited_call(1, 1, 100, TASK_F);
	expect("m1 UserTaskBegin " ID_1 " 0 \"f\" -\n"
	       "m1 UserRegionBegin " ID_1 " \"f\" -\n");
}

static void on_second_thread(unsigned int g)
{
	p_start(2, 1);
	execute(2, g);
	flush_and_forget();
}

TEST(until_its_end)
{
	in_task();
	create(1, 10);
	park(1, 1, 0);
	execute(1, 10);
	park(1, 10, 0);
	ready(1, 10);
	execute(1, 10);
	destroy(1, 10);
	expect("m1 GoCreate g10 f20 -\n"
	       "m1 GoBlock \"unspecified\" -\n"
	       "m1 GoStart g10 #1\n"
	       "m1 UserRegionBegin " ID_1 " \"f20\" -\n"
	       "m1 GoBlock \"unspecified\" -\n"
	       "m1 GoUnblock g10 #2 -\n"
	       "m1 GoStart g10 #3\n"
	       "m1 UserRegionEnd " ID_1 " \"f20\" -\n"
	       "m1 GoDestroy\n");
	assert_int_equal(m.seq->user.members, 0);
	expect_no_repair();
}

/* The task ends while the goroutine runs: it leaves it when it stops. */
TEST(until_the_task_ends)
{
	in_task();
	create(1, 10);
	on_second_thread(10);
	call_ends(1, 1, 100, TASK_F);
	yield(2, 10, 0);
	execute(2, 10);
	destroy(2, 10);
	expect("m1 UserRegionEnd " ID_1 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_1 " -\n"
	       "m2 UserRegionEnd " ID_1 " \"f20\" -\n"
	       "m2 GoStop \"runtime.Gosched\" -\n"
	       "m2 GoStart g10 #2\n"
	       "m2 GoDestroy\n");
	assert_int_equal(m.seq->user.members, 0);
	assert_int_equal(m.seq->user.open_bytes, 0);
	expect_no_repair();
}

/* The task ends while the goroutine waits: it leaves it when it runs again. */
TEST(while_it_waits)
{
	in_task();
	create(1, 10);
	on_second_thread(10);
	park(2, 10, 0);
	call_ends(1, 1, 100, TASK_F);
	ready(1, 10);
	execute(2, 10);
	expect("m2 GoBlock \"unspecified\" -\n"
	       "m1 UserRegionEnd " ID_1 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_1 " -\n"
	       "m1 GoUnblock g10 #2 -\n"
	       "m2 GoStart g10 #3\n"
	       "m2 UserRegionEnd " ID_1 " \"f20\" -\n");
	expect_no_repair();
}

/* It has not run when the task ends, or when it ends itself: there is nothing of it in the task. */
TEST(before_it_runs)
{
	in_task();
	create(1, 10);
	call_ends(1, 1, 100, TASK_F);
	create(1, 11);
	flush_and_forget();
	assert_int_equal(m.seq->user.members, 1);
	on_second_thread(10);
	destroy(2, 10);
	execute(2, 11);
	destroy(2, 11);
	expect("m2 GoDestroy\n"
	       "m2 GoStart g11 #1\n"
	       "m2 GoDestroy\n");
	assert_int_equal(m.seq->user.members, 0);
	expect_no_repair();
}

/* Grandchildren belong to it, too; what the goroutine has open itself ends first. */
TEST(grandchildren)
{
	in_task();
	create(1, 10);
	on_second_thread(10);
	create(2, 11);
	own_region(2, 10, 0, false);
	call_ends(1, 1, 100, TASK_F);
	create(2, 12); /* in no task any more */
	yield(2, 10, 0);
	execute(2, 10);
	own_region(2, 10, 0, true);
	inherited_call(2, 10, 100, TASK_F);
	expect("m2 GoCreate g11 f21 -\n"
	       "m2 UserRegionBegin 0 \"own\" -\n"
	       "m1 UserRegionEnd " ID_1 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_1 " -\n"
	       "m2 GoCreate g12 f22 -\n"
	       "m2 GoStop \"runtime.Gosched\" -\n"
	       "m2 GoStart g10 #2\n"
	       "m2 UserRegionEnd 0 \"own\" -\n"
	       "m2 UserRegionEnd " ID_1 " \"f20\" -\n"
	       "m2 UserTaskBegin " ID_2 " 0 \"f\" -\n"
	       "m2 UserRegionBegin " ID_2 " \"f\" -\n");
	assert_int_equal(m.seq->user.members, 1); /* 11, which has not run */
	expect_no_repair();
}

/* Its task has ended: a call that begins before it stops belongs to none, whatever the call is. */
TEST(calls_after_the_task)
{
	in_task();
	create(1, 10);
	on_second_thread(10);
	call_ends(1, 1, 100, TASK_F);
	region_call(2, 10, 100, REGION_G);
	expect("m1 UserRegionEnd " ID_1 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_1 " -\n"
	       "m2 UserRegionEnd " ID_1 " \"f20\" -\n"
	       "m2 UserRegionBegin 0 \"g\" -\n");
	expect_no_repair();
}

/* A grandchild outlives the goroutine by which it belongs to the task. */
TEST(orphans)
{
	in_task();
	create(1, 10);
	on_second_thread(10);
	create(2, 11);
	destroy(2, 10);
	flush_and_forget();
	execute(2, 11);
	expect("m2 GoStart g11 #1\n"
	       "m2 UserRegionBegin " ID_1 " \"f21\" -\n");
	expect_no_repair();
}

/* Calls and the program's own regions in a member; calls of it are subtasks of its task. */
TEST(within)
{
	in_task();
	create(1, 10);
	on_second_thread(10);
	own_region(2, 10, 0, true); /* begun before the window: not the member's */
	inherited_call(2, 10, 100, TASK_F);
	create(2, 11);
	region_call(2, 10, 200, REGION_G);
	call_ends(2, 10, 200, REGION_G);
	call_ends(2, 10, 100, TASK_F);
	region_call(2, 10, 100, REGION_G);
	call_ends(2, 10, 100, REGION_G);
	park(2, 10, 0);
	execute(2, 11); /* its task, the second one, has ended */
	expect("m2 UserTaskBegin " ID_2 " " ID_1 " \"f\" -\n"
	       "m2 UserRegionBegin " ID_2 " \"f\" -\n"
	       "m2 GoCreate g11 f21 -\n"
	       "m2 UserRegionBegin " ID_2 " \"g\" -\n"
	       "m2 UserRegionEnd " ID_2 " \"g\" -\n"
	       "m2 UserRegionEnd " ID_2 " \"f\" -\n"
	       "m2 UserTaskEnd " ID_2 " -\n"
	       "m2 UserRegionBegin " ID_1 " \"g\" -\n"
	       "m2 UserRegionEnd " ID_1 " \"g\" -\n"
	       "m2 GoBlock \"unspecified\" -\n"
	       "m2 GoStart g11 #1\n");
	expect_no_repair();
}

/* Goroutines inherit only the tasks of which the record says so, and no task of the program's own. */
TEST(others_do_not_inherit)
{
	running(25, "go1.26.8", 3);
	name_calls();
	task_call(1, 1, 100, TASK_F);
	create(1, 10);
	own_region(1, 1, 7, false);
	create(1, 11);
	flush_and_forget();
	assert_int_equal(m.seq->user.members, 0);
	on_second_thread(10);
	destroy(2, 10);
	execute(2, 11);
	expect("m2 GoDestroy\n"
	       "m2 GoStart g11 #1\n");
	expect_no_repair();
}

/* A region of the program's own task does not hide the call's task. */
TEST(in_own_region)
{
	in_task();
	own_task(1, 1, 7, 0);
	own_region(1, 1, 7, false);
	create(1, 10);
	p_start(2, 1);
	flush_and_forget();
	execute(2, 10);
	expect("m2 GoStart g10 #1\n"
	       "m2 UserRegionBegin " ID_1 " \"f20\" -\n");
	expect_no_repair();
}

/* Requests are tasks, too, and their records say whether goroutines inherit them. */
TEST(in_requests)
{
	struct gt_request request = { .depth = 100, .number = GT_REQUEST_NO_NUMBER };

	running(25, "go1.26.8", 3);
	for (request.inherited = 0; request.inherited <= 2; request.inherited++) {
		machine_give(1, GT_REQUEST, G(1), 0, &request);
		create(1, 10 + request.inherited);
		flush_and_forget();
		assert_int_equal(m.seq->user.members, request.inherited > 0); /* 11 has not run */
		request.step = GT_REQUEST_ENDS;
		machine_give(1, GT_REQUEST, G(1), 0, &request);
		request.step = GT_REQUEST_BEGINS;
	}
	flush();
	assert_int_equal(stats()->dropped, 2); /* there is no such value */
}

/* A coroutine begins by a switch, and ends by one. */
TEST(coroutines)
{
	in_task();
	create_blocked(1, 10);
	coswitch(1, 1, 10, false);
	coswitch(1, 10, 1, true);
	expect("m1 GoCreateBlocked g10 f20 -\n"
	       "m1 GoSwitch g10 #1\n"
	       "m1 UserRegionBegin " ID_1 " \"f20\" -\n"
	       "m1 UserRegionEnd " ID_1 " \"f20\" -\n"
	       "m1 GoSwitchDestroy g1 #2\n");
	expect_no_repair();
}

/* The goroutine leaves its ended task at the begin of a system call. */
TEST(system_calls)
{
	in_task();
	create(1, 10);
	on_second_thread(10);
	call_ends(1, 1, 100, TASK_F);
	flush_and_forget();
	on_g(2, GT_SYSCALL_ENTER, 10);
	expect("m2 UserRegionEnd " ID_1 " \"f20\" -\n"
	       "m2 GoSyscallBegin #2 -\n");
	expect_no_repair();
}

/* Its region is in another generation than its begin, and has the same name there. */
TEST(over_generations)
{
	in_task();
	create(1, 10);
	on_second_thread(10);
	m.now += 3000000000;
	yield(1, 1, 0);
	flush();
	assert_non_null(strstr(m.writer.text, "open "));
	forget();
	destroy(2, 10);
	expect("m2 UserRegionEnd " ID_1 " \"f20\" -\n"
	       "m2 GoDestroy\n");
	expect_no_repair();
}

/* Many goroutines in one task: a limited number belongs to it, and none of them is lost. */
TEST(members_are_limited)
{
	enum { LIMIT = 1 << 17, MORE = 1000 };

	in_task();
	for (unsigned int i = 0; i < LIMIT + MORE; i++) {
		create(1, 10 + i);
		if (i % 500 == 0)
			flush_and_forget();
	}
	flush_and_forget();
	assert_int_equal(m.seq->user.members, LIMIT);
	assert_int_equal(stats()->dropped, MORE);
	on_second_thread(10);
	destroy(2, 10);
	create(1, 9);
	flush_and_forget();
	assert_int_equal(m.seq->user.members, LIMIT);
	assert_int_equal(stats()->dropped, MORE);
	execute(2, 10 + LIMIT); /* one too many */
	expect("m2 GoStart g131082 #1\n");
}
