// SPDX-License-Identifier: GPL-2.0
/*
 * Pattern-defeating quicksort for format/gosort.h.
 *
 * Short ranges are sorted by insertion, ranges with many bad pivots by heap sort. Ranges that
 * appear sorted are completed with a few moves. Ranges are [a, b), as positions in the whole array,
 * since the element before a range is its lower bound.
 */
#include "format/gosort.h"

#include <stdbool.h>

#define INSERTION_MAX 12 /* elements */
#define NINTHER_MIN   50
#define PIVOT_SWAPS_MAX                                                                            \
	12 /* swaps while choosing a pivot; if all were made, the range is reversed */
#define PARTIAL_MOVES 5
#define PARTIAL_MIN   50

enum order_hint { UNKNOWN, INCREASING, DECREASING };

static bool less(const struct gosort_item *v, ptrdiff_t i, ptrdiff_t j)
{
	return v[i].time < v[j].time;
}

static void swap(struct gosort_item *v, ptrdiff_t i, ptrdiff_t j)
{
	struct gosort_item item = v[i];

	v[i] = v[j];
	v[j] = item;
}

static void insertion_sort(struct gosort_item *v, ptrdiff_t a, ptrdiff_t b)
{
	for (ptrdiff_t i = a + 1; i < b; i++)
		for (ptrdiff_t j = i; j > a && less(v, j, j - 1); j--)
			swap(v, j, j - 1);
}

static void sift_down(struct gosort_item *heap, ptrdiff_t root, ptrdiff_t n)
{
	ptrdiff_t child;

	while ((child = 2 * root + 1) < n) {
		if (child + 1 < n && less(heap, child, child + 1))
			child++;
		if (!less(heap, root, child))
			return;
		swap(heap, root, child);
		root = child;
	}
}

static void heap_sort(struct gosort_item *v, ptrdiff_t n)
{
	for (ptrdiff_t i = (n - 1) / 2; i >= 0; i--)
		sift_down(v, i, n);
	for (ptrdiff_t i = n - 1; i >= 0; i--) {
		swap(v, 0, i);
		sift_down(v, 0, i);
	}
}

/* Swaps three elements in the middle with pseudo-random ones, to break patterns. */
static void break_patterns(struct gosort_item *v, ptrdiff_t a, ptrdiff_t n)
{
	uint64_t random = (uint64_t)n, mask = (2ull << (63 - __builtin_clzll((uint64_t)n))) - 1;
	ptrdiff_t middle = a + n / 4 * 2, other;

	for (ptrdiff_t i = middle - 1; i <= middle + 1; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		other = (ptrdiff_t)(random & mask);
		swap(v, i, a + (other >= n ? other - n : other));
	}
}

static ptrdiff_t median(const struct gosort_item *v, ptrdiff_t a, ptrdiff_t b, ptrdiff_t c,
			unsigned int *swaps)
{
	ptrdiff_t other;

	if (less(v, b, a)) {
		other = a, a = b, b = other;
		++*swaps;
	}
	if (less(v, c, b)) {
		b = c;
		++*swaps;
	}
	if (less(v, b, a)) {
		b = a;
		++*swaps;
	}
	return b;
}

static ptrdiff_t choose_pivot(const struct gosort_item *v, ptrdiff_t a, ptrdiff_t n,
			      enum order_hint *hint)
{
	ptrdiff_t i = a + n / 4, j = a + n / 4 * 2, k = a + n / 4 * 3;
	unsigned int swaps = 0;

	if (n >= NINTHER_MIN) {
		i = median(v, i - 1, i, i + 1, &swaps);
		j = median(v, j - 1, j, j + 1, &swaps);
		k = median(v, k - 1, k, k + 1, &swaps);
	}
	j = median(v, i, j, k, &swaps);
	*hint = !swaps ? INCREASING : swaps == PIVOT_SWAPS_MAX ? DECREASING : UNKNOWN;
	return j;
}

static void reverse(struct gosort_item *v, ptrdiff_t a, ptrdiff_t b)
{
	for (b--; a < b; a++, b--)
		swap(v, a, b);
}

/* Moves a few elements of an almost sorted range. Returns true if the range is then sorted. */
static bool partial_sort(struct gosort_item *v, ptrdiff_t a, ptrdiff_t b)
{
	ptrdiff_t i = a + 1, j;

	for (int moves = 0; moves < PARTIAL_MOVES; moves++) {
		while (i < b && !less(v, i, i - 1))
			i++;
		if (i == b)
			return true;
		if (b - a < PARTIAL_MIN)
			return false;
		swap(v, i, i - 1);
		if (i - a >= 2)
			for (j = i - 1; j >= 1 && less(v, j, j - 1); j--)
				swap(v, j, j - 1);
		if (b - i >= 2)
			for (j = i + 1; j < b && less(v, j, j - 1); j++)
				swap(v, j, j - 1);
	}
	return false;
}

/* Moves elements equal to the pivot to the front; none is less. Returns where the greater begin. */
static ptrdiff_t partition_equal(struct gosort_item *v, ptrdiff_t a, ptrdiff_t b, ptrdiff_t pivot)
{
	ptrdiff_t i = a + 1, j = b - 1;

	swap(v, a, pivot);
	for (;;) {
		while (i <= j && !less(v, a, i))
			i++;
		while (i <= j && less(v, a, j))
			j--;
		if (i > j)
			return i;
		swap(v, i++, j--);
	}
}

/* Moves elements less than the pivot before it. Returns the position of the pivot. */
static ptrdiff_t partition(struct gosort_item *v, ptrdiff_t a, ptrdiff_t b, ptrdiff_t pivot,
			   bool *was_partitioned)
{
	ptrdiff_t i = a + 1, j = b - 1;
	bool swapped = false;

	swap(v, a, pivot);
	for (;; swapped = true) {
		while (i <= j && less(v, i, a))
			i++;
		while (i <= j && !less(v, j, a))
			j--;
		if (i > j)
			break;
		swap(v, i++, j--);
	}
	swap(v, j, a);
	*was_partitioned = !swapped;
	return j;
}

static void quicksort(struct gosort_item *v, ptrdiff_t a, ptrdiff_t b, int limit)
{
	bool balanced = true, partitioned = true;
	enum order_hint hint;
	ptrdiff_t n, pivot, mid;

	while ((n = b - a) > INSERTION_MAX) {
		if (!limit) {
			heap_sort(v + a, n);
			return;
		}
		if (!balanced) {
			break_patterns(v, a, n);
			limit--;
		}
		pivot = choose_pivot(v, a, n, &hint);
		if (hint == DECREASING) {
			reverse(v, a, b);
			pivot = b - 1 - (pivot - a);
			hint = INCREASING;
		}
		if (balanced && partitioned && hint == INCREASING && partial_sort(v, a, b))
			return;
		if (a > 0 && !less(v, a - 1, pivot)) {
			a = partition_equal(v, a, b, pivot);
			continue;
		}
		mid = partition(v, a, b, pivot, &partitioned);
		if (mid - a < b - mid) {
			balanced = mid - a >= n / 8;
			quicksort(v, a, mid, limit);
			a = mid + 1;
		} else {
			balanced = b - mid >= n / 8;
			quicksort(v, mid + 1, b, limit);
			b = mid;
		}
	}
	insertion_sort(v, a, b);
}

void gosort(struct gosort_item *item, size_t n)
{
	int limit = n ? 64 - __builtin_clzll(n) : 0;

	quicksort(item, 0, (ptrdiff_t)n, limit);
}
