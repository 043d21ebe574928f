// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of calls that are tasks: their ids, parents and ends, next to the program's own tasks and
 * regions. Under test: sequence/state_calls.c and open_regions.c.
 */
#include "unit/test.h"
#include "sequence/sequencer_impl.h"
#include "unit/call_records.h"

static void calling(void)
{
	running(25, "go1.26.8", 3);
	name_calls();
}

TEST(nested)
{
	calling();
	task_call(1, 1, 100, TASK_F);
	region_call(1, 1, 200, REGION_G);
	task_call(1, 1, 300, TASK_F);
	call_ends(1, 1, 300, TASK_F);
	call_ends(1, 1, 200, REGION_G);
	call_ends(1, 1, 100, TASK_F);
	task_call(1, 1, 100, TASK_F);
	call_ends(1, 1, 100, TASK_F);
	expect("m1 UserTaskBegin " ID_1 " 0 \"f\" -\n"
	       "m1 UserRegionBegin " ID_1 " \"f\" -\n"
	       "m1 UserRegionBegin " ID_1 " \"g\" -\n"
	       "m1 UserTaskBegin " ID_2 " " ID_1 " \"f\" -\n"
	       "m1 UserRegionBegin " ID_2 " \"f\" -\n"
	       "m1 UserRegionEnd " ID_2 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_2 " -\n"
	       "m1 UserRegionEnd " ID_1 " \"g\" -\n"
	       "m1 UserRegionEnd " ID_1 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_1 " -\n"
	       "m1 UserTaskBegin " ID_3 " 0 \"f\" -\n"
	       "m1 UserRegionBegin " ID_3 " \"f\" -\n"
	       "m1 UserRegionEnd " ID_3 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_3 " -\n");
	expect_no_repair();
}

/* The program's own task keeps its parent; a call in a region of it is its subtask. */
TEST(own_tasks)
{
	calling();
	own_task(1, 1, 7, 0);
	own_region(1, 1, 7, false);
	task_call(1, 1, 100, TASK_F);
	own_task(1, 1, 8, 7);
	own_region(1, 1, 8, false);
	region_call(1, 1, 200, REGION_G);
	call_ends(1, 1, 200, REGION_G);
	own_region(1, 1, 8, true);
	call_ends(1, 1, 100, TASK_F);
	own_region(1, 1, 7, true);
	expect("m1 UserTaskBegin 7 0 \"own\" -\n"
	       "m1 UserRegionBegin 7 \"own\" -\n"
	       "m1 UserTaskBegin " ID_1 " 7 \"f\" -\n"
	       "m1 UserRegionBegin " ID_1 " \"f\" -\n"
	       "m1 UserTaskBegin 8 7 \"own\" -\n"
	       "m1 UserRegionBegin 8 \"own\" -\n"
	       "m1 UserRegionBegin 8 \"g\" -\n"
	       "m1 UserRegionEnd 8 \"g\" -\n"
	       "m1 UserRegionEnd 8 \"own\" -\n"
	       "m1 UserRegionEnd " ID_1 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_1 " -\n"
	       "m1 UserRegionEnd 7 \"own\" -\n");
	expect_no_repair();
}

/* A region of the program that has no task does not hide the task around it. */
TEST(region_without_task)
{
	calling();
	task_call(1, 1, 100, TASK_F);
	own_region(1, 1, 0, false);
	region_call(1, 1, 200, REGION_G);
	task_call(1, 1, 300, TASK_F);
	flush_and_forget();
	call_ends(1, 1, 300, TASK_F);
	call_ends(1, 1, 200, REGION_G);
	own_region(1, 1, 0, true);
	region_call(1, 1, 200, REGION_G);
	expect("m1 UserRegionEnd " ID_2 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_2 " -\n"
	       "m1 UserRegionEnd " ID_1 " \"g\" -\n"
	       "m1 UserRegionEnd 0 \"own\" -\n"
	       "m1 UserRegionBegin " ID_1 " \"g\" -\n");
	expect_no_repair();
}

/* A panic has unwound both frames when the goroutine calls g at the depth of the outer one. */
TEST(unwound)
{
	calling();
	task_call(1, 1, 100, TASK_F);
	task_call(1, 1, 200, TASK_F);
	flush_and_forget();
	region_call(1, 1, 100, REGION_G);
	expect("m1 UserRegionEnd " ID_2 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_2 " -\n"
	       "m1 UserRegionEnd " ID_1 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_1 " -\n"
	       "m1 UserRegionBegin 0 \"g\" -\n");
	expect_no_repair();
}

