// SPDX-License-Identifier: GPL-2.0
/* The summary of goroutines: regions and tasks. */
#include "unit/test.h"
#include "unit/summary_fixture.h"

TEST(regions)
{
	begin(true);
	event(1, EV_SYNC, 0, 0, 0);
	start_new(1, 0, 10);
	event(20, EV_USER_REGION_BEGIN, 3, STEP, 0);
	event(25, EV_GO_BLOCK, CHAN, 0, 0);
	event(28, EV_GO_UNBLOCK, 1, 2, 0);
	event(29, EV_GO_START, 1, 3, 0);
	event(30, EV_USER_REGION_BEGIN, 4, INNER, 0);
	event(31, EV_GO_CREATE, 2, WORKER, 0);
	event(32, EV_GO_CREATE, 3, GC_WORKER, 0);
	event(34, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0);
	event(40, EV_USER_REGION_END, 4, INNER, 0);
	event(44, EV_USER_REGION_END, 3, STEP, 0);
	event(50, EV_USER_REGION_END, 5, STEP, 0); /* began before the trace */
	event(51, EV_USER_REGION_BEGIN, 6, STEP, 0);
	on(0, TRACE_NO_G);
	event(60, EV_GO_START, 2, 1, 0);
	event(61, EV_GO_START, 3, 1, 0);
	on(0, 2);
	event(70, EV_GO_DESTROY, 0, 0, 0);
	on(0, 3);
	event(71, EV_GO_DESTROY, 0, 0, 0);
	event(80, EV_SYNC, 0, 0, 0);
	expect("1 main.worker@200 created=10 started=11 exec=65 wait=2 total=70 gcwork=46"
	       " block[chan receive]=3 range[GC mark assist]=46\n"
	       "  4:inner start=30 end=40 exec=10 total=10 gcwork=6 range[GC mark assist]=6\n"
	       "  3:step start=20 end=44 exec=20 wait=1 total=24 gcwork=10"
	       " block[chan receive]=3 range[GC mark assist]=10\n"
	       "  5:step end=50 exec=35 wait=2 total=40 gcwork=16 block[chan receive]=3"
	       " range[GC mark assist]=16\n"
	       "  6:step start=51 exec=29 total=29 gcwork=29 range[GC mark assist]=29\n"
	       "2 main.worker@200 created=31 started=60 ended=70 exec=10 wait=29 total=39\n"
	       "  4: start=31 end=70 exec=10 wait=29 total=39\n"
	       /* the runtime works for no task */
	       "3 runtime.gcBgMarkWorker@300 created=32 started=61 ended=71"
	       " exec=10 wait=29 total=39\n");
}

/* Ranges that are open at a region's start, and end within it in another order. */
TEST(ranges_of_regions)
{
	begin(true);
	event(1, EV_SYNC, 0, 0, 0);
	start_new(1, 0, 10);
	event(20, EV_GC_MARK_ASSIST_BEGIN, 0, 0, 0);
	event(22, EV_STW_BEGIN, KIND, 0, 0);
	event(30, EV_USER_REGION_BEGIN, 3, STEP, 0);
	event(33, EV_STW_END, KIND, 0, 0);
	event(35, EV_GC_MARK_ASSIST_END, 0, 0, 0);
	event(40, EV_USER_REGION_END, 3, STEP, 0);
	event(41, EV_SYNC, 0, 0, 0);
	expect("1 main.worker@200 created=10 started=11 exec=30 wait=1 total=31"
	       " gcwork=15 range[GC mark assist]=15 range[stop-the-world (sweep)]=11\n"
	       "  3:step start=30 end=40 exec=10 total=10 gcwork=5"
	       " range[GC mark assist]=5 range[stop-the-world (sweep)]=3\n");
}

