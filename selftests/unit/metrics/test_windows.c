// SPDX-License-Identifier: GPL-2.0
/*
 * Windows of a trace: a writer makes it, and the figures of each window are those of the events
 * below, computed by hand.
 */
#include "unit/test.h"
#include "metrics/windows.h"
#include "unit/writer_fixture.h"

#define TASK 7

static struct windows *all;
static struct trace_window *window[4];
static size_t nwindows;

static int setup(void **state)
{
	start(26, 1);
	return 0;
}

static int teardown(void **state)
{
	for (size_t i = 0; i < nwindows; i++)
		trace_window__destroy(window[i]);
	nwindows = 0;
	windows__destroy(all);
	all = NULL;
	return stop(state);
}

FIXTURE(setup, teardown)

static void add_event(uint64_t time, enum ev type, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t args[] = { a, b, c, 0 };

	ok(writer__event(x.w, 10, time, type, args, spec__event(type)->nargs - 1));
}

/*
 * Goroutine 1 runs on thread 10, is blocked for `blocked` ns, then runnable for 500 ns, and ends a
 * task of 100 ns if its number is not 0. The generation ends 5000 ns after its begin.
 */
static void generation(uint64_t t, uint64_t seq, uint64_t blocked, uint64_t task)
{
	uint32_t why = intern__cstring(x.in, "select"), name = intern__cstring(x.in, "task");

	ok(writer__open(x.w, t, 2000));
	ok(writer__proc_status(x.w, 10, 0, PROC_RUNNING));
	ok(writer__go_status(x.w, 10, 1, GO_RUNNING, 0));
	if (task) {
		add_event(t + 100, EV_USER_TASK_BEGIN, task, 0, name);
		add_event(t + 200, EV_USER_TASK_END, task, 0, 0);
	}
	add_event(t + 1000, EV_GO_BLOCK, why, 0, 0);
	add_event(t + 1000 + blocked, EV_GO_UNBLOCK, 1, seq, 0);
	add_event(t + 1500 + blocked, EV_GO_START, 1, seq + 1, 0);
	add_event(t + 4999, EV_HEAP_ALLOC, t, 0, 0);
	ok(writer__close(x.w));
}

static void keep(struct trace_window *w)
{
	if (w)
		window[nwindows++] = w;
}

static void read_windows(int64_t least)
{
	struct timeline_step step = {};
	struct trace_window *w;
	struct timeline *t;
	struct reader *r;
	struct input *in;

	ok(trace_file__commit(x.file));
	ok(input__open(&in, x.path, NULL));
	ok(reader__open(&r, in, NULL, NULL));
	ok(timeline__create(&t, r));
	all = windows__create(least);
	assert_non_null(all);
	while (timeline__next(t, &step, &(struct error){}) > 0) {
		ok(windows__step(all, t, &step, &w, NULL));
		keep(w);
	}
	ok(windows__finish(all, &w));
	keep(w);
	timeline__destroy(t);
	reader__destroy(r);
}

static void three_generations(void)
{
	generation(10000, 1, 1000, TASK);
	generation(15000, 1, 2000, 0);
	generation(20000, 1, 3000, TASK + 1);
}

TEST(whole)
{
	const struct trace_window *w;

	three_generations();
	read_windows(INT64_MAX);
	assert_int_equal(nwindows, 1);
	w = window[0];
	assert_int_equal(w->from, 10000);
	assert_int_equal(w->reasons, 1);
	assert_int_equal(w->reason[0].ns, 6000);
	assert_int_equal(w->interval[INTERVAL_SCHED].count, 3);
	assert_int_equal(w->interval[INTERVAL_SCHED].ns, 1500);
	assert_int_equal(w->requests, 1);
	assert_int_equal(w->request[0].count, 2);
	assert_int_equal(w->request[0].ns, 200);
	assert_int_equal(w->heap, 20000);
}

TEST(by_generation)
{
	three_generations();
	read_windows(5000);
	assert_int_equal(nwindows, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct trace_window *w = window[i];

		if (i)
			assert_int_equal(w->from, window[i - 1]->to);
		assert_int_equal(w->state[GO_STATE_RUNNING], 1);
		assert_int_equal(w->state[GO_STATE_WAITING], 0);
		assert_int_equal(w->functions, 1);
		assert_int_equal(w->function[0].goroutines, 1);
		assert_int_equal(w->function[0].part[PART_GO_BLOCKED], 1000 * (i + 1));
		assert_int_equal(w->function[0].part[PART_GO_RUNNABLE], 500);
		assert_int_equal(w->function[0].total, w->to - w->from);
		assert_int_equal(w->reasons, 1);
		assert_memory_equal(w->reason[0].name.data, "select", 6);
		assert_int_equal(w->reason[0].part, PART_GO_BLOCKED);
		assert_int_equal(w->reason[0].ns, 1000 * (i + 1));
		assert_int_equal(w->interval[INTERVAL_BLOCK].count, 1);
		assert_int_equal(w->interval[INTERVAL_BLOCK].ns, 1000 * (i + 1));
		assert_int_equal(w->requests, i != 1);
		assert_int_equal(w->heap, 10000 + 5000 * i);
	}
}

/* Generations of 5000 ns: the second one ends after the time, the third one is the rest. */
TEST(longer)
{
	three_generations();
	read_windows(10000);
	assert_int_equal(nwindows, 2);
	assert_int_equal(window[0]->reason[0].ns, 3000);
	assert_int_equal(window[0]->request[0].count, 1);
	assert_int_equal(window[1]->reason[0].ns, 3000);
	assert_int_equal(window[1]->from, window[0]->to);
}
