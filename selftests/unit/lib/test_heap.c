// SPDX-License-Identifier: GPL-2.0
/* Heaps: items come out in order, whichever are added, changed or removed on the way. */
#include "unit/test.h"
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

static void fill(void)
{
	srand(1);
	for (n = 0; n < ITEMS;)
		push(rand() % 50);
}

FIXTURE(fill, NULL)

TEST(least_first)
{
	int last = -1;

	while (n) {
		expect_order();
		assert_true(item[0].key >= last);
		last = item[0].key;
		heap__remove(item, &n, 0);
	}
}

TEST(any_is_removed)
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

TEST(keys_change)
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
TEST_WITH(equal_items, NULL, NULL)
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
