// SPDX-License-Identifier: GPL-2.0
/* What the history of the critical path keeps of goroutines and threads, and that all of it is freed. */
#include <malloc.h>

#include "unit/test.h"
#include "unit/path_fixture.h"

/* A call that goes on is the same one, if the table has it again; one after its end is another. */
TEST(call_of_two_tables)
{
	struct kernel_thread kt = { .tid = 1, .run = KERNEL_RUNNING, .call = READ };
	const struct path_list *calls;

	assert_int_equal(kernel_threads__set(&threads, &kt), 0);
	fold.tracker.now = 10;
	assert_int_equal(path_fold__threads(&fold, &threads), 0);
	fold.tracker.now = 20;
	assert_int_equal(path_fold__threads(&fold, &threads), 0);
	calls = &path_thread(&history, 0)->calls;
	assert_int_equal(calls->n, 1);
	path_history__call_ends(&history, 0, 30);
	fold.tracker.now = 40;
	assert_int_equal(path_fold__threads(&fold, &threads), 0);
	assert_int_equal(calls->n, 2);
	kernel_threads__find(&threads, 1)->call = FUTEX;
	fold.tracker.now = 50;
	assert_int_equal(path_fold__threads(&fold, &threads), 0);
	assert_int_equal(calls->n, 3);
}

/* What lasted no time is not kept, and of the time up to the window the last. Time never goes back. */
TEST(items_of_a_list)
{
	const struct path_list *list;
	uint32_t g;

	history.from = 20;
	g = path_table__get(&history, &history.goroutines, 1);
	list = &path_goroutine(&history, g)->states;
	assert_int_equal(path_history__state(&history, g, 5)->time, 5);
	assert_int_equal(path_history__state(&history, g, 20)->time, 20);
	assert_int_equal(list->n, 1);
	assert_int_equal(path_history__state(&history, g, 21)->time, 21);
	assert_int_equal(path_history__state(&history, g, 21)->time, 21);
	assert_int_equal(list->n, 2);
	assert_int_equal(path_history__state(&history, g, 19)->time, 21);
	assert_int_equal(list->n, 2);
	for (int64_t time = 22; time < 40; time++)
		assert_int_equal(path_history__state(&history, g, time)->time, time);
	assert_int_equal(list->n, 20);
	assert_int_equal(path_list__before(list, sizeof(struct path_state), 20), 0);
	assert_int_equal(path_list__before(list, sizeof(struct path_state), 21), 1);
	assert_int_equal(path_list__before(list, sizeof(struct path_state), 39), 19);
	assert_int_equal(path_list__before(list, sizeof(struct path_state), 40), 20);
}

/* Who created it, and when; and that it ended. */
TEST(a_life)
{
	const struct path_goroutine *g;

	all_run(2);
	on(2, 2);
	event(10, EV_GO_CREATE, 5, MAIN, WORKER);
	g = path_goroutine(&history, path_history__find_goroutine(&history, 5));
	assert_true(g->created_in_trace);
	assert_false(g->ended || g->assist);
	assert_int_equal(g->created, 10);
	assert_int_equal(path_goroutine(&history, g->creator)->id, 2);
	on(1, 1);
	event(20, EV_GO_DESTROY, 0, 0, 0);
	g = path_goroutine(&history, path_history__find_goroutine(&history, 1));
	assert_true(g->ended);
	assert_false(g->created_in_trace);
}

