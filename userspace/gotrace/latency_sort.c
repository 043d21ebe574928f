// SPDX-License-Identifier: GPL-2.0
/*
 * Sorting for `gotrace latency`: functions and goroutines by a part of their time, reasons by
 * time.
 *
 * Used by latency.c and its printers.
 */
#include <stdlib.h>
#include <string.h>

#include "latency.h"
#include "lib/array.h"

const char *const latency_orders[LATENCY_ORDERS] = {
	LATENCY_PART_NAMES,
	[BY_TOTAL] = "total",
	[BY_COUNT] = "count",
	[BY_ID] = "id",
};

static int64_t key__of(const struct latency_stats *stats, unsigned int sort)
{
	return sort < LATENCY_PARTS ? stats->part[sort] : stats->total;
}

/* Descending; equal ones in the order in which their names first appeared. */
static int compare_functions(const void *a, const void *b)
{
	const struct function *const *x = a, *const *y = b;

	if ((*x)->key != (*y)->key)
		return (*x)->key > (*y)->key ? -1 : 1;
	return (*x > *y) - (*x < *y);
}

const struct function **functions__sorted(const struct latencies *all, size_t *ret_n)
{
	const struct function **functions = calloc(all->nfunctions + 1, sizeof(*functions));
	struct function *f;
	size_t n = 0;

	if (!functions)
		return NULL;
	for (f = all->functions; f < all->functions + all->nfunctions; f++) {
		if (!f->count)
			continue;
		f->key = all->sort == BY_COUNT ? (int64_t)f->count : key__of(&f->stats, all->sort);
		functions[n++] = f;
	}
	array__sort(functions, n, sizeof(*functions), compare_functions);
	*ret_n = selection__top(all->select, n);
	return functions;
}

static int record__key(struct buf record, void *context, int64_t *ret)
{
	const struct latencies *all = context;
	struct latency_goroutine g;
	int err = latency__unpack(record, &g);

	if (err)
		return err;
	*ret = key__of(&g.stats, all->sort);
	latency_stats__deinit(&g.stats);
	return 0;
}

int goroutines__sort(struct latencies *all)
{
	int err = 0;

	record_store__sort(all->goroutines);
	if (all->sort != BY_ID)
		err = record_store__sort_by(all->goroutines, record__key, all);
	record_store__truncate(all->goroutines, selection__top(all->select, SIZE_MAX));
	return err;
}

static int compare_reasons(const void *a, const void *b)
{
	const struct duration *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

struct duration *reasons__sorted(const struct latency_stats *stats, enum latency_part part,
				 size_t *ret_n)
{
	const struct durations *reasons = &stats->reasons;
	struct duration *sorted = calloc((size_t)reasons->n + 1, sizeof(*sorted));
	size_t n = 0;

	if (!sorted)
		return NULL;
	for (uint32_t i = 0; i < reasons->n; i++)
		if (latency_reason__part(reasons->at[i].kind) == part && reasons->at[i].ns)
			sorted[n++] = reasons->at[i];
	array__sort(sorted, n, sizeof(*sorted), compare_reasons);
	*ret_n = n;
	return sorted;
}

struct duration *tasks__sorted(const struct latency_stats *stats, size_t *ret_n)
{
	const struct durations *tasks = &stats->tasks;
	struct duration *sorted = calloc((size_t)tasks->n + 1, sizeof(*sorted));

	if (!sorted)
		return NULL;
	if (tasks->n) {
		memcpy(sorted, tasks->at, tasks->n * sizeof(*sorted));
		array__sort(sorted, tasks->n, sizeof(*sorted), compare_reasons);
	}
	*ret_n = tasks->n;
	return sorted;
}

struct duration *places__sorted(const struct latency *l, const struct latency_stats *stats,
				enum latency_part part, size_t *ret_n)
{
	const struct durations *places = &stats->places;
	struct duration *sorted = calloc((size_t)places->n + 1, sizeof(*sorted));
	size_t n = 0;

	if (!sorted)
		return NULL;
	for (uint32_t i = 0; i < places->n; i++)
		if (latency__place(l, places->at[i].kind).part == part && places->at[i].ns)
			sorted[n++] = places->at[i];
	array__sort(sorted, n, sizeof(*sorted), compare_reasons);
	*ret_n = n;
	return sorted;
}
