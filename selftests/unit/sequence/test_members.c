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
static void in_task(struct machine *m)
{
	running(m, 25, "go1.26.8", 3);
	name_calls(m);
	inherited_call(m, 1, 1, 100, TASK_F);
	expect(m, "m1 UserTaskBegin " ID_1 " 0 \"f\" -\n"
		  "m1 UserRegionBegin " ID_1 " \"f\" -\n");
}

static void on_second_thread(struct machine *m, unsigned int g)
{
	p_start(m, 2, 1);
	execute(m, 2, g);
	flush_and_forget(m);
}

TEST(until_its_end)
{
	struct machine m;

	in_task(&m);
	create(&m, 1, 10);
	park(&m, 1, 1, 0);
	execute(&m, 1, 10);
	park(&m, 1, 10, 0);
	ready(&m, 1, 10);
	execute(&m, 1, 10);
	destroy(&m, 1, 10);
	expect(&m, "m1 GoCreate g10 f20 -\n"
		   "m1 GoBlock \"unspecified\" -\n"
		   "m1 GoStart g10 #1\n"
		   "m1 UserRegionBegin " ID_1 " \"f20\" -\n"
		   "m1 GoBlock \"unspecified\" -\n"
		   "m1 GoUnblock g10 #2 -\n"
		   "m1 GoStart g10 #3\n"
		   "m1 UserRegionEnd " ID_1 " \"f20\" -\n"
		   "m1 GoDestroy\n");
	assert_int_equal(m.seq->user.members, 0);
	finish(&m);
}

/* The task ends while the goroutine runs: it leaves it when it stops. */
TEST(until_the_task_ends)
{
	struct machine m;

	in_task(&m);
	create(&m, 1, 10);
	on_second_thread(&m, 10);
	call_ends(&m, 1, 1, 100, TASK_F);
	yield(&m, 2, 10, 0);
	execute(&m, 2, 10);
	destroy(&m, 2, 10);
	expect(&m, "m1 UserRegionEnd " ID_1 " \"f\" -\n"
		   "m1 UserTaskEnd " ID_1 " -\n"
		   "m2 UserRegionEnd " ID_1 " \"f20\" -\n"
		   "m2 GoStop \"runtime.Gosched\" -\n"
		   "m2 GoStart g10 #2\n"
		   "m2 GoDestroy\n");
	assert_int_equal(m.seq->user.members, 0);
	assert_int_equal(m.seq->user.open_bytes, 0);
	finish(&m);
}

/* The task ends while the goroutine waits: it leaves it when it runs again. */
TEST(while_it_waits)
{
	struct machine m;

	in_task(&m);
	create(&m, 1, 10);
	on_second_thread(&m, 10);
	park(&m, 2, 10, 0);
	call_ends(&m, 1, 1, 100, TASK_F);
	ready(&m, 1, 10);
	execute(&m, 2, 10);
	expect(&m, "m2 GoBlock \"unspecified\" -\n"
		   "m1 UserRegionEnd " ID_1 " \"f\" -\n"
		   "m1 UserTaskEnd " ID_1 " -\n"
		   "m1 GoUnblock g10 #2 -\n"
		   "m2 GoStart g10 #3\n"
		   "m2 UserRegionEnd " ID_1 " \"f20\" -\n");
	finish(&m);
}

/* It has not run when the task ends, or when it ends itself: there is nothing of it in the task. */
TEST(before_it_runs)
{
	struct machine m;

	in_task(&m);
	create(&m, 1, 10);
	call_ends(&m, 1, 1, 100, TASK_F);
	create(&m, 1, 11);
	flush_and_forget(&m);
	assert_int_equal(m.seq->user.members, 1);
	on_second_thread(&m, 10);
	destroy(&m, 2, 10);
	execute(&m, 2, 11);
	destroy(&m, 2, 11);
	expect(&m, "m2 GoDestroy\n"
		   "m2 GoStart g11 #1\n"
		   "m2 GoDestroy\n");
	assert_int_equal(m.seq->user.members, 0);
	finish(&m);
}