/* What goroutine `id` does: its state, and the ids of its thread and its P; 0: none. */
static void assert_state(uint64_t id, uint8_t state, uint64_t thread, uint64_t proc)
{
	const struct path_state *st;
	const struct path_list *on;
	uint32_t g = path_history__find_goroutine(&history, id);

	assert_int_not_equal(g, PATH_NONE);
	st = path_history__last_state(&history, g);
	assert_non_null(st);
	assert_int_equal(st->state, state);
	assert_int_equal(st->time, 50);
	if (!thread) {
		assert_int_equal(st->thread, PATH_NONE);
		assert_int_equal(st->proc, PATH_NONE);
		return;
	}
	assert_int_equal(path_thread(&history, st->thread)->id, thread);
	on = &path_thread(&history, st->thread)->on;
	assert_int_equal(on->n, 1);
	assert_int_equal(((struct path_on *)on->at)->goroutine, g);
	assert_int_equal(((struct path_on *)on->at)->time, 50);
	if (!proc) {
		assert_int_equal(st->proc, PATH_NONE);
		return;
	}
	assert_int_equal(path_proc(&history, st->proc)->id, proc);
	on = &path_proc(&history, st->proc)->on;
	assert_int_equal(on->n, 1);
	assert_int_equal(((struct path_on *)on->at)->goroutine, g);
}

/* Read from the middle on, a trace begins with what its reader knows by then. */
TEST(in_the_middle)
{
	static struct order_g gs[] = {
		{ .id = 1, .status = GO_RUNNING, .alive = true },
		{ .id = 2, .status = GO_SYSCALL, .alive = true },
		{ .id = 3, .status = GO_SYSCALL, .alive = true },
		{ .id = 4, .status = GO_WAITING, .alive = true },
		{ .id = 5, .status = GO_RUNNABLE, .alive = true },
		{ .id = 6, .status = GO_RUNNING, .alive = false }, /* it has ended */
		{ .id = 7, .status = 0, .alive = true },
	};
	static struct order_m ms[] = {
		{ .id = 11, .p = 21, .g = 1 },
		{ .id = 12, .p = 22, .g = 2 },
		{ .id = 13, .p = TRACE_NO_P, .g = 3 },
		{ .id = 14, .p = 24, .g = 4 }, /* a wait is on no thread, whatever one says */
		{ .id = 16, .p = 26, .g = 6 },
		{ .id = 17, .p = 27, .g = TRACE_NO_G },
	};
	struct order order = {};

	for (size_t i = 0; i < sizeof(gs) / sizeof(*gs); i++)
		assert_int_equal(map__put(&order.g, gs[i].id, &gs[i]), 0);
	for (size_t i = 0; i < sizeof(ms) / sizeof(*ms); i++)
		assert_int_equal(map__put(&order.m, ms[i].id, &ms[i]), 0);
	assert_int_equal(path_fold__begin(&fold, &order, 50), 0);
	assert_state(1, GO_STATE_RUNNING, 11, 21);
	assert_state(2, GO_STATE_SYSCALL, 12, 22);
	assert_state(3, GO_STATE_SYSCALL, 13, 0);
	assert_state(4, GO_STATE_WAITING, 0, 0);
	assert_state(5, GO_STATE_RUNNABLE, 0, 0);
	assert_int_equal(path_history__find_goroutine(&history, 6), PATH_NONE);
	assert_state(7, GO_STATE_UNDETERMINED, 0, 0);
	assert_int_equal(history.threads.n, 3);
	assert_int_equal(history.procs.n, 2);
	map__deinit(&order.g);
	map__deinit(&order.m);
}

/* Some of everything: the first of a table, and others. */
static void fill(void)
{
	begin();
	all_run(3);
	for (uint32_t i = 1; i <= 3; i++) {
		call(10 * i, i, READ);
		core(10 * i, i, (uint16_t)i);
		machine(10 * i + 1, (uint16_t)i, STRESS);
		off(10 * i + 2, i, GT_OFF_SLEEPING, STRESS, (uint16_t)i);
		block(10 * i + 3, i, CHAN);
	}
	on(0, 0);
	event(100, EV_STW_BEGIN, STW, 0, 0);
}

/* What is allocated must not grow from one history to the next. AddressSanitizer sees it by itself. */
TEST(all_is_freed)
{
	size_t before = 0;

	for (int i = 0; i < 2000; i++) {
		if (i == 1000)
			before = mallinfo2().uordblks;
		fill();
	}
	assert_true(mallinfo2().uordblks < before + 8000);
}
