// SPDX-License-Identifier: GPL-2.0
/*
 * The columns of `gotrace goroutines`, and the sorting of groups, regions and tasks.
 *
 * Used by goroutines.c and its printers. Reasons are recognized by their text, as in `go tool
 * trace`.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "goroutines.h"
#include "lib/array.h"
#include "reader/parking.h"

const char *const column_names[COLUMNS] = {
	[COLUMN_EXEC] = "exec",	      [COLUMN_SCHED] = "sched",	    [COLUMN_SYNC] = "sync",
	[COLUMN_NETWORK] = "network", [COLUMN_SYSCALL] = "syscall", [COLUMN_GC] = "gc",
	[COLUMN_OTHER] = "other",     [COLUMN_TOTAL] = "total",	    [COLUMN_GC_WORK] = "gcwork",
	[COLUMN_LOST] = "lost",	      [COLUMN_COUNT] = "count",	    [COLUMN_ID] = "id",
};

static bool has(struct trace_string s, const char *word)
{
	return s.len && memmem(s.data, s.len, word, strlen(word));
}

static enum column reason_column(struct trace_string reason)
{
	if (parking__is(reason, "network"))
		return COLUMN_NETWORK;
	if (has(reason, "GC "))
		return COLUMN_GC;
	if (has(reason, "chan") || has(reason, "sync") || has(reason, "select"))
		return COLUMN_SYNC;
	return COLUMN_OTHER;
}

static int64_t sum(const struct goroutines *all, const struct durations *a, enum column column)
{
	int64_t total = 0;

	for (uint32_t i = 0; i < a->n; i++)
		if (reason_column(summary__kind(all->summary, a->at[i].kind)) == column)
			total = time_add(total, a->at[i].ns);
	return total;
}

int64_t column__of(const struct goroutines *all, const struct summary_stats *stats,
		   enum column column)
{
	switch (column) {
	case COLUMN_EXEC:
		return stats->exec;
	case COLUMN_SCHED:
		return stats->sched_wait;
	case COLUMN_SYSCALL:
		return time_add(stats->syscall, stats->syscall_block);
	case COLUMN_TOTAL:
		return stats->total;
	case COLUMN_GC_WORK:
		return stats->gc_work;
	case COLUMN_LOST:
		return stats->lost;
	case COLUMN_OTHER:
		return time_add(sum(all, &stats->block, column), summary_stats__unknown(stats));
	default:
		return sum(all, &stats->block, column);
	}
}

struct trace_string group__name(const struct goroutines *all, const struct group *group)
{
	return summary__name(all->summary, (uint32_t)(group - all->groups));
}

/* Descending; equal ones in the order in which their names first appeared. */
static int compare_groups(const void *a, const void *b)
{
	const struct group *const *x = a, *const *y = b;

	if ((*x)->key != (*y)->key)
		return (*x)->key > (*y)->key ? -1 : 1;
	return (*x > *y) - (*x < *y);
}

const struct group **groups__sorted(const struct goroutines *all, size_t *ret_n)
{
	const struct group **groups = calloc(all->ngroups + 1, sizeof(*groups));
	struct group *g;
	size_t n = 0;

	if (!groups)
		return NULL;
	for (g = all->groups; g < all->groups + all->ngroups; g++) {
		if (!g->count)
			continue;
		g->key = all->sort == COLUMN_COUNT ? (int64_t)g->count :
						     column__of(all, &g->stats, all->sort);
		groups[n++] = g;
	}
	array__sort(groups, n, sizeof(*groups), compare_groups);
	*ret_n = selection__top(all->select, n);
	return groups;
}

static int compare_regions(const void *a, const void *b)
{
	const struct summary_region *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

int regions__sorted(const struct summary_goroutine *g, struct summary_region **ret, size_t *ret_n)
{
	struct summary_region *regions = NULL;
	struct buf packed = g->regions;
	size_t n = 0, cap = 0;
	int more = 1;

	while (more > 0) {
		more = array__grow(&regions, n, &cap, sizeof(*regions));
		if (more)
			break;
		more = summary_region__unpack(&packed, &regions[n]);
		n += more > 0;
	}
	if (more < 0) {
		regions__free(regions, n);
		return more;
	}
	array__sort(regions, n, sizeof(*regions), compare_regions);
	*ret = regions;
	*ret_n = n;
	return 0;
}

void regions__free(struct summary_region *regions, size_t n)
{
	for (size_t i = 0; i < n; i++)
		summary_stats__deinit(&regions[i].stats);
	free(regions);
}

int goroutines__note_shown(struct goroutines *all)
{
	size_t n = selection__any(all->select) ? record_store__count(all->store) : 0;
	struct buf record;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		record = record_store__get(all->store, i);
		err = map__put(&all->shown, buf__uleb(&record), all);
	}
	return err;
}

bool task__is_shown(const struct goroutines *all, const struct summary_task *t)
{
	bool found = !selection__any(all->select) && !all->windowed;

	for (size_t i = 0; !found && i < t->goroutines.n; i++)
		found = map__get(&all->shown, (uint64_t)t->goroutines.at[i]);
	return found;
}
