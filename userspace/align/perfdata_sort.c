// SPDX-License-Identifier: GPL-2.0
/*
 * Sorts the scheduler events by time. perf writes the events of one CPU in a row, then those of
 * the next CPU, and so on: long sorted runs that overlap with few others. Each run is merged with
 * its neighbour, and only the overlapping part is moved.
 */
#include <stdlib.h>
#include <string.h>

#include "align/perfdata_impl.h"

/* The first of `n` that is after `time`, or not before it. */
static size_t first_after(const struct perf_sched *ev, size_t n, uint64_t time, bool or_equal)
{
	size_t low = 0, high = n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (ev[mid].time > time || (or_equal && ev[mid].time == time))
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Merge adjacent runs; `spare` has room for the first. Stable. */
static void merge(struct perf_sched *a, size_t na, size_t nb, struct perf_sched *spare)
{
	struct perf_sched *b = a + na, *end, *out, *left = spare, *left_end;
	size_t skip = first_after(a, na, b->time, false);

	out = a + skip;
	if (skip == na)
		return;
	end = b + first_after(b, nb, a[na - 1].time, true);
	left_end = mempcpy(spare, out, (na - skip) * sizeof(*a));
	while (left < left_end && b < end)
		*out++ = b->time < left->time ? *b++ : *left++;
	memcpy(out, left, (size_t)(left_end - left) * sizeof(*a));
}

/* The start of each run; *ret_n of them, followed by `n`. NULL: out of memory. */
static size_t *find_runs(const struct perf_sched *ev, size_t n, size_t *ret_n)
{
	size_t runs = n > 0, *start, at = 0;

	for (size_t i = 1; i < n; i++)
		runs += ev[i].time < ev[i - 1].time;
	start = calloc(runs + 1, sizeof(*start));
	if (!start)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (!i || ev[i].time < ev[i - 1].time)
			start[at++] = i;
	start[runs] = n;
	*ret_n = runs;
	return start;
}

bool perf__sort(struct perf_sched *ev, size_t n)
{
	size_t runs, *start = find_runs(ev, n, &runs), i, kept;
	struct perf_sched *spare;

	spare = start && runs > 1 ? reallocarray(NULL, n, sizeof(*spare)) : NULL;
	if (!start || (runs > 1 && !spare)) {
		free(start);
		return false;
	}
	while (runs > 1) {
		for (i = kept = 0; i < runs; i += 2, kept++) {
			if (i + 1 < runs)
				merge(ev + start[i], start[i + 1] - start[i],
				      start[i + 2] - start[i + 1], spare);
			start[kept] = start[i];
		}
		start[kept] = n;
		runs = kept;
	}
	free(spare);
	free(start);
	return true;
}
