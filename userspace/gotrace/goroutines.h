/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of `gotrace goroutines` share: goroutines.c reads the trace, the others print what
 * came of it: goroutines_table.c for people, goroutines_json.c for programs, goroutines_canonical.c
 * for the comparison with Go.
 */
#ifndef GOROUTINES_H
#define GOROUTINES_H

#include "lib/error.h"
#include "trace/summary_store.h"

/* What a goroutine's time is sorted into. Those from EXEC to OTHER add up to TOTAL. */
enum column {
	COLUMN_EXEC,
	COLUMN_SCHED,
	COLUMN_SYNC,
	COLUMN_NETWORK,
	COLUMN_SYSCALL,
	COLUMN_GC,
	COLUMN_OTHER,
	COLUMN_TOTAL,
	COLUMN_GC_WORK,
	COLUMN_COUNT,
	COLUMN_ID,
	COLUMNS
};

#define COLUMN_TIMES COLUMN_COUNT /* so many of them are times */

struct group {		/* goroutines with the same start function */
	uint64_t count; /* 0: no goroutine has that name */
	struct summary_stats stats;
};

struct goroutines {
	struct summary *summary;
	struct summary_store *store; /* sorted; NULL: only groups were asked for */
	bool one;		     /* the store has but the goroutine `id` */
	uint64_t id;
	struct group *groups; /* by id of the name */
	size_t ngroups;
	uint64_t count;	    /* of goroutines */
	int64_t start, end; /* of the trace, ns */
	enum column sort;
};

extern const char *const column_names[COLUMNS]; /* as --sort has them */

int64_t column__of(const struct goroutines *all, const struct summary_stats *stats,
		   enum column column);

/* Groups that have goroutines, sorted; to be freed. NULL: no memory. */
const struct group **groups__sorted(const struct goroutines *all, size_t *ret_n);
struct trace_string group__name(const struct goroutines *all, const struct group *group);

/* Is it a task that is to be shown: with one goroutine, one that it had a part in? */
bool task__is_shown(const struct goroutines *all, const struct summary_task *t);

/* A goroutine's regions, by start and then by end; to be freed by the next. 0 or -ENOMEM. */
int regions__sorted(const struct summary_goroutine *g, struct summary_region **ret, size_t *ret_n);
void regions__free(struct summary_region *regions, size_t n);

/* To stdout. 0 or -ENOMEM. */

int table__groups(const struct goroutines *all);
int table__goroutines(const struct goroutines *all);
int table__goroutine(const struct goroutines *all); /* the one, in detail */
int json__groups(const struct goroutines *all);
int json__goroutines(const struct goroutines *all);
int canonical__goroutines(const struct goroutines *all);

#endif