static void expect_list(const struct summary_list *list, const char *want)
{
	char text[200] = "", number[32];

	for (size_t i = 0; i < list->n; i++) {
		snprintf(number, sizeof(number), i ? " %" PRId64 : "%" PRId64, list->at[i]);
		strncat(text, list->at[i] == SUMMARY_NEVER ? " never" : number, 50);
	}
	assert_string_equal(text, want);
}

static void end_task(int64_t time, uint64_t id, uint64_t parent, const char *name)
{
	struct trace_event ev = {
		.time = time,
		.type = EV_USER_TASK_END,
		.p = on_p,
		.g = on_g,
		.arg = { id },
		.parent = parent,
		.name = { name, (uint32_t)strlen(name) },
		.dictionary = &dictionary,
	};

	assert_int_equal(summary__event(summary, &ev, &error), 0);
}

TEST(tasks)
{
	const struct summary_task *t;

	begin(true);
	event(1, EV_SYNC, 0, 0, 0);
	start_new(9, 0, 10);
	event(20, EV_USER_TASK_BEGIN, 7, TRACE_NO_TASK, TASK);
	event(21, EV_USER_TASK_BEGIN, 8, 7, STEP);
	event(22, EV_USER_REGION_BEGIN, 8, STEP, 0);
	event(23, EV_USER_LOG, 8, STEP, STEP);
	start_new(4, 0, 30);
	event(33, EV_USER_LOG, 8, STEP, STEP);
	on(0, 9);
	event(34, EV_USER_LOG, 8, STEP, STEP);
	on(0, 4);
	event(35, EV_USER_REGION_END, 8, STEP, 0);
	end_task(40, 8, 7, "step");
	end_task(42, 8, TRACE_NO_TASK, ""); /* again: Go's reader has forgotten the task */
	end_task(43, 6, 7, "early");
	event(50, EV_SYNC, 0, 0, 0);
	assert_int_equal(summary__finish(summary, &error), 0);

	t = summary__task(summary, 0);
	assert_int_equal(t->id, 6);
	assert_true(t->start == SUMMARY_NEVER && t->end == 43 && t->parent == 7);
	expect_text(summary__name(summary, t->name), "early");
	t = summary__task(summary, 1);
	assert_int_equal(t->id, 7);
	assert_true(t->start == 20 && t->end == SUMMARY_NEVER && t->parent == TRACE_NO_TASK);
	expect_list(&t->children, "8 6");
	expect_list(&t->goroutines, "9");
	expect_list(&t->regions, "");
	t = summary__task(summary, 2);
	assert_true(t->id == 8 && t->start == 21 && t->end == 40 && t->parent == 7);
	assert_true(t->last_end == 42 && t->last_name != t->name);
	expect_text(summary__name(summary, t->name), "step");
	expect_list(&t->goroutines, "4 9");
	expect_list(&t->regions, "22 never");
	expect_list(&t->logs, "23 33 34");
	assert_null(summary__task(summary, 3));
}

/* Regions within regions, each with hundreds of kinds: an end before memory has one. */
TEST(too_many_regions)
{
	char reason[16];
	int err = 0;

	begin(true);
	for (uint64_t i = 0; i < 255; i++) {
		snprintf(reason, sizeof(reason), "reason %d", (int)i);
		add_string(1000 + i, reason);
	}
	event(1, EV_SYNC, 0, 0, 0);
	start_new(1, 0, 10);
	for (uint64_t i = 0; i < 255; i++) {
		event(20, EV_GO_BLOCK, 1000 + i, 0, 0);
		event(21, EV_GO_UNBLOCK, 1, 1, 0);
		event(22, EV_GO_START, 1, 1, 0);
	}
	for (int64_t i = 0; i < 1000000 && !err; i++)
		err = try_event(1000 + i, EV_USER_REGION_BEGIN, 1, STEP, 0);
	assert_int_equal(err, -E2BIG);
	assert_string_equal(
		error.text,
		"cannot summarize the goroutines: too many regions are open at the same time");
}
