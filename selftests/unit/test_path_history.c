// SPDX-License-Identifier: GPL-2.0
/* What the history of the critical path keeps of goroutines and threads, and that all of it is freed. */
#include <malloc.h>

#include "path_fixture.h"

/* A call that goes on is the same one, if the table has it again; one after its end is another. */
static void call_of_two_tables(void **state)
{
	struct kernel_thread kt = { .tid = 1, .run = KERNEL_RUNNING, .call = READ };
	const struct path_list *calls;

	begin();
	assert_int_equal(kernel_threads__set(&threads, &kt), 0);
	fold.last = 10;
	assert_int_equal(path_fold__threads(&fold, &threads), 0);
	fold.last = 20;
	assert_int_equal(path_fold__threads(&fold, &threads), 0);
	calls = &path_thread(&history, 0)->calls;
	assert_int_equal(calls->n, 1);
	path_history__call_ends(&history, 0, 30);
	fold.last = 40;
	assert_int_equal(path_fold__threads(&fold, &threads), 0);
	assert_int_equal(calls->n, 2);
	kernel_threads__find(&threads, 1)->call = FUTEX;
	fold.last = 50;
	assert_int_equal(path_fold__threads(&fold, &threads), 0);
	assert_int_equal(calls->n, 3);
	end();
}

/* What lasted no time is not kept, and of the time up to the window the last. Time never goes back. */
static void items_of_a_list(void **state)
{
	const struct path_list *list;
	uint32_t g;

	begin();
	history.from = 20;
	g = path_history__goroutine(&history, 1);
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
	end();
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
	end();
}

/* What is allocated must not grow from one history to the next. AddressSanitizer sees it by itself. */
static void all_is_freed(void **state)
{
	size_t before = 0;

	for (int i = 0; i < 2000; i++) {
		if (i == 1000)
			before = mallinfo2().uordblks;
		fill();
	}
	assert_true(mallinfo2().uordblks < before + 8000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call_of_two_tables),
		cmocka_unit_test(items_of_a_list),
		cmocka_unit_test(all_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
