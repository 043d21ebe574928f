// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of heap records: mark assists, sweeps, sizes; GC cycles that span generations. Under test:
 * sequence/state_heap.c and state_runtime.c.
 */
#include "unit/test.h"
#include "unit/machine.h"

#define ENOUGH 1100000000ull /* ns, after which a new generation begins */

static void span(unsigned int tid, uint64_t bytes, uint64_t objects, uint64_t size)
{
	machine_give(tid, GT_SWEEP_SPAN, 0, 0, &(struct gt_span){ bytes, objects, size });
}

static void left(unsigned int tid, uint64_t objects, uint64_t pages)
{
	machine_give(tid, GT_SWEEP_LEFT, 0, 0, &(struct gt_left){ objects, pages });
}

TEST(mark_assists)
{
	two_running("go1.25.3");
	on_g(1, GT_ASSIST_END, 1); /* begun before the window */
	on_g(1, GT_ASSIST_BEGIN, 1);
	on_g(2, GT_ASSIST_BEGIN, 2);
	park(1, 1, 8);
	ready(2, 1);
	on_g(2, GT_ASSIST_END, 2);
	execute(1, 1);
	on_g(1, GT_ASSIST_END, 1);
	expect("m1 GCMarkAssistBegin -\n"
	       "m2 GCMarkAssistBegin -\n"
	       "m1 GoBlock \"GC mark assist wait for work\" -\n"
	       "m2 GoUnblock g1 #2 -\n"
	       "m2 GCMarkAssistEnd\n"
	       "m1 GoStart g1 #3\n"
	       "m1 GCMarkAssistEnd\n");
	expect_no_repair();
}

/* Its end was lost: another begin, a system call, or the end of the goroutine ends it. */
TEST(assist_end_lost)
{
	two_running("go1.25.3");
	on_g(1, GT_ASSIST_BEGIN, 1);
	on_g(1, GT_ASSIST_BEGIN, 1);
	on_g(1, GT_SYSCALL_ENTER, 1);
	on_g(1, GT_SYSCALL_EXIT, 1);
	on_g(1, GT_ASSIST_END, 1);
	on_g(2, GT_ASSIST_BEGIN, 2);
	destroy(2, 2);
	expect("m1 GCMarkAssistBegin -\n"
	       "m1 GCMarkAssistEnd\n"
	       "m1 GCMarkAssistBegin -\n"
	       "m1 GCMarkAssistEnd\n"
	       "m1 GoSyscallBegin #2 -\n"
	       "m1 GoSyscallEnd\n"
	       "m2 GCMarkAssistBegin -\n"
	       "m2 GCMarkAssistEnd\n"
	       "m2 GoDestroy\n");
	expect_no_repair();
}

/* Up to Go 1.21 each iteration may report the begin again. */
TEST(assist_begin_repeated)
{
	two_running("go1.21.13");
	on_g(1, GT_ASSIST_BEGIN, 1);
	yield(1, 1, GT_YIELD_GOSCHED);
	execute(1, 1);
	on_g(1, GT_ASSIST_BEGIN, 1);
	on_g(1, GT_ASSIST_END, 1);
	on_g(1, GT_ASSIST_END, 1);
	expect("m1 GCMarkAssistBegin -\n"
	       "m1 GoStop \"runtime.Gosched\" -\n"
	       "m1 GoStart g1 #2\n"
	       "m1 GCMarkAssistEnd\n");
	expect_no_repair();
}

/* The record of the new thread may arrive before the one that the assist has left the old. */
TEST(assist_moves_to_another_thread)
{
	two_running("go1.25.3");
	on_g(1, GT_ASSIST_BEGIN, 1);
	park(2, 2, 0);
	m.now += STEP_NS;
	execute(2, 1); /* two records early */
	on_g(2, GT_ASSIST_END, 1);
	yield(1, 1, GT_YIELD_PREEMPTED);
	expect("m1 GCMarkAssistBegin -\n"
	       "m2 GoBlock \"unspecified\" -\n"
	       "m1 GoStop \"preempted\" -\n"
	       "m2 GoStart g1 #2\n"
	       "m2 GCMarkAssistEnd\n");
	expect_no_repair();
}

/* The first sample is stated in the trace. */
TEST(heap_samples)
{
	two_running("go1.26.0");
	plain(1, GT_HEAP_SAMPLE, 4096);
	plain(2, GT_HEAP_SAMPLE, 8192);
	expect("m1 HeapAlloc 4096\nm2 HeapAlloc 8192\n");
	expect_no_repair();
}

TEST(heap_sizes)
{
	two_running("go1.26.0");
	plain(1, GT_HEAP_ALLOC, 4096);
	plain(1, GT_HEAP_GOAL, 1 << 22);
	plain(1, GT_HEAP_GOAL, UINT64_MAX); /* GOGC=off */
	park(1, 1, 0);
	plain(1, GT_HEAP_ALLOC, 8192); /* by the scheduler itself */
	on_g(2, GT_SYSCALL_BLOCK, 2);
	p_stop(2, 1);
	p_start(2, 1);
	plain(2, GT_HEAP_ALLOC, 4096); /* starts an M for that P */
	p_stop(2, 1);
	expect("m1 HeapAlloc 4096\n"
	       "m1 HeapGoal 4194304\n"
	       "m1 HeapGoal 0\n"
	       "m1 GoBlock \"unspecified\" -\n"
	       "m1 HeapAlloc 8192\n"
	       "m2 GoSyscallBegin #2 -\n"
	       "m2 ProcStop\n"
	       "m2 ProcStart p1 #3\n"
	       "m2 HeapAlloc 4096\n"
	       "m2 ProcStop\n");
	expect_no_repair();
}

