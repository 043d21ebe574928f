// SPDX-License-Identifier: GPL-2.0
/*
 * What a goroutine's time is sorted into, and what is sorted by it: groups, regions, tasks.
 *
 * Between goroutines.c and its printers. Reasons are known by their texts, as in `go tool trace`.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "goroutines.h"

const char *const column_names[COLUMNS] = {
	[COLUMN_EXEC] = "exec",	      [COLUMN_SCHED] = "sched",	    [COLUMN_SYNC] = "sync",
	[COLUMN_NETWORK] = "network", [COLUMN_SYSCALL] = "syscall", [COLUMN_GC] = "gc",
	[COLUMN_OTHER] = "other",     [COLUMN_TOTAL] = "total",	    [COLUMN_GC_WORK] = "gcwork",
	[COLUMN_COUNT] = "count",     [COLUMN_ID] = "id",
};

static bool has(struct trace_string s, const char *word)
{
	return s.len && memmem(s.data, s.len, word, strlen(word));
}

static enum column reason_column(struct trace_string reason)
{
	if (reason.len == 7 && has(reason, "network"))
		return COLUMN_NETWORK;
	if (has(reason, "GC "))
		return COLUMN_GC;
	if (has(reason, "chan") || has(reason, "sync") || has(reason, "select"))
		return COLUMN_SYNC;
	return COLUMN_OTHER;
}

static int64_t add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t sum(const struct goroutines *all, const struct amounts *a, enum column column)
{
	int64_t total = 0;

	for (uint32_t i = 0; i < a->n; i++)
		if (reason_column(summary__kind(all->summary, a->at[i].kind)) == column)
			total = add(total, a->at[i].ns);
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
		return add(stats->syscall, stats->syscall_block);
	case COLUMN_TOTAL:
		return stats->total;
	case COLUMN_GC_WORK:
		return stats->gc_work;
	case COLUMN_OTHER:
		return add(sum(all, &stats->block, column), summary_stats__unknown(stats));
	default:
		return sum(all, &stats->block, column);
	}
}

struct trace_string group__name(const struct goroutines *all, const struct group *group)
{
	return summary__name(all->summary, (uint32_t)(group - all->groups));
}

struct keyed {
	int64_t key;
	const struct group *group;
};

/* The largest first; those of the same size by the order in which their names came up. */
static int compare_keyed(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

static int64_t group__key(const struct goroutines *all, const struct group *g)
{
	if (all->sort == COLUMN_COUNT)
		return (int64_t)g->count;
	return column__of(all, &g->stats, all->sort);
}

const struct group **groups__sorted(const struct goroutines *all, size_t *ret_n)
{
	struct keyed *keyed = calloc(all->ngroups + 1, sizeof(*keyed));
	const struct group **groups = calloc(all->ngroups + 1, sizeof(struct group *));
	const struct group *g;
	size_t n = 0;

	if (!keyed || !groups) {
		free(keyed);
		free(groups);
		return NULL;
	}
	for (g = all->groups; g < all->groups + all->ngroups; g++)
		if (g->count)
			keyed[n++] = (struct keyed){ group__key(all, g), g };
	qsort(keyed, n, sizeof(*keyed), compare_keyed);
	for (size_t i = 0; i < n; i++)
		groups[i] = keyed[i].group;
	free(keyed);
	*ret_n = n;
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
	struct summary_region *regions = NULL, *bigger;
	struct buf packed = g->regions;
	size_t n = 0, cap = 0;
	int more = 1;

	while (more > 0) {
		if (n == cap) {
			cap = cap ? cap * 2 : 4;
			bigger = reallocarray(regions, cap, sizeof(*regions));
			if (!bigger) {
				more = -ENOMEM;
				break;
			}
			regions = bigger;
		}
		more = summary_region__unpack(&packed, &regions[n]);
		n += more > 0;
	}
	if (more < 0) {
		regions__free(regions, n);
		return more;
	}
	qsort(regions, n, sizeof(*regions), compare_regions);
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

bool task__is_shown(const struct goroutines *all, const struct summary_task *t)
{
	size_t low = 0, high = t->goroutines.n, mid;

	if (!all->one)
		return true;
	while (low < high) { /* ends at the first that is not below it */
		mid = low + (high - low) / 2;
		if (t->goroutines.at[mid] < (int64_t)all->id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < t->goroutines.n && t->goroutines.at[low] == (int64_t)all->id;
}
