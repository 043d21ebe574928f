// SPDX-License-Identifier: GPL-2.0
/*
 * The summary of goroutines: what their states and ranges add up to, and what is kept of those who
 * have ended. Whether Go's Summarizer says the same of real traces is for check/goroutines.sh.
 */
#include "unit/test.h"
#include "unit/memory_use.h"
#include "unit/summary_fixture.h"

TEST(a_life)
{
	event(100, EV_SYNC, 0, 0, 0);
	on(0, TRACE_NO_G);
	event(110, EV_GO_CREATE, 5, WORKER, 0);
	event(125, EV_GO_START, 5, 1, 0);
	on(0, 5);
	event(130, EV_GO_BLOCK, CHAN, MAIN, 0); /* has its name: this stack says nothing */
	on(0, TRACE_NO_G);
	event(150, EV_GO_UNBLOCK, 5, 2, 0);
	event(151, EV_GO_START, 5, 3, 0);
	on(0, 5);
	event(160, EV_GO_STOP, CHAN, 0, 0); /* of no stop the reason counts */
	event(163, EV_GO_START, 5, 4, 0);
	event(170, EV_GO_BLOCK, CHAN, 0, 0);
	repeat_status(171, 5, GO_WAITING, GO_STATE_WAITING); /* still for the same reason */
	event(172, EV_GO_UNBLOCK, 5, 5, 0);
	event(173, EV_GO_START, 5, 6, 0);
	event(180, EV_GO_DESTROY, 0, 0, 0);
	assert_int_equal(record_store__count(store), 1); /* at once */
	event(200, EV_SYNC, 0, 0, 0);
	expect("5 main.worker@200 created=110 started=125 ended=180"
	       " exec=28 wait=20 total=70 block[chan receive]=22\n");
}

/* What was there before the trace has been in its state since the generation began. */
TEST(from_the_start)
{
	event(100, EV_SYNC, 0, 0, 0);
	event(110, EV_GO_STATUS, 1, 1, GO_RUNNING);
	event(111, EV_GO_STATUS, 2, 1, GO_RUNNABLE);
	event(112, EV_GO_STATUS, 3, 1, GO_WAITING);
	event(113, EV_GO_STATUS, 4, 1, GO_SYSCALL);
	on(0, TRACE_NO_G);
	event(114, EV_GO_STATUS_STACK, 5, 1, GO_SYSCALL);
	event(150, EV_SYNC, 0, 0, 0);
	repeat_status(151, 3, GO_WAITING, GO_STATE_WAITING);
	on(0, 1);
	event(160, EV_GO_STOP, 0, MAIN, 0);
	event(200, EV_SYNC, 0, 0, 0);
	expect("1 main.main@100 created=100 started=110 exec=60 wait=40 total=100\n"
	       "2 @0 created=100 wait=100 total=100\n"
	       "3 @0 created=100 total=100 block[]=100\n"
	       "4 @0 created=100 sys=87 sysblock=13 total=100\n"
	       "5 @0 created=100 sys=100 total=100\n");
}

/* A trace that begins without a sync begins with its first event. */
TEST(without_a_sync)
{
	event(100, EV_HEAP_ALLOC, 1, 0, 0);
	event(110, EV_GO_STATUS, 1, 1, GO_RUNNING);
	expect("1 @0 created=100 started=110 exec=10 total=10\n");
}