/* Grandchildren belong to it, too; what the goroutine has open itself ends first. */
TEST(grandchildren)
{
	struct machine m;

	in_task(&m);
	create(&m, 1, 10);
	on_second_thread(&m, 10);
	create(&m, 2, 11);
	own_region(&m, 2, 10, 0, false);
	call_ends(&m, 1, 1, 100, TASK_F);
	create(&m, 2, 12); /* in no task any more */
	yield(&m, 2, 10, 0);
	execute(&m, 2, 10);
	own_region(&m, 2, 10, 0, true);
	inherited_call(&m, 2, 10, 100, TASK_F);
	expect(&m, "m2 GoCreate g11 f21 -\n"
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
	finish(&m);
}

/* Its task has ended: a call that begins before it stops belongs to none, whatever the call is. */
TEST(calls_after_the_task)
{
	struct machine m;

	in_task(&m);
	create(&m, 1, 10);
	on_second_thread(&m, 10);
	call_ends(&m, 1, 1, 100, TASK_F);
	region_call(&m, 2, 10, 100, REGION_G);
	expect(&m, "m1 UserRegionEnd " ID_1 " \"f\" -\n"
		   "m1 UserTaskEnd " ID_1 " -\n"
		   "m2 UserRegionEnd " ID_1 " \"f20\" -\n"
		   "m2 UserRegionBegin 0 \"g\" -\n");
	finish(&m);
}

/* A grandchild outlives the goroutine by which it belongs to the task. */
TEST(orphans)
{
	struct machine m;

	in_task(&m);
	create(&m, 1, 10);
	on_second_thread(&m, 10);
	create(&m, 2, 11);
	destroy(&m, 2, 10);
	flush_and_forget(&m);
	execute(&m, 2, 11);
	expect(&m, "m2 GoStart g11 #1\n"
		   "m2 UserRegionBegin " ID_1 " \"f21\" -\n");
	finish(&m);
}

/* Calls and the program's own regions in a member; calls of it are subtasks of its task. */
TEST(within)
{
	struct machine m;

	in_task(&m);
	create(&m, 1, 10);
	on_second_thread(&m, 10);
	own_region(&m, 2, 10, 0, true); /* begun before the window: not the member's */
	inherited_call(&m, 2, 10, 100, TASK_F);
	create(&m, 2, 11);
	region_call(&m, 2, 10, 200, REGION_G);
	call_ends(&m, 2, 10, 200, REGION_G);
	call_ends(&m, 2, 10, 100, TASK_F);
	region_call(&m, 2, 10, 100, REGION_G);
	call_ends(&m, 2, 10, 100, REGION_G);
	park(&m, 2, 10, 0);
	execute(&m, 2, 11); /* its task, the second one, has ended */
	expect(&m, "m2 UserTaskBegin " ID_2 " " ID_1 " \"f\" -\n"
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
	finish(&m);
}

/* Goroutines inherit only the tasks of which the record says so, and no task of the program's own. */
TEST(others_do_not_inherit)
{
	struct machine m;

	running(&m, 25, "go1.26.8", 3);
	name_calls(&m);
	task_call(&m, 1, 1, 100, TASK_F);
	create(&m, 1, 10);
	own_region(&m, 1, 1, 7, false);
	create(&m, 1, 11);
	flush_and_forget(&m);
	assert_int_equal(m.seq->user.members, 0);
	on_second_thread(&m, 10);
	destroy(&m, 2, 10);
	execute(&m, 2, 11);
	expect(&m, "m2 GoDestroy\n"
		   "m2 GoStart g11 #1\n");
	finish(&m);
}

/* A region of the program's own task does not hide the call's task. */
TEST(in_own_region)
{
	struct machine m;

	in_task(&m);
	own_task(&m, 1, 1, 7, 0);
	own_region(&m, 1, 1, 7, false);
	create(&m, 1, 10);
	p_start(&m, 2, 1);
	flush_and_forget(&m);
	execute(&m, 2, 10);
	expect(&m, "m2 GoStart g10 #1\n"
		   "m2 UserRegionBegin " ID_1 " \"f20\" -\n");
	finish(&m);
}

/* Requests are tasks, too, and their records say whether goroutines inherit them. */
TEST(in_requests)
{
	struct gt_request request = { .depth = 100, .number = GT_REQUEST_NO_NUMBER };
	struct machine m;

	running(&m, 25, "go1.26.8", 3);
	for (request.inherited = 0; request.inherited <= 2; request.inherited++) {
		machine_give(&m, 1, GT_REQUEST, G(1), 0, &request);
		create(&m, 1, 10 + request.inherited);
		flush_and_forget(&m);
		assert_int_equal(m.seq->user.members, request.inherited > 0); /* 11 has not run */
		request.step = GT_REQUEST_ENDS;
		machine_give(&m, 1, GT_REQUEST, G(1), 0, &request);
		request.step = GT_REQUEST_BEGINS;
	}
	flush(&m);
	assert_int_equal(stats(&m)->dropped, 2); /* there is no such value */
	stop(&m);
}

/* A coroutine begins by a switch, and ends by one. */
TEST(coroutines)
{
	struct machine m;

	in_task(&m);
	create_blocked(&m, 1, 10);
	coswitch(&m, 1, 1, 10, false);
	coswitch(&m, 1, 10, 1, true);
	expect(&m, "m1 GoCreateBlocked g10 f20 -\n"
		   "m1 GoSwitch g10 #1\n"
		   "m1 UserRegionBegin " ID_1 " \"f20\" -\n"
		   "m1 UserRegionEnd " ID_1 " \"f20\" -\n"
		   "m1 GoSwitchDestroy g1 #2\n");
	finish(&m);
}

/* The goroutine leaves its ended task at the begin of a system call. */
TEST(system_calls)
{
	struct machine m;

	in_task(&m);
	create(&m, 1, 10);
	on_second_thread(&m, 10);
	call_ends(&m, 1, 1, 100, TASK_F);
	flush_and_forget(&m);
	on_g(&m, 2, GT_SYSCALL_ENTER, 10);
	expect(&m, "m2 UserRegionEnd " ID_1 " \"f20\" -\n"
		   "m2 GoSyscallBegin #2 -\n");
	finish(&m);
}

/* Its region is in another generation than its begin, and has the same name there. */
TEST(over_generations)
{
	struct machine m;

	in_task(&m);
	create(&m, 1, 10);
	on_second_thread(&m, 10);
	m.now += 3000000000;
	yield(&m, 1, 1, 0);
	flush(&m);
	assert_non_null(strstr(m.writer.text, "open "));
	forget(&m);
	destroy(&m, 2, 10);
	expect(&m, "m2 UserRegionEnd " ID_1 " \"f20\" -\n"
		   "m2 GoDestroy\n");
	finish(&m);
}

/* Many goroutines in one task: a limited number belongs to it, and none of them is lost. */
TEST(members_are_limited)
{
	enum { LIMIT = 1 << 17, MORE = 1000 };
	struct machine m;

	in_task(&m);
	for (unsigned int i = 0; i < LIMIT + MORE; i++) {
		create(&m, 1, 10 + i);
		if (i % 500 == 0)
			flush_and_forget(&m);
	}
	flush_and_forget(&m);
	assert_int_equal(m.seq->user.members, LIMIT);
	assert_int_equal(stats(&m)->dropped, MORE);
	on_second_thread(&m, 10);
	destroy(&m, 2, 10);
	create(&m, 1, 9);
	flush_and_forget(&m);
	assert_int_equal(m.seq->user.members, LIMIT);
	assert_int_equal(stats(&m)->dropped, MORE);
	execute(&m, 2, 10 + LIMIT); /* one too many */
	expect(&m, "m2 GoStart g131082 #1\n");
	stop(&m);
}
