// SPDX-License-Identifier: GPL-2.0
/* Heaps: items come out in order, whichever are added, changed or removed on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "lib/heap.h"

#define ITEMS 100

struct item {
	int key, number;
};

static inline bool is_less(const struct item *a, const struct item *b)
{
	return a->key < b->key;
}

DEFINE_HEAP(heap, struct item, is_less)

static struct item item[ITEMS];
static size_t n;

static void push(int key)
{
	item[n] = (struct item){ key, (int)n };
	heap__up(item, n);
	n++;
}

static void expect_order(void)
{
	for (size_t i = 1; i < n; i++)
		assert_true(item[(i - 1) / 2].key <= item[i].key);
}

static int fill(void **state)
{
	srand(1);
	for (n = 0; n < ITEMS;)
		push(rand() % 50);
	return 0;
}

static void least_first(void **state)
{
	int last = -1;

	while (n) {
		expect_order();
		assert_true(item[0].key >= last);
		last = item[0].key;
		heap__remove(item, &n, 0);
	}
}

static void any_is_removed(void **state)
{
	bool removed[ITEMS] = {};

	while (n) {
		size_t i = (size_t)rand() % n;

		removed[item[i].number] = true;
		heap__remove(item, &n, i);
		expect_order();
		for (i = 0; i < n; i++)
			assert_false(removed[item[i].number]);
	}
}

static void keys_change(void **state)
{
	for (unsigned int round = 0; round < 1000; round++) {
		size_t i = (size_t)rand() % n, at;
		int key = rand() % 50, number = item[i].number;

		item[i].key = key;
		at = heap__up(item, i);
		assert_int_equal(item[at].number, number);
		if (at == i)
			heap__down(item, n, i);
		expect_order();
	}
}

/* The steps of Go's container/heap, which decide between equal items. */
static void equal_items(void **state)
{
	static const int order[] = { 0, 4, 3, 2, 1 };

	n = 0;
	for (unsigned int i = 0; i < 5; i++)
		push(7);
	for (unsigned int i = 0; i < 5; i++) {
		assert_int_equal(item[0].number, order[i]);
		heap__remove(item, &n, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(least_first, fill),
		cmocka_unit_test_setup(any_is_removed, fill),
		cmocka_unit_test_setup(keys_change, fill),
		cmocka_unit_test(equal_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