TEST(system_calls)
{
	event(1, EV_SYNC, 0, 0, 0);
	start_new(1, 0, 10);
	event(20, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	event(25, EV_GO_SYSCALL_END, 0, 0, 0);
	event(30, EV_GO_SYSCALL_BEGIN, 2, 0, 0);
	on(1, TRACE_NO_G);
	event(34, EV_PROC_STEAL, 0, 3, 1); /* it blocks from here on */
	on(TRACE_NO_P, 1);
	event(40, EV_GO_SYSCALL_END_BLOCKED, 0, 0, 0);
	event(45, EV_GO_START, 1, 2, 0);
	on(0, 1);
	event(50, EV_GO_SYSCALL_BEGIN, 4, 0, 0);
	event(53, EV_PROC_STOP, 0, 0, 0);
	event(54, EV_PROC_STOP, 0, 0, 0); /* says nothing of that call any more */
	event(60, EV_SYNC, 0, 0, 0);
	expect("1 main.worker@200 created=10 started=11"
	       " exec=19 wait=6 sys=12 sysblock=13 total=50 twice=7\n");
}

/* Go forgets whose call the P is in when an earlier call on it ends; so do we. */
TEST(a_stolen_p)
{
	event(1, EV_SYNC, 0, 0, 0);
	start_new(1, 0, 10);
	event(20, EV_GO_SYSCALL_BEGIN, 1, 0, 0);
	event(21, EV_PROC_STEAL, 0, 2, 1);
	start_new(2, 0, 30);
	event(40, EV_GO_SYSCALL_BEGIN, 3, 0, 0);
	on(TRACE_NO_P, 1);
	event(41, EV_GO_SYSCALL_END_BLOCKED, 0, 0, 0);
	event(50, EV_PROC_STEAL, 0, 4, 1);
	on(TRACE_NO_P, 2);
	event(60, EV_GO_SYSCALL_END_BLOCKED, 0, 0, 0);
	event(61, EV_SYNC, 0, 0, 0);
	expect("1 main.worker@200 created=10 started=11 exec=9 wait=21 sys=1 sysblock=20 total=51\n"
	       "2 main.worker@200 created=30 started=31 exec=9 wait=2 sys=20 total=31\n");
}

TEST(forever)
{
	event(1, EV_SYNC, 0, 0, 0);
	start_new(1, 0, 10);
	event(17, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0);
	event(20, EV_GO_BLOCK, FOREVER, 0, 0);
	assert_int_equal(record_store__count(store), 0); /* it is there, all the same */
	start_new(2, 0, 30);
	event(40, EV_GO_BLOCK, FOREVER, 0, 0);
	event(50, EV_GO_UNBLOCK, 2, 1, 0); /* Go's runtime never does */
	event(90, EV_SYNC, 0, 0, 0);
	expect("1 main.worker@200 created=10 started=11 ended=20 exec=9 wait=1 total=10"
	       " gcwork=3 range[GC mark assist]=3\n"
	       "2 main.worker@200 created=30 started=31 ended=40 exec=9 wait=41 total=10\n");
}

TEST(ranges)
{
	event(1, EV_SYNC, 0, 0, 0);
	event(2, EV_GO_STATUS, 7, 1, GO_WAITING);
	event(3, EV_GC_MARK_ASSIST_ACTIVE, 7, 0, 0); /* counts from the sync on */
	start_new(1, 0, 10);
	event(20, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0);
	event(25, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	event(30, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0);
	event(31, EV_STW_BEGIN, KIND, 0, 0);
	event(33, EV_STW_END, KIND, 0, 0);
	event(40, EV_SYNC, 0, 0, 0);
	event(42, EV_GC_MARK_ASSIST_ACTIVE, 1, 0, 0);
	event(50, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	event(51, EV_GC_MARK_ASSIST_END, 0, 0, 0); /* none is open */
	event(52, EV_GC_BEGIN, 1, 0, 0);	   /* nobody's */
	event(60, EV_STW_BEGIN, KIND, 0, 0);	   /* open when it ends */
	event(70, EV_GO_DESTROY, 0, 0, 0);
	event(99, EV_SYNC, 0, 0, 0);
	expect("1 main.worker@200 created=10 started=11 ended=70 exec=59 wait=1 total=60"
	       " gcwork=25 range[GC mark assist]=25 range[stop-the-world (sweep)]=12\n"
	       "7 @0 created=1 total=98 block[]=98 range[GC mark assist]=98\n");
}

/* A P's range is the time of the goroutine that is there at both ends. */
TEST(sweeps)
{
	event(1, EV_SYNC, 0, 0, 0);
	start_new(1, 0, 10);
	event(20, EV_GC_SWEEP_BEGIN, 0, 0, 0);
	event(23, EV_GC_SWEEP_END, 1, 1, 0);
	event(24, EV_GC_SWEEP_END, 1, 1, 0);
	event(30, EV_GC_SWEEP_BEGIN, 0, 0, 0);
	event(32, EV_GO_BLOCK, CHAN, 0, 0);
	start_new(2, 0, 40);
	on(1, 2);
	event(45, EV_GC_SWEEP_BEGIN, 0, 0, 0);
	on(0, 2);
	event(50, EV_GC_SWEEP_END, 1, 1, 0); /* not its own, nor its other P's */
	on(1, 2);
	event(55, EV_GC_SWEEP_END, 1, 1, 0);
	on(1, TRACE_NO_G);
	event(56, EV_GC_SWEEP_BEGIN, 0, 0, 0);
	event(57, EV_GC_SWEEP_END, 1, 1, 0);
	event(60, EV_SYNC, 0, 0, 0);
	/* what Go does: the one that it lost the end of never ends */
	expect("1 main.worker@200 created=10 started=11 exec=21 wait=1 total=50"
	       " gcwork=5 block[chan receive]=28 range[GC incremental sweep]=33\n"
	       "2 main.worker@200 created=40 started=41 exec=19 wait=1 total=20"
	       " gcwork=10 range[GC incremental sweep]=10\n");
}

/* Of a mark assist what it ran; a sweep within it, or one that outlasts it, counts once. */
TEST(gc_work)
{
	event(1, EV_SYNC, 0, 0, 0);
	start_new(1, 0, 10);
	event(20, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0);
	event(22, EV_GC_SWEEP_BEGIN, 0, 0, 0);
	event(25, EV_GC_SWEEP_END, 1, 1, 0);
	event(30, EV_GO_BLOCK, CHAN, 0, 0);
	on(0, TRACE_NO_G);
	event(50, EV_GO_UNBLOCK, 1, 2, 0);
	event(60, EV_GO_START, 1, 3, 0);
	on(0, 1);
	event(65, EV_GC_SWEEP_BEGIN, 0, 0, 0);
	event(66, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	event(70, EV_GC_SWEEP_END, 1, 1, 0);
	event(80, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0); /* it goes on at the trace's end */
	event(90, EV_SYNC, 0, 0, 0);
	expect("1 main.worker@200 created=10 started=11 exec=49 wait=11 total=80 gcwork=30"
	       " block[chan receive]=20 range[GC incremental sweep]=8 range[GC mark assist]=56\n");
}

/* One that goes on as the trace begins has done so from there, and one that is named later, from its begin. */
TEST(gc_work_goes_on)
{
	event(100, EV_SYNC, 0, 0, 0);
	on(0, TRACE_NO_G);
	event(110, EV_GO_STATUS, 1, 1, GO_RUNNING);
	on(0, 1);
	event(112, EV_GC_MARK_ASSIST_ACTIVE, 1, 0, 0);
	event(120, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	start_new(2, 1, 130);
	event(140, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0);
	event(150, EV_SYNC, 0, 0, 0);
	event(155, EV_GC_MARK_ASSIST_ACTIVE, 2, 0, 0);
	event(160, EV_SYNC, 0, 0, 0);
	expect("1 @0 created=100 started=110 exec=60 total=60 gcwork=20 range[GC mark assist]=20\n"
	       "2 main.worker@200 created=130 started=131 exec=29 wait=1 total=30 gcwork=20"
	       " range[GC mark assist]=20\n");
}

TEST(names)
{
	event(1, EV_SYNC, 0, 0, 0);
	event(2, EV_GO_STATUS, 1, 1, GO_RUNNING);
	event(3, EV_GO_STATUS, 2, 1, GO_WAITING);
	on(0, 1);
	event(10, EV_GO_UNBLOCK, 2, 1, GC_WORKER); /* the stack of who wakes it up */
	event(11, EV_GO_BLOCK, CHAN, 99, 0);	   /* no such stack */
	event(12, EV_GO_UNBLOCK, 1, 1, 0);
	event(13, EV_GO_START, 1, 2, 0);
	event(14, EV_GO_SYSCALL_BEGIN, 1, GC_WORKER, 0);
	event(20, EV_SYNC, 0, 0, 0);
	expect("1 runtime.gcBgMarkWorker@300 created=1 started=2"
	       " exec=11 wait=1 sys=6 total=19 block[chan receive]=1\n"
	       "2 @0 created=1 wait=10 total=19 block[]=9\n");

	assert_true(summary__is_system((struct trace_string){ "", 0 }));
	assert_true(summary__is_system((struct trace_string){ "runtime.bgsweep", 15 }));
	assert_false(summary__is_system((struct trace_string){ "runtime.main", 12 }));
}

static int by_exec(struct buf record, void *context, int64_t *ret)
{
	struct summary_goroutine g;

	assert_int_equal(summary__unpack(record, &g), 0);
	*ret = g.stats.exec;
	summary_stats__deinit(&g.stats);
	return 0;
}

TEST(kept)
{
	struct summary_goroutine g = { .id = 3, .created = -5, .started = INT64_MAX };
	static const int64_t times[] = { INT64_MIN, -1, 1, 127, 128, INT64_MAX };
	struct duration durations[] = { { 0, 1 }, { 5, 2 }, { INT64_MIN, 3 } };

	g.stats.block = (struct durations){ durations, 3, 3 };
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		g.stats.exec = g.stats.total = g.ended = times[i];
		g.id = i % 3;
		assert_int_equal(record_store__add(store, summary__pack, &g), 0);
	}
	record_store__sort(store);
	assert_int_equal(record_store__count(store), 3); /* an id used again hides who had it */
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(summary__unpack(record_store__get(store, i), &g), 0);
		assert_int_equal(g.id, i);
		assert_true(g.stats.exec == times[3 + i] && g.stats.total == times[3 + i]);
		assert_true(g.ended == times[3 + i] && g.created == -5 && g.started == INT64_MAX);
		assert_int_equal(g.stats.block.n, 2); /* none of 0 */
		assert_true(g.stats.block.at[0].kind == 2 && g.stats.block.at[0].ns == 5);
		assert_true(g.stats.block.at[1].kind == 3 && g.stats.block.at[1].ns == INT64_MIN);
		summary_stats__deinit(&g.stats);
	}
	assert_int_equal(record_store__sort_by(store, by_exec, NULL), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(summary__unpack(record_store__get(store, i), &g), 0);
		assert_int_equal(g.id, 2 - i);
		summary_stats__deinit(&g.stats);
	}
}

TEST(add_up)
{
	struct duration durations[] = { { 3, 1 }, { 5, 2 } };
	struct summary_stats one = { .exec = 1,
				     .sched_wait = 2,
				     .syscall = 3,
				     .syscall_block = 4,
				     .total = 20,
				     .block = { durations, 2, 2 } };
	struct summary_stats sum = {};

	assert_int_equal(summary_stats__unknown(&one), 2);
	one.total = 17;
	assert_int_equal(summary_stats__unknown(&one), 0); /* never less than nothing */
	assert_int_equal(summary_stats__add(&sum, &one), 0);
	one.block.n = 1;
	assert_int_equal(summary_stats__add(&sum, &one), 0);
	assert_true(sum.exec == 2 && sum.sched_wait == 4 && sum.syscall == 6);
	assert_true(sum.syscall_block == 8 && sum.total == 34 && sum.block.n == 2);
	assert_true(sum.block.at[0].ns == 6 && sum.block.at[1].ns == 5);
	summary_stats__deinit(&sum);
}

/* Times that no clock shows, a goroutine that nobody named: no harm, whatever the figures. */
TEST(nonsense)
{
	begin(true);
	on(0, 1);
	event(INT64_MIN, EV_SYNC, 0, 0, 0);
	event(INT64_MAX, EV_GO_STATUS, 1, 1, GO_RUNNING);
	event(INT64_MIN, EV_USER_REGION_BEGIN, 0, STEP, 0);
	event(INT64_MAX, EV_GO_BLOCK, CHAN, 0, 0);
	event(INT64_MIN, EV_GO_UNBLOCK, 1, 1, 0);
	event(0, EV_GO_STATUS, 2, 1, 0); /* no status at all */
	on(0, 2);
	event(1, EV_GO_STOP, 0, 0, 0);
	event(2, EV_USER_REGION_BEGIN, 0, STEP, 0);
	event(3, EV_USER_REGION_END, 0, STEP, 0);
	event(4, EV_GC_SWEEP_BEGIN, 0, 0, 0);
	event(5, EV_GC_MARK_ASSIST_ACTIVE, 2, 0, 0);
	event(6, EV_GO_STATUS, 1, 1, GO_RUNNING); /* again for the first time */
	event(7, EV_USER_TASK_BEGIN, 1, 1, TASK); /* its own parent */
	assert_int_equal(summary__finish(summary, &error), 0);
}

TEST(too_many_kinds)
{
	struct summary_goroutine g;
	char reason[16];

	for (uint64_t i = 0; i < 1000; i++) {
		snprintf(reason, sizeof(reason), "reason %d", (int)i);
		add_string(1000 + i, reason);
	}
	event(1, EV_SYNC, 0, 0, 0);
	start_new(1, 0, 10);
	for (uint64_t i = 0; i < 1000; i++) {
		event(20 + (int64_t)i * 3, EV_GO_BLOCK, 1000 + i, 0, 0);
		event(21 + (int64_t)i * 3, EV_GO_UNBLOCK, 1, 1, 0);
		event(22 + (int64_t)i * 3, EV_GO_START, 1, 1, 0);
	}
	assert_int_equal(summary__finish(summary, &error), 0);
	assert_int_equal(summary__unpack(record_store__get(store, 0), &g), 0);
	assert_int_equal(g.stats.block.n, 255);
	expect_text(summary__kind(summary, g.stats.block.at[253].kind), "reason 253");
	expect_text(summary__kind(summary, g.stats.block.at[254].kind), "(all others)");
	assert_int_equal(g.stats.block.at[254].ns, 1000 - 254);
	summary_stats__deinit(&g.stats);
}

/*
 * Of a window counts what lies in it, of each state; the times of creation and end are not changed.
 * One that ended before, one that blocked forever before, and one that was created later are not
 * reported.
 */
TEST(a_window)
{
	begin(true);
	summary__set_window(summary, 150, 190);
	event(100, EV_SYNC, 0, 0, 0);
	start_new(3, 3, 102); /* ends before the window */
	event(149, EV_GO_DESTROY, 0, 0, 0);
	start_new(4, 4, 104); /* blocks forever before it */
	event(140, EV_GO_BLOCK, FOREVER, 0, 0);
	start_new(5, 0, 110);
	event(120, EV_USER_REGION_BEGIN, TASK, STEP, 0);
	event(130, EV_USER_REGION_BEGIN, TASK, INNER, 0); /* outside */
	event(140, EV_USER_REGION_END, TASK, INNER, 0);
	event(160, EV_GO_BLOCK, CHAN, 0, 0);
	on(0, TRACE_NO_G);
	event(175, EV_GO_UNBLOCK, 5, 2, 0);
	event(180, EV_GO_START, 5, 3, 0);
	on(0, 5);
	event(195, EV_USER_REGION_END, TASK, STEP, 0);
	start_new(6, 1, 191); /* later */
	on(0, 5);
	event(198, EV_GO_DESTROY, 0, 0, 0);
	event(200, EV_SYNC, 0, 0, 0);
	expect("5 main.worker@200 created=110 started=111 ended=198"
	       " exec=20 wait=5 total=40 block[chan receive]=15\n"
	       "  7:step start=120 end=195 exec=20 wait=5 total=40 block[chan receive]=15\n");
}

/* A summary that ends while goroutines, Ps and ranges of them are there. AddressSanitizer sees what is left. */
TEST(all_is_freed)
{
	size_t before = 0;

	for (uint64_t i = 0; i < 2000; i++) {
		if (i == 1000)
			before = memory_in_use();
		begin(true);
		event(100, EV_SYNC, 0, 0, 0);
		for (uint64_t p = 40 * i; p < 40 * i + 40; p++) {
			start_new(5 + p, p, 110);
			event(130, EV_GC_SWEEP_BEGIN, 0, 0, 0);
			event(140, EV_USER_REGION_BEGIN, 0, STEP, 0);
		}
	}
	assert_true(memory_in_use() < before + 8000);
}