/* For a size the sequencer neither waits for a P nor inserts one: a program begins without. */
TEST(heap_size_without_p)
{
	start(25, "go1.25.3", 1);
	plain(5, GT_HEAP_ALLOC, 4096);
	plain(5, GT_SWEEP_BEGIN, 0);
	p_start(5, 0);
	span(5, 8192, 1, 8192);
	execute(5, 1);
	expect("m5 ProcStart p0 #1\n"
	       "m5 GoStart g1 #1\n");
	expect_no_repair();
	on_g(5, GT_SYSCALL_ENTER, 1);
	plain(5, GT_HEAP_ALLOC, 4096); /* its end was lost */
	expect("m5 GoSyscallBegin #2 -\n");
	assert_int_equal(stats()->held, 0);
	assert_int_equal(stats()->repairs, 0);
	assert_int_equal(stats()->dropped, 1);
}

TEST(sweeps)
{
	two_running("go1.25.3");
	span(1, 8192, 9, 64); /* in the background: not in a range */
	left(1, 1, 0);
	plain(1, GT_SWEEP_END, 0);
	plain(1, GT_SWEEP_BEGIN, 0); /* nothing to sweep */
	plain(1, GT_SWEEP_END, 0);
	expect("");
	plain(1, GT_SWEEP_BEGIN, 0);
	plain(2, GT_SWEEP_BEGIN, 0);
	span(1, 8192, 100, 48);
	span(2, 16384, 2, 8192);
	left(1, 90, 0);
	span(1, 8192, 1, 8192);
	left(1, 0, 0);
	left(2, 2, 0);
	plain(1, GT_SWEEP_END, 0);
	plain(2, GT_SWEEP_END, 0);
	plain(1, GT_SWEEP_END, 0); /* cacheSpan() reports it twice while no tracer is enabled */
	expect("m1 GCSweepBegin -\n"
	       "m2 GCSweepBegin -\n"
	       "m1 GCSweepEnd 16384 8672\n"
	       "m2 GCSweepEnd 16384 0\n");
	expect_no_repair();
}

/* Pages that were examined but not freed count, 512 pages at a time. */
TEST(sweeps_count_pages_per_chunk)
{
	two_running("go1.25.3");
	plain(1, GT_SWEEP_BEGIN, 0);
	span(1, 8192, 3, 1024);
	left(1, 0, 0);
	span(1, 512 * 8192, 0, 0);
	left(1, 0, 2);
	left(1, 0, 2); /* without a range */
	plain(1, GT_SWEEP_END, 0);
	expect("m1 GCSweepBegin -\n"
	       "m1 GCSweepEnd 4186112 3072\n");
	plain(1, GT_SWEEP_BEGIN, 0);
	span(1, 1024 * 8192, 1, 1024 * 8192); /* half of it outside of the chunk */
	left(1, 0, 0);
	span(1, 512 * 8192, 0, 0);
	left(1, 0, 1024);
	plain(1, GT_SWEEP_END, 0);
	expect("m1 GCSweepBegin -\n"
	       "m1 GCSweepEnd 4194304 8388608\n");
	expect_no_repair();
}

TEST(sweep_records_lost)
{
	two_running("go1.25.3");
	plain(1, GT_SWEEP_BEGIN, 0);
	span(1, 8192, 3, 1024);
	plain(1, GT_SWEEP_BEGIN, 0); /* its end was lost */
	span(1, 8192, 3, 1024);
	park(1, 1, 0); /* and here, too */
	p_stop(1, 0);
	p_start(1, 0);
	left(1, 1, 0); /* its span was lost */
	plain(1, GT_SWEEP_END, 0);
	expect("m1 GCSweepBegin -\n"
	       "m1 GCSweepEnd 8192 0\n"
	       "m1 GCSweepBegin -\n"
	       "m1 GoBlock \"unspecified\" -\n"
	       "m1 GCSweepEnd 8192 0\n"
	       "m1 ProcStop\n"
	       "m1 ProcStart p0 #2\n");
	expect_no_repair();
}

/* A GC cycle of the trace is reported in each generation, by the first thread that runs. */
TEST(gc_spans_generations)
{
	two_running("go1.25.3");
	park(2, 2, 0);
	plain(1, GT_GC_BEGIN, 0);
	on_g(1, GT_ASSIST_BEGIN, 1);
	flush_and_forget();
	m.now += ENOUGH;
	execute(2, 3); /* no goroutine runs on thread 2 before */
	plain(2, GT_HEAP_ALLOC, 1);
	on_g(1, GT_ASSIST_END, 1);
	plain(1, GT_GC_END, 0);
	flush();
	assert_non_null(strstr(m.writer.text, "m2 GoStart g3 #1\n"
					      "m2 GCActive #2\n"
					      "m2 HeapAlloc 1\n"
					      "m1 GCMarkAssistEnd\n"
					      "m1 GCEnd #3\n"));
	forget();
	m.now += ENOUGH;
	plain(1, GT_GC_END, 0);
	plain(1, GT_HEAP_ALLOC, 2);
	flush();
	assert_null(strstr(m.writer.text, "GCActive"));
	expect_no_repair();
}

/* A GC cycle that began before the window is not reported at all. */
TEST(gc_began_before_the_window)
{
	two_running("go1.25.3");
	m.now += ENOUGH;
	plain(1, GT_HEAP_ALLOC, 1);
	plain(1, GT_GC_END, 0);
	flush();
	assert_null(strstr(m.writer.text, "GC"));
	expect_no_repair();
}