/*
 * runtime.Goexit in a task: it ends, and what is inside of it, but not the region around it, which
 * readers end with the goroutine.
 */
TEST(goroutine_ends)
{
	calling();
	own_region(1, 1, 0, false);
	region_call(1, 1, 100, REGION_G);
	task_call(1, 1, 200, TASK_F);
	region_call(1, 1, 300, REGION_G);
	own_region(1, 1, 0, false);
	flush_and_forget();
	destroy(1, 1);
	expect("m1 UserRegionEnd 0 \"own\" -\n"
	       "m1 UserRegionEnd " ID_1 " \"g\" -\n"
	       "m1 UserRegionEnd " ID_1 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_1 " -\n"
	       "m1 GoDestroy\n");
	assert_int_equal(m.seq->user.open_bytes, 0);
	expect_no_repair();
}

/* A coroutine ends by its switch to another one; one that only switches keeps its task. */
TEST(coroutine_ends)
{
	calling();
	create_blocked(1, 10);
	task_call(1, 1, 100, TASK_F);
	flush_and_forget();
	coswitch(1, 1, 10, false);
	task_call(1, 10, 100, TASK_F);
	coswitch(1, 10, 1, true);
	call_ends(1, 1, 100, TASK_F);
	expect("m1 GoSwitch g10 #1\n"
	       "m1 UserTaskBegin " ID_2 " 0 \"f\" -\n"
	       "m1 UserRegionBegin " ID_2 " \"f\" -\n"
	       "m1 UserRegionEnd " ID_2 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_2 " -\n"
	       "m1 GoSwitchDestroy g1 #2\n"
	       "m1 UserRegionEnd " ID_1 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_1 " -\n");
	expect_no_repair();
}

/* A task outlives generations, its goroutine changes threads, and its name stays. */
TEST(over_generations)
{
	calling();
	task_call(1, 1, 100, TASK_F);
	park(1, 1, 0);
	flush_and_forget();
	m.now += 3000000000;
	ready(1, 1);
	p_start(2, 1);
	execute(2, 1);
	call_ends(2, 1, 100, TASK_F);
	flush();
	assert_non_null(strstr(m.writer.text, "open "));
	assert_non_null(strstr(m.writer.text, "m2 UserRegionEnd " ID_1 " \"f\" -\n"
					      "m2 UserTaskEnd " ID_1 " -\n"));
}

/* Ids of the program's own tasks are below those of calls, whatever it records. */
TEST(forged_ids)
{
	const uint64_t ours = (1ull << 48) + 1;

	calling();
	own_task(1, 1, ours, 0);
	own_task(1, 1, ours - 1, 0);
	task_call(1, 1, 100, TASK_F);
	own_task(1, 1, ours, 0);
	call_ends(1, 1, 100, TASK_F);
	expect("m1 UserTaskBegin 281474976710656 0 \"own\" -\n"
	       "m1 UserTaskBegin " ID_1 " 0 \"f\" -\n"
	       "m1 UserRegionBegin " ID_1 " \"f\" -\n"
	       "m1 UserRegionEnd " ID_1 " \"f\" -\n"
	       "m1 UserTaskEnd " ID_1 " -\n");
	assert_int_equal(stats()->dropped, 2);
}

/* Recursion without end: 1,024 tasks are open, the others are counted; all that are open end. */
TEST(too_deep)
{
	enum { DEPTH = 1000000, KEPT = 1024 };
	size_t bytes = 0;

	calling();
	for (uint64_t i = 1; i <= DEPTH; i++) {
		task_call(1, 1, i * 16, TASK_F);
		if (i % 250 == 0)
			flush_and_forget();
		if (i == 2000)
			bytes = m.seq->user.open_bytes;
	}
	assert_int_equal(m.seq->user.open_bytes, bytes);
	for (uint64_t i = DEPTH; i; i--) {
		call_ends(1, 1, i * 16, TASK_F);
		if (i % 250 == 0)
			flush_and_forget();
	}
	flush_and_forget();
	assert_int_equal(m.seq->user.call_tasks, KEPT);
	assert_int_equal(stats()->dropped, DEPTH - KEPT);
	assert_int_equal(m.seq->user.open_bytes, 0);
	task_call(1, 1, 16, TASK_F);
	expect("m1 UserTaskBegin 281474976711681 0 \"f\" -\n"
	       "m1 UserRegionBegin 281474976711681 \"f\" -\n");
}
